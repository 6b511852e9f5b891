"""Context files: AGENTS.md and similar files, from the working folder upwards, merged by depth.

Unlike a skill, a context file is always loaded. The farthest comes first, so that the nearest is
read last and has the last word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from prowess.diagnostics import Diagnostic, Severity, diagnose
from prowess.discover.links import find_real_repository, is_inside
from prowess.ports import FileSystem
from prowess.profiles.places import Places, ancestors
from prowess.profiles.schema.roots import ContextRules

_MOST_BYTES = 1 << 20
# Without a byte order mark, UTF-16 shows in how Markdown begins: a heading, a fence, a tag, a list.
_UTF16 = (
    ("utf-16-le", (b"\xff\xfe", b"#\0", b"-\0", b"<\0", b"*\0")),
    ("utf-16-be", (b"\xfe\xff", b"\0#", b"\0-", b"\0<", b"\0*")),
)
_BROKEN_HINT = "Fix the link's target, or remove the link."
_NO_FILES = {"folder": "a folder", "other": "a pipe, a socket or a device"}


class ContextFile(msgspec.Struct, frozen=True):
    """A context file: its path, its text, and how many folders above the working folder it is."""

    path: str
    text: str
    depth: int


class ContextFiles(msgspec.Struct, frozen=True):
    """The context files that apply in a folder, farthest first, and what was wrong with others.

    `looked_in` are the folders that were searched, nearest first.
    """

    files: tuple[ContextFile, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    looked_in: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The files as one text, farthest first."""
        return "\n\n".join(file.text.strip() for file in self.files)


def find_context_files(
    rules: ContextRules, places: Places, files: FileSystem, *, trusted_links: Iterable[str] = ()
) -> ContextFiles:
    """Every context file from the working folder upwards. One real file counts once, where it is
    found first.
    """
    found: list[ContextFile] = []
    problems: list[Diagnostic] = []
    seen: set[str | None] = set()
    trusted = [files.find_real_path(folder) for folder in trusted_links]
    known = (find_real_repository(places, files), *trusted)
    walked = _choose_folders(rules, places)
    near = walked[: rules.depth] if rules.depth else walked
    for depth, path in _list_paths(near, rules, places):
        kind = files.find_kind(path)
        if kind != "file":
            problems += _report_kind(path, kind, files)
            continue
        real = files.find_real_path(path)
        # CLAUDE.md may be a link to AGENTS.md; the model should not read it twice.
        if real in seen:
            continue
        escape = _find_escape(path, real, places, known, files)
        if escape is not None:
            problems.append(escape)
            continue
        seen.add(real)
        text, text_problems = _load(path, files)
        problems += text_problems
        if text.strip():
            found.append(ContextFile(path, text, depth))
    problems += _report_far(walked, rules, places, files)
    # Sorting is stable: in one folder the order of the names in the rules stays.
    found.sort(key=lambda file: -file.depth)
    looked_in = tuple(folder for folder in near if folder is not None)
    return ContextFiles(tuple(found), tuple(problems), looked_in)


def _list_paths(
    folders: Sequence[str | None], rules: ContextRules, places: Places
) -> Iterator[tuple[int, str]]:
    """Where a context file may be, nearest first, with its depth."""
    for depth, folder in enumerate(folders):
        if folder is None:
            continue
        for name in rules.files:
            yield depth, str(places.paths.join(folder, name))


def _report_kind(path: str, kind: str | None, files: FileSystem) -> Iterator[Diagnostic]:
    """What has the name of a context file but is none; nothing where nothing is there."""
    if kind is not None:
        message = f"It has the name of a context file but is {_NO_FILES[kind]}; it is not read."
        yield diagnose("not-a-file", message, file=path, severity=Severity.WARNING)
        return
    target = files.find_link(path)
    if target is not None:
        message = f"It is a broken link to “{target}”; it is not read."
        yield diagnose(
            "not-a-file", message, file=path, severity=Severity.WARNING, hint=_BROKEN_HINT
        )


def _report_far(
    walked: Sequence[str | None], rules: ContextRules, places: Places, files: FileSystem
) -> Iterator[Diagnostic]:
    """The context files that are farther up than the search goes."""
    if not rules.depth:
        return
    hint = "Move it closer, or work in a folder that is less deep."
    for depth, path in _list_paths(walked, rules, places):
        is_beyond = depth >= rules.depth
        if not is_beyond or files.find_kind(path) != "file":
            continue
        message = (
            f"The file is {depth} folders above the working folder; only {rules.depth} folders"
            " are searched."
        )
        yield diagnose("limit-reached", message, file=path, hint=hint)


def _find_escape(
    path: str, real: str | None, places: Places, known: tuple[str | None, ...], files: FileSystem
) -> Diagnostic | None:
    """Why a file that is a link is not read. In home or above it, a link may lead anywhere."""
    folder = str(places.paths.dirname(path))
    own = files.find_real_path(folder) or folder
    home = files.find_real_path(places.home) or places.home
    is_users_own = is_inside(home, (own,))
    if real is not None and (is_users_own or is_inside(real, (own, *known))):
        return None
    target = "a path that cannot be resolved" if real is None else real
    message = f"The file is a link to {target}, outside the project; it is not read."
    return diagnose("link-escapes", message, file=path)


def _load(path: str, files: FileSystem) -> tuple[str, list[Diagnostic]]:
    try:
        head = files.read_head(path, _MOST_BYTES)
    except OSError as error:
        return "", [diagnose("file-unreadable", f"The file cannot be read: {error}.", file=path)]
    is_cut = head.size > _MOST_BYTES
    text, problem = _decode(head.data, path, is_cut=is_cut)
    problems = [] if problem is None else [problem]
    if is_cut:
        message = f"The file has {head.size:,} bytes; only the first {_MOST_BYTES:,} are read."
        problems.append(diagnose("context-cut", message, file=path))
    return text, problems


def _decode(data: bytes, path: str, *, is_cut: bool) -> tuple[str, Diagnostic | None]:
    """The text of a file, whatever is in it, and what is wrong with it."""
    encoding = next((name for name, starts in _UTF16 if data.startswith(starts)), None)
    if encoding is not None:
        message = "The file is UTF-16; it was read, but most hosts read only UTF-8."
        problem = diagnose("utf16", message, file=path, severity=Severity.WARNING)
        return data.decode(encoding, "replace").removeprefix("\ufeff"), problem
    try:
        return data.decode("utf-8-sig"), None
    except UnicodeDecodeError as error:
        text = data.decode("utf-8-sig", "replace")
        if is_cut and error.reason == "unexpected end of data":
            # The cut went through a character, which is nobody's mistake.
            return text.rstrip("\ufffd"), None
        line = data.count(b"\n", 0, error.start) + 1
        message = f"Line {line} has bytes that are not UTF-8; they were replaced by U+FFFD."
        return text, diagnose("not-utf8", message, file=path, line=line)


def _choose_folders(rules: ContextRules, places: Places) -> list[str | None]:
    """The folders to search, nearest first; None for one that is left out, so that depths stay
    true.
    """
    is_below_home = f"{places.cwd}/".startswith(f"{places.home}/")
    is_repository_below_home = bool(places.repository) and is_below_home
    # omp passes the top of such a repository, and stops before home.
    if rules.past_repository_below_home and is_repository_below_home:
        walked = [folder for folder in ancestors(places, up_to="home") if folder != places.home]
    else:
        walked = ancestors(places, up_to=rules.up_to, without_repository=rules.without_repository)
    return [None if _is_left_out(folder, rules) else folder for folder in walked]


def _is_left_out(folder: str, rules: ContextRules) -> bool:
    if rules.hidden == "allow":
        return False
    # omp is documented to exclude every hidden folder of the path; the release checks the last.
    segments = list(filter(None, folder.replace("\\", "/").split("/")))
    judged = segments if rules.hidden == "any-segment" else segments[-1:]
    return any(part.startswith(".") for part in judged)
