"""What the tests of the skills that ship share."""

from __future__ import annotations

from tests.cli.conftest import terminal

__all__ = ["terminal"]
