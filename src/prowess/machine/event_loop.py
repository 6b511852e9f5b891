"""Waiting for what is to be awaited, from code that is not asynchronous itself."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any


def wait_for(awaitable: Awaitable[Any]) -> Any:
    """The result of something awaitable, run in an event loop of its own.

    Where a loop already runs in this thread the other one runs in a thread beside it, and this
    thread waits.
    """
    import asyncio

    async def run() -> Any:
        return await awaitable

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(run())
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, run()).result()
