"""The formats of a catalog, by word. Tags and structure are the hosts'; the sentences are Prowess's
own.

A format makes one line (or block) per skill and a frame around them. It never sees raw text: the
context gives names, texts and locations ready for its markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from prowess.errors import UnknownFormat
from prowess.model.catalog import CatalogItem
from prowess.text.markup import escape_angles, escape_tags, escape_text, escape_xml, tidy_block


class FormatContext(msgspec.Struct, frozen=True):
    """What the frame and every line may draw on: heading, note, safe spellings, and what the
    agent's tools can do.

    `name`, `label` and `location` give the safe spelling of a skill's own; `text` makes a tidied
    text safe.
    """

    heading: str
    note: str
    name: Callable[[CatalogItem], str]
    label: Callable[[CatalogItem], str]
    location: Callable[[CatalogItem], str]
    text: Callable[[str], str]
    skill_urls: bool


RenderLine = Callable[[CatalogItem, str, FormatContext], str]
RenderFrame = Callable[[FormatContext], tuple[str, str]]

NO_SKILLS = "There are no skills at the moment."


def _no_frame(context: FormatContext) -> tuple[str, str]:
    return "", ""


class CatalogFormat(msgspec.Struct, frozen=True, kw_only=True):
    """How a catalog is written.

    `escapes` are the words of `escape.ESCAPES` that suit it, its own first. `blocks` lets texts
    keep their line breaks. `nothing` stands for an empty catalog; `no_skills` is the sentence of
    hosts that say so. `warns` adds a line about what was cut, where it fits.
    """

    line: RenderLine
    frame: RenderFrame = _no_frame
    escapes: tuple[str, ...]
    blocks: bool = False
    joint: str = "\n"
    nothing: str = ""
    no_skills: str = NO_SKILLS
    warns: bool = False


def _stack(*lines: str) -> str:
    """The lines that are not empty, each with its line break."""
    return "".join(f"{line}\n" for line in lines if line)


def _xml_line(item: CatalogItem, text: str, context: FormatContext) -> str:
    description = f"    <description>{context.text(text)}</description>\n" if text else ""
    location = f"    <location>{context.location(item)}</location>\n" if item.location else ""
    return f"  <skill>\n    <name>{context.name(item)}</name>\n{description}{location}  </skill>"


def _xml_frame(context: FormatContext) -> tuple[str, str]:
    return _stack(context.note, "<available_skills>"), "\n</available_skills>"


def _opencode_line(item: CatalogItem, text: str, context: FormatContext) -> str:
    return (
        f"  <skill>\n    <name>{context.name(item)}</name>\n   "
        f" <description>{context.text(text)}</description>\n   "
        f" <location>{context.location(item)}</location>\n  </skill>"
    )


_OPENCODE_SENTENCES = (
    "Every skill holds instructions and steps for one kind of task.",
    "When a task fits the description of a skill, load that skill with the skill tool.",
)


def _opencode_frame(context: FormatContext) -> tuple[str, str]:
    return _stack(*_OPENCODE_SENTENCES, context.note, "<available_skills>"), "\n</available_skills>"


def _bold_line(item: CatalogItem, text: str, context: FormatContext) -> str:
    name = f"- **{context.name(item)}**"
    return f"{name}: {context.text(text)}" if text else name


def _opencode_list_frame(context: FormatContext) -> tuple[str, str]:
    return (
        _stack(
            "Loads one of these skills into the conversation.", context.note, "## Available Skills"
        ),
        "",
    )


_OPENCLAW_RULES = (
    "Before you answer, go through the descriptions of the skills below.",
    (
        "- If exactly one skill clearly fits, read the SKILL.md at its location with the read tool"
        " and follow it."
    ),
    "- If several fit, choose the most specific one.",
    "- If none clearly fits, read none.",
    (
        "- Read at most one skill up front, and none before you have chosen it; never make up a"
        " location."
    ),
    "Relative paths in a skill start at the folder of its SKILL.md.",
)


def _openclaw_frame(context: FormatContext) -> tuple[str, str]:
    return (
        _stack(context.heading, *_OPENCLAW_RULES, context.note) + "\n<available_skills>\n",
        "\n</available_skills>",
    )


def _plain_line(item: CatalogItem, text: str, context: FormatContext) -> str:
    return f"- {context.name(item)}: {context.text(text)}" if text else f"- {context.name(item)}"


def _omp_frame(context: FormatContext) -> tuple[str, str]:
    rule = (
        "A skill that fits the task must be read first, as skill://NAME, before anything else is"
        " done."
    )
    return _stack(context.heading, rule, context.note, "<skills>"), "\n</skills>"


def _claude_line(item: CatalogItem, text: str, context: FormatContext) -> str:
    label = f" ({context.label(item)})" if item.label and item.label != item.name else ""
    name = f"- {context.name(item)}{label}"
    return f"{name}: {context.text(text)}" if text else name


def _claude_frame(context: FormatContext) -> tuple[str, str]:
    return _stack("These skills can be started with the Skill tool:", context.note) + "\n", ""


def _codex_line(item: CatalogItem, text: str, context: FormatContext) -> str:
    description = f" {context.text(text)}" if text else ""
    return f"- {context.name(item)}:{description} (file: {context.location(item)})"


def _codex_frame(context: FormatContext) -> tuple[str, str]:
    head = _stack(
        context.heading,
        "A skill is a folder of instructions; the file that is named beside it holds them.",
        context.note,
        "### Available skills",
    )
    tail = (
        "\n### How to use skills\n"
        "- Use a skill when the user names it or the task clearly fits its description.\n"
        "- Read its file first, and of the files beside it only what you need.\n"
        "- Where several fit, use the fewest that cover the task and say which."
    )
    return head, tail


def _json_line(item: CatalogItem, text: str, context: FormatContext) -> str:
    description = f', "description": "{context.text(text)}"' if text else ""
    location = f', "location": "{context.location(item)}"' if item.location else ""
    return f'{{"name": "{context.name(item)}"{description}{location}}}'


def _json_frame(context: FormatContext) -> tuple[str, str]:
    return (
        (f'{{"note": "{context.note}", "skills": [\n', "\n]}") if context.note else ("[\n", "\n]")
    )


def _markdown_line(item: CatalogItem, text: str, context: FormatContext) -> str:
    location = f" ({context.location(item)})" if item.location else ""
    return _bold_line(item, text, context) + location


def _markdown_frame(context: FormatContext) -> tuple[str, str]:
    return "".join(
        f"{part}\n\n" for part in (context.heading or "## Skills", context.note) if part
    ), ""


def _prowess_line(item: CatalogItem, text: str, context: FormatContext) -> str:
    line = _plain_line(item, text, context)
    return line if context.skill_urls or not item.location else f"{line} ({context.location(item)})"


def _prowess_frame(context: FormatContext) -> tuple[str, str]:
    how = (
        "read it as skill://NAME" if context.skill_urls else "read the file that is named beside it"
    )
    head = _stack(
        context.heading,
        f"A skill holds instructions for one kind of work. When one clearly fits the task, {how}"
        " before you begin and follow it; of several take the most specific, and where none fits"
        " read none.",
        context.note,
        "<available_skills>",
    )
    return head, "\n</available_skills>"


_XML = ("xml", "xml-apos")
_TEXT = ("text", "angles")

FORMATS: dict[str, CatalogFormat] = {
    "claude-lines": CatalogFormat(line=_claude_line, frame=_claude_frame, escapes=_TEXT),
    "codex-list": CatalogFormat(line=_codex_line, frame=_codex_frame, escapes=_TEXT),
    "json": CatalogFormat(
        line=_json_line,
        frame=_json_frame,
        escapes=("json",),
        blocks=True,
        joint=",\n",
        nothing="[]",
        no_skills="[]",
    ),
    "markdown": CatalogFormat(line=_markdown_line, frame=_markdown_frame, escapes=("markdown",)),
    "omp-list": CatalogFormat(line=_plain_line, frame=_omp_frame, escapes=_TEXT),
    "openclaw": CatalogFormat(
        line=_xml_line, frame=_openclaw_frame, escapes=_XML, blocks=True, warns=True
    ),
    "opencode-list": CatalogFormat(
        line=_bold_line, frame=_opencode_list_frame, escapes=("markdown",)
    ),
    "opencode-xml": CatalogFormat(
        line=_opencode_line,
        frame=_opencode_frame,
        escapes=_XML,
        blocks=True,
        no_skills="\n".join((*_OPENCODE_SENTENCES, NO_SKILLS)),
    ),
    "prowess": CatalogFormat(line=_prowess_line, frame=_prowess_frame, escapes=_TEXT),
    "xml": CatalogFormat(line=_xml_line, frame=_xml_frame, escapes=_XML, blocks=True),
}


def get_format(word: str) -> CatalogFormat:
    """The format of a word; raises `UnknownFormat`, which names the words that there are."""
    if word not in FORMATS:
        raise UnknownFormat(word, FORMATS)
    return FORMATS[word]


_LOOSE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_MARKDOWN = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        "\\": "\\\\",
        "`": "\\`",
        "*": "\\*",
        "[": "\\[",
        "]": "\\]",
        "~": "\\~",
        "|": "\\|",
    }
)


def escape_xml_apos(text: str) -> str:
    """All five characters that XML reserves as entities, with the other spelling of an apostrophe."""
    return escape_text(text).replace('"', "&quot;").replace("'", "&apos;")


def escape_markdown(text: str) -> str:
    """A text that Markdown shows letter by letter; an underscore inside a word may stand."""
    return _LOOSE_UNDERSCORE.sub(r"\\_", text.translate(_MARKDOWN))


def escape_json(text: str) -> str:
    """A JSON string without its quotes."""
    return msgspec.json.encode(text)[1:-1].decode()


def escape_body(body: str) -> str:
    """A body that cannot close the tag it stands in. All else stays: a body holds code, which
    entities would spoil.
    """
    return escape_tags(tidy_block(body), "always_skills", "skill_content")


ESCAPES: dict[str, Callable[[str], str]] = {
    "xml": escape_xml,
    "xml-apos": escape_xml_apos,
    "text": escape_text,
    "angles": escape_angles,
    "markdown": escape_markdown,
    "json": escape_json,
}
