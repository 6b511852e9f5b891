"""A recorded case laid out on disk, and the skills that Prowess sees in it as the case's host."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pyjson5

from prowess.model.facts import Facts
from prowess.ports import Event
from prowess.runtime import Skills
from prowess.supply.sources import open_sources

CASES = Path(__file__).parent / "cases"


def load_cases(host: str, *, with_key: str = "skills") -> list[Any]:
    """Every recorded case of a host in which `expect` has a key, as pytest parameters named by
    their files.
    """
    import pytest

    found = sorted((CASES / host).glob("*.json"))
    cases = [(path.stem, json.loads(path.read_text(encoding="utf-8"))) for path in found]
    return [
        pytest.param(case, id=name) for name, case in cases if with_key in case.get("expect", {})
    ]


class Tree:
    """A case's tree. It lies in a folder named as it was when the case was recorded, since paths
    may say so.
    """

    def __init__(self, case: dict[str, Any], folder: Path) -> None:
        self.case = case
        self.root = folder / case["case"]
        self.root.mkdir()
        for path, content in case["files"].items():
            self._write(path, content)
        for path in case["empty_dirs"]:
            (self.root / path).mkdir(parents=True, exist_ok=True)
        for path in case["git"]:
            (self.root / path / ".git").mkdir(parents=True)
        for path, target in case["links"].items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            os.symlink(target, self.root / path)
        self.home = self.root / case["home"]
        self.cwd = self.root / case["cwd"]
        self.home.mkdir(parents=True, exist_ok=True)
        self.cwd.mkdir(parents=True, exist_ok=True)
        self._write_settings()

    def _write(self, path: str, content: Any) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            data = content.replace("$DIR", str(self.root)).encode()
        elif "base64" in content:
            data = base64.b64decode(content["base64"])
        else:
            pattern = content["repeat"].encode()
            head, tail = pattern[:-1], pattern[-1:]
            data = head + tail * (content["bytes"] - len(head))
        place.write_bytes(data)
        if data.startswith(b"#!"):
            place.chmod(0o755)

    def _write_settings(self) -> None:
        settings = json.loads(json.dumps(self.case["settings"]).replace("$DIR", str(self.root)))
        if self.case["host"] == "omp" and settings:
            options = settings.pop("options", {})
            # JSON is YAML, so omp's file can be written with it.
            self._write("home/.omp/agent/config.yml", json.dumps({"skills": options, **settings}))
        if self.case["host"] == "openclaw":
            config = pyjson5.loads(settings.get("openclaw.json5") or "{}")
            config.setdefault("agents", {}).setdefault("defaults", {})["workspace"] = str(self.cwd)
            self._write("home/.openclaw/openclaw.json", json.dumps(config))

    def facts(self) -> Facts:
        """The machine the case was recorded on: its home, its environment, and the programs in its
        `bin`.
        """
        env = {
            name: value.replace("$DIR", str(self.root)) for name, value in self.case["env"].items()
        }
        if (self.root / "bundled").is_dir():
            env["OPENCLAW_BUNDLED_SKILLS_DIR"] = str(self.root / "bundled")
        programs = self.root / "bin"
        return Facts(
            home=str(self.home), env=env, find_bin=lambda name: os.access(programs / name, os.X_OK)
        )

    def open(
        self,
        events: list[Event] | None = None,
        *,
        edition: str = "current",
        agent: str | None = None,
        cache: bool = False,
    ) -> Skills:
        """The skills of the tree as the case's host, or one of its agents, sees them."""
        return Skills(
            self.cwd,
            host=f"{self.case['host']}@{edition}",
            facts=self.facts(),
            places={"managed": str(self.root / "managed")},
            agent=agent,
            cache=cache,
            on_event=events.append if events is not None else None,
            sources=open_sources(),
        )

    def relative(self, path: str) -> str:
        """A path inside the tree, as the case writes it."""
        return os.path.relpath(path, self.root)
