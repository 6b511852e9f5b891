"""What `sync --frozen` and `verify` cost, against the least that the work takes.

    python benchmarks/install.py [--sync 200] [--verify 1000] [--runs 5]

`sync` of skills that are in the store is compared with copying the same files by `shutil`; `verify`
with reading and hashing them. Each is called in this process, in turns with its floor, and the best
CPU time of each counts. The ratios may be at most 3 and 2.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

MOST_SYNC = 3.0
MOST_VERIFY = 2.0
TEXT = (
    "---\nname: {name}\ndescription: Works on table {number}. Use when someone asks about tables.\n"
    "---\n\n# How\n\n"
) + "Do this step with care, then look at what came out of it.\n" * 100


def make_skills(folder: Path, count: int) -> None:
    """Skills of five files each: instructions, two scripts, a reference and a picture."""
    for number in range(count):
        name = f"skill-{number:05d}"
        place = folder / name
        for inner in ("scripts", "references", "assets"):
            (place / inner).mkdir(parents=True)
        (place / "SKILL.md").write_text(TEXT.format(name=name, number=number))
        (place / "scripts/run.py").write_text(f"print({number})\n" * 200)
        (place / "scripts/run.sh").write_text(f"#!/bin/sh\necho {number}\n")
        (place / "references/more.md").write_text(f"Details of {number}.\n" * 500)
        (place / "assets/picture.png").write_bytes(hashlib.sha256(name.encode()).digest() * 700)


def measure(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    began = time.process_time()
    work()
    return time.process_time() - began


def hash_all(folder: Path) -> int:
    """Read and hash every file below a folder; how many there were."""
    count = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(path, name), "rb") as file:
                hashlib.sha256(file.read()).hexdigest()
            count += 1
    return count


class Machine:
    """A home and a project with skills installed from a folder."""

    def __init__(self, root: Path, count: int) -> None:
        from prowess.model.facts import Facts
        from prowess.state.skill_store import SkillStore
        from prowess.supply.install.targets import PROJECT, InstallPlace

        self.source = root / "source"
        make_skills(self.source, count)
        self.project = root / "project"
        self.project.mkdir()
        self.skills = self.project / ".agents/skills"
        facts = Facts(home=str(root / "home"), env={})
        self.place = InstallPlace(
            scope=PROJECT,
            base=str(self.project),
            lock_path=str(self.project / "prowess.lock"),
            facts=facts,
        )
        self.store = SkillStore.of(facts)
        self.count = count

    def install(self) -> None:
        """Write the lock file and fill the store."""
        from prowess.supply.install.installer import open_installer

        with open_installer(self.place, scan=lambda folder: ()) as installer:
            # Five thousand files are the most of one source, so each skill is a source of its own.
            wanted = []
            lock = self.place.open_lock().load()
            for folder in sorted(self.source.iterdir()):
                fetched = installer.fetch(installer.parse(str(folder), cwd=str(self.project)))
                (skill,) = fetched.skills
                wanted.append(installer.want(fetched.source, skill, [str(self.skills)], lock))
            installer.apply(installer.plan(wanted))

    def sync(self) -> None:
        """Restore everything from the store."""
        from prowess.supply.install.installer import open_installer
        from prowess.supply.install.sync import SyncOptions, sync_installed

        with open_installer(self.place) as installer:
            synced = sync_installed(installer, SyncOptions(frozen=True, offline=True))
        assert len(synced.restored) == self.count

    def verify(self) -> None:
        """Check everything."""
        from prowess.supply.install.verify import verify_installed

        content = self.place.open_lock().load()
        assert verify_installed(self.place, content, self.store).problems == ()


def compare_sync(count: int, runs: int) -> float:
    """The CPU time of a sync as a multiple of that of copying the files."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        machine = Machine(root, count)
        machine.install()
        floor, ours = [], []
        for _ in range(runs):
            shutil.rmtree(machine.skills)
            shutil.rmtree(root / "copy", ignore_errors=True)
            floor.append(measure(lambda: shutil.copytree(machine.source, root / "copy")))
            ours.append(measure(machine.sync))
        print(
            f"sync of {count} skills: {min(ours) * 1000:.0f} ms of CPU, copying the files"
            f" {min(floor) * 1000:.0f} ms: {min(ours) / min(floor):.2f} times (at most {MOST_SYNC})"
        )
        return min(ours) / min(floor)


def compare_verify(count: int, runs: int) -> float:
    """The CPU time of a verify as a multiple of that of hashing the files."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(Path(folder), count)
        machine.install()
        floor, ours = [], []
        for _ in range(runs):
            floor.append(measure(lambda: hash_all(machine.skills)))
            ours.append(measure(machine.verify))
        print(
            f"verify of {count} skills: {min(ours) * 1000:.0f} ms of CPU, hashing the files"
            f" {min(floor) * 1000:.0f} ms: {min(ours) / min(floor):.2f} times"
            f" (at most {MOST_VERIFY})"
        )
        return min(ours) / min(floor)


def main() -> int:
    """Print both ratios; 1 if one is too high."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sync", type=int, default=200)
    parser.add_argument("--verify", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    sync = compare_sync(options.sync, options.runs)
    verify = compare_verify(options.verify, options.runs)
    return int(sync > MOST_SYNC or verify > MOST_VERIFY)


if __name__ == "__main__":
    sys.exit(main())
