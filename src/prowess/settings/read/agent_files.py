"""Agents that are Markdown files: their headers have permission rules, as a settings file has."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from prowess.errors import SettingError
from prowess.model.permission import Rule
from prowess.ports import FileSystem
from prowess.profiles.places import Places
from prowess.profiles.schema.settings import SettingsFileRule
from prowess.settings.formats.document import SettingsDocument
from prowess.settings.formats.markdown import quote_colons, take_header
from prowess.settings.formats.yaml import parse_yaml
from prowess.settings.read.permission_rules import read_agent

# Far more than anybody has, so that a folder of a project, or a link in it, can't keep a scan busy.
_MOST_FILES = 500
_MOST_FOLDERS = 200
_DEEPEST = 8

_HEADER_RULE = SettingsFileRule(at=(), format="yaml")


def find_agent_files(folder: str, files: FileSystem) -> Iterator[tuple[str, str]]:
    """The Markdown files in a folder and below it, in order: the name of each agent, and its path.

    The name is the path below the folder, without `.md`.
    """
    found = _walk_agent_files(folder, files)
    return islice(found, _MOST_FILES)


def _walk_agent_files(folder: str, files: FileSystem) -> Iterator[tuple[str, str]]:
    waiting = [(folder, "", 0)]
    for _ in range(_MOST_FOLDERS):
        if not waiting:
            return
        path, prefix, depth = waiting.pop()
        try:
            items = files.list_folder(path)
        except OSError:
            # Most projects have no such folder.
            continue
        below = []
        for item in items:
            if item.kind == "folder" and depth < _DEEPEST:
                below.append((f"{path}/{item.name}", f"{prefix}{item.name}/", depth + 1))
            elif item.kind == "file" and item.name.endswith(".md"):
                yield prefix + item.name.removesuffix(".md"), f"{path}/{item.name}"
        # Popped from the end, so the first folder comes next.
        waiting += reversed(below)


def read_agent_file(name: str, text: str, file: str, places: Places) -> list[Rule]:
    """The rules for an agent in the header of its file. Raises a `SettingError`."""
    header = take_header(text)
    try:
        data = parse_yaml(header, file)
    except SettingError:
        # opencode reads such a header a second time, with quotes around values that have a colon.
        header = quote_colons(header)
        data = parse_yaml(header, file)
    declared = data.get("name")
    document = SettingsDocument(file, _HEADER_RULE, places, header, data)
    agent = declared if isinstance(declared, str) else name
    return [rule for _, rule, _ in read_agent(agent, document.top)]
