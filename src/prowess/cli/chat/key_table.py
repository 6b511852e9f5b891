"""The keys of the chat, as data: actions, the keys that start them, and what each does."""

from __future__ import annotations

from typing import NamedTuple


class KeyBinding(NamedTuple):
    """An action: sequences of keys as prompt_toolkit names them, their labels, and what it does."""

    keys: tuple[tuple[str, ...], ...]
    labels: tuple[str, ...]
    summary: str


KEYS: dict[str, KeyBinding] = {
    "send": KeyBinding(
        (("enter",),), ("Enter",), "Send. While the model works, it steers its next step."
    ),
    "follow-up": KeyBinding(
        (("c-s",),),
        ("Ctrl+S", "Ctrl+Enter"),
        "Send. While the model works, it waits until the model would stop.",
    ),
    "new-line": KeyBinding(
        (("c-j",), ("escape", "enter")),
        ("Ctrl+J", "Alt+Enter", "Shift+Enter"),
        "Begin a new line.",
    ),
    "interrupt": KeyBinding(
        (("escape",),), ("Esc",), "Interrupt; what the model has not received comes back."
    ),
    "cancel": KeyBinding(
        (("c-c",), ("<sigint>",)),
        ("Ctrl+C",),
        "Interrupt, or clear the line; twice on an empty line, leave.",
    ),
    "leave": KeyBinding((("c-d",),), ("Ctrl+D",), "Leave, if the line is empty."),
    "unfold": KeyBinding((("c-o",),), ("Ctrl+O",), "Show the last call of a tool in full."),
    "complete": KeyBinding((("tab",),), ("Tab",), "Complete a command, a skill or a file."),
}

# What terminals send for keys that are the same as others in old ones. The first of each pair is
# that of the kitty protocol and of tmux, the second that of xterm.
MODIFIED_KEYS: dict[str, str] = {
    "\x1b[13;5u": "c-s",
    "\x1b[27;5;13~": "c-s",
    "\x1b[13;2u": "c-j",
    "\x1b[27;2;13~": "c-j",
}
# Ask a terminal to tell those keys apart, and to stop. Others keep what they send.
TELL_KEYS_APART = "\x1b[>4;1m"
FORGET_KEYS = "\x1b[>4;0m"
