"""How far off the token estimate is on every SKILL.md below a folder, and how fast it is.

    python benchmarks/tokens.py DIR [--encoding o200k_base] [--most 1000]

Needs the extra `tokens`. Headers, bodies and mostly Chinese texts are counted separately, next to
the usual rule of a quarter of the characters.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from prowess.present.tokens import estimate_tokens, get_counter

_PARTS = re.compile(r"---\s*\n(.*?)\n---\s*\n(.*)", re.DOTALL)
_CHINESE = re.compile("[\u4e00-\u9fff]")


def read_parts(folder: str) -> tuple[list[str], list[str]]:
    """The headers and the bodies of all skills below a folder, always in the same order."""
    found = [
        match.groups()
        for path in sorted(Path(folder).rglob("SKILL.md"))
        if (match := _PARTS.match(path.read_text(encoding="utf-8", errors="replace")))
    ]
    random.Random(1).shuffle(found)
    return [header for header, _ in found], [body for _, body in found]


def is_chinese(text: str) -> bool:
    """Whether at least a quarter of the characters are Chinese."""
    return len(_CHINESE.findall(text)) * 4 >= len(text) > 0


def report(kind: str, texts: Sequence[str], exact: Callable[[str], int]) -> None:
    """Print the median and the 95th percentile of the error, of the estimate and the usual rule."""
    counts = [exact(text) for text in texts]
    columns = []
    for rule in (estimate_tokens, lambda text: len(text) // 4):
        errors = sorted(
            abs(rule(text) - count) / max(count, 1)
            for text, count in zip(texts, counts, strict=True)
        )
        columns.append(
            f"median {errors[len(errors) // 2]:6.1%}  95th {errors[len(errors) * 95 // 100]:6.1%}"
        )
    print(f"{kind:<16} {len(texts):>6,}  estimate {columns[0]}   quarter {columns[1]}")


def main() -> None:
    """Measure the estimate against an encoding."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--encoding", default="o200k_base")
    parser.add_argument("--most", type=int, default=1_000)
    options = parser.parse_args()
    exact = get_counter(options.encoding).count
    headers, bodies = read_parts(options.folder)
    report("headers", headers[: options.most], exact)
    report("bodies", bodies[: options.most], exact)
    report("Chinese headers", [text for text in headers if is_chinese(text)][: options.most], exact)
    report("Chinese bodies", [text for text in bodies if is_chinese(text)][: options.most], exact)
    text = "".join(bodies[: options.most])
    started = time.process_time()
    estimate_tokens(text)
    speed = len(text) / (time.process_time() - started) / 1e6
    print(f"speed: {speed:.0f} million characters per second")


if __name__ == "__main__":
    main()
