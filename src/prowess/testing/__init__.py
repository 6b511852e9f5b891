"""Helpers for tests of code that uses Prowess: a file system in memory, and facts of a made-up
machine.
"""

from __future__ import annotations

from prowess.testing.files import MemoryFiles
from prowess.testing.machine import make_facts

__all__ = ["MemoryFiles", "make_facts"]
