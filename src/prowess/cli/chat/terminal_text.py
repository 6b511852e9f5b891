"""Rich text as the characters that a terminal gets: Markdown, tables and lines."""

from __future__ import annotations

import io
from typing import ClassVar

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement, Paragraph
from rich.segment import Segment
from rich.syntax import Syntax
from rich.theme import Theme

from prowess.text.display import escape_text

# Colours of the terminal itself, so that light and dark ones both work.
_THEME = Theme(
    {
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.code": "cyan",
        "markdown.code_block": "",
        "markdown.item.bullet": "bold",
        "markdown.item.number": "bold",
        "markdown.table.header": "bold",
        "markdown.table.border": "dim",
        "markdown.link": "underline",
        "markdown.link_url": "dim",
    }
)
_CODE_THEME = "ansi_dark"
# Punctuation that begins no line, and that ends none.
_NEVER_FIRST = "，。、；：！？）》」』】〉”’…,.;:!?)]}"
_NEVER_LAST = "（《「『【〈“‘([{"


class _LeftHeading(Heading):
    """A heading at the left, as the rest of a chat is."""

    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {"h1": "left"}


class _PlainCodeBlock(CodeBlock):
    """Code without empty lines around it; the blocks themselves are a line apart."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True, padding=(0, 2))


class _WrappedParagraph(Paragraph):
    """A paragraph whose lines also end between Chinese, Japanese and Korean characters."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.text.split("\n", allow_blank=True):
            yield from line.divide(find_breaks(line.plain, options.max_width))


class _ChatMarkdown(Markdown):
    """Markdown without centred headings and without links that a terminal would open."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _LeftHeading,
        "paragraph_open": _WrappedParagraph,
        "fence": _PlainCodeBlock,
        "code_block": _PlainCodeBlock,
    }


class _Trimmed:
    """Something without the empty lines at its ends, which tables and others bring."""

    def __init__(self, inner: RenderableType) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._inner, options, pad=False)
        filled = [at for at, line in enumerate(lines) if any(one.text.strip() for one in line)]
        if not filled:
            return
        for line in lines[filled[0] : filled[-1] + 1]:
            yield from line
            yield Segment.line()


def make_markdown(text: str) -> RenderableType:
    """What a model says. It is escaped first, so that it cannot steer the terminal."""
    return _Trimmed(_ChatMarkdown(escape_text(text), code_theme=_CODE_THEME, hyperlinks=False))


def find_breaks(line: str, width: int) -> list[int]:
    """Where a line is broken so that each part fits: at blanks, and around wide characters."""
    breaks: list[int] = []
    cells = 0
    possible = start = 0
    for at, character in enumerate(line):
        if at > start and _can_break(line[at - 1], character):
            possible = at
        size = cell_len(character)
        # Blanks at the end of a line take no room.
        if cells + size > width and not character.isspace():
            start = possible if possible > start else at
            breaks.append(start)
            cells = cell_len(line[start:at])
        cells += size
    return breaks


def _can_break(before: str, after: str) -> bool:
    if before.isspace():
        return not after.isspace()
    is_wide = cell_len(before) == 2 or cell_len(after) == 2
    return is_wide and after not in _NEVER_FIRST and before not in _NEVER_LAST


def render_terminal(shown: RenderableType, *, width: int) -> str:
    """Text with colours, as far as the terminal and NO_COLOR allow, with the end of its line."""
    console = Console(
        file=io.StringIO(),
        force_terminal=True,
        width=max(width, 20),
        theme=_THEME,
        highlight=False,
        markup=False,
        emoji=False,
    )
    with console.capture() as captured:
        console.print(shown)
    return "".join(f"{line.rstrip(' ')}\n" for line in captured.get().splitlines())
