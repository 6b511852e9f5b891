"""How a loaded skill's body is wrapped for the model: one function per shape, by the word of
profiles.

Tags and the order of things are the host's, the sentences our own. A body is given whole, since it
holds code that entities would spoil; only a `<` that would open or close one of the tags around it
is written as `&lt;`, so that nothing in a skill can end its own wrapping or pretend to be another.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from prowess.activate.resources.file_sample import Sample
from prowess.activate.slash.messages import render_folder_line
from prowess.profiles.schema.commands import ToolRules, ToolShape
from prowess.text.markup import escape_tags, escape_text, escape_xml, tidy_line, tidy_path

_TAGS = ("skill_content", "skill_files")
# What node's own URLs leave as it is in a path; everything else is written in per cent.
_SAFE_IN_URLS = "/!$&'()*+,-.:;=@[]_|~"


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """A skill on its way to the model: its name, its body made ready, its folder if it has one, and
    its files.
    """

    name: str
    body: str
    folder: str | None = None
    sample: Sample = Sample()


def wrap_body(loaded: Loaded, rules: ToolRules) -> str:
    """The text that a model receives for a skill, in the host's shape."""
    return SHAPES[rules.shape](loaded, rules)


def _wrap_in_tag(loaded: Loaded, rules: ToolRules) -> str:
    name = tidy_line(loaded.name)
    lines = [
        f'<skill_content name="{escape_xml(name)}">',
        f"# Skill: {escape_tags(name, *_TAGS)}",
        "",
        escape_tags(loaded.body.strip(), *_TAGS),
    ]
    if loaded.folder is not None:
        lines += [
            "",
            render_folder_line(escape_tags(_write_folder(loaded.folder, rules), *_TAGS)),
            "Relative paths in this skill (such as scripts/ or reference/) start at that folder.",
            _describe_sample(loaded.sample),
            "",
            "<skill_files>",
            "\n".join(
                f"<file>{escape_text(tidy_path(path))}</file>" for path in loaded.sample.files
            ),
            "</skill_files>",
        ]
    return "\n".join([*lines, "</skill_content>"])


def _describe_sample(sample: Sample) -> str:
    """One line about the list of files, which is a sample even where it happens to hold all of
    them.
    """
    if not sample.more:
        return "The files below are a sample of what the folder holds."
    number = f"{sample.more:,}" if sample.complete else f"at least {sample.more:,}"
    more = "1 more is" if sample.more == 1 and sample.complete else f"{number} more are"
    return f"The files below are a sample of what the folder holds; {more} not listed."


def _wrap_with_folder(loaded: Loaded, rules: ToolRules) -> str:
    if loaded.folder is None:
        return loaded.body
    return f"{render_folder_line(_write_folder(loaded.folder, rules))}\n\n{loaded.body}"


def _write_folder(folder: str, rules: ToolRules) -> str:
    return render_file_url(folder) if rules.folder == "url" else tidy_path(folder)


def render_file_url(path: str) -> str:
    """The `file://` address of an absolute path."""
    from urllib.parse import quote

    if path[1:3] in (":\\", ":/"):
        path = "/" + path.replace("\\", "/")
    return "file://" + quote(path, safe=_SAFE_IN_URLS, errors="surrogateescape")


def render_repeated(name: str) -> str:
    """The line in place of a skill that is already in the conversation and has not changed since."""
    return (
        f"The skill “{tidy_line(name)}” is already in this conversation and has not changed; follow"
        " it as it stands."
    )


SHAPES: dict[ToolShape, Callable[[Loaded, ToolRules], str]] = {
    "content-tag": _wrap_in_tag,
    "base-folder": _wrap_with_folder,
}
