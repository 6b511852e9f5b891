"""What can follow in the line: commands, skills, models, and files after an `@`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from prowess.cli.chat.chat import Chat
from prowess.cli.chat.local_commands import COMMANDS
from prowess.cli.chat.mentions import quote_mention
from prowess.machine.project_files import ProjectFiles
from prowess.reports.switch_plan import VISIBILITIES
from prowess.text.display import escape_line

_COMMAND = re.compile(r"[/$]\S*(?: .*)?")
_MENTION = re.compile(r'(?<![!-~])@("?[^\s"]*)$')
_MOST = 30
# Files that are looked at for one completion; a large project must not block the line.
_MOST_FILES = 5_000


class ChatCompleter(Completer):
    """Completes the first word of a line as a command, and words after `@` as files."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """What fits the text before the cursor, best first."""
        text = document.text_before_cursor
        mention = _MENTION.search(text)
        if mention is not None:
            yield from self._complete_files(mention[1].lstrip('"'), len(mention[1]))
            return
        if not _COMMAND.fullmatch(text):
            return
        word, space, argument = text.partition(" ")
        if not space:
            yield from self._complete_commands(word)
        else:
            yield from self._complete_arguments(word, argument)

    def _complete_commands(self, typed: str) -> Iterator[Completion]:
        for name, command in COMMANDS.items():
            text = f"/{name}"
            # `$` is for skills only.
            is_begun = typed.startswith("/") and text.startswith(typed)
            if is_begun:
                meta = escape_line(command.summary)
                yield Completion(text, -len(typed), display_meta=meta)
        conversation = self._chat.session.conversation
        for found in conversation.complete(typed, most=_MOST):
            # What the skill says about itself must not steer the terminal.
            meta = escape_line(f"{found.hint} {found.command.description}".strip())
            if found.command.name.isprintable():
                yield Completion(found.text, -len(typed), display_meta=meta)

    def _complete_arguments(self, command: str, typed: str) -> Iterator[Completion]:
        words: Iterable[str] = ()
        if command == "/skills" and " " in typed:
            typed = typed.rpartition(" ")[2]
            words = VISIBILITIES
        elif command == "/model":
            words = self._chat.skills.project.load_own_settings().agent.models
        elif command == "/skills":
            words = (one.name for one in self._chat.skills.snapshot.outcomes)
        elif command[1:] in COMMANDS:
            words = COMMANDS[command[1:]].choices
        for word in sorted(set(words)):
            if word.startswith(typed) and word.isprintable():
                yield Completion(word, -len(typed))

    def _complete_files(self, typed: str, length: int) -> Iterator[Completion]:
        for path in _find_files(typed, self._chat):
            yield Completion(quote_mention(path)[1:], -length, display=escape_line(path))


def _find_files(typed: str, chat: Chat) -> list[str]:
    """Paths that begin with what was typed, then those that contain it; what git ignores is left
    out.
    """
    snapshot = chat.skills.snapshot
    root = snapshot.repository or snapshot.cwd
    files = ProjectFiles(root, snapshot.cwd, home=chat.skills.facts.home)
    first: list[str] = []
    others: list[str] = []
    for number, place in enumerate(files.list_files(files.locate("."))):
        if number == _MOST_FILES or len(first) == _MOST:
            break
        if not place.shown.isprintable():
            continue
        if place.shown.startswith(typed):
            first.append(place.shown)
        elif typed.casefold() in place.shown.casefold():
            others.append(place.shown)
    # The walk lists files only, and a folder can be mentioned, too.
    folders = dict.fromkeys(f"{os.path.dirname(path)}/" for path in first if "/" in path)
    fitting = [folder for folder in folders if folder.startswith(typed)]
    first.sort(key=lambda path: (path.count("/"), path))
    others.sort(key=lambda path: _rank(path, typed))
    return [*first, *fitting, *others][:_MOST]


def _rank(path: str, typed: str) -> tuple[bool, bool, str]:
    """Where a path comes that only contains what was typed: names that begin with it are first."""
    is_hidden = path.startswith(".") or "/." in path
    begins = os.path.basename(path).casefold().startswith(typed.casefold())
    return not begins, is_hidden, path
