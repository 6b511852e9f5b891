"""The command line: one command per file, each a function that returns an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn


def run_program() -> NoReturn:
    """Run `prowess` as the process that it is, and end that process.

    An interpreter that exits takes everything apart that was imported and made, piece by piece,
    only to hand the memory back. The system does that at once, so the last thing called at exit
    ends the process: by then threads have ended and every other callback has run.
    """
    import atexit

    code: int | None = None

    def end_process() -> None:
        if code is not None and _flush_streams():
            os._exit(code)

    # The first to be registered is the last to be called. Whatever registered even earlier, such as
    # a tool that measures coverage, would never be called, and then the interpreter exits as usual.
    if not atexit._ncallbacks():
        atexit.register(end_process)
    code = main()
    sys.exit(code)


def _flush_streams() -> bool:
    """Write what is still buffered. Where that fails, the interpreter reports it when it exits."""
    try:
        for stream in (sys.stdout, sys.stderr):
            # Python has no stream for a descriptor that was closed when it started.
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return False
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `prowess` and return its exit code. Without arguments, those of the process are used."""
    if arguments is None:
        return _run_process()
    from prowess.cli.app import run

    return run(arguments)


def _run_process() -> int:
    """Run as the program itself, which keeps nearly all of its memory until it exits.

    Garbage collection, above all at exit, would cost a quick command more than its own work.
    """
    try:
        import gc

        gc.set_threshold(200_000, 20, 50)
        from prowess.machine.interrupts import delay_interrupts, let_interrupts_end

        with delay_interrupts():
            from prowess.cli.lean_imports import import_lean

            import_lean()
            from prowess.cli.app import run

        try:
            return run()
        finally:
            gc.freeze()
            let_interrupts_end()
    except KeyboardInterrupt:
        # Ctrl-C while the modules of the command line were still being imported.
        return 130
