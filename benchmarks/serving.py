"""What it costs to serve many people: memory, descriptors and time per request.

    python benchmarks/serving.py [--tenants 1000] [--conversations 2000] [--folders 10000]

1. Every tenant has the shared skills and one of their own; every conversation asks for its catalog
   and loads a skill. Memory and open files are measured for the first and the last tenth: they must
   not grow with the number of conversations that have ended.
2. A request of one conversation, with 12 and with 5,000 skills: the catalog and the check for
   changes.
3. That many folders are opened, scanned and kept while the process may have 256 files open.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import statistics
import tempfile
import time
from pathlib import Path

from prowess import Files, Folder, Skills

SHARED = 12
OPEN_FILES = 256


def write_skills(folder: Path, number: int) -> None:
    """That many skills of an ordinary size."""
    for n in range(number):
        place = folder / f"skill-{n:05d}"
        place.mkdir(parents=True)
        text = f"---\nname: skill-{n:05d}\ndescription: Does work number {n}. Use for {n}.\n---\n"
        (place / "SKILL.md").write_text(text + "Do it with care.\n" * 20)


def measure() -> tuple[float, int]:
    """The memory of this process in MB, and how many files it has open."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6, len(os.listdir("/proc/self/fd"))


def serve_tenants(folder: Path, tenants: int, conversations: int) -> None:
    """Open a tenant for each, and let conversations come and go."""
    before = measure()
    kept = [
        Skills.of(
            Folder(folder),
            Files({f"own-{n}/SKILL.md": f"---\nname: own-{n}\ndescription: Of {n}.\n---\nBody\n"}),
        )
        for n in range(tenants)
    ]
    started = time.perf_counter()
    for skills in kept:
        _ = skills.snapshot
    opened = (time.perf_counter() - started) / tenants
    full = measure()
    size = (full[0] - before[0]) / tenants * 1e3
    print(
        f"{tenants:,} tenants: {opened * 1e3:.2f} ms and {size:.0f} KB each;"
        f" {full[1] - before[1]} files open"
    )
    marks = []
    for n in range(conversations):
        chat = kept[n % tenants].conversation(session=str(n))
        chat.catalog()
        chat.activate(f"skill-{n % SHARED:05d}", by="model")
        if n in (conversations // 10, conversations - 1):
            marks.append(measure())
    (first, _), (last, files) = marks
    print(
        f"{conversations:,} conversations: {first:.1f} MB after a tenth, {last:.1f} MB after all;"
        f" {files - before[1]} files open"
    )
    live = [kept[0].conversation(session=str(n)) for n in range(conversations)]
    for chat in live:
        chat.catalog()
        chat.activate("skill-00001", by="model")
    held, files = measure()
    print(
        f"{len(live):,} conversations at once: {(held - last) / len(live) * 1e3:.1f} KB each;"
        f" {files - before[1]} files open"
    )


def time_requests(folder: Path, number: int) -> None:
    """A conversation's catalog, where nothing has changed and where a check is due."""
    skills = Skills.of(Folder(folder))
    started = time.perf_counter()
    _ = skills.snapshot
    scanned = time.perf_counter() - started
    chat = skills.conversation()
    chat.catalog()
    times = []
    for _ in range(1_000):
        started = time.perf_counter()
        chat.catalog()
        times.append(time.perf_counter() - started)
    refresher = skills._refresher
    assert refresher is not None
    started = time.perf_counter()
    for _ in range(20):
        refresher.has_changed()
    checked = (time.perf_counter() - started) / 20
    print(
        f"{number:,} skills: scanned in {scanned * 1e3:.0f} ms; a catalog takes"
        f" {statistics.median(times) * 1e6:.0f} µs, a check for changes {checked * 1e3:.2f} ms"
        " (at most once a second)"
    )


def open_folders(folder: Path, number: int) -> None:
    """Open that many folders with few files open, and keep them."""
    for n in range(number):
        place = folder / str(n) / "one"
        place.mkdir(parents=True)
        (place / "SKILL.md").write_text("---\nname: one\ndescription: d\n---\nBody\n")
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, hard))
    before = measure()
    started = time.perf_counter()
    kept = [Skills.of(Folder(folder / str(n))) for n in range(number)]
    for skills in kept:
        skills.conversation().activate("one")
    spent = time.perf_counter() - started
    after = measure()
    size = (after[0] - before[0]) / number * 1e3
    print(
        f"{number:,} folders with at most {OPEN_FILES} open files: {spent / number * 1e3:.2f} ms"
        f" and {size:.0f} KB each; {after[1] - before[1]} files open"
    )


def main() -> None:
    """Measure all three."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tenants", type=int, default=1_000)
    parser.add_argument("--conversations", type=int, default=2_000)
    parser.add_argument("--folders", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        write_skills(root / "shared", SHARED)
        write_skills(root / "many", 5_000)
        serve_tenants(root / "shared", options.tenants, options.conversations)
        time_requests(root / "shared", SHARED)
        time_requests(root / "many", 5_000)
        open_folders(root / "folders", options.folders)


if __name__ == "__main__":
    main()
