"""Read, Write, Edit, Glob and Grep, inside the project unless a rule allows more."""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Callable, Sequence
from itertools import islice

from prowess.agent.tools.plan import Access, IsCancelled, Plan
from prowess.errors import UsageError
from prowess.errors.activation import Cancelled
from prowess.machine.project_files import FilePlace, FileText, ProjectFiles, is_below_any
from prowess.model.command import Command
from prowess.model.permission import Action
from prowess.ports import Runner
from prowess.text.globs import find_match

MOST_LINES = 2_000
MOST_COLUMNS = 2_000
MOST_FOUND = 500
_GREP_SECONDS = 30.0
_GREP_BYTES = 60_000
# As many as fit on a command line anywhere.
_GREP_FILES = 400
_MOST_DIFF_LINES = 400


class FileTools:
    """The tools that work with files. Each method plans one call.

    `list_skill_folders` gives the folders of the skills that the model may load, which it may read
    wherever they are.
    """

    def __init__(
        self, files: ProjectFiles, runner: Runner, list_skill_folders: Callable[[], Sequence[str]]
    ) -> None:
        self._files = files
        self._runner = runner
        self._list_skill_folders = list_skill_folders

    def read(self, file_path: str, offset: int = 1, limit: int = MOST_LINES) -> Plan:
        """Read a text file; its lines come back numbered.

        Args:
            file_path: The file, relative to the working folder or absolute.
            offset: The first line to read, counted from 1.
            limit: How many lines to read, at most 2,000.
        """
        place = self._files.locate(file_path)

        def run(is_cancelled: IsCancelled) -> str:
            return _number_lines(self._files.load_text(place), offset, limit)

        return self._plan_read(f"Read {place.shown}", ("read",), place, run, touched=place.path)

    def write(self, file_path: str, content: str) -> Plan:
        """Write a whole file: a new one, or in place of an old one. Missing folders are made.

        Args:
            file_path: The file, relative to the working folder or absolute.
            content: The whole text of the file.
        """
        place = self._files.locate(file_path)
        old = self._find_old(place)
        new = FileText(content, has_crlf=old is not None and old.has_crlf)
        verb = "Write" if old is None else "Overwrite"
        return self._plan_change(f"{verb} {place.shown}", ("write", "edit"), place, old, new)

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
        old = self._find_old(place)
        if old is None:
            raise UsageError(f"There is no file {place.shown}; create it with Write.")
        text = _replace_text(old.text, old_string, new_string, replace_all=replace_all)
        new = FileText(text, has_crlf=old.has_crlf)
        return self._plan_change(f"Edit {place.shown}", ("edit",), place, old, new)

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

        def run(is_cancelled: IsCancelled) -> str:
            found = (
                one.shown
                for one in self._files.list_files(place, is_cancelled=is_cancelled)
                if find_match(posixpath.relpath(one.path, place.path), globs) is not None
            )
            return _list_some(list(islice(found, MOST_FOUND + 1)), "files")

        return self._plan_read(f"Glob {pattern}", ("glob", "read"), place, run)

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

        def run(is_cancelled: IsCancelled) -> str:
            files = [
                one
                for one in self._files.list_files(place, is_cancelled=is_cancelled)
                if find_match(one.shown, globs) is not None
            ]
            return _list_some(self._search(pattern, options, files, is_cancelled), "lines")

        return self._plan_read(f"Grep {pattern}", ("grep", "read"), place, run)

    def _search(
        self,
        pattern: str,
        options: Sequence[str],
        files: Sequence[FilePlace],
        is_cancelled: IsCancelled,
    ) -> list[str]:
        """The lines that match, found by a program: Python's own expressions can take forever."""
        found: list[str] = []
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
            if finished.code not in (0, 1):
                _check_complaint(lines, some)
            found += _shorten_paths(lines, some)
            if len(found) > MOST_FOUND:
                break
        return found

    def _plan_read(
        self,
        title: str,
        permissions: tuple[str, ...],
        place: FilePlace,
        run: Callable[[IsCancelled], str],
        *,
        touched: str | None = None,
    ) -> Plan:
        is_open = place.is_inside or is_below_any(place.path, tuple(self._list_skill_folders()))
        access = Access(names=(place.shown, place.path), needs_rule=not is_open)
        return Plan(
            title=title,
            permissions=permissions,
            accesses=(access,),
            default=Action.ALLOW,
            run=run,
            touched=touched,
        )

    def _plan_change(
        self,
        title: str,
        permissions: tuple[str, ...],
        place: FilePlace,
        old: FileText | None,
        new: FileText,
    ) -> Plan:
        def run(is_cancelled: IsCancelled) -> str:
            # What was approved is the change from this text; another text needs another approval.
            if self._find_old(place) != old:
                raise UsageError(f"{place.shown} has changed meanwhile; read it again.")
            self._files.write_text(place, new)
            return f"{'Created' if old is None else 'Changed'} {place.shown}."

        access = Access(names=(place.shown, place.path), needs_rule=not place.is_inside)
        return Plan(
            title=title,
            permissions=permissions,
            accesses=(access,),
            default=Action.ASK,
            run=run,
            diff=_render_diff(place.shown, old.text if old else "", new.text),
            touched=place.path,
            is_write=True,
        )

    def _find_old(self, place: FilePlace) -> FileText | None:
        # The text of a file outside is not read before a rule allows it.
        return self._files.find_text(place) if place.is_inside else None


def _number_lines(text: FileText, offset: int, limit: int) -> str:
    lines = text.text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        return "The file is empty."
    first = max(offset, 1)
    if first > len(lines):
        raise UsageError(f"The file has {len(lines):,} lines; line {first:,} does not exist.")
    count = min(max(limit, 1), MOST_LINES)
    shown = lines[first - 1 : first - 1 + count]
    numbered = [f"{number:6}\t{_cut(line)}" for number, line in enumerate(shown, first)]
    left = len(lines) - (first - 1 + len(shown))
    if left:
        numbered.append(f"[{left:,} more lines; read on with offset={first + len(shown)}]")
    return "\n".join(numbered)


def _cut(line: str) -> str:
    if len(line) <= MOST_COLUMNS:
        return line
    return f"{line[:MOST_COLUMNS]}… [{len(line) - MOST_COLUMNS:,} more characters]"


def _replace_text(text: str, old: str, new: str, *, replace_all: bool) -> str:
    count = text.count(old) if old else 0
    if not old or old == new:
        raise UsageError("`old_string` must not be empty, and `new_string` must differ from it.")
    if count == 0:
        raise UsageError("`old_string` is not in the file; read it again and copy the exact text.")
    if count > 1 and not replace_all:
        raise UsageError(
            f"`old_string` occurs {count} times; add lines around it, or set `replace_all`."
        )
    return text.replace(old, new)


def _render_diff(name: str, old: str, new: str) -> str:
    """The change as a unified diff, without the end of a very long one."""
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), f"a/{name}", f"b/{name}", lineterm=""
    )
    shown = list(islice(lines, _MOST_DIFF_LINES + 1))
    if len(shown) > _MOST_DIFF_LINES:
        shown[-1] = "[the rest of the change is not shown]"
    return "\n".join(shown)


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
        program, _, problem = line.partition(": ")
        if line.partition(":")[0] not in paths and program.endswith("grep"):
            raise UsageError(f"{problem}.")


def _shorten_paths(lines: Sequence[str], files: Sequence[FilePlace]) -> list[str]:
    shown = {one.path: one.shown for one in files}
    shortened = []
    for line in lines:
        path, separator, rest = line.partition(":")
        shortened.append(f"{shown.get(path, path)}{separator}{rest}")
    return shortened
