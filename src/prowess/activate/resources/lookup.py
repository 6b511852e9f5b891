"""What a `skill://` address stands for: a skill's own file, another file of it, or the list of a
folder.

Nothing outside the skill's folder is ever read, whatever links lie in it: the path without links
decides, and that path is the one that is opened. What is missing is not looked for anywhere else.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping

import msgspec

from prowess.activate.resources.addresses import Address
from prowess.activate.resources.line_ranges import select_lines
from prowess.errors import UnknownSkill
from prowess.errors.activation import AddressError
from prowess.model.skill import Skill
from prowess.ports import FileSystem, FolderItem
from prowess.profiles.schema.body import ResourceRules
from prowess.text.collation import collate
from prowess.text.markup import tidy_path

PLAIN = "text/plain"
MARKDOWN = "text/markdown"
EMPTY_FOLDER = "(empty folder)"


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """What an address stands for. `size` counts the bytes of the content; `path` is where it lies
    on this machine.
    """

    url: str
    content: str
    content_type: str
    path: str
    size: int
    is_folder: bool = False


def resolve(
    address: Address,
    skills: Mapping[str, Skill],
    files: FileSystem,
    *,
    rules: ResourceRules,
    told: Iterable[str] | None = None,
) -> Resource:
    """What an address stands for, among the skills that may be read, by their exact names.

    `told` are the names that may be told where there is none of that name; all that may be read
    unless given. Raises `UnknownSkill` or `AddressError`.
    """
    skill = skills.get(address.name)
    if skill is None:
        raise UnknownSkill(address.name, skills if told is None else told)
    address = _prefer_literal(address, skill, files)
    found = _find(address, skill, files, rules)
    if address.lines is None:
        return found
    content = select_lines(
        found.content,
        address.lines,
        url=address.url,
        before=rules.lines_before,
        after=rules.lines_after,
    )
    return msgspec.structs.replace(found, content=content, size=_measure(content))


def _prefer_literal(address: Address, skill: Skill, files: FileSystem) -> Address:
    """The file whose name just looks as if it ended with a range, where there is one."""
    if (
        not address.literal
        or files.find_kind(f"{skill.folder.rstrip('/')}/{address.literal}") != "file"
    ):
        return address
    return msgspec.structs.replace(address, path=address.literal, lines=None)


def _find(address: Address, skill: Skill, files: FileSystem, rules: ResourceRules) -> Resource:
    folder = skill.folder.rstrip("/")
    if skill.file is None:
        # The files of a skill in code are unpacked with its prompt, and not before.
        content = skill.load().content
        if not address.path:
            return Resource(
                url=address.url,
                content=content,
                content_type=MARKDOWN,
                path="",
                size=_measure(content),
            )
    if address.path and not folder:
        raise _missing(address)
    own = _get_own_path(address, skill, files)
    path = f"{folder}/{address.path}" if address.path else skill.location
    if path == skill.location:
        return _read_file(address, path, own, files, rules)
    real = _get_real_path(address, skill, path, files)
    kind = files.find_kind(real)
    if kind == "folder":
        return _list_folder(address, path, real, files, rules)
    if kind == "file" and not address.is_folder:
        return _read_file(address, path, real, files, rules)
    if kind == "other":
        raise AddressError(
            address.url,
            "not-a-file",
            f"“{address.path}” is no file and no folder",
            path=address.path,
        )
    raise _missing(address)


def _get_own_path(address: Address, skill: Skill, files: FileSystem) -> str:
    """The path without links of the file that was loaded as the skill.

    Whether it may be a link was decided when it was found; what leads elsewhere since then was
    never judged.
    """
    if skill.file is None or skill.real is None:
        return skill.location
    real = files.find_real_path(skill.location)
    if real is None:
        raise _missing(
            address if address.path else msgspec.structs.replace(address, path=_name_of(skill))
        )
    if real != skill.real:
        raise _moved(address, skill)
    return real


def _moved(address: Address, skill: Skill) -> AddressError:
    name = _name_of(skill)
    problem = f"“{name}” has been moved or replaced by a link since the scan; scan again"
    return AddressError(address.url, "outside", problem, path=name)


def _name_of(skill: Skill) -> str:
    return skill.location.rpartition("/")[2]


def _get_real_path(address: Address, skill: Skill, path: str, files: FileSystem) -> str:
    """The path without links, which must lie in the skill's folder."""
    folder = skill.folder.rstrip("/")
    base, real = files.find_real_path(folder), files.find_real_path(path)
    if base is None or real is None:
        raise _missing(address)
    # The folder is the one that was scanned: it holds the skill's file, or no link leads to it.
    if skill.real is not None and base not in (skill.real.rpartition("/")[0], folder):
        raise _moved(address, skill)
    separator = "\\" if "\\" in base and "/" not in base else "/"
    if real != base and not real.startswith(base.rstrip(separator) + separator):
        raise AddressError(
            address.url,
            "outside",
            f"“{address.path}” is a link that leads out of the skill",
            path=address.path,
        )
    return real


def _missing(address: Address) -> AddressError:
    problem = f"there is no file “{address.path}” in the skill"
    return AddressError(address.url, "missing", problem, path=address.path)


def _read_file(
    address: Address, path: str, real: str, files: FileSystem, rules: ResourceRules
) -> Resource:
    shown = address.path or path.rpartition("/")[2]
    try:
        # Whatever is swapped for a link from here on is refused, not followed.
        head = files.read_real_head(real, rules.most_bytes)
    except FileNotFoundError:
        raise _missing(msgspec.structs.replace(address, path=shown)) from None
    except OSError as error:
        why = error.strerror or str(error)
        raise AddressError(
            address.url, "unreadable", f"“{shown}” cannot be read: {why}", path=shown
        ) from None
    if head.size > rules.most_bytes:
        problem = f"“{shown}” has {head.size:,} bytes; at most {rules.most_bytes:,} are read"
        raise AddressError(address.url, "too-large", problem, path=shown)
    content = _decode(head.data)
    return Resource(
        url=address.url,
        content=content,
        content_type=_find_type(path, rules),
        path=path,
        size=_measure(content),
    )


def _decode(data: bytes) -> str:
    """Whatever a file holds, as text; what is no character becomes U+FFFD."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(mark):
            # A last half of a character is left out, as hosts do.
            return data[2 : len(data) - len(data) % 2].decode(encoding, "replace")
    return data.decode("utf-8-sig", "replace")


def _find_type(path: str, rules: ResourceRules) -> str:
    _, dot, ending = path.rpartition("/")[2].lower().rpartition(".")
    return rules.content_types.get(f"{dot}{ending}", PLAIN)


def _list_folder(
    address: Address, path: str, real: str, files: FileSystem, rules: ResourceRules
) -> Resource:
    """What lies in a folder, one name a line: folders first, then the rest, each in the order of
    words.
    """
    try:
        items = files.list_real_folder(real)
    except OSError as error:
        why = error.strerror or str(error)
        problem = f"the folder “{address.path}” cannot be listed: {why}"
        raise AddressError(address.url, "unreadable", problem, path=address.path) from None
    items.sort(key=lambda item: (item.kind != "folder", collate(item.name)))
    lines = [_name_item(item) for item in items[: rules.most_items]]
    if len(items) > rules.most_items:
        lines.append(f"(and {len(items) - rules.most_items:,} more)")
    content = "\n".join(lines) or EMPTY_FOLDER
    return Resource(
        url=address.url,
        content=content,
        content_type=PLAIN,
        path=path,
        size=_measure(content),
        is_folder=True,
    )


def _name_item(item: FolderItem) -> str:
    name = tidy_path(item.name)
    return f"{name}/" if item.kind == "folder" else name


def _measure(content: str) -> int:
    return len(content.encode("utf-8", "surrogatepass"))
