"""What a fetched skill brings: scripts, shell commands, tools, hooks, hosts in the network."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.machine.files import LocalFiles
from prowess.machine.tree_files import read_file
from prowess.model.tree import TreeFile
from prowess.parse.header.fast import read_header
from prowess.parse.header.fences import split_body
from prowess.parse.header.lines import decode
from prowess.profiles.load import load_profile
from prowess.reports.install_plan import PlannedFile, SkillContents
from prowess.reports.trust_preview import describe_hooks
from prowess.shell.embedded_commands import find_commands
from prowess.supply.install.fetch import SKILL_FILE, FetchedSkill
from prowess.supply.scan.skill_scan import scan_folder
from prowess.text.display import first_line

Scan = Callable[[str], Iterable[Diagnostic]]
"""Checks the skill in a folder."""

_SCRIPT_SUFFIXES = tuple(
    ".py .sh .bash .zsh .fish .js .mjs .cjs .ts .rb .pl .php .ps1 .bat .cmd .lua .r .go".split()
)
_URL = re.compile(rb"\b(?:https?|wss?|ftp)://(?:[^\s/@\"'<>]*@)?([A-Za-z0-9.-]+\.[A-Za-z0-9-]+)")
# Enough to see what a file does; pictures and data may be larger.
_MOST_READ = 1 << 20


def scan_skill(folder: str) -> Iterator[Diagnostic]:
    """The findings of the scan, with paths inside the skill."""
    for finding in scan_folder(folder, LocalFiles()).findings:
        file = (finding.file or "").removeprefix(f"{folder}/")
        yield msgspec.structs.replace(finding, file=file)


def read_contents(skill: FetchedSkill, scan: Scan = scan_skill) -> SkillContents:
    """What a skill in the staging folder brings. Raises `MachineError`."""
    profile = load_profile("prowess")
    files = skill.tree.files
    texts = {path: read_file(skill.folder, path, most=_MOST_READ) for path in files}
    data = texts.get(SKILL_FILE, b"")
    reading = read_header(data, rules=profile.header, limits=profile.limits)
    header = reading.frontmatter
    body = split_body(decode(data, profile.header)[0], rules=profile.header)
    # Once it is installed, hosts would skip it or read something else than its author meant.
    trouble = [msgspec.structs.replace(one, file=SKILL_FILE) for one in reading.diagnostics]
    return SkillContents(
        description=first_line(_as_text(header.get("description"))),
        files=tuple(_plan_file(path, file, texts[path]) for path, file in files.items()),
        commands=tuple(command.text for command in find_commands(body).commands),
        tools=tuple(_list_tools(header)),
        hooks=tuple(describe_hooks(header.get("hooks"))),
        network=_find_hosts(texts.values()),
        findings=(*trouble, *scan(skill.folder)),
    )


def _plan_file(path: str, file: TreeFile, data: bytes) -> PlannedFile:
    # A model may run a script through its interpreter, so its mode alone says little.
    is_named_script = path.lower().endswith(_SCRIPT_SUFFIXES)
    is_script = file.is_executable or is_named_script or data.startswith(b"#!")
    return PlannedFile(path, file.size, file.sha256, is_script)


def _list_tools(header: dict[str, Any]) -> Iterator[str]:
    """The tools of `allowed-tools`, which hosts write as a list or as one text."""
    declared = header.get("allowed-tools", header.get("allowed_tools"))
    if isinstance(declared, list):
        yield from map(str, declared)
    elif isinstance(declared, str) and declared.strip():
        yield declared.strip()


def _find_hosts(texts: Iterable[bytes]) -> tuple[str, ...]:
    hosts: set[str] = set()
    for text in texts:
        hosts.update(host.decode("ascii").lower() for host in _URL.findall(text))
    return tuple(sorted(hosts))


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""
