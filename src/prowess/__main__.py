"""`python -m prowess`."""

from __future__ import annotations

from prowess.cli import run_program

run_program()
