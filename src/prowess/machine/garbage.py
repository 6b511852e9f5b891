"""When Python looks for garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_collection() -> Iterator[None]:
    """Collect no garbage for the time of a block that makes many objects and keeps them.

    Nothing of a scan is garbage in a cycle, but every few hundred new objects Python would look
    through them, which costs a tenth of a scan of thousands of skills. After the block they count
    as old, so that only the next full collection looks through them.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        # A program that has frozen objects of its own would find them thawed.
        if gc.get_freeze_count() == 0:
            gc.freeze()
            gc.unfreeze()
        gc.enable()
