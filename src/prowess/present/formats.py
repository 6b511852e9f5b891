"""The formats of a catalog, by word. Tags and structure are the hosts'; the sentences are our own.

A format makes one line (or block) per skill and a frame around them. It never sees raw text: its
context returns names, texts and locations that are safe for its markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from prowess.errors import UnknownFormat
from prowess.model.catalog import CatalogItem
from prowess.text.markup import escape_angles, escape_text, escape_xml

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
    """All five characters that XML reserves as entities, with `&apos;` for the apostrophe."""
    return escape_text(text).replace('"', "&quot;").replace("'", "&apos;")


def escape_markdown(text: str) -> str:
    """A text that Markdown shows literally; an underscore inside a word needs no escape."""
    return _LOOSE_UNDERSCORE.sub(r"\\_", text.translate(_MARKDOWN))


def escape_json(text: str) -> str:
    """A JSON string without its quotes."""
    return msgspec.json.encode(text)[1:-1].decode()


ESCAPES: dict[str, Callable[[str], str]] = {
    "xml": escape_xml,
    "xml-apos": escape_xml_apos,
    "text": escape_text,
    "angles": escape_angles,
    "markdown": escape_markdown,
    "json": escape_json,
}


class FormatContext(msgspec.Struct, frozen=True):
    """What the frame and every line are made from.

    `name`, `label` and `location` return those of a skill, escaped; `text` escapes a tidied text.
    `skill_urls` says whether the agent's tools can read `skill://`. `roots` are the aliases with
    which locations begin, each with its folder.
    """

    heading: str
    note: str
    name: Callable[[CatalogItem], str]
    label: Callable[[CatalogItem], str]
    location: Callable[[CatalogItem], str]
    text: Callable[[str], str]
    skill_urls: bool
    roots: tuple[tuple[str, str], ...] = ()


RenderLine = Callable[[CatalogItem, str, FormatContext], str]
RenderFrame = Callable[[FormatContext], tuple[str, str]]

NO_SKILLS = "No skills are available."


def _no_frame(context: FormatContext) -> tuple[str, str]:
    return "", ""


class FormatSpec(msgspec.Struct, frozen=True, kw_only=True):
    """How a catalog is written.

    `escapes` are the words of `ESCAPES` that suit it, its own first. `blocks` lets texts keep their
    line breaks. `nothing` is the text of an empty catalog; `no_skills` that of hosts that say so.
    `warns` adds a line about what was cut, if it fits. `name_list` writes one line of the names
    that have no entry of their own and says how many more there are. `aliases` lets locations begin
    with a short name for their root.
    """

    line: RenderLine
    frame: RenderFrame = _no_frame
    escapes: tuple[str, ...]
    blocks: bool = False
    joint: str = "\n"
    nothing: str = ""
    no_skills: str = NO_SKILLS
    warns: bool = False
    aliases: bool = False
    name_list: Callable[[list[str], int], str] | None = None


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
    # opencode writes every tag, even around an empty text.
    return (
        "  <skill>\n"
        f"    <name>{context.name(item)}</name>\n"
        f"    <description>{context.text(text)}</description>\n"
        f"    <location>{context.location(item)}</location>\n"
        "  </skill>"
    )


_OPENCODE_SENTENCES = (
    "Each skill has instructions for one kind of task.",
    "When a task matches the description of a skill, load that skill with the skill tool.",
)


def _opencode_frame(context: FormatContext) -> tuple[str, str]:
    head = _stack(*_OPENCODE_SENTENCES, context.note, "<available_skills>")
    return head, "\n</available_skills>"


def _bold_line(item: CatalogItem, text: str, context: FormatContext) -> str:
    name = f"- **{context.name(item)}**"
    return f"{name}: {context.text(text)}" if text else name


def _opencode_list_frame(context: FormatContext) -> tuple[str, str]:
    purpose = "Loads one of these skills into the conversation."
    return _stack(purpose, context.note, "## Available Skills"), ""


_OPENCLAW_RULES = """\
Before you answer, check the descriptions of the skills below.
- If exactly one skill clearly fits, read the SKILL.md at its location with the read tool and \
follow it.
- If several fit, choose the most specific one.
- If none clearly fits, read none.
- Read at most one skill up front, and none before you have chosen it; never guess a location.
Relative paths in a skill are relative to the folder of its SKILL.md."""


def _openclaw_frame(context: FormatContext) -> tuple[str, str]:
    head = _stack(context.heading, _OPENCLAW_RULES, context.note)
    return f"{head}\n<available_skills>\n", "\n</available_skills>"


def _plain_line(item: CatalogItem, text: str, context: FormatContext) -> str:
    name = f"- {context.name(item)}"
    return f"{name}: {context.text(text)}" if text else name


def _omp_frame(context: FormatContext) -> tuple[str, str]:
    rule = "If a skill fits the task, read it as skill://NAME before you do anything else."
    return _stack(context.heading, rule, context.note, "<skills>"), "\n</skills>"


def _claude_line(item: CatalogItem, text: str, context: FormatContext) -> str:
    name = f"- {context.name(item)}"
    # In Claude Code the folder names a skill, and the header's `name` is a second name for it.
    if item.label and item.label != item.name:
        name += f" ({context.label(item)})"
    return f"{name}: {context.text(text)}" if text else name


def _claude_frame(context: FormatContext) -> tuple[str, str]:
    head = _stack("You can load these skills with the Skill tool:", context.note)
    return f"{head}\n", ""


def _codex_line(item: CatalogItem, text: str, context: FormatContext) -> str:
    description = f" {context.text(text)}" if text else ""
    return f"- {context.name(item)}:{description} (file: {context.location(item)})"


def render_root(alias: str, root: str) -> str:
    """The line of a root in the table of roots."""
    return f"- `{alias}` = `{root}`"


def _codex_frame(context: FormatContext) -> tuple[str, str]:
    where = " Paths begin with a name from the table of roots." if context.roots else ""
    what = (
        "A skill is a set of instructions in the file that is listed with it. Use one when the user"
        " names it or the task clearly fits its description, and read its file first."
    )
    table = [render_root(alias, root) for alias, root in context.roots]
    roots = ("### Skill roots", *table) if table else ()
    head = _stack(
        "<skills_instructions>",
        context.heading,
        what + where,
        context.note,
        *roots,
        "### Available skills",
    )
    return head, "\n</skills_instructions>"


def _json_line(item: CatalogItem, text: str, context: FormatContext) -> str:
    description = f', "description": "{context.text(text)}"' if text else ""
    location = f', "location": "{context.location(item)}"' if item.location else ""
    return f'{{"name": "{context.name(item)}"{description}{location}}}'


def _json_frame(context: FormatContext) -> tuple[str, str]:
    # A list has no place for a note, so with one it becomes a field of an object.
    if context.note:
        return f'{{"note": "{context.note}", "skills": [\n', "\n]}"
    return "[\n", "\n]"


def _markdown_line(item: CatalogItem, text: str, context: FormatContext) -> str:
    line = _bold_line(item, text, context)
    return f"{line} ({context.location(item)})" if item.location else line


def _markdown_frame(context: FormatContext) -> tuple[str, str]:
    heading = context.heading or "## Skills"
    note = f"{context.note}\n\n" if context.note else ""
    return f"{heading}\n\n{note}", ""


def _prowess_line(item: CatalogItem, text: str, context: FormatContext) -> str:
    line = _plain_line(item, text, context)
    # `skill://NAME` is enough to read a skill; a path would only cost tokens.
    if context.skill_urls or not item.location:
        return line
    return f"{line} ({context.location(item)})"


def _prowess_frame(context: FormatContext) -> tuple[str, str]:
    how = "read it as skill://NAME" if context.skill_urls else "read the file listed with it"
    rule = (
        f"A skill has instructions for one kind of work. If one clearly fits the task, {how} before"
        " you start and follow it. If several fit, use the most specific; if none fits, read none."
    )
    head = _stack(context.heading, rule, context.note, "<available_skills>")
    return head, "\n</available_skills>"


def _gemini_frame(context: FormatContext) -> tuple[str, str]:
    what = "A skill has instructions for one kind of task; load it with `activate_skill`."
    head = _stack(context.heading, "", what, context.note)
    return f"{head}\n<available_skills>\n", "\n</available_skills>"


def _pi_frame(context: FormatContext) -> tuple[str, str]:
    head = _stack(
        "These skills have instructions for one kind of task.",
        "Read the file of a skill with the read tool when the task matches its description.",
        "Relative paths in a skill are relative to the folder of its file.",
        context.note,
    )
    return f"{head}\n<available_skills>\n", "\n</available_skills>"


# Copilot and Qwen Code write whose a skill is in place of where it is, each in words of its own.
_SCOPE_WORDS = {"bundled": "builtin", "added": "custom"}


def _copilot_line(item: CatalogItem, text: str, context: FormatContext) -> str:
    return (
        "<skill>\n"
        f"  <name>{context.name(item)}</name>\n"
        f"  <description>{context.text(text)}</description>\n"
        f"  <location>{_SCOPE_WORDS.get(item.scope, item.scope)}</location>\n"
        "</skill>"
    )


def _copilot_names(names: list[str], more: int) -> str:
    rest = f" ... and {more:,} more" if more else ""
    return f"\nAdditional skills available (invoke by name): {', '.join(names)}{rest}"


_LEVEL_WORDS = {"plugin": "extension", "added": "user"}


def _qwen_line(item: CatalogItem, text: str, context: FormatContext) -> str:
    level = _LEVEL_WORDS.get(item.scope, item.scope)
    description = f"{context.text(text)} ({level})".strip()
    values = {"name": context.name(item), "description": description, "location": level}
    inside = "\n".join(f"<{tag}>\n{value}\n</{tag}>" for tag, value in values.items())
    return f"<skill>\n{inside}\n</skill>"


def _qwen_frame(context: FormatContext) -> tuple[str, str]:
    what = "These skills can be loaded with the skill tool:"
    head = _stack("<system-reminder>", what, context.note, "<available_skills>")
    return head, "\n</available_skills>\n</system-reminder>"


_XML = ("xml", "xml-apos")
_TEXT = ("text", "angles")

FORMATS: dict[str, FormatSpec] = {
    "claude-lines": FormatSpec(line=_claude_line, frame=_claude_frame, escapes=_TEXT),
    "codex-list": FormatSpec(line=_codex_line, frame=_codex_frame, escapes=_TEXT, aliases=True),
    "copilot-xml": FormatSpec(
        line=_copilot_line,
        frame=_xml_frame,
        escapes=_XML,
        blocks=True,
        name_list=_copilot_names,
    ),
    "gemini-xml": FormatSpec(line=_opencode_line, frame=_gemini_frame, escapes=_XML, blocks=True),
    "json": FormatSpec(
        line=_json_line,
        frame=_json_frame,
        escapes=("json",),
        blocks=True,
        joint=",\n",
        nothing="[]",
        no_skills="[]",
    ),
    "markdown": FormatSpec(line=_markdown_line, frame=_markdown_frame, escapes=("markdown",)),
    "omp-list": FormatSpec(line=_plain_line, frame=_omp_frame, escapes=_TEXT),
    "openclaw": FormatSpec(
        line=_xml_line, frame=_openclaw_frame, escapes=_XML, blocks=True, warns=True
    ),
    "opencode-list": FormatSpec(line=_bold_line, frame=_opencode_list_frame, escapes=("markdown",)),
    "opencode-xml": FormatSpec(
        line=_opencode_line,
        frame=_opencode_frame,
        escapes=_XML,
        blocks=True,
        no_skills="\n".join((*_OPENCODE_SENTENCES, NO_SKILLS)),
    ),
    "pi-xml": FormatSpec(line=_opencode_line, frame=_pi_frame, escapes=_XML, blocks=True),
    "qwen-xml": FormatSpec(line=_qwen_line, frame=_qwen_frame, escapes=_XML, blocks=True),
    "prowess": FormatSpec(line=_prowess_line, frame=_prowess_frame, escapes=_TEXT),
    "xml": FormatSpec(line=_xml_line, frame=_xml_frame, escapes=_XML, blocks=True),
}


def get_format(word: str) -> FormatSpec:
    """The format of a word; raises `UnknownFormat`, which lists the known ones."""
    if word not in FORMATS:
        raise UnknownFormat(word, FORMATS)
    return FORMATS[word]
