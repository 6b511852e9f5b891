"""Writers that are killed while they write: the file is always whole, and nothing piles up."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from prowess.machine.atomic_write import rewrite_aside, write_aside

# Large enough that a write takes longer than it takes to notice the temporary file.
SIZE = 4_000_000
OLD = b"o" * SIZE
NEW = b"n" * SIZE
WRITES: dict[str, Callable[[str, bytes], None]] = {
    "write_aside": write_aside,
    "rewrite_aside": rewrite_aside,
}
# One process imports everything and forks a writer for each kill, so that a kill costs little.
WRITER = f"""
import os, sys
from prowess.machine.atomic_write import rewrite_aside, write_aside

write = {{"write_aside": write_aside, "rewrite_aside": rewrite_aside}}[sys.argv[1]]
for line in sys.stdin:
    child = os.fork()
    if not child:
        while True:
            write(sys.argv[2], b"n" * {SIZE})
            write(sys.argv[2], b"o" * {SIZE})
    print(child, flush=True)
    os.waitpid(child, 0)
    print("gone", flush=True)
"""


def find_strays(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if name.endswith(".tmp")]


def wait_for_stray(folder: Path, known: set[str]) -> None:
    deadline = time.monotonic() + 120
    while not set(find_strays(folder)) - known:
        assert time.monotonic() < deadline, "the writer wrote nothing"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("name", ["write_aside", "rewrite_aside"])
def test_a_killed_writer_leaves_the_old_file_or_the_new_one(
    tmp_path: Path, kills: int, name: str
) -> None:
    file = tmp_path / "prowess.toml"
    write_aside(str(file), OLD)
    began = time.monotonic()
    write_aside(str(file), OLD)
    # Kills hit every moment of a write, the rename too, and the beginning of the next.
    longest = 1.5 * (time.monotonic() - began)
    write = WRITES[name]
    chance = random.Random(9)
    inside = 0
    command = [sys.executable, "-c", WRITER, name, str(file)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        killed = 0
        # A kill that hits between two writes shows nothing, and how many do depends on the disk.
        while killed < kills // 2 or inside < kills // 8:
            killed += 1
            assert killed <= 20 * kills, f"{inside} of {killed} kills hit a write"
            known = set(find_strays(tmp_path))
            parent.stdin.write("go\n")
            child = int(parent.stdout.readline())
            wait_for_stray(tmp_path, known)
            time.sleep(chance.random() * longest)
            os.kill(child, signal.SIGKILL)
            assert parent.stdout.readline() == "gone\n"
            assert file.read_bytes() in (OLD, NEW)
            for stray in set(find_strays(tmp_path)) - known:
                inside += 1
                # Cleaning goes by the name; the content would only fill the disk.
                os.truncate(tmp_path / stray, 0)
        parent.stdin.close()
    assert len(find_strays(tmp_path)) == inside
    write(str(file), NEW)
    assert len(find_strays(tmp_path)) == inside
    for stray in find_strays(tmp_path):
        os.utime(tmp_path / stray, (time.time() - 3700,) * 2)
    write(str(file), OLD)
    assert os.listdir(tmp_path) == ["prowess.toml"]
    assert file.read_bytes() == OLD
