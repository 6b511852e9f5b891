"""Awaits something from synchronous code."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any


def wait_for(awaitable: Awaitable[Any]) -> Any:
    """The result of an awaitable, run in an event loop of its own.

    If a loop is already running in this thread, the other one runs in a second thread, and this one
    waits.
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
