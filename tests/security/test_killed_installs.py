"""Installs that are killed: the old or the new version stands whole, and `sync` sets it right."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prowess.machine.tree_files import find_tree
from prowess.model.facts import Facts
from prowess.reports.install_check import CHANGED, MISSING, OK, OLDER
from prowess.state.skill_store import SkillStore
from prowess.supply.install.installer import open_installer
from prowess.supply.install.sync import SyncOptions, sync_installed
from prowess.supply.install.targets import PROJECT, InstallPlace
from prowess.supply.install.verify import verify_installed
from tests.workspace import skill_text

KILLS = 200
TARGETS = (".agents/skills/alpha", ".claude/skills/alpha")
# One process imports everything and forks an installer for each kill, so that a kill costs little.
INSTALLER = """
import contextlib, io, os, sys, time
from prowess.cli import main
from prowess.cli.commands import install, remove

source, link, *versions = sys.argv[1:]

def do(*arguments):
    with contextlib.redirect_stderr(io.StringIO()) as said:
        code = main([*arguments, "--yes"])
    if code:
        os.write(2, said.getvalue().encode())
        os._exit(9)

def install_all():
    for version in versions:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(link)
        os.symlink(version, link)
        os.replace(link, source)
        do("install", source, "--to", "codex", "--to", "claude-code")

def work():
    while True:
        install_all()
        if MODE == "remove":
            do("remove", "alpha")

sys.stdout, out = open(os.devnull, "w"), sys.stdout
# What is loaded late is loaded once, and a fork is at work at once.
install_all()
began = time.monotonic()
install_all()
print(time.monotonic() - began, file=out, flush=True)
for line in sys.stdin:
    child = os.fork()
    if not child:
        work()
    print(child, file=out, flush=True)
    _, status = os.waitpid(child, 0)
    print(status, file=out, flush=True)
"""


class Project:
    """A project in which installs are killed, and two versions of a skill."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.project = root / "project"
        self.source = root / "source"
        (self.project / ".git").mkdir(parents=True)
        self.home.mkdir()
        for version in ("one", "two"):
            folder = root / version
            (folder / "inner").mkdir(parents=True)
            (folder / "SKILL.md").write_text(skill_text("alpha", f"Version {version}."))
            for number in range(8):
                (folder / "inner" / f"{number}.txt").write_text(f"{version} {number}\n" * 20)
        self.source.symlink_to("one")
        digests = [find_tree(str(root / version)) for version in ("one", "two")]
        self.versions = {tree.digest for tree in digests if tree is not None}
        facts = Facts(home=str(self.home), env={})
        self.place = InstallPlace(
            scope=PROJECT,
            base=str(self.project),
            lock_path=str(self.project / "prowess.lock"),
            facts=facts,
        )
        self.store = SkillStore.of(facts)

    def start(self, mode: str) -> subprocess.Popen[str]:
        """The process that forks an installer for each line it gets."""
        env = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "PROWESS_CACHE_DIR": str(self.root / "cache"),
            # A killed program leaves its scratch folder, here for the test to remove.
            "TMPDIR": str(self.root),
        }
        script = f"MODE = {mode!r}\n{INSTALLER}"
        words = [str(self.source), str(self.root / "link"), "one", "two"]
        return subprocess.Popen(
            [sys.executable, "-c", script, *words],
            cwd=self.project,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def check(self, mode: str) -> str:
        """Hold what is there against the promise, and set it right; the states before."""
        content = self.place.open_lock().load()
        for target in TARGETS:
            tree = find_tree(str(self.project / target))
            if mode == "update":
                assert tree is not None, target
            assert tree is None or tree.digest in self.versions
        found = verify_installed(self.place, content, self.store)
        states = {one.state for one in found.targets}
        assert CHANGED not in states
        assert states <= {OK, OLDER, MISSING}
        with open_installer(self.place) as installer:
            sync_installed(installer, SyncOptions(offline=True))
        assert verify_installed(self.place, content, self.store).problems == ()
        return "+".join(sorted(states)) or "none"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(("mode", "kills"), [("update", KILLS - 40), ("remove", 40)])
def test_a_killed_install_leaves_the_old_or_the_new_version(
    tmp_path: Path, mode: str, kills: int
) -> None:
    project = Project(tmp_path)
    chance = random.Random(5)
    seen: dict[str, int] = {}
    process = project.start(mode)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        # Kills hit every moment of two installs, and the beginning of a third.
        longest = 1.2 * float(process.stdout.readline())
        for _ in range(kills):
            print("go", file=process.stdin, flush=True)
            child = int(process.stdout.readline())
            time.sleep(chance.uniform(0.0, longest))
            os.kill(child, signal.SIGKILL)
            assert int(process.stdout.readline()) == signal.SIGKILL
            states = project.check(mode)
            seen[states] = seen.get(states, 0) + 1
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()
    assert sum(seen.values()) == kills
    # What killed installs left beside the skills is removed by the next one.
    left = [one for one in (project.project / ".agents/skills").iterdir() if one.name != "alpha"]
    assert len(left) <= 1
