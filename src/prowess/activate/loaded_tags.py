"""The tag that a loaded skill leaves in the messages of its conversation.

The messages of a request are the only sure account of what its model has: a retry starts without
the results of the attempt that failed, and a summary drops them. So adapters end every loaded skill
with a tag, and read from the tags which skills the model has, in which version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape

import msgspec

from prowess.activate.ledger import digest_parts
from prowess.text.markup import escape_tags, escape_xml, tidy_line

_TAG = "skill_loaded"
_WRITTEN = re.compile(
    rf'\n<{_TAG} name="([^"]*)" digest="([0-9a-f]{{32}})" text="([0-9a-f]{{16}})"'
    r' characters="(\d{1,9})"(?: media="(\d+)")?/>'
)


class LoadedSkill(msgspec.Struct, frozen=True):
    """A skill that is in the messages: the text that the model has, and what it was made from.

    `digest` identifies the file, its location and the arguments. `has_media` says that images or
    files came with the text.
    """

    name: str
    digest: str
    text: str
    has_media: bool = False


def add_tag(text: str, *, name: str, digest: str, media: int = 0) -> str:
    """The text of a skill, ending with its tag. Whatever in it looks like a tag no longer does."""
    body = escape_tags(text, _TAG)
    attributes = (
        f'name="{escape_xml(tidy_line(name))}" digest="{digest}" text="{digest_parts(body)}"'
        f' characters="{len(body)}"'
    )
    if media:
        attributes += f' media="{media}"'
    return f"{body}\n<{_TAG} {attributes}/>"


def find_loaded(answers: Iterable[str]) -> Iterator[LoadedSkill]:
    """The skills in the answers of the tool that loads them, oldest first.

    Only an answer that is complete counts. One that was shortened or changed, wherever that was, is
    not what the model was once given.
    """
    for answer in answers:
        whole = answer.rstrip()
        tag = _find_last_tag(whole)
        if tag is None or tag.end() != len(whole):
            continue
        # Comparing lengths is cheap and finds most answers that were cut, before the digest does.
        if int(tag[4]) != tag.start():
            continue
        text = whole[: tag.start()]
        if digest_parts(text) == tag[3]:
            yield _read_tag(tag, text)


def find_survivors_in(message: str) -> Iterator[LoadedSkill]:
    """The skills in a message that gave them back after a compaction, oldest first.

    The skills in it are separated by empty lines, the newest first. One whose text is not the one
    that its tag was written for does not count.
    """
    tags = list(_WRITTEN.finditer(message))
    for tag in reversed(tags):
        start = tag.start() - int(tag[4])
        follows_empty_line = start >= 2 and message[start - 2 : start] == "\n\n"
        if not follows_empty_line:
            continue
        text = message[start : tag.start()]
        if digest_parts(text) == tag[3]:
            yield _read_tag(tag, text)


def _find_last_tag(text: str) -> re.Match[str] | None:
    start = text.rfind(f"\n<{_TAG} ")
    return _WRITTEN.match(text, start) if start >= 0 else None


def _read_tag(tag: re.Match[str], text: str) -> LoadedSkill:
    return LoadedSkill(unescape(tag[1]), tag[2], text, has_media=bool(tag[5]))
