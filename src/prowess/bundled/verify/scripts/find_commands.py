#!/usr/bin/env python3
"""List the commands that a project has for running and testing itself, one per line."""

import json
import re
import tomllib
from pathlib import Path

TARGET = re.compile(r"^([A-Za-z][\w-]*)\s*:(?!=)", re.MULTILINE)


def read(name: str) -> str:
    """The text of a file in this folder; empty if it is missing or not text."""
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def find_commands() -> list[str]:
    """Commands in the order in which people usually try them."""
    found = [f"make {target}" for target in dict.fromkeys(TARGET.findall(read("Makefile")))]
    try:
        scripts = json.loads(read("package.json") or "{}").get("scripts", {})
        found += [f"npm run {name}  # {command}" for name, command in scripts.items()]
    except (ValueError, AttributeError):
        found.append("# package.json cannot be read")
    try:
        project = tomllib.loads(read("pyproject.toml"))
    except tomllib.TOMLDecodeError:
        project = {}
        found.append("# pyproject.toml cannot be read")
    found += list(project.get("project", {}).get("scripts", {}))
    if "pytest" in project.get("tool", {}) or Path("tests").is_dir() and project:
        found.append("python -m pytest")
    found += ["cargo run", "cargo test"] if Path("Cargo.toml").is_file() else []
    found += ["go run .", "go test ./..."] if Path("go.mod").is_file() else []
    return found


if __name__ == "__main__":
    print("\n".join(find_commands()) or "# nothing found: read the README")
