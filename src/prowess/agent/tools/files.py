"""Read, Write, Edit, Glob and Grep, inside the project unless a rule allows more."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from prowess.agent.prompt_content import IMAGE_SUFFIXES, find_image
from prowess.agent.tools.plan import Access, IsCancelled, Plan
from prowess.discover.links import is_inside
from prowess.errors import UsageError
from prowess.errors.activation import Cancelled
from prowess.machine.project_files import FilePlace, FileText, ProjectFiles
from prowess.model.command import Command
from prowess.model.permission import Action, Decision
from prowess.ports import Runner
from prowess.text.differences import render_difference
from prowess.text.display import count_words
from prowess.text.globs import find_match

MOST_LINES = 2_000
MOST_COLUMNS = 2_000
MOST_FOUND = 500
_GREP_SECONDS = 30.0
_GREP_BYTES = 60_000
# As many as fit on a command line anywhere.
_GREP_FILES = 400
_GIT = ".git"


class SpecialPaths(msgspec.Struct, frozen=True, kw_only=True):
    """Files and folders with rules of their own, wherever the project is.

    `skills` are those of the skills that the model may load, which it may read. `hidden` are
    credentials and the state of Prowess, `config` is its settings folder: for these a rule must
    name the path. A skill in the settings folder can be read, one among credentials cannot.
    """

    skills: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    config: tuple[str, ...] = ()

    def find_closed_reason(self, place: FilePlace) -> str | None:
        """Why a file cannot be read without a rule that names it; None if it can."""
        if is_inside(place.path, self.hidden):
            return "it is hidden from the agent, like credentials"
        if is_inside(place.path, self.skills):
            return None
        return self._find_general_reason(place)

    def find_locked_reason(self, place: FilePlace) -> str | None:
        """Why a file cannot be written without a rule that names it; None if it can."""
        if is_inside(place.path, self.hidden):
            return "it is hidden from the agent, like credentials"
        return self._find_general_reason(place)

    def _find_general_reason(self, place: FilePlace) -> str | None:
        if is_inside(place.path, self.config):
            return "it is part of Prowess's settings"
        return None if place.is_inside else "it is outside the project"


class FileTools:
    """The tools that work with files. Each method plans one call.

    `find_special` gives the paths that are special now. `open_judge` gives what judges plans by the
    rules as they are now, as is done with every plan before it is carried out.
    """

    def __init__(
        self,
        files: ProjectFiles,
        runner: Runner,
        find_special: Callable[[], SpecialPaths],
        open_judge: Callable[[], Callable[[Plan], Decision]],
    ) -> None:
        self._files = files
        self._runner = runner
        self._find_special = find_special
        self._open_judge = open_judge

    def read(self, file_path: str, offset: int = 1, limit: int = MOST_LINES) -> Plan:
        """Read a text file, whose lines come back numbered, or an image.

        Args:
            file_path: The file, relative to the working folder or absolute.
            offset: The first line to read, counted from 1.
            limit: How many lines to read, at most 2,000.
        """
        place = self._files.locate(file_path)

        def run(is_cancelled: IsCancelled) -> str | list[Any]:
            if place.path.lower().endswith(IMAGE_SUFFIXES):
                image = find_image(self._files.load_bytes(place))
                # By its content: a file that is only named like an image is read as text.
                if image is not None:
                    return [f"The image {place.shown}:", image]
            return _number_lines(self._files.load_text(place), offset, limit)

        return self._plan_read(f"Read {place.shown}", ("read",), place, run, touched=place.path)

    def find_denial(self, file_path: str) -> str | None:
        """Why the rules keep the model from reading a file; None if they do not."""
        decision = self._open_judge()(self.read(file_path))
        return decision.reason if decision.action is Action.DENY else None

    def write(self, file_path: str, content: str) -> Plan:
        """Write a whole file, new or over an existing one. Missing folders are created.

        Args:
            file_path: The file, relative to the working folder or absolute.
            content: The whole text of the file.
        """
        place = self._files.locate(file_path)

        def change(old: FileText | None) -> FileText:
            return FileText(content, has_crlf=old is not None and old.has_crlf)

        return self._plan_change("Write", ("write", "edit"), place, change)

    def edit(
        self, file_path: str, old_string: str, new_string: str, *, replace_all: bool = False
    ) -> Plan:
        """Replace text in a file.

        Args:
            file_path: The file, relative to the working folder or absolute.
            old_string: The text to replace, exactly as it is in the file. It must occur once.
            new_string: The text to put there.
            replace_all: Replace every occurrence.
        """
        place = self._files.locate(file_path)

        def change(old: FileText | None) -> FileText:
            if old is None:
                raise UsageError(f"There is no file {place.shown}; create it with Write.")
            text = _replace_text(old.text, old_string, new_string, replace_all=replace_all)
            return FileText(text, has_crlf=old.has_crlf)

        return self._plan_change("Edit", ("edit",), place, change)

    def glob(self, pattern: str, path: str = ".") -> Plan:
        """List files whose path matches a pattern, such as `src/**/*.py`.

        What git ignores is left out.

        Args:
            pattern: A glob, relative to `path`. `**` crosses folders.
            path: The folder to search.
        """
        place = self._files.locate(path)
        # A pattern without a folder matches names at any depth, as people mean it.
        globs = (pattern,) if "/" in pattern else (pattern, f"**/{pattern}")

        permissions = ("glob", "read")

        def run(is_cancelled: IsCancelled) -> str:
            found = (
                one.shown
                for one in self._list_readable(place, permissions, is_cancelled)
                if find_match(posixpath.relpath(one.path, place.path), globs) is not None
            )
            return _list_some(list(islice(found, MOST_FOUND + 1)), "files")

        return self._plan_read(f"Glob {pattern}", permissions, place, run)

    def grep(
        self, pattern: str, path: str = ".", glob: str = "", *, ignore_case: bool = False
    ) -> Plan:
        """Find lines in files by an extended regular expression. What git ignores is left out.

        Args:
            pattern: The expression, as `grep -E` reads it.
            path: The file or folder to search.
            glob: Search only files whose name or path matches this pattern, such as `*.py`.
            ignore_case: Ignore the case of letters.
        """
        place = self._files.locate(path)
        globs = (glob, f"**/{glob}") if glob else ("**",)
        options = ("-i",) if ignore_case else ()
        permissions = ("grep", "read")

        def run(is_cancelled: IsCancelled) -> str:
            files = [
                one
                for one in self._list_readable(place, permissions, is_cancelled)
                if find_match(one.shown, globs) is not None
            ]
            return _list_some(self._search(pattern, options, files, is_cancelled), "lines")

        return self._plan_read(f"Grep {pattern}", permissions, place, run)

    def _search(
        self,
        pattern: str,
        options: Sequence[str],
        files: Sequence[FilePlace],
        is_cancelled: IsCancelled,
    ) -> list[str]:
        """The lines that match, found by a program: Python's own expressions can take forever."""
        matches: list[str] = []
        for at in range(0, len(files), _GREP_FILES):
            some = files[at : at + _GREP_FILES]
            argv = ("grep", "-nHIsE", *options, "-e", pattern, "--", *(one.path for one in some))
            command = Command(
                text=f"grep {pattern}",
                argv=argv,
                seconds=_GREP_SECONDS,
                output_bytes=_GREP_BYTES,
            )
            finished = self._runner.run(command, is_cancelled=is_cancelled)
            if finished.code is None:
                raise Cancelled(f"the search took longer than {_GREP_SECONDS:g} seconds")
            lines = finished.output.splitlines()
            # 1 means that nothing was found.
            if finished.code not in (0, 1):
                _check_complaint(lines, some)
            matches += _shorten_paths(lines, some)
            if len(matches) > MOST_FOUND:
                break
        return matches

    def _list_readable(
        self, place: FilePlace, permissions: tuple[str, ...], is_cancelled: IsCancelled
    ) -> Iterator[FilePlace]:
        """The files at a place that the rules let the model read.

        Permission for the search covers those about which a person would be asked by the same rule.
        """
        judge, special = self._open_judge(), self._resolve_special()

        def decide(file: FilePlace) -> Decision:
            access = _access(file, special.find_closed_reason(file))
            return judge(_make_read_plan("Read", permissions, access))

        own = decide(place)
        for file in self._files.list_files(place, is_cancelled=is_cancelled):
            decision = decide(file)
            is_covered = decision.action is Action.ASK and decision.rule == own.rule
            if decision.action is Action.ALLOW or is_covered:
                yield file

    def _plan_read(
        self,
        title: str,
        permissions: tuple[str, ...],
        place: FilePlace,
        run: Callable[[IsCancelled], str | list[Any]],
        *,
        touched: str | None = None,
    ) -> Plan:
        access = _access(place, self._resolve_special().find_closed_reason(place))
        if touched is None and self._files.find_kind(place) == "folder":
            # A rule for everything in a folder is also one for a search of it.
            names = (*access.names, f"{place.path}/*")
            access = msgspec.structs.replace(access, names=names)
        plan = _make_read_plan(title, permissions, access)
        return msgspec.structs.replace(plan, run=run, touched=touched)

    def _plan_change(
        self,
        tool: str,
        permissions: tuple[str, ...],
        place: FilePlace,
        change: Callable[[FileText | None], FileText],
    ) -> Plan:
        access = _access(place, self._resolve_special().find_locked_reason(place))
        # Hooks and settings of git start programs; a rule such as `Edit(*)` does not mean them.
        if _GIT in place.path.casefold().split("/"):
            access = msgspec.structs.replace(access, must_name=f"{_GIT}/")
        is_there = self._files.find_kind(place) is not None
        verb = "Overwrite" if tool == "Write" and is_there else tool
        refused = Plan(
            title=f"{verb} {place.shown}",
            permissions=permissions,
            accesses=(access,),
            default=Action.ASK,
            run=_fail_after_denial,
            touched=place.path,
            is_write=True,
        )
        # What the rules deny is not even read: an answer about the old text would tell of it.
        if self._open_judge()(refused).action is Action.DENY:
            return refused
        old = self._files.find_text(place)
        new = change(old)

        def run(is_cancelled: IsCancelled) -> str:
            # What was approved is the change from this text; another text needs another approval.
            if self._files.find_text(place) != old:
                raise UsageError(f"{place.shown} has changed in the meantime; read it again.")
            self._files.write_text(place, new)
            return f"{'Created' if old is None else 'Changed'} {place.shown}."

        return msgspec.structs.replace(
            refused,
            run=run,
            diff=render_difference(place.shown, old.text if old else "", new.text),
        )

    def _resolve_special(self) -> SpecialPaths:
        """The special paths with their links resolved, so that they can be compared as text."""
        special = self._find_special()

        def resolve(paths: Sequence[str]) -> tuple[str, ...]:
            return tuple(self._files.locate(path).path for path in paths)

        return SpecialPaths(
            skills=resolve(special.skills),
            hidden=resolve(special.hidden),
            config=resolve(special.config),
        )


def _access(place: FilePlace, closed: str | None) -> Access:
    names = (place.shown, place.path)
    if closed is None:
        return Access(names=names)
    return Access(names=names, needs_rule=True, closed_because=closed)


def _make_read_plan(title: str, permissions: tuple[str, ...], access: Access) -> Plan:
    return Plan(title=title, permissions=permissions, accesses=(access,), default=Action.ALLOW)


def _fail_after_denial(is_cancelled: IsCancelled) -> str:
    # Reached only if the rules change between the plan and its judgement.
    raise UsageError("The rules have changed in the meantime; try again.")


def _number_lines(text: FileText, offset: int, limit: int) -> str:
    lines = text.text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        return "The file is empty."
    first = max(offset, 1)
    if first > len(lines):
        length = count_words(len(lines), "line")
        raise UsageError(f"The file has {length}; line {first:,} does not exist.")
    count = min(max(limit, 1), MOST_LINES)
    shown = lines[first - 1 : first - 1 + count]
    numbered = [f"{number:6}\t{_cut(line)}" for number, line in enumerate(shown, first)]
    left = len(lines) - (first - 1 + len(shown))
    if left:
        more = count_words(left, "more line")
        numbered.append(f"[{more}; read on with offset={first + len(shown)}]")
    return "\n".join(numbered)


def _cut(line: str) -> str:
    if len(line) <= MOST_COLUMNS:
        return line
    left = count_words(len(line) - MOST_COLUMNS, "more character")
    return f"{line[:MOST_COLUMNS]}… [{left}]"


def _replace_text(text: str, old: str, new: str, *, replace_all: bool) -> str:
    if old in ("", new):
        raise UsageError("`old_string` must not be empty, and `new_string` must differ from it.")
    count = text.count(old)
    if count == 0:
        raise UsageError("`old_string` is not in the file; read it again and copy the exact text.")
    if count > 1 and not replace_all:
        raise UsageError(
            f"`old_string` occurs {count} times; add lines around it, or set `replace_all`."
        )
    return text.replace(old, new)


def _list_some(found: Sequence[str], what: str) -> str:
    if not found:
        return f"No {what} found."
    shown = [_cut(one) for one in found[:MOST_FOUND]]
    if len(found) > MOST_FOUND:
        shown.append(f"[more than {MOST_FOUND} {what}; narrow the search]")
    return "\n".join(shown)


def _check_complaint(lines: Sequence[str], files: Sequence[FilePlace]) -> None:
    """Raise what grep says about an expression; that a file cannot be read is no such thing."""
    paths = {one.path for one in files}
    for line in lines:
        # Output and errors come together here; a line that was found begins with its file.
        is_found_line = line.partition(":")[0] in paths
        program, _, problem = line.partition(": ")
        if program.endswith("grep") and not is_found_line:
            raise UsageError(f"{problem}.")


def _shorten_paths(lines: Sequence[str], files: Sequence[FilePlace]) -> list[str]:
    shown = {one.path: one.shown for one in files}
    shortened = []
    for line in lines:
        path, separator, rest = line.partition(":")
        shortened.append(f"{shown.get(path, path)}{separator}{rest}")
    return shortened
