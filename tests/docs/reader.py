"""A reader who does what a page says: writes its files, runs its code and its commands, and
compares what is shown.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

import prowess
from prowess import ProwessError
from prowess.profiles.load import load_profile
from tests.docs.pages import ROOT, Block

HOME_IN_PAGES = "/home/you"
# What begins a command that is run, and what begins one that is for the reader alone: it installs
# something or belongs to another folder.
RUN = {"prowess", "python"}
NOT_RUN = {"make", "pip", "pipx", "uvx", "cp", "cd", "git"}

_ASSIGNMENT = re.compile(r"\w+=(?:\"[^\"]*\"|\S*)\s+")
_ASK_CODE = "echo $?"
_SECONDS = 60


class Reader:
    """Someone with an empty home and a copy of the sample workspace in it, who works through one
    page.
    """

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.home = folder / "home"
        self.workspace = self.home / "workspace"
        shutil.copytree(ROOT / "examples" / "workspace", self.workspace)
        # A repository of its own, so that nothing above it counts.
        (self.workspace / ".git").mkdir()
        self._environment = self._prepare(folder / "bin")
        self._namespace: dict[str, Any] = {"__name__": "__main__"}
        self._printed = ""
        self._code = 0
        patch.chdir(self.workspace)
        patch.setenv("HOME", str(self.home))

    def _prepare(self, programs: Path) -> dict[str, str]:
        programs.mkdir()
        for name, arguments in (("python", ""), ("prowess", " -m prowess")):
            program = programs / name
            program.write_text(
                f'#!/bin/sh\nexec "{sys.executable}"{arguments} "$@"\n', encoding="utf-8"
            )
            program.chmod(0o755)
        return {
            "HOME": str(self.home),
            "PATH": f"{programs}:/usr/bin:/bin",
            "PYTHONPATH": str(Path(prowess.__file__).parent.parent),
            "LANG": "C.UTF-8",
        }

    def read_all(self, blocks: Iterable[Block]) -> list[Block]:
        """Do what the blocks of a page say, one after the other; those that were done. What is not
        true raises.
        """
        done = []
        for block in blocks:
            assert block.language in _DOES, (
                f"{block.place}: no block is written in “{block.language}” here"
            )
            _DOES[block.language](self, block)
            done.append(block)
        return done

    # Files

    def write_file(self, block: Block) -> None:
        """Put a block whose fence names a path where it says, and check that the file is what it
        claims to be.
        """
        if not block.words:
            assert block.language in _PARSE, f"{block.place}: name the file that this is"
            _PARSE[block.language](block.text)
            return
        name, *marks = block.words
        path = self.home / name[2:] if name.startswith("~/") else self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        self._check_file(path, block, broken="broken" in marks)

    def _check_file(self, path: Path, block: Block, *, broken: bool) -> None:
        try:
            self._use_file(path, block)
        except (ProwessError, ValueError) as error:
            assert broken, f"{block.place}: {error}"
        else:
            assert not broken, f"{block.place}: the file is called broken and is not"

    def _use_file(self, path: Path, block: Block) -> None:
        """Use a file as whoever reads it does; raises where it is wrong."""
        if path.name == "SKILL.md":
            code, printed = self._run(f"prowess validate '{path}'")
            if code:
                raise ValueError(printed)
        elif path.parent.name == "agents":
            assert yaml.safe_load(block.text.split("---\n")[1])["name"] == path.stem, block.place
        elif path.name == "prowess.toml":
            if findings := prowess.Skills(self.workspace).settings().diagnostics:
                raise ValueError(str(findings[0]))
        elif path.suffix == ".toml":
            assert load_profile(path.stem, {path.stem: block.text}).name == path.stem, block.place
        else:
            _PARSE[block.language](block.text)

    # Code

    def run_python(self, block: Block) -> None:
        """Run code in the page's namespace; line numbers of a failure are those of the page."""
        code = compile("\n" * (block.line - 1) + block.text, str(block.page), "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, self._namespace)
        self._printed = printed.getvalue()

    def compare_printed(self, block: Block) -> None:
        """Text right below Python is what that Python prints; any other text is for the reader
        alone.
        """
        if block.follows == "python":
            compare(self._normal(self._printed), block.text, block.place)

    # Commands

    def run_console(self, block: Block) -> None:
        """Run each command of a block and compare what is shown below it."""
        session = split_session(block)
        for (command, shown), following in zip(session, [*session[1:], ("", None)], strict=True):
            program = find_program(command)
            if program in NOT_RUN:
                continue
            assert program in RUN or command == _ASK_CODE, (
                f"{block.place}: “{program}” is never run here"
            )
            self._code, printed = (
                (0, f"{self._code}\n") if command == _ASK_CODE else self._run(command)
            )
            if shown is not None:
                compare(printed, shown, f"{block.place}: {command}")
            # 1 says that errors were found in what was looked at, and the sample has some; other
            # codes are shown.
            told = self._code in (0, 1) or following[0] == _ASK_CODE
            assert told, f"{block.place}: {command} exits with {self._code}\n{printed}"

    def _run(self, command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.workspace,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=_SECONDS,
        )
        return done.returncode, self._normal(done.stdout)

    def _normal(self, printed: str) -> str:
        return printed.replace(os.path.realpath(self.home), HOME_IN_PAGES).replace(
            str(self.home), HOME_IN_PAGES
        )


def split_session(block: Block) -> list[tuple[str, str | None]]:
    """The commands of a console block, each with what is shown below it, None where nothing is."""
    session: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            session.append((line[2:].strip(), []))
        else:
            assert session, f"{block.place}: output stands before any command"
            session[-1][1].append(line)
    return [(command, "\n".join(shown) + "\n" if shown else None) for command, shown in session]


def find_program(command: str) -> str:
    """The program that a command runs, behind the variables that are set for it."""
    while assignment := _ASSIGNMENT.match(command):
        command = command[assignment.end() :]
    return command.split()[0]


def compare(printed: str, shown: str, place: str) -> None:
    """Hold what was printed against what a page shows."""
    assert is_shown(printed, shown), f"{place}\n{printed}"


def is_shown(printed: str, shown: str) -> bool:
    """Whether a page shows what was printed; `…` stands for anything, alone on a line for any
    lines.
    """
    pattern = "".join(_translate(line) for line in _tidy(shown))
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in _tidy(printed))) is not None


def _tidy(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def _translate(line: str) -> str:
    if line.strip() == "…":
        return r"(?:.*\n)*?"
    return ".*".join(re.escape(part) for part in line.split("…")) + r"\n"


def _say_nothing(reader: Reader, block: Block) -> None:
    """A picture."""


_PARSE: dict[str, Callable[[str], Any]] = {
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
    "json": json.loads,
}
_DOES: dict[str, Callable[[Reader, Block], None]] = {
    "python": Reader.run_python,
    "text": Reader.compare_printed,
    "console": Reader.run_console,
    "toml": Reader.write_file,
    "yaml": Reader.write_file,
    "json": Reader.write_file,
    "markdown": Reader.write_file,
    "mermaid": _say_nothing,
}
