"""What it costs to load a skill, as a ratio to reading its file in the same run.

    python benchmarks/activation.py [--kilobytes 5] [--placeholders 10] [--files 3]

First the body alone: a SKILL.md of that size is filled for a call with arguments. Then a whole
activation, for skills that are new to the conversation: the skill is looked up and permitted, its
file judged and read, its digest computed, its header removed, its body filled and wrapped, the
files beside it listed, and the ledger and the usage database written. Reading is what Python takes
for the text of the file; the bare system calls take less than half of that and are shown, too. The
figures are CPU time, the best of several runs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from prowess.activate.body.substitution import Given
from prowess.machine.files import LocalFiles
from prowess.model.usage import Caller
from prowess.profiles.load import load_profile
from prowess.runtime import Skills
from prowess.shell.command_runner import Surroundings, draft_body
from prowess.testing import make_facts

ALLOWED = 20.0
ROUNDS = 500
SKILLS = 51
HOSTS = {
    "prowess": ".prowess/skills",
    "claude-code": ".claude/skills",
    "opencode": ".config/opencode/skills",
}
ARGUMENTS = "PROJ-12 'the login page' now"
PLACEHOLDERS = (
    "$ARGUMENTS",
    "$0",
    "$1",
    "$ARGUMENTS[1]",
    "$ticket",
    "${CLAUDE_SKILL_DIR}",
    "${CLAUDE_SESSION_ID}",
)
LINE = "Look at every file that the change touches, and say in one line what it is for. "
COMMANDS = (
    "!`git log --oneline -5`",
    "!`cat ${CLAUDE_SKILL_DIR}/notes.md | head -20`",
    "!`grep -n $0 README.md`",
)


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


def write_skills(root: Path, body: str, *, count: int, files: int) -> list[str]:
    """So many skills of the same body, with files beside each; their names."""
    names = [f"skill-{number:04}" for number in range(count)]
    for name in names:
        folder = root / name
        folder.mkdir(parents=True)
        header = f"---\nname: {name}\ndescription: Looks at a change\narguments: ticket\n---\n"
        (folder / "SKILL.md").write_text(header + body, encoding="utf-8")
        for number in range(files):
            (folder / f"file-{number}.md").write_text("x", encoding="utf-8")
    return names


def measure_reading(root: Path, body: str, runs: int = 20) -> float:
    """CPU seconds of reading one file, the best of several runs over as many files."""
    paths = [root / name / "SKILL.md" for name in write_skills(root, body, count=SKILLS, files=0)]
    spent = []
    for _ in range(runs):
        started = time.process_time()
        for path in paths:
            path.read_text(encoding="utf-8")
        spent.append((time.process_time() - started) / len(paths))
    return min(spent)


def measure_loading(skills: Skills, names: list[str], by: Caller, runs: int = 20) -> float:
    """CPU seconds of one loading, the best of several conversations that load every skill once."""
    spent = []
    for _ in range(runs):
        conversation = skills.conversation(session="c-1")
        conversation.activate(names[0], by=by)
        started = time.process_time()
        for name in names[1:]:
            conversation.activate(name, ARGUMENTS, by=by)
        spent.append((time.process_time() - started) / (len(names) - 1))
    return min(spent)


def measure_bodies(body: str, floor: float) -> list[str]:
    """Print what filling the body costs in each host that fills bodies; the hosts too slow."""
    call = Given(arguments=ARGUMENTS, folder="/home/me/.claude/skills/x", session="c-1")
    around = Surroundings(facts=make_facts(bins=["bash"]), cwd="/home/me/project")
    slow = []
    for host in HOSTS:
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
            # Commands are planned for a shell, which takes a hundred times longer to start.
            slow += [host] if spent / floor > ALLOWED and text is body else []
            print(f"  {render(host, spent, floor)}  filling the body: {what}")
    return slow


def render(host: str, spent: float, floor: float) -> str:
    """A host, and what it spent as a ratio and in microseconds."""
    return f"{host:<12} {spent / floor:5.2f}×  {spent * 1e6:7.1f} µs"


def measure_whole(body: str, floor: float, *, root: Path, files: int) -> list[str]:
    """Print what loading costs in every host; the hosts too slow."""
    slow = []
    for host, place in HOSTS.items():
        home = root / host
        names = write_skills(home / place, body, count=SKILLS, files=files)
        (root / "project").mkdir(exist_ok=True)
        skills = Skills(root / "project", host=host, facts=make_facts(home=str(home)))
        for by in ("user", "model"):
            spent = measure_loading(skills, names, by)
            slow += [f"{host} by the {by}"] if spent / floor > ALLOWED else []
            print(f"  {render(host, spent, floor)}  loading and counting it, by the {by}")
    return slow


def main() -> None:
    """Print every ratio; fail if one is more than twenty readings."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kilobytes", type=int, default=5)
    parser.add_argument("--placeholders", type=int, default=10)
    parser.add_argument("--files", type=int, default=3)
    options = parser.parse_args()
    body = write_body(options.kilobytes * 1_000, options.placeholders)
    with TemporaryDirectory() as folder:
        path = Path(folder, "SKILL.md")
        path.write_text(f"---\nname: x\ndescription: x\n---\n{body}", encoding="utf-8")
        files = LocalFiles()
        floor = measure_reading(Path(folder, "read"), body)
        bare = best(lambda: files.read_head(str(path), 1 << 30))
        size = f"{len(body):,} characters, {options.placeholders} placeholders"
        print(f"{size}, {options.files} files beside them")
        print(f"reading the file {floor * 1e6:.1f} µs, its bare bytes {bare * 1e6:.1f} µs")
        slow = measure_bodies(body, floor) + measure_whole(
            body, floor, root=Path(folder), files=options.files
        )
    if slow:
        raise SystemExit(f"too slow: {', '.join(slow)}; {ALLOWED:.0f} readings are allowed")


if __name__ == "__main__":
    main()
