"""How much is said of one file: somebody reads the first findings of a kind, and 64 KB can make
thousands.
"""

from __future__ import annotations

from collections.abc import Sequence

from prowess.diagnostics import Diagnostic, diagnose, worst

MOST_OF_A_KIND = 50


def bound_findings(findings: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The findings; of a kind that has more than `MOST_OF_A_KIND`, the first ones and one that
    counts the rest.
    """
    if len(findings) <= MOST_OF_A_KIND:
        return tuple(findings)
    kinds: dict[str, list[Diagnostic]] = {}
    kept = []
    for finding in findings:
        kind = kinds.setdefault(finding.code, [])
        kind.append(finding)
        if len(kind) <= MOST_OF_A_KIND:
            kept.append(finding)
    rest = (_count(kind[MOST_OF_A_KIND:]) for kind in kinds.values() if len(kind) > MOST_OF_A_KIND)
    return (*kept, *rest)


def _count(left_out: list[Diagnostic]) -> Diagnostic:
    first = left_out[0]
    how_many = (
        f"{len(left_out):,} more findings of this kind follow"
        if len(left_out) > 1
        else "One more follows"
    )
    where = " from here on" if first.line is not None else ""
    return diagnose(
        first.code,
        f"{how_many}{where}.",
        line=first.line,
        severity=worst(left_out),
        hint=first.hint,
    )
