"""What was typed before, in a private file of the user."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from prompt_toolkit.history import History

from prowess.errors import MachineError
from prowess.machine.append_file import AppendFile, read_lines
from prowess.model.facts import Facts
from prowess.state.folders import state_folder

_MOST = 1_000


class ChatHistory(History):
    """One JSON string per line, because a text may have several lines itself.

    A file that cannot be read or written costs the history, and nothing else.
    """

    def __init__(self, facts: Facts) -> None:
        super().__init__()
        self._path = f"{state_folder(facts)}/chat-history.jsonl"

    def load_history_strings(self) -> Iterable[str]:
        """The last texts, newest first."""
        try:
            lines, _ = read_lines(self._path)
        except MachineError:
            # A chat without its history is still a chat.
            return
        for line in reversed(lines[-_MOST:]):
            try:
                yield msgspec.json.decode(line, type=str)
            except (msgspec.DecodeError, UnicodeDecodeError):
                # A line that was damaged; the others still count.
                continue

    def store_string(self, string: str) -> None:
        """Add a text at the end."""
        try:
            file = AppendFile.open(self._path)
            file.append(msgspec.json.encode(string))
            file.close()
        except (MachineError, UnicodeEncodeError):
            # What was typed is sent all the same; only the arrow keys will not find it.
            return
