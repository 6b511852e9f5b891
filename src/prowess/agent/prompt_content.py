"""Prompts that have images and files beside their text, for models that take them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic_ai.messages import BinaryContent, ImageUrl, TextContent, UserContent
from pydantic_ai.models import Model

from prowess.adapters.pydantic_ai import convert_block

Prompt = str | Sequence[UserContent]

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
# How images begin. A provider refuses one that is of another type than it is said to be.
_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
}
# What providers take of one image.
_MOST_IMAGE_BYTES = 5 << 20


class Media(NamedTuple):
    """The images and files of a skill that a model takes, and how many it does not take."""

    content: tuple[UserContent, ...] = ()
    left_out: int = 0


def select_media(blocks: Iterable[Mapping[str, Any]], model: Model) -> Media:
    """What a model can be given of content blocks."""
    content: list[UserContent] = []
    left_out = 0
    for block in blocks:
        try:
            converted = convert_block(block)
        except ValueError:
            # The bytes are not base64.
            left_out += 1
            continue
        if _is_taken(converted, model):
            content.append(converted)
        else:
            left_out += 1
    return Media(tuple(content), left_out)


def takes_images(model: Model) -> bool:
    """Whether a model can be given images; where nothing is known, it can."""
    return bool(model.profile.get("supports_image_input", True))


def find_image(data: bytes) -> BinaryContent | None:
    """The image that bytes are; None if they are none that models know, or too long for them."""
    kinds = [kind for start, kind in _SIGNATURES.items() if data.startswith(start)]
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        kinds = ["image/webp"]
    if not kinds or len(data) > _MOST_IMAGE_BYTES:
        return None
    return BinaryContent(data, media_type=kinds[0])


def add_media(text: str, media: Sequence[UserContent]) -> Prompt:
    """A prompt: its text, and what comes with it."""
    return [text, *media] if media else text


def get_text(content: Prompt) -> str:
    """The text of a prompt. A file is only mentioned."""
    if isinstance(content, str):
        return content
    return "\n".join(_get_item_text(item) for item in content)


def _is_taken(content: UserContent, model: Model) -> bool:
    if isinstance(content, str):
        return True
    if isinstance(content, BinaryContent) and not content.data:
        return False
    is_image = isinstance(content, ImageUrl) or (
        isinstance(content, BinaryContent) and content.is_image
    )
    if is_image:
        return takes_images(model)
    return bool(model.profile.get("supports_document_input", True))


def _get_item_text(item: UserContent) -> str:
    if isinstance(item, TextContent):
        return item.content
    return item if isinstance(item, str) else "[a file]"
