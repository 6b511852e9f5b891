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
    targets = dict.fromkeys(TARGET.findall(read("Makefile")))
    commands = [f"make {target}" for target in targets]
    commands += find_npm_commands()
    commands += find_python_commands()
    if Path("Cargo.toml").is_file():
        commands += ["cargo run", "cargo test"]
    if Path("go.mod").is_file():
        commands += ["go run .", "go test ./..."]
    return commands


def find_npm_commands() -> list[str]:
    """The scripts in package.json."""
    try:
        scripts = json.loads(read("package.json") or "{}").get("scripts", {})
        return [f"npm run {name}  # {command}" for name, command in scripts.items()]
    except (ValueError, AttributeError):
        # Not JSON, or JSON of another shape.
        return ["# package.json cannot be read"]


def find_python_commands() -> list[str]:
    """The scripts in pyproject.toml, and the tests if there seem to be any."""
    try:
        project = tomllib.loads(read("pyproject.toml"))
    except tomllib.TOMLDecodeError:
        return ["# pyproject.toml cannot be read"]
    commands = list(project.get("project", {}).get("scripts", {}))
    has_pytest = "pytest" in project.get("tool", {})
    has_tests = bool(project) and Path("tests").is_dir()
    if has_pytest or has_tests:
        commands.append("python -m pytest")
    return commands


if __name__ == "__main__":
    print("\n".join(find_commands()) or "# nothing found: read the README")
