"""How much it costs to fill the body of a skill, as a ratio against reading its file in the same run.

    python benchmarks/activation.py [--kilobytes 5] [--placeholders 10]

A SKILL.md of that size is read from disk as activation reads it, and its body is filled for a call with arguments.
CPU time is compared, the best of several runs of many rounds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from prowess.activate.embedded import Surroundings, draft_body
from prowess.activate.substitution import Given
from prowess.machine.files import LocalFiles
from prowess.profiles.load import load_profile
from prowess.testing import make_facts

ALLOWED = 20.0
ROUNDS = 500
PLACEHOLDERS = ("$ARGUMENTS", "$0", "$1", "$ARGUMENTS[1]", "$ticket", "${CLAUDE_SKILL_DIR}", "${CLAUDE_SESSION_ID}")
LINE = "Look at every file that the change touches, and say in one line what it is for. "
COMMANDS = ("!`git log --oneline -5`", "!`cat ${CLAUDE_SKILL_DIR}/notes.md | head -20`", "!`grep -n $0 README.md`")


def write_body(size: int, placeholders: int) -> str:
    """Plain lines with so many placeholders spread among them."""
    lines = [LINE] * max(size // len(LINE), placeholders)
    for number, placeholder in enumerate(islice(cycle(PLACEHOLDERS), placeholders)):
        lines[number * len(lines) // max(placeholders, 1)] += placeholder
    return "\n".join(lines) + "\n"


def best(work: Callable[[], object], runs: int = 7) -> float:
    """CPU seconds of one round, the best of several runs."""
    spent = []
    for _ in range(runs):
        started = time.process_time()
        for _ in range(ROUNDS):
            work()
        spent.append((time.process_time() - started) / ROUNDS)
    return min(spent)


def main() -> None:
    """Print the ratio of every host that fills bodies; fails where one takes longer than twenty readings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kilobytes", type=int, default=5)
    parser.add_argument("--placeholders", type=int, default=10)
    options = parser.parse_args()
    body = write_body(options.kilobytes * 1_000, options.placeholders)
    call = Given(arguments="PROJ-12 'the login page' now", folder="/home/me/.claude/skills/x", session="c-1")
    around = Surroundings(facts=make_facts(bins=["bash"]), cwd="/home/me/project")
    with TemporaryDirectory() as folder:
        path = Path(folder, "SKILL.md")
        path.write_text(f"---\nname: x\ndescription: x\n---\n{body}", encoding="utf-8")
        files = LocalFiles()
        floor = best(lambda: files.read_head(str(path), 1 << 30))
    print(f"{len(body):,} characters, {options.placeholders} placeholders  reading the file {floor * 1e6:.1f} µs")
    slow = []
    for host in ("prowess", "claude-code", "opencode"):
        profile = load_profile(host)
        for what, text in (("text", body), ("text and 3 commands", body + "\n".join(COMMANDS))):
            spent = best(
                lambda text=text, profile=profile: draft_body(  # type: ignore[misc]
                    text,
                    call,
                    around,
                    arguments=profile.arguments,
                    embedded=profile.embedded,
                    names=("ticket",),
                )
            )
            ratio = spent / floor
            # Commands are planned for a shell, which takes a hundred times longer to start.
            slow += [host] if ratio > ALLOWED and text is body else []
            print(f"  {host:<12} {ratio:5.2f}×  {spent * 1e6:7.1f} µs  {what}")
    if slow:
        raise SystemExit(f"too slow: {', '.join(slow)}; {ALLOWED:.0f} readings are allowed")


if __name__ == "__main__":
    main()
