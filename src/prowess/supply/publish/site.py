"""A folder that any web server can serve: skills, two indexes of them, and a list of all files.

`.well-known/agent-skills` has the index of the discovery draft 0.2.0, with a digest for each skill.
Beside it is opencode's `index.json`, with the files of each skill in a folder of its own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from prowess.errors import UsageError
from prowess.state.unpacked_files import find_refusal
from prowess.supply.index_format import MOST_SKILLS, SKILL_FILE
from prowess.supply.publish.archive import pack_files
from prowess.supply.publish.skill_files import SharedSkill
from prowess.supply.remote_fetch import MOST_INDEX_BYTES

WELL_KNOWN = ".well-known/agent-skills"
DISCOVERY_INDEX = f"{WELL_KNOWN}/index.json"
OPENCODE_INDEX = "index.json"
FILE_LIST = f"{WELL_KNOWN}/sha256sums"
SIGNATURE = f"{FILE_LIST}.sig"
# Without it, the pages of a git host leave out folders that begin with a dot.
_NO_JEKYLL = ".nojekyll"
_SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


class InvalidFileList(ValueError):
    """A list of files that was not written by `publish`, and why."""


def build_site(skills: Sequence[SharedSkill]) -> dict[str, bytes]:
    """Every file to serve by its path, the list of files included. Raises `UsageError`."""
    if len(skills) > MOST_SKILLS:
        raise UsageError(f"An index can have at most {MOST_SKILLS:,} skills, not {len(skills):,}.")
    site: dict[str, bytes] = {_NO_JEKYLL: b""}
    discovered: list[dict[str, Any]] = []
    listed: list[dict[str, Any]] = []
    for skill in sorted(skills, key=lambda one: one.name):
        discovered.append(_add_artifact(skill, site))
        listed.append(_add_files(skill, site))
    site[DISCOVERY_INDEX] = _encode({"$schema": _SCHEMA, "skills": discovered})
    site[OPENCODE_INDEX] = _encode({"skills": listed})
    site[FILE_LIST] = render_file_list(site)
    return site


def _add_artifact(skill: SharedSkill, site: dict[str, bytes]) -> dict[str, Any]:
    """Add a skill as one file, and describe it as the discovery draft does."""
    # The draft has a type for such skills, and every reader can show the file.
    is_single = list(skill.files) == [SKILL_FILE]
    if is_single:
        kind, url, data = "skill-md", f"{skill.name}/{SKILL_FILE}", skill.files[SKILL_FILE].data
    else:
        kind, url, data = "archive", f"{skill.name}.zip", pack_files(skill.files)
    site[f"{WELL_KNOWN}/{url}"] = data
    return {
        "name": skill.name,
        "type": kind,
        "description": skill.description,
        "url": url,
        "digest": f"sha256:{hashlib.sha256(data).hexdigest()}",
    }


def _add_files(skill: SharedSkill, site: dict[str, bytes]) -> dict[str, Any]:
    """Add the files of a skill one by one, and list them as opencode does."""
    site.update({f"{skill.name}/{path}": file.data for path, file in skill.files.items()})
    return {"name": skill.name, "files": sorted(skill.files), "version": skill.tree.digest}


def _encode(index: dict[str, Any]) -> bytes:
    data = msgspec.json.format(msgspec.json.encode(index), indent=2) + b"\n"
    # Our own reader would refuse it, and others have limits, too.
    if len(data) > MOST_INDEX_BYTES:
        problem = f"it would have {len(data):,} bytes; at most {MOST_INDEX_BYTES:,} are read"
        raise UsageError(f"The index is too large: {problem}.")
    return data


def render_file_list(site: Mapping[str, bytes]) -> bytes:
    """The digests of files as `sha256sum` writes and checks them."""
    digests = {path: hashlib.sha256(data).hexdigest() for path, data in site.items()}
    return "".join(f"{digests[path]}  {path}\n" for path in sorted(digests)).encode()


def parse_file_list(data: bytes) -> dict[str, str]:
    """The digests of a list of files by their paths. Raises `InvalidFileList`."""
    files: dict[str, str] = {}
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidFileList("it is not UTF-8") from None
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise InvalidFileList(f"line {number} is not a digest and a path")
        if find_refusal(match[2]) is not None or "\\" in match[2]:
            raise InvalidFileList(f"line {number} has a path that leads out of the folder")
        files[match[2]] = match[1]
    return files
