"""A word of a script as the scanner reads it."""

from __future__ import annotations


class ScannedWord:
    """A word of a command, without its quotes and with its values; expansions are as written.

    `assigns` is the variable that it sets, `bare` are its expansions without quotes, `before_value`
    is the text before its first value. `marks` say what is in it: a `value`, a `split` one, an
    `expansion` or a `command` that bash fills in, a `glob`, a `brace`, a `slash`, a `quote`;
    `begun` means that its first character is known.
    """

    def __init__(self, start: int) -> None:
        self.start = start
        self.text = ""
        self.assigns = ""
        self.before_value = ""
        self.bare: list[tuple[int, int]] = []
        self.marks: set[str] = set()

    def add(self, text: str) -> None:
        """Add text that bash takes as it is."""
        self.text += text
        if text:
            self.marks.add("begun")
        if "/" in text:
            self.marks.add("slash")

    def take_value(self) -> None:
        """Note that an argument may come next."""
        if not self.takes_value:
            self.before_value = self.text
        self.marks.add("value")

    @property
    def takes_value(self) -> bool:
        """Whether an argument may be in it."""
        return "value" in self.marks

    @property
    def is_literal(self) -> bool:
        """Whether bash takes the whole word as it is."""
        return self.marks.isdisjoint(("value", "expansion", "command", "glob", "brace"))
