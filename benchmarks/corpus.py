"""Read every SKILL.md below a folder; show what strict YAML loses, which repairs, how long.

    python benchmarks/corpus.py DIR [--host NAME[@EDITION]] [--show CODE]

`--show` prints the files with a diagnostic, one per line.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from prowess.parse.header.fast import HeaderReading, read_header
from prowess.parse.manifest.names import understand
from prowess.parse.yaml.reader import parse_natively
from prowess.profiles.load import load_profile
from prowess.profiles.schema.header import HeaderRules
from prowess.profiles.schema.profile import Profile

_ROUNDS = 5


def main() -> int:
    arguments = _parse_arguments()
    profile = load_profile(arguments.host)
    files = sorted(Path(arguments.folder).rglob("SKILL.md"))
    datas = [path.read_bytes()[: 1 << 18] for path in files]
    readings = [read_header(data, rules=profile.header, limits=profile.limits) for data in datas]
    if arguments.show:
        _show(files, readings, arguments.show)
        return 0
    print(f"{len(files)} files below {arguments.folder}, read as {arguments.host}\n")
    _print_losses(datas, readings, profile)
    _print_times(datas, readings, profile)
    return 0


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("folder")
    parser.add_argument("--host", default="prowess")
    parser.add_argument("--show", metavar="CODE")
    return parser.parse_args()


def _show(files: Sequence[Path], readings: Sequence[HeaderReading], code: str) -> None:
    for path, reading in zip(files, readings, strict=True):
        for finding in reading.diagnostics:
            if finding.code == code:
                print(f"{path}:{finding.line or 1}: {finding.message}")


def _print_losses(
    datas: Sequence[bytes], readings: Sequence[HeaderReading], profile: Profile
) -> None:
    strict = HeaderRules(unclosed="invalid")
    lost = [not read_header(data, rules=strict, limits=profile.limits).valid for data in datas]
    understood = [
        understand(reading, default_name="skill", required=(), fields=profile.fields)
        for reading in readings
    ]
    by_file = Counter(
        code for reading in readings for code in {finding.code for finding in reading.diagnostics}
    )
    reported = sum(bool(reading.diagnostics) for reading in readings)
    print(f"{sum(lost):7} lost by a strict YAML reader")
    print(f"{sum(not reading.valid for reading in readings):7} still invalid after repairs")
    print(f"{reported:7} with something to report, by code (files):")
    for code, count in by_file.most_common():
        print(f"        {count:7} {code}")
    later = Counter(
        code for entry in understood for code in {finding.code for finding in entry.diagnostics}
    )
    for code, count in later.most_common():
        print(f"        {count:7} {code}")


def _print_times(
    datas: Sequence[bytes], readings: Sequence[HeaderReading], profile: Profile
) -> None:
    def read(data: bytes) -> HeaderReading:
        return read_header(data, rules=profile.header, limits=profile.limits)

    sound = [data for data, reading in zip(datas, readings, strict=True) if not reading.diagnostics]
    broken = [data for data, reading in zip(datas, readings, strict=True) if reading.diagnostics]
    headers = [
        data[4 : data.find(b"\n---\n", 3) + 1].decode()
        for data in sound
        if data.startswith(b"---\n")
    ]
    print("\nmicroseconds per file, the best of", _ROUNDS)
    print(f"{_time(parse_natively, headers):9.1f} the native YAML reader alone, sound headers")
    print(f"{_time(read, sound):9.1f} read_header, {len(sound)} sound files")
    print(f"{_time(read, broken):9.1f} read_header, {len(broken)} files with findings")
    print(f"{_time(read, datas):9.1f} read_header, all")

    def grasp(reading: HeaderReading) -> Any:
        return understand(reading, default_name="skill", required=(), fields=profile.fields)

    print(f"{_time(grasp, readings):9.1f} understand, all")


def _time(work: Callable[[Any], Any], items: Sequence[Any]) -> float:
    best = float("inf")
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        for item in items:
            work(item)
        best = min(best, time.perf_counter() - start)
    return best / max(len(items), 1) * 1e6


if __name__ == "__main__":
    raise SystemExit(main())
