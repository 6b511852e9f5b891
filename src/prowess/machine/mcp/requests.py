"""Requests of the extension for skills, which the `mcp` package lacks, and bounded lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mcp_types
from pydantic import TypeAdapter

from prowess.machine.mcp.connections import SKILLS

# A server could answer with a next page for ever.
_MOST_PAGES = 50
_MOST_ITEMS = 1_000
_ANYTHING = TypeAdapter(dict[str, Any])


class _Request(mcp_types.Request[dict[str, Any], str]):
    """Any request, by the name of its method."""


def offers_skills(client: Any) -> bool:
    """Whether a server has the extension."""
    return SKILLS in (client.server_capabilities.extensions or {})


def offers_prompts(client: Any) -> bool:
    """Whether a server has prompts."""
    return client.server_capabilities.prompts is not None


async def list_skills(client: Any) -> tuple[list[Any], bool]:
    """The entries of a server as they come, and whether these are all."""
    return await _list(client, "skills/list", "skills")


async def get_skill(client: Any, uri: str) -> Any:
    """The entry of one skill as it is now."""
    answer = await _send(client, "skills/get", {"uri": uri})
    return answer.get("skill")


async def list_prompts(client: Any) -> tuple[list[Any], bool]:
    """The prompts of a server, and whether these are all."""
    prompts: list[Any] = []
    cursor = None
    for _ in range(_MOST_PAGES):
        page = await client.list_prompts(cursor=cursor)
        prompts += page.prompts
        cursor = page.next_cursor
        if cursor is None:
            return prompts[:_MOST_ITEMS], len(prompts) <= _MOST_ITEMS
        if len(prompts) > _MOST_ITEMS:
            break
    return prompts[:_MOST_ITEMS], False


async def read_resource(client: Any, uri: str) -> list[Any]:
    """The contents of a resource."""
    answer = await client.read_resource(uri)
    return list(answer.contents)


async def get_prompt(client: Any, name: str, arguments: dict[str, str]) -> Any:
    """A prompt with its arguments filled in."""
    return await client.get_prompt(name, arguments)


async def _list(client: Any, method: str, key: str) -> tuple[list[Any], bool]:
    entries: list[Any] = []
    params: dict[str, Any] = {}
    for _ in range(_MOST_PAGES):
        answer = await _send(client, method, params)
        # Nobody validates these answers: the package does not know their methods.
        page = answer.get(key)
        entries += page if isinstance(page, list) else []
        cursor = answer.get("nextCursor")
        if not isinstance(cursor, str):
            return entries[:_MOST_ITEMS], len(entries) <= _MOST_ITEMS
        if len(entries) > _MOST_ITEMS:
            break
        params = {"cursor": cursor}
    return entries[:_MOST_ITEMS], False


async def _send(client: Any, method: str, params: dict[str, Any]) -> dict[str, Any]:
    send: Callable[..., Any] = client.session.send_request
    answer: dict[str, Any] = await send(_Request(method=method, params=params), _ANYTHING)
    return answer
