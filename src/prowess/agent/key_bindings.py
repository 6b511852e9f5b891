"""The keys of the chat: its actions, the keys that start them, and the user's own key file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from prowess.errors import UsageError, nearest_names
from prowess.runtime import Skills
from prowess.settings.formats.toml import parse_toml
from prowess.state.edited_files import load_text
from prowess.text.display import escape_line

KeySequence = tuple[str, ...]


class KeyBinding(NamedTuple):
    """An action: sequences of keys as prompt_toolkit names them, their labels, and what it does."""

    keys: tuple[KeySequence, ...]
    labels: tuple[str, ...]
    summary: str


KeyMap = Mapping[str, KeyBinding]

KEYS: dict[str, KeyBinding] = {
    "send": KeyBinding(
        (("enter",),), ("Enter",), "Send. While the model is working, steer its next step."
    ),
    "follow-up": KeyBinding(
        (("c-s",),),
        ("Ctrl+S", "Ctrl+Enter"),
        "Send. While the model is working, deliver it when the model is done.",
    ),
    "new-line": KeyBinding(
        (("c-j",), ("escape", "enter")),
        ("Ctrl+J", "Alt+Enter", "Shift+Enter"),
        "Start a new line.",
    ),
    "interrupt": KeyBinding(
        (("escape",),), ("Esc",), "Interrupt; messages not sent yet return to the input."
    ),
    "cancel": KeyBinding(
        (("c-c",), ("<sigint>",)),
        ("Ctrl+C",),
        "Interrupt, or clear the line; twice on an empty line, quit.",
    ),
    "leave": KeyBinding((("c-d",),), ("Ctrl+D",), "Quit if the line is empty."),
    "unfold": KeyBinding((("c-o",),), ("Ctrl+O",), "Show the last call of a tool in full."),
    "complete": KeyBinding((("tab",),), ("Tab",), "Complete a command, a skill or a file."),
}

KEY_FILE = ".prowess/keybindings.toml"
"""The key file, below the home folder: a list of keys for each action that has others."""

# There must always be a way out, and a way to say something.
_FIXED = ("cancel", "leave")
_NEEDS_KEY = ("send", "interrupt")
_RESERVED = {
    "ctrl+c": "it always cancels",
    "ctrl+d": "it always quits",
    "ctrl+z": "terminals suspend a program with it",
}
# A terminal sends the same for both.
_SAME = {
    "ctrl+m": "Enter",
    "ctrl+i": "Tab",
    "ctrl+h": "Backspace",
    "ctrl+[": "Esc",
}
_NAMED: dict[str, KeySequence] = {
    "enter": ("enter",),
    "tab": ("tab",),
    "esc": ("escape",),
    "escape": ("escape",),
    "shift+tab": ("s-tab",),
    "alt+enter": ("escape", "enter"),
    # The chat reads these two as keys that every terminal has.
    "ctrl+enter": ("c-s",),
    "shift+enter": ("c-j",),
}
_CTRL = re.compile(r"ctrl\+([a-z])")
_ALT = re.compile(r"alt\+([a-z0-9])")
_FUNCTION = re.compile(r"f([1-9]|1[0-9]|2[0-4])")


def key_file_path(home: str) -> str:
    """Where the key file is."""
    return posixpath.join(home, KEY_FILE)


def load_keys(skills: Skills) -> KeyMap:
    """The keys of the chat: those of the key file if `features.keybindings` is on.

    Raises what `parse_keys` raises, and a `MachineError`.
    """
    if not skills.project.load_own_settings().features.get("keybindings", False):
        return KEYS
    path = key_file_path(skills.facts.home)
    return parse_keys(load_text(path) or "", path)


def parse_keys(text: str, file: str) -> KeyMap:
    """Every action with the keys of a key file, or its usual ones.

    Raises a `SettingError` for text that is not TOML, and a `UsageError` for an action or a key
    that cannot be used, and for a key with two actions.
    """
    bindings = dict(KEYS)
    for action, value in parse_toml(text, file).items():
        bindings[action] = _parse_binding(action, value, file)
    owners: dict[KeySequence, str] = {}
    for action, binding in bindings.items():
        for keys in binding.keys:
            other = owners.setdefault(keys, action)
            if other != action:
                label = _find_label(keys, binding)
                raise UsageError(
                    f"{file}: {label} is the key of both `{other}` and `{action}`; give one of"
                    " them another key."
                )
    return bindings


def _parse_binding(action: str, value: Any, file: str) -> KeyBinding:
    known = KEYS.get(action)
    if known is None or action in _FIXED:
        raise UsageError(f"{file}: {_explain_action(action)}")
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or any(not isinstance(one, str) for one in listed):
        raise UsageError(f'{file}: `{action}` must be a list of keys, such as ["ctrl+k"].')
    if not listed and action in _NEEDS_KEY:
        raise UsageError(f"{file}: `{action}` needs a key.")
    sequences = dict.fromkeys(_parse_key(one, file) for one in listed)
    labels = dict.fromkeys(_render_label(one) for one in listed)
    return KeyBinding(tuple(sequences), tuple(labels), known.summary)


def _explain_action(action: str) -> str:
    if action in _FIXED:
        return f"the key of `{action}` can't be changed; it is {KEYS[action].labels[0]}."
    free = [name for name in KEYS if name not in _FIXED]
    nearest = nearest_names(action, free)
    hint = f"did you mean `{nearest[0]}`?" if nearest else f"the actions are {', '.join(free)}."
    return f"there is no action `{escape_line(action)}`; {hint}"


def _parse_key(text: str, file: str) -> KeySequence:
    key = text.lower().replace(" ", "")
    label = _render_label(text)
    if key in _RESERVED:
        raise UsageError(f"{file}: {label} is reserved: {_RESERVED[key]}.")
    if key in _SAME:
        raise UsageError(f"{file}: {label} is the same as {_SAME[key]} in a terminal; use that.")
    sequence = _find_sequence(key)
    if sequence is None:
        raise UsageError(
            f"{file}: {label} can't be used as a key of the chat; use Ctrl or Alt with a letter, a"
            " function key, Enter, Tab or Esc."
        )
    return sequence


def _find_sequence(key: str) -> KeySequence | None:
    if key in _NAMED:
        return _NAMED[key]
    if match := _CTRL.fullmatch(key):
        return (f"c-{match[1]}",)
    if match := _ALT.fullmatch(key):
        # Terminals send Esc before the key.
        return ("escape", match[1])
    return (key,) if _FUNCTION.fullmatch(key) else None


def _render_label(text: str) -> str:
    key = escape_line(text).replace(" ", "")[:40]
    return "+".join(part[:1].upper() + part[1:].lower() for part in key.split("+"))


def _find_label(keys: KeySequence, binding: KeyBinding) -> str:
    at = binding.keys.index(keys)
    return binding.labels[at] if at < len(binding.labels) else binding.labels[0]


def list_bindings(bindings: KeyMap) -> Iterator[tuple[str, Sequence[str], str]]:
    """Every action that can have other keys, with its keys and what it does."""
    for action, binding in bindings.items():
        if action not in _FIXED:
            yield action, binding.labels, binding.summary
