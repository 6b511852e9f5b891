"""The command line: one command per file, each a function that returns an exit code."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `prowess`; returns the exit code. Without arguments, those of the process are taken."""
    from prowess.cli.app import run

    return run(arguments) if arguments is not None else _run_process()


def _run_process() -> int:
    """Run as the program itself, which holds nearly all of its memory until it ends.

    Looking for garbage in it, above all on the way out, would cost a quick command more than its
    own work.
    """
    import gc

    gc.set_threshold(200_000, 20, 50)
    try:
        _import_msgspec_alone()
        from prowess.cli.app import run

        return run()
    except KeyboardInterrupt:
        # Stopped before the command line itself was there to say so.
        return 130
    finally:
        gc.freeze()


def _import_msgspec_alone() -> None:
    """Import msgspec without typing_extensions.

    msgspec takes it where some other package has brought it, though on this Python it needs nothing
    of it; that import would cost a third of what starting the interpreter costs.
    """
    import sys

    if "typing_extensions" not in sys.modules:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]
        try:
            import msgspec  # noqa: F401
        finally:
            del sys.modules["typing_extensions"]
