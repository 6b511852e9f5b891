"""How much a scan costs, as ratios against floors that are measured in the same run.

    python benchmarks/scan.py [--skills 10000] [--growth 1000,10000,50000]

The floor of a scan is a plain loop that lists the same folders, reads every SKILL.md whole, cuts
out its header and parses that as YAML, and does nothing else. The floor of the command line is
`python -c pass`. CPU time is compared, in rounds of a floor and what is measured against it, each
in a process of its own. A shared machine is fast in one moment and slow in the next, and a round is
short: so the median of the ratios counts.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

BODY = "\n# How\n\n" + "Do this step with care, then look at what came out of it.\n" * 60
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


def generate(folder: Path, number: int) -> None:
    """Write skills of an ordinary shape: five fields, a nested one, about four kilobytes."""
    for n in range(number):
        place = folder / ".claude" / "skills" / f"skill-{n:05d}"
        place.mkdir(parents=True)
        word = WORDS[n % len(WORDS)]
        (place / "SKILL.md").write_text(
            f"---\nname: skill-{n:05d}\n"
            f"description: Works on {word} number {n}. Use when someone asks about {word}.\n"
            f"license: MIT\nallowed-tools: Read Bash(git status *)\n"
            f'metadata:\n  author: someone\n  version: "1.{n % 9}"\n'
            f"---\n{BODY}"
        )


def floor(folder: str) -> float:
    """CPU seconds to list the folders, read the files and parse their headers, nothing more."""
    import ryaml

    started = time.process_time()
    fields = 0
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as listing:
            for item in listing:
                if item.is_dir(follow_symlinks=False):
                    waiting.append(item.path)
                elif item.name == "SKILL.md":
                    with open(item.path, "rb", buffering=0) as file:
                        data = file.read()
                    header = data[4 : data.find(b"\n---", 3) + 1]
                    fields += len(ryaml.loads(header.decode()))  # type: ignore[attr-defined]
    spent = time.process_time() - started
    if not fields:
        raise SystemExit("the plain loop found nothing")
    return spent


def scan(folder: str, home: str) -> float:
    """CPU seconds for one scan of the folder, cache included."""
    from prowess.model.facts import Facts
    from prowess.runtime import Skills

    facts = Facts(home=home, env={"PROWESS_CACHE_DIR": os.path.join(home, "cache")})
    started = time.process_time()
    found = len(Skills(folder, facts=facts).snapshot.skills)
    spent = time.process_time() - started
    if not found:
        raise SystemExit("the scan found nothing")
    return spent


def measure(what: str, folder: str, home: str) -> tuple[float, float]:
    """CPU seconds and peak memory in MB of one measurement in a process of its own."""
    run = subprocess.run(
        [sys.executable, __file__, "--one", what, folder, home], capture_output=True, check=True
    )
    seconds, memory = json.loads(run.stdout)
    return seconds, memory


def cpu_of(command: list[str], *, cwd: str, env: dict[str, str]) -> float:
    """CPU seconds of a command."""
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.DEVNULL, check=True)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime


def compare(measured: list[float], floors: list[float]) -> float:
    """The median of what each round took, against its floor."""
    return median(one / floor for one, floor in zip(measured, floors, strict=True))


def report_scan(number: int, *, rounds: int = 10) -> float:
    """Print the ratios for so many skills; returns CPU microseconds a skill of the cold scan.

    Floor, cold and warm take turns.
    """
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        generate(Path(folder), number)
        time.sleep(0.2)
        edited = Path(folder, ".claude/skills/skill-00007/SKILL.md")
        floors: list[float] = []
        cold: list[float] = []
        warm: list[float] = []
        memory: list[float] = []
        for _ in range(rounds):
            floors.append(measure("floor", folder, home)[0])
            subprocess.run(["rm", "-rf", os.path.join(home, "cache")], check=True)
            for times in (cold, warm):
                seconds, peak = measure("scan", folder, home)
                times.append(seconds)
                memory.append(peak)
                edited.write_text(edited.read_text() + "One more line.\n")
        print(
            f"{number:>7,} skills  floor {median(floors) * 1e6 / number:5.1f} µs  "
            f"cold {compare(cold, floors):4.2f}×  warm {compare(warm, floors):4.2f}×  "
            f"memory {max(memory):.0f} MB"
        )
        return median(cold) * 1e6 / number


def report_command(number: int, *, rounds: int = 20) -> None:
    """Print what `prowess list --json` costs, warm and with one file edited, against a bare
    interpreter.
    """
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        generate(Path(folder), number)
        time.sleep(0.2)
        env = {"HOME": home, "PATH": os.environ["PATH"]}
        edited = Path(folder, ".claude/skills/skill-00007/SKILL.md")
        prowess = os.path.join(os.path.dirname(sys.executable), "prowess")
        bare, listed = [], []
        cpu_of([prowess, "list", "--json"], cwd=folder, env=env)
        for _ in range(rounds):
            bare.append(cpu_of([sys.executable, "-c", "pass"], cwd=folder, env=env))
            edited.write_text(edited.read_text() + "One more line.\n")
            listed.append(cpu_of([prowess, "list", "--json"], cwd=folder, env=env))
        print(
            f"prowess list --json, {number:,} skills, one edited: "
            f"{median(listed) * 1e3:.0f} ms CPU, {compare(listed, bare):.1f}× `python -c pass`"
        )


def main() -> None:
    """Run the benchmarks that the arguments ask for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--skills", type=int, default=10_000)
    parser.add_argument("--growth", default="1000,10000,50000")
    parser.add_argument(
        "--one", nargs=3, metavar=("WHAT", "FOLDER", "HOME"), help=argparse.SUPPRESS
    )
    options = parser.parse_args()
    if options.one:
        what, folder, home = options.one
        seconds = floor(folder) if what == "floor" else scan(folder, home)
        print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
        return
    report_scan(options.skills)
    report_command(1_000)
    costs = {
        number: report_scan(number, rounds=3) for number in map(int, options.growth.split(","))
    }
    smallest, largest = min(costs), max(costs)
    ratio = costs[largest] / costs[smallest]
    print(f"growth: at {largest:,} a skill costs {ratio:.2f}× of what it costs at {smallest:,}")


if __name__ == "__main__":
    main()
