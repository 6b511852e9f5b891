"""The command line: one command per file, each a function that returns an exit code."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `prowess`; returns the exit code. Without arguments, those of the process are taken."""
    from prowess.cli.app import run

    return run(arguments) if arguments is not None else _run_process()


def _run_process() -> int:
    """Run as the program itself, which holds nearly all of its memory until it ends.

    Looking for garbage in it, above all on the way out, would cost a quick command more than its own work.
    """
    import gc

    gc.set_threshold(200_000, 20, 50)
    try:
        from prowess.cli.app import run

        return run()
    except KeyboardInterrupt:
        # Stopped before the command line itself was there to say so.
        return 130
    finally:
        gc.freeze()
