"""What the sandbox adds to one command of a skill, against the same command without it.

    python benchmarks/sandbox.py [--runs 60]

Each command is `true`, run through the real runner. Milliseconds are medians of the same run; the
sandbox may add at most 15.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from unittest import mock

from prowess.machine import sandbox
from prowess.machine.processes import ProcessRunner
from prowess.model.command import Command
from prowess.model.facts import Facts
from prowess.model.sandbox import CREDENTIALS, Engine, SandboxPolicy, SandboxSupport

MOST_MS = 15.0
ENGINES: tuple[Engine, ...] = ("sandlock", "bubblewrap")


def measure(command: Command, home: str, runs: int) -> float:
    """The median of milliseconds that one run takes."""
    runner = ProcessRunner(Facts(home=home, env={"PATH": os.environ["PATH"], "HOME": home}))
    runner.run(command)
    spent = []
    for _ in range(runs):
        started = time.perf_counter()
        runner.run(command)
        spent.append(time.perf_counter() - started)
    return statistics.median(spent) * 1e3


def main() -> None:
    """Print what each engine adds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=60)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        hidden = tuple(f"{folder}/{name}" for name in CREDENTIALS)
        for path in hidden:
            os.makedirs(path, exist_ok=True)
        free = Command(text="true", argv=("true",), cwd=folder)
        policy = SandboxPolicy(writable=(folder,), hidden=hidden)
        confined = Command(text="true", argv=("true",), cwd=folder, sandbox=policy)
        plain = measure(free, folder, runs)
        print(f"without a sandbox  {plain:5.1f} ms")
        for engine in ENGINES:
            support = SandboxSupport(engine=engine, reason="")
            with mock.patch.object(sandbox, "find_support", lambda support=support: support):
                spent = measure(confined, folder, runs)
            verdict = "" if spent - plain <= MOST_MS else f"  more than the {MOST_MS:.0f} allowed"
            print(f"{engine:<18} {spent:5.1f} ms  adds {spent - plain:4.1f} ms{verdict}")


if __name__ == "__main__":
    main()
