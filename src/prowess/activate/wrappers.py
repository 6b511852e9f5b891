"""How a skill's body is wrapped for the model: one function per shape that profiles name.

Tags and order are the host's, the sentences our own. A body is passed on whole because it holds
code that entities would spoil. Only a `<` that would open or close one of the tags around it
becomes `&lt;`, so that a skill can neither end its own wrapping nor pretend to be another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from prowess.activate.resources.file_sample import Sample
from prowess.model.skill import LoadedFrom, Skill
from prowess.profiles.schema.commands import ToolRules, ToolShape
from prowess.text.addresses import SCHEME, render_address
from prowess.text.markup import escape_tags, escape_text, escape_xml, tidy_line, tidy_path

WITHOUT_FOLDER = (LoadedFrom.COMMANDS, LoadedFrom.MCP)
"""Where skills come from that have no folder of their own on this machine."""

_TAGS = ("skill_content", "skill_files")
# What node leaves unescaped in the path of a URL.
_SAFE_IN_URLS = "/!$&'()*+,-.:;=@[]_|~"


class SkillContent(msgspec.Struct, frozen=True, kw_only=True):
    """What a shape wraps: a skill's name, its rendered body, its own folder and its files."""

    name: str
    body: str
    folder: str | None = None
    sample: Sample = Sample()


def wrap_body(content: SkillContent, rules: ToolRules) -> str:
    """The text that a model receives for a skill, in the host's shape."""
    return SHAPES[rules.shape](content, rules)


def find_own_folder(skill: Skill) -> str | None:
    """The folder that belongs to one skill alone.

    None for a command file, which shares its folder with others, and for a skill from an MCP
    server, wherever that is cached. A skill defined in code names its folder with its prompt,
    after its files are unpacked.
    """
    if skill.source.loaded_from in WITHOUT_FOLDER or skill.file is None:
        return None
    return skill.folder or None


def show_addresses(skill: Skill, sample: Sample) -> tuple[str, Sample]:
    """The folder and the files of a skill in memory, as addresses that a model can read."""
    below = len(skill.folder) + 1
    files = tuple(render_address(skill.name, path[below:]) for path in sample.files)
    return render_address(skill.name), msgspec.structs.replace(sample, files=files)


def render_folder_line(folder: str) -> str:
    """The line that says which folder a skill's relative paths start from."""
    return f"Base folder of this skill: {tidy_path(folder)}"


def _wrap_in_tag(content: SkillContent, rules: ToolRules) -> str:
    name = tidy_line(content.name)
    lines = [
        f'<skill_content name="{escape_xml(name)}">',
        f"# Skill: {escape_tags(name, *_TAGS)}",
        "",
        escape_tags(content.body.strip(), *_TAGS),
    ]
    if content.folder is not None:
        folder = escape_tags(_render_folder(content.folder, rules), *_TAGS)
        files = [f"<file>{escape_text(tidy_path(path))}</file>" for path in content.sample.files]
        lines += [
            "",
            render_folder_line(folder),
            "Relative paths in this skill (such as scripts/ or reference/) start at that folder.",
        ]
        if files:
            lines += [
                _describe_sample(content.sample),
                "",
                "<skill_files>",
                *files,
                "</skill_files>",
            ]
    lines.append("</skill_content>")
    return "\n".join(lines)


def _describe_sample(sample: Sample) -> str:
    """One line about the list of files, which is a sample even where it lists all of them."""
    if not sample.more:
        return "The files below are a sample of the folder's contents."
    if not sample.complete:
        rest = f"at least {sample.more:,} more are"
    elif sample.more == 1:
        rest = "1 more is"
    else:
        rest = f"{sample.more:,} more are"
    return f"The files below are a sample of the folder's contents; {rest} not listed."


def _wrap_with_folder(content: SkillContent, rules: ToolRules) -> str:
    if content.folder is None:
        return content.body
    return f"{render_folder_line(_render_folder(content.folder, rules))}\n\n{content.body}"


def _wrap_activated(content: SkillContent, rules: ToolRules) -> str:
    """The body, indented on its first line, and a drawing of the folder."""
    tags = ("activated_skill", "instructions", "available_resources")
    lines = [
        f'<activated_skill name="{escape_xml(tidy_line(content.name))}">',
        "  <instructions>",
        f"    {escape_tags(content.body.strip(), *tags)}",
        "  </instructions>",
    ]
    if content.folder is not None:
        tree = _draw_tree(content.folder, content.sample)
        drawn = [f"    {escape_tags(line, *tags)}" for line in tree]
        lines += ["", "  <available_resources>", *drawn, "  </available_resources>"]
    lines.append("</activated_skill>")
    return "\n".join(lines)


def _draw_tree(folder: str, sample: Sample) -> Iterator[str]:
    """The files below a folder as an indented list, each folder once."""
    yield f"{tidy_path(folder)}/"
    drawn: set[tuple[str, ...]] = set()
    for path in ("SKILL.md", *(one.removeprefix(f"{folder}/") for one in sample.files)):
        *above, name = tidy_path(path).split("/")
        for depth in range(1, len(above) + 1):
            parents = tuple(above[:depth])
            if parents not in drawn:
                drawn.add(parents)
                yield f"{'  ' * depth}{parents[-1]}/"
        yield f"{'  ' * (len(above) + 1)}{name}"
    if sample.more:
        yield f"  … and {sample.more:,} more"


def _wrap_in_context(content: SkillContent, rules: ToolRules) -> str:
    """The folder, its other files, and the body as it is."""
    tag = "skill-context"
    lines = [f'<skill-context name="{escape_xml(tidy_line(content.name))}">']
    if content.folder is not None:
        lines.append(render_folder_line(escape_tags(tidy_path(content.folder), tag)))
    if content.sample.files:
        lines.append("Related files (read them with the view tool):")
        lines += [f"- {escape_tags(tidy_path(path), tag)}" for path in content.sample.files]
    body = escape_tags(content.body, tag)
    # Copilot keeps the line ends of a body; where it has none, the tag gets a line of its own.
    if not body.endswith("\n"):
        body += "\n"
    return "\n".join([*lines, "", f"{body}</skill-context>"])


def _render_folder(folder: str, rules: ToolRules) -> str:
    # A skill in memory has an address in place of a folder.
    is_path = not folder.startswith(SCHEME)
    return render_file_url(folder) if rules.folder == "url" and is_path else tidy_path(folder)


def render_file_url(path: str) -> str:
    """The `file://` address of an absolute path."""
    from urllib.parse import quote

    # `C:\skills` on Windows is `/C:/skills` in a URL.
    if path[1:3] in (":\\", ":/"):
        path = "/" + path.replace("\\", "/")
    return "file://" + quote(path, safe=_SAFE_IN_URLS, errors="surrogateescape")


def render_repeated(name: str) -> str:
    """The line that replaces a skill which is already in the conversation, unchanged."""
    return (
        f"The skill “{tidy_line(name)}” is already loaded and has not changed; keep following it."
    )


# The first is opencode's, the second Claude Code's, the third Gemini CLI's, the last Copilot's.
SHAPES: dict[ToolShape, Callable[[SkillContent, ToolRules], str]] = {
    "content-tag": _wrap_in_tag,
    "base-folder": _wrap_with_folder,
    "activated-skill": _wrap_activated,
    "skill-context": _wrap_in_context,
}
