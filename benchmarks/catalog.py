"""How much a catalog costs, as ratios against `json.dumps` of the same skills in the same run.

    python benchmarks/catalog.py [--skills 10000] [--characters 8000]

Makes the catalog of that many skills in that many characters for every host. Compares CPU time, the
best of several runs.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle

import msgspec

from prowess.model.catalog import CatalogItem, Shown
from prowess.present.catalog import present
from prowess.profiles.load import known_hosts, load_profile

WORDS = (
    "reports",
    "invoices",
    "tests",
    "images",
    "tables",
    "releases",
    "queries",
    "drafts",
    "logs",
)
ALLOWED = 10.0


def generate(number: int) -> list[CatalogItem]:
    """Skills of an ordinary shape: a name, two sentences, a path."""
    return [
        CatalogItem(
            name=f"skill-{n:05d}",
            description=(
                f"Works on {word} number {n} & what belongs to them. Use when someone asks about"
                f" {word}."
            ),
            location=f"/home/someone/projects/example/.claude/skills/skill-{n:05d}/SKILL.md",
            source="claude:project",
            uses=n * 7919 % 13,
            relevance=n * 104729 % 1009 / 1009,
        )
        for n, word in zip(range(number), cycle(WORDS), strict=False)
    ]


def best(work: Callable[[], object], runs: int = 5) -> float:
    """CPU seconds of some work, the best of several runs."""
    spent = []
    for _ in range(runs):
        started = time.process_time()
        work()
        spent.append(time.process_time() - started)
    return min(spent)


def main() -> None:
    """Print the ratio of every host; fails if one takes longer than ten `json.dumps`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--skills", type=int, default=10_000)
    parser.add_argument("--characters", type=int, default=8_000)
    options = parser.parse_args()
    items = generate(options.skills)
    plain = [msgspec.to_builtins(item) for item in items]
    floor = best(lambda: json.dumps(plain))
    print(
        f"{options.skills:,} skills  json.dumps {floor * 1e3:.1f} ms; a catalog may take"
        f" {ALLOWED:.0f} times as long"
    )
    slow = []
    for host in known_hosts():
        profile = load_profile(host)
        rules = msgspec.structs.replace(profile.budget, characters=options.characters, share=0.0)
        make = partial(
            present,
            items,
            catalog=profile.catalog,
            budget=rules,
            context_tokens=200_000,
            home="/home/someone",
        )
        made = make()
        ratio = best(make) / floor
        slow += [host] if ratio > ALLOWED else []
        shown = len(made.lines) - made.counts().get(Shown.LEFT_OUT, 0)
        over = "  over budget" if made.over_budget else ""
        size = f"{made.characters:>9,} characters  {shown:>6,} skills shown"
        print(f"  {host:<12} {ratio:5.2f}×  {size}{over}")
    if slow:
        raise SystemExit(f"too slow: {', '.join(slow)}")


if __name__ == "__main__":
    main()
