"""Keys that terminals send in several ways, and how to ask a terminal to tell them apart."""

from __future__ import annotations

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
