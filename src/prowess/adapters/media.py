"""Content blocks of skills defined in code, for libraries with their own images and files."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import msgspec


class MediaBlock(msgspec.Struct, frozen=True, kw_only=True):
    """An image or a file: its bytes in base64, or its URL."""

    is_image: bool
    media_type: str = ""
    data: str = ""
    url: str = ""
    title: str = ""

    @property
    def file_name(self) -> str:
        """A name for the file: its title or `document`, with an extension for its media type."""
        return f"{self.title or 'document'}.{self.media_type.rpartition('/')[2]}"

    @property
    def address(self) -> str:
        """Its URL, or a `data:` URL with its bytes."""
        return self.url or f"data:{self.media_type};base64,{self.data}"


def make_block(data: bytes, media_type: str) -> dict[str, Any]:
    """A content block for the bytes of an image or a document."""
    kind = "image" if media_type.startswith("image/") else "document"
    encoded = base64.b64encode(data).decode("ascii")
    return {"type": kind, "source": {"type": "base64", "media_type": media_type, "data": encoded}}


def parse_block(block: Mapping[str, Any]) -> MediaBlock | str:
    """A block as an image or a file, or its text. Any other block becomes JSON, so none is lost."""
    is_media = block.get("type") in ("image", "document")
    source = block.get("source") if is_media else None
    is_image = block.get("type") == "image"
    title = str(block.get("title") or "")
    match source:
        case {"type": "base64", "media_type": str(kind), "data": str(data)}:
            return MediaBlock(is_image=is_image, media_type=kind, data=data, title=title)
        case {"type": "url", "url": str(url)}:
            return MediaBlock(is_image=is_image, url=url, title=title)
        case {"type": "text", "data": str(text)}:
            return text
    return json.dumps(dict(block), ensure_ascii=False, default=str)
