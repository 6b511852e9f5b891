"""How long one touched file takes, with many skills that wait for files.

    python benchmarks/conditions.py [--skills 10000]

Several collections of patterns, each for that many skills. The figures are CPU time per file after
warm-up: the median over new files and the worst of them, beside the time of trying every skill.
Then the same through `Skills.touched`, with the skills on disk, where the folders on the way to a
file are searched, too. The worst file is one that wakes skills.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from prowess.activate.dormant.conditions import Condition, ConditionIndex
from prowess.activate.dormant.patterns import covers, parse_patterns
from prowess.runtime import Skills
from prowess.testing import make_facts

ALLOWED = 2e-3
ENDINGS = ("py", "ts", "tsx", "md", "rs", "go", "java", "css", "sql", "toml")


def _ordinary(n: int) -> tuple[str, ...]:
    ending = ENDINGS[n % len(ENDINGS)]
    return (
        f"packages/pkg{n}/**/*.{ending}",
        f"src/feature_{n}/**",
        f"**/test_{n}_*.{ending}",
        f"docs/{n}.md",
    )


def _braces(n: int) -> tuple[str, ...]:
    return (f"src/{{app,lib}}{n}/**/*.{{ts,tsx}}", f"{{docs,notes}}/part-{n}-*.md")


def _negated(n: int) -> tuple[str, ...]:
    return ("*.py", f"!generated_{n}.py", "!src/vendor/**")


COLLECTIONS: dict[str, Callable[[int], tuple[str, ...]]] = {
    "four patterns each": _ordinary,
    "with braces": _braces,
    "by ending, all different": lambda n: (f"*.x{n}",),
    "in the middle of a name": lambda n: (f"**/*part{n}-*",),
    "one beginning and one ending for all": lambda n: (f"src/*/component-*-{n}-*.tsx",),
    "all the same": lambda n: ("*.py",),
    "with exceptions": _negated,
}
FILES = [
    f"{top}/pkg{n * 37}/feature_{n}/deep/er/test_{n}_component-a-{n}-b.part{n}-x."
    f"{ENDINGS[n % len(ENDINGS)]}"
    for top in ("packages", "src", "app3/src")
    for n in range(100)
]


def cover_each(parsed: list[Any], names: list[str]) -> list[bool]:
    """Whether each set of patterns covers one of the names, one set after the other."""
    return [covers(one, names) for one in parsed]


def measure(work: Callable[[list[str]], object], files: list[str]) -> list[float]:
    """CPU seconds of each file."""
    spent = []
    for file in files:
        started = time.process_time()
        work(file.split("/"))
        spent.append(time.process_time() - started)
    return spent


def main() -> None:
    """Print the times of each collection; fail if the median file takes over two milliseconds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--skills", type=int, default=10_000)
    options = parser.parse_args()
    print(
        f"{options.skills:,} dormant skills, {len(FILES)} files;"
        f" a file may take {ALLOWED * 1e3:.0f} ms of CPU"
    )
    slow = []
    for title, make in COLLECTIONS.items():
        waiting = [
            Condition(f"skill-{n}", f"/s/{n}/SKILL.md", make(n)) for n in range(options.skills)
        ]
        started = time.process_time()
        conditions = ConditionIndex(waiting)
        built = time.process_time() - started
        measure(conditions.find_met, [f"warm/{ending}.{ending}" for ending in ENDINGS])
        spent = measure(conditions.find_met, FILES)
        parsed = [parse_patterns(one.patterns, most=1_000)[0] for one in waiting]
        naive = min(measure(partial(cover_each, parsed), FILES[:2]))
        median = statistics.median(spent)
        slow += [title] if median > ALLOWED else []
        print(
            f"  {title:<38} {median * 1e3:6.3f} ms, worst {max(spent) * 1e3:6.3f}"
            f"  (one by one {naive * 1e3:7.1f} ms; made ready in {built:5.2f} s)"
        )
    slow += measure_touches(options.skills)
    if slow:
        raise SystemExit(f"too slow: {', '.join(slow)}")


def touch(skills: Skills, woken: list[int], names: list[str]) -> None:
    """Touch a file, and note how many skills it woke."""
    woken.append(len(skills.touched("/".join(names))))


def measure_touches(count: int) -> list[str]:
    """Print the times of touching files with that many dormant skills; the hosts too slow."""
    slow = []
    for host, place in {"prowess": ".prowess/skills", "claude-code": ".claude/skills"}.items():
        with TemporaryDirectory() as folder:
            home, project = Path(folder, "home"), Path(folder, "project")
            (project / ".git").mkdir(parents=True)
            for number in range(count):
                path = home / place / f"skill-{number}" / "SKILL.md"
                path.parent.mkdir(parents=True)
                patterns = ", ".join(f'"{pattern}"' for pattern in _ordinary(number))
                path.write_text(
                    f"---\nname: skill-{number}\ndescription: d\npaths: [{patterns}]\n---\nBody\n"
                )
            # Without looking for changes now and then, which is the cost of a scan.
            facts = make_facts(home=str(home))
            skills = Skills(project, host=host, facts=facts, cache=False, refresh="manual")
            skills.touched("warm/up.md")
            woken: list[int] = []
            spent = measure(partial(touch, skills, woken), FILES)
        median = statistics.median(spent)
        slow += [f"touching in {host}"] if median > ALLOWED else []
        title = f"Skills.touched in {host}"
        print(
            f"  {title:<38} {median * 1e3:6.3f} ms, worst {max(spent) * 1e3:6.3f}"
            f"  ({sum(map(bool, woken))} files woke {sum(woken)} skills)"
        )
    return slow


if __name__ == "__main__":
    main()
