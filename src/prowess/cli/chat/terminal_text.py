"""Rich text as the characters that a terminal gets: Markdown, tables and lines."""

from __future__ import annotations

import io
from typing import ClassVar

from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
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


class _LeftHeading(Heading):
    """A heading at the left, as the rest of a chat is."""

    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {"h1": "left"}


class _PlainCodeBlock(CodeBlock):
    """Code without empty lines around it; the blocks themselves are a line apart."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True, padding=(0, 2))


class _ChatMarkdown(Markdown):
    """Markdown without centred headings and without links that a terminal would open."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _LeftHeading,
        "fence": _PlainCodeBlock,
        "code_block": _PlainCodeBlock,
    }


def make_markdown(text: str) -> RenderableType:
    """What a model says. It is escaped first, so that it cannot steer the terminal."""
    return _ChatMarkdown(escape_text(text), code_theme=_CODE_THEME, hyperlinks=False)


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
