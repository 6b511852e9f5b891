"""`python -m prowess.cli`."""

from __future__ import annotations

from prowess.cli import run_program

run_program()
