"""How good the scan is: precision and recall on the labelled set, and alarms on real skills.

    python -m tools.scan_quality                      # the labelled set
    python -m tools.scan_quality --corpus FOLDER      # alarms by rule and severity
    python -m tools.scan_quality --corpus FOLDER --draw 100 --seed 15

A corpus is a folder with one folder for each skill. A sample counts as found if its rule reports it
at least as a warning; `unpinned-install` reports notes, so there a note counts.
"""

from __future__ import annotations

import argparse
import random
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from prowess.diagnostics import Diagnostic, Severity
from prowess.machine.files import LocalFiles
from prowess.supply.scan.rules import RULES
from prowess.supply.scan.skill_scan import scan_folder, scan_text

LABELLED = Path(__file__).resolve().parent.parent / "tests" / "scan" / "labelled"


class Sample(NamedTuple):
    """A labelled file: the rule that it is about, and whether that rule has to find it."""

    code: str
    is_malicious: bool
    file: str
    text: str

    def is_found(self) -> bool:
        """Whether the rule raises an alarm about it."""
        found = scan_text(self.file, self.text)
        return any(one.code == self.code and is_alarm(one) for one in found)


class Score(NamedTuple):
    """What a rule made of its samples."""

    found: int
    missed: int
    false: int
    quiet: int

    @property
    def precision(self) -> float:
        """How many of its alarms were right."""
        return self.found / (self.found + self.false) if self.found + self.false else 1.0

    @property
    def recall(self) -> float:
        """How many of the malicious samples it found."""
        return self.found / (self.found + self.missed)


def is_alarm(finding: Diagnostic) -> bool:
    """Whether a finding is more than a note, or of the rule that has only notes."""
    return finding.severity is not Severity.INFO or finding.code == "unpinned-install"


def load_samples() -> Iterator[Sample]:
    """Every labelled sample that the rules were written with, rule by rule."""
    for rule in RULES:
        yield from _load(rule.code)


def load_later_samples() -> Iterator[Sample]:
    """Samples that were written after the rules."""
    yield from _load("unseen")


def _load(name: str) -> Iterator[Sample]:
    data: dict[str, Any] = tomllib.loads((LABELLED / f"{name}.toml").read_text("utf-8"))
    for label in ("malicious", "benign"):
        for one in data[label]:
            file, code = one.get("file", "SKILL.md"), one.get("code", name)
            yield Sample(code, label == "malicious", file, one["text"])


def measure(samples: Iterable[Sample]) -> dict[str, Score]:
    """The score of each rule."""
    counts: dict[str, Counter[tuple[bool, bool]]] = {rule.code: Counter() for rule in RULES}
    for sample in samples:
        counts[sample.code][sample.is_malicious, sample.is_found()] += 1
    return {
        code: Score(of[True, True], of[True, False], of[False, True], of[False, False])
        for code, of in counts.items()
    }


def render_scores(scores: dict[str, Score]) -> str:
    """A table in Markdown, with a row for all rules together."""
    total = Score(*(sum(column) for column in zip(*scores.values(), strict=True)))
    lines = [
        "| rule | malicious | benign | precision | recall |",
        "| --- | --- | --- | --- | --- |",
    ]
    for code, score in (*((f"`{code}`", score) for code, score in scores.items()), ("all", total)):
        sizes = f"{score.found + score.missed} | {score.false + score.quiet}"
        lines.append(f"| {code} | {sizes} | {score.precision:.2f} | {score.recall:.2f} |")
    return "\n".join(lines)


def scan_corpus(corpus: Path) -> Iterator[tuple[str, tuple[Diagnostic, ...]]]:
    """The findings of each skill of a corpus."""
    files = LocalFiles()
    for folder in sorted(path for path in corpus.iterdir() if path.is_dir()):
        yield folder.name, scan_folder(str(folder), files).findings


def render_corpus(found: Sequence[tuple[str, tuple[Diagnostic, ...]]]) -> str:
    """How many skills have a finding of each rule and severity."""
    skills: Counter[tuple[str, str]] = Counter()
    for _, findings in found:
        for code, severity in {(one.code, one.severity.value) for one in findings}:
            skills[code, severity] += 1
        for severity in {one.severity.value for one in findings}:
            skills["any", severity] += 1
    lines = [
        f"{len(found):,} skills",
        "| rule | error | warning | info |",
        "| --- | --- | --- | --- |",
    ]
    for code in (*(rule.code for rule in RULES), "file-not-scanned", "any"):
        numbers = " | ".join(str(skills[code, severity.value]) for severity in Severity)
        lines.append(f"| `{code}` | {numbers} |")
    return "\n".join(lines)


def draw(
    found: Sequence[tuple[str, tuple[Diagnostic, ...]]], number: int, seed: int
) -> list[Diagnostic]:
    """Some alarms of a corpus, the same for the same seed."""
    alarms = [one for _, findings in found for one in findings if one.severity is not Severity.INFO]
    alarms.sort(key=lambda one: (one.file or "", one.line or 0, one.code, one.message))
    picked = random.Random(seed).sample(range(len(alarms)), min(number, len(alarms)))
    return [alarms[at] for at in sorted(picked)]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="scan_quality", description="How good the scan is.")
    parser.add_argument("--corpus", type=Path, help="a folder with one folder for each skill")
    parser.add_argument("--draw", type=int, default=0, help="print so many alarms, at random")
    parser.add_argument("--seed", type=int, default=15, help="the seed of the draw")
    options = parser.parse_args(argv)
    if options.corpus is None:
        print(render_scores(measure(load_samples())))
        print("\nWritten after the rules:\n")
        print(render_scores(measure(load_later_samples())))
        return 0
    found = list(scan_corpus(options.corpus))
    print(render_corpus(found))
    for alarm in draw(found, options.draw, options.seed):
        print(f"{alarm.severity.value}\t{alarm}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
