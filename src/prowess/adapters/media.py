"""Content blocks of skills that are defined in code, for libraries with shapes of their own for
pictures and files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec


class Media(msgspec.Struct, frozen=True, kw_only=True):
    """A picture or a file: its bytes in base64, or the address where they are."""

    is_image: bool
    media_type: str = ""
    data: str = ""
    url: str = ""
    title: str = ""

    @property
    def file_name(self) -> str:
        """What a file may be called: its title, or a word for it, with the kind of its bytes."""
        return f"{self.title or 'document'}.{self.media_type.rpartition('/')[2]}"

    @property
    def address(self) -> str:
        """Its address; one that holds the bytes where there is no other."""
        return self.url or f"data:{self.media_type};base64,{self.data}"


def parse_block(block: Mapping[str, Any]) -> Media | str:
    """A block as a picture or a file, or its text. What is none of them becomes JSON, so that
    nothing is lost.
    """
    source = block.get("source")
    if block.get("type") in ("image", "document") and isinstance(source, Mapping):
        is_image, title = block["type"] == "image", str(block.get("title") or "")
        match source:
            case {"type": "base64", "media_type": str(kind), "data": str(data)}:
                return Media(is_image=is_image, media_type=kind, data=data, title=title)
            case {"type": "url", "url": str(url)}:
                return Media(is_image=is_image, url=url, title=title)
            case {"type": "text", "data": str(text)}:
                return text
    return json.dumps(dict(block), ensure_ascii=False, default=str)
