"""The formats of a catalog, by word. Tags and structure are the hosts'; the sentences are Prowess's
own.

A format makes one line (or block) per skill and a frame around them. It never sees raw text: the
scene gives names, texts and locations ready for its markup.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from prowess.errors import UnknownFormat
from prowess.model.catalog import CatalogItem


class Scene(msgspec.Struct, frozen=True):
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


Line = Callable[[CatalogItem, str, Scene], str]
Frame = Callable[[Scene], tuple[str, str]]

NO_SKILLS = "There are no skills at the moment."


def _no_frame(scene: Scene) -> tuple[str, str]:
    return "", ""


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """How a catalog is written.

    `escapes` are the words of `escape.ESCAPES` that suit it, its own first. `blocks` lets texts
    keep their line breaks. `nothing` stands for an empty catalog; `no_skills` is the sentence of
    hosts that say so. `warns` adds a line about what was cut, where it fits.
    """

    line: Line
    frame: Frame = _no_frame
    escapes: tuple[str, ...]
    blocks: bool = False
    joint: str = "\n"
    nothing: str = ""
    no_skills: str = NO_SKILLS
    warns: bool = False


def _stack(*lines: str) -> str:
    """The lines that are not empty, each with its line break."""
    return "".join(f"{line}\n" for line in lines if line)


def _xml_line(item: CatalogItem, text: str, scene: Scene) -> str:
    description = f"    <description>{scene.text(text)}</description>\n" if text else ""
    location = f"    <location>{scene.location(item)}</location>\n" if item.location else ""
    return f"  <skill>\n    <name>{scene.name(item)}</name>\n{description}{location}  </skill>"


def _xml_frame(scene: Scene) -> tuple[str, str]:
    return _stack(scene.note, "<available_skills>"), "\n</available_skills>"


def _opencode_line(item: CatalogItem, text: str, scene: Scene) -> str:
    return (
        f"  <skill>\n    <name>{scene.name(item)}</name>\n   "
        f" <description>{scene.text(text)}</description>\n   "
        f" <location>{scene.location(item)}</location>\n  </skill>"
    )


_OPENCODE_SENTENCES = (
    "Every skill holds instructions and steps for one kind of task.",
    "When a task fits the description of a skill, load that skill with the skill tool.",
)


def _opencode_frame(scene: Scene) -> tuple[str, str]:
    return _stack(*_OPENCODE_SENTENCES, scene.note, "<available_skills>"), "\n</available_skills>"


def _bold_line(item: CatalogItem, text: str, scene: Scene) -> str:
    name = f"- **{scene.name(item)}**"
    return f"{name}: {scene.text(text)}" if text else name


def _opencode_list_frame(scene: Scene) -> tuple[str, str]:
    return (
        _stack(
            "Loads one of these skills into the conversation.", scene.note, "## Available Skills"
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


def _openclaw_frame(scene: Scene) -> tuple[str, str]:
    return (
        _stack(scene.heading, *_OPENCLAW_RULES, scene.note) + "\n<available_skills>\n",
        "\n</available_skills>",
    )


def _plain_line(item: CatalogItem, text: str, scene: Scene) -> str:
    return f"- {scene.name(item)}: {scene.text(text)}" if text else f"- {scene.name(item)}"


def _omp_frame(scene: Scene) -> tuple[str, str]:
    rule = (
        "A skill that fits the task must be read first, as skill://NAME, before anything else is"
        " done."
    )
    return _stack(scene.heading, rule, scene.note, "<skills>"), "\n</skills>"


def _claude_line(item: CatalogItem, text: str, scene: Scene) -> str:
    label = f" ({scene.label(item)})" if item.label and item.label != item.name else ""
    name = f"- {scene.name(item)}{label}"
    return f"{name}: {scene.text(text)}" if text else name


def _claude_frame(scene: Scene) -> tuple[str, str]:
    return _stack("These skills can be started with the Skill tool:", scene.note) + "\n", ""


def _codex_line(item: CatalogItem, text: str, scene: Scene) -> str:
    description = f" {scene.text(text)}" if text else ""
    return f"- {scene.name(item)}:{description} (file: {scene.location(item)})"


def _codex_frame(scene: Scene) -> tuple[str, str]:
    head = _stack(
        scene.heading,
        "A skill is a folder of instructions; the file that is named beside it holds them.",
        scene.note,
        "### Available skills",
    )
    tail = (
        "\n### How to use skills\n"
        "- Use a skill when the user names it or the task clearly fits its description.\n"
        "- Read its file first, and of the files beside it only what you need.\n"
        "- Where several fit, use the fewest that cover the task and say which."
    )
    return head, tail


def _json_line(item: CatalogItem, text: str, scene: Scene) -> str:
    description = f', "description": "{scene.text(text)}"' if text else ""
    location = f', "location": "{scene.location(item)}"' if item.location else ""
    return f'{{"name": "{scene.name(item)}"{description}{location}}}'


def _json_frame(scene: Scene) -> tuple[str, str]:
    return (f'{{"note": "{scene.note}", "skills": [\n', "\n]}") if scene.note else ("[\n", "\n]")


def _markdown_line(item: CatalogItem, text: str, scene: Scene) -> str:
    location = f" ({scene.location(item)})" if item.location else ""
    return _bold_line(item, text, scene) + location


def _markdown_frame(scene: Scene) -> tuple[str, str]:
    return "".join(f"{part}\n\n" for part in (scene.heading or "## Skills", scene.note) if part), ""


def _prowess_line(item: CatalogItem, text: str, scene: Scene) -> str:
    line = _plain_line(item, text, scene)
    return line if scene.skill_urls or not item.location else f"{line} ({scene.location(item)})"


def _prowess_frame(scene: Scene) -> tuple[str, str]:
    how = "read it as skill://NAME" if scene.skill_urls else "read the file that is named beside it"
    head = _stack(
        scene.heading,
        f"A skill holds instructions for one kind of work. When one clearly fits the task, {how}"
        " before you begin and follow it; of several take the most specific, and where none fits"
        " read none.",
        scene.note,
        "<available_skills>",
    )
    return head, "\n</available_skills>"


_XML = ("xml", "xml-apos")
_TEXT = ("text", "angles")

FORMATS: dict[str, Format] = {
    "claude-lines": Format(line=_claude_line, frame=_claude_frame, escapes=_TEXT),
    "codex-list": Format(line=_codex_line, frame=_codex_frame, escapes=_TEXT),
    "json": Format(
        line=_json_line,
        frame=_json_frame,
        escapes=("json",),
        blocks=True,
        joint=",\n",
        nothing="[]",
        no_skills="[]",
    ),
    "markdown": Format(line=_markdown_line, frame=_markdown_frame, escapes=("markdown",)),
    "omp-list": Format(line=_plain_line, frame=_omp_frame, escapes=_TEXT),
    "openclaw": Format(
        line=_xml_line, frame=_openclaw_frame, escapes=_XML, blocks=True, warns=True
    ),
    "opencode-list": Format(line=_bold_line, frame=_opencode_list_frame, escapes=("markdown",)),
    "opencode-xml": Format(
        line=_opencode_line,
        frame=_opencode_frame,
        escapes=_XML,
        blocks=True,
        no_skills="\n".join((*_OPENCODE_SENTENCES, NO_SKILLS)),
    ),
    "prowess": Format(line=_prowess_line, frame=_prowess_frame, escapes=_TEXT),
    "xml": Format(line=_xml_line, frame=_xml_frame, escapes=_XML, blocks=True),
}


def get_format(word: str) -> Format:
    """The format of a word; raises `UnknownFormat`, which names the words that there are."""
    if word not in FORMATS:
        raise UnknownFormat(word, FORMATS)
    return FORMATS[word]
