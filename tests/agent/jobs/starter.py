"""Starts workers quickly for tests: everything is imported once, and each worker is a fork of that.

Reads a line of JSON per worker from stdin, and prints the process id of each.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
from typing import Any

from prowess.agent.jobs import turns, worker
from prowess.agent.jobs.values import TurnSpec
from prowess.machine.facts import current_facts
from prowess.model.settings import JobSettings


def main() -> None:
    # Children that were killed are not waited for.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    assert turns.run_turn_job is not None
    print("ready", flush=True)
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            serve(json.loads(line))
        print(pid, flush=True)


def serve(options: dict[str, Any]) -> None:
    code = 1
    try:
        os.environ.update(options["env"])
        log = os.open(options["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for stream in (1, 2):
            os.dup2(log, stream)
        # `kill -USR1` writes down where every thread is.
        faulthandler.register(signal.SIGUSR1, file=log)
        faulthandler.enable(file=log)
        made = worker.JobWorker(
            JobSettings(database=options["database"], concurrency=options["concurrency"]),
            current_facts(),
            pid=os.getpid(),
            queues=options["queues"],
            lease=options["lease"],
            on_lost=end,
        )
        if options["late"] is not None:
            add_late(made, TurnSpec(**options["late"]))
        signal.signal(signal.SIGTERM, lambda *_: made.stop())
        made.run(until_idle=options["until_idle"])
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def add_late(made: worker.JobWorker, spec: TurnSpec) -> None:
    """Add a job as a terminal does that sees the worker running for the last moment."""
    serve, specs = made._serve, [spec]

    def serve_and_add(*, until_idle: bool) -> None:
        serve(until_idle=until_idle)
        for one in specs:
            made._jobs.add_turn(one)
        specs.clear()

    made._serve = serve_and_add  # type: ignore[method-assign]


def end(reason: str) -> None:
    os.write(2, reason.encode())
    os._exit(9)


if __name__ == "__main__":
    main()
