"""When Python looks for garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_collection() -> Iterator[None]:
    """Collect no garbage for the time of a block that makes many objects and keeps them.

    Nothing of a scan is garbage in a cycle, but every few hundred new objects Python would look
    through them, which costs a twentieth of a scan of thousands of skills.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
