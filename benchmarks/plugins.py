"""How much plugins cost: 1,000 skills in 50 plugins against the same skills in plain folders.

    python benchmarks/plugins.py [--skills 1000] [--plugins 50] [--runs 7]

Both trees are scanned as Claude Code in this process, without a cache, in turns; the best CPU time
of each is compared. The ratio may be at most 1.5.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

MOST = 1.5
TEXT = (
    "---\nname: {name}\ndescription: Works on table {number}. Use when someone asks about tables.\n"
    'license: MIT\nmetadata:\n  author: someone\n  version: "1.0"\n---\n\n# How\n\n'
) + "Do this step with care, then look at what came out of it.\n" * 60


def write_skill(folder: Path, number: int) -> None:
    name = f"skill-{number:05d}"
    place = folder / name
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(TEXT.format(name=name, number=number))


def make_plain(home: Path, skills: int) -> None:
    """All skills in the user's own folder."""
    for number in range(skills):
        write_skill(home / ".claude" / "skills", number)


def make_plugins(home: Path, skills: int, plugins: int) -> None:
    """The same skills in plugins that are installed and turned on."""
    folder = home / ".claude" / "plugins"
    listed = {}
    for index in range(plugins):
        place = folder / "cache" / "market" / f"plugin-{index:03d}" / "1.0.0"
        listed[f"plugin-{index:03d}@market"] = [{"scope": "user", "installPath": str(place)}]
        manifest = place / ".claude-plugin" / "plugin.json"
        manifest.parent.mkdir(parents=True)
        described = {"name": f"plugin-{index:03d}", "version": "1.0.0", "description": "Tables."}
        manifest.write_text(json.dumps(described))
        for number in range(index, skills, plugins):
            write_skill(place / "skills", number)
    text = json.dumps({"version": 2, "plugins": listed})
    (folder / "installed_plugins.json").write_text(text)
    switches = {"enabledPlugins": dict.fromkeys(listed, True)}
    (home / ".claude" / "settings.json").write_text(json.dumps(switches))


def scan(home: Path, expected: int) -> float:
    """CPU seconds of one scan."""
    from prowess.model.facts import Facts
    from prowess.runtime import Skills

    cwd = home / "work"
    cwd.mkdir(exist_ok=True)
    started = time.process_time()
    skills = Skills(cwd, host="claude-code", facts=Facts(home=str(home)), cache=False)
    found = len(skills.snapshot.skills)
    spent = time.process_time() - started
    if found != expected:
        raise SystemExit(f"{found} skills were found, not {expected}")
    return spent


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare plugins with plain folders.")
    parser.add_argument("--skills", type=int, default=1_000)
    parser.add_argument("--plugins", type=int, default=50)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plain, packed = Path(folder, "plain"), Path(folder, "packed")
        make_plain(plain, options.skills)
        make_plugins(packed, options.skills, options.plugins)
        best = {plain: float("inf"), packed: float("inf")}
        for _ in range(options.runs + 1):
            # The first turn only warms up: it imports everything.
            for home, so_far in best.items():
                best[home] = min(so_far, scan(home, options.skills))
    ratio = best[packed] / best[plain]
    print(
        f"{options.skills:,} skills in {options.plugins} plugins: {best[packed] * 1000:.1f} ms, in"
        f" plain folders {best[plain] * 1000:.1f} ms; {ratio:.2f} times (at most {MOST})"
    )
    return 0 if ratio <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
