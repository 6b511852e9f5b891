"""The table of facts: what the documents say about the hosts, and which test proves each.

A test names the facts it proves by `@pytest.mark.seed("C-60")`. `tests/seeds/facts.tsv` has every
fact, `tests/seeds/proved.txt` the ones that were proved before; a fact that was proved must stay
so.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

_ROOT = Path(__file__).resolve().parent.parent
FACTS = _ROOT / "tests" / "seeds" / "facts.tsv"
LEDGER = _ROOT / "tests" / "seeds" / "proved.txt"

Proofs = Mapping[str, Sequence[str]]


class Fact(NamedTuple):
    """One numbered fact; `issues` are the pieces of work it belongs to, the main one first."""

    id: str
    issues: tuple[str, ...]
    section: str
    gist: str


class CannotCollect(Exception):
    """pytest could not collect the tests; carries what it printed."""


class _Collector:
    """A pytest plugin that notes which test carries which fact."""

    def __init__(self) -> None:
        self.proofs: dict[str, list[str]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            # The cases of one parametrised test are one proof.
            test = item.nodeid.partition("[")[0].removeprefix("tests/")
            for mark in item.iter_markers("seed"):
                for fact in mark.args:
                    tests = self.proofs.setdefault(str(fact), [])
                    if test not in tests:
                        tests.append(test)


def load_facts(path: Path = FACTS) -> list[Fact]:
    """Every fact, in the order of the documents."""
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    return [
        Fact(id, tuple(issues.split(", ")), section, gist) for id, issues, section, gist in rows
    ]


def load_ledger(path: Path = LEDGER) -> list[str]:
    """The ids of the facts that were proved before."""
    return path.read_text(encoding="utf-8").split() if path.exists() else []


def collect_proofs() -> Proofs:
    """Which tests name which fact; no test is run."""
    collector = _Collector()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        code = pytest.main(
            ["--collect-only", "-q", "--rootdir", str(_ROOT), str(_ROOT / "tests")],
            plugins=[collector],
        )
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise CannotCollect(printed.getvalue())
    return collector.proofs


def find_problems(facts: Sequence[Fact], proofs: Proofs, ledger: Sequence[str]) -> list[str]:
    """What is wrong between facts, tests and ledger, one sentence each."""
    known = {fact.id for fact in facts}
    problems = [
        f"{tests[0]} names the fact {id}, which does not exist."
        for id, tests in proofs.items()
        if id not in known
    ]
    problems += [f"{id} is in the ledger but is no fact." for id in ledger if id not in known]
    problems += [
        f"{id} was proved and has no test any more."
        for id in ledger
        if id in known and id not in proofs
    ]
    missing = [fact.id for fact in facts if fact.id in proofs and fact.id not in ledger]
    if missing:
        problems.append(
            f"Proved but not in the ledger: {', '.join(missing)}. Run `make seeds-update`."
        )
    return problems


def render_table(facts: Iterable[Fact], proofs: Proofs) -> str:
    """A line per fact: id, issues, proof, gist."""
    rows = [
        (fact.id, ", ".join(fact.issues), _proof(proofs.get(fact.id, ())), fact.gist)
        for fact in facts
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(2)]
    return "\n".join(
        f"{id:<{widths[0]}}  {issues:<{widths[1]}}  {gist}: {proof}"
        for id, issues, proof, gist in rows
    )


def _proof(tests: Sequence[str]) -> str:
    more = f" and {len(tests) - 1} more" if len(tests) > 1 else ""
    return f"{tests[0]}{more}" if tests else "not yet"


def render_totals(facts: Sequence[Fact], proofs: Proofs) -> str:
    """Proved facts per issue. A fact of two issues counts in both, and once in the last line."""
    lines = []
    for issue in sorted({issue for fact in facts for issue in fact.issues}):
        lines.append(_total(issue, [fact for fact in facts if issue in fact.issues], proofs))
    return "\n".join([*lines, _total("all", facts, proofs)])


def _total(label: str, facts: Sequence[Fact], proofs: Proofs) -> str:
    proved = sum(fact.id in proofs for fact in facts)
    return f"{label:<20} {proved:>3} of {len(facts):>3} proved, {len(facts) - proved:>3} not yet"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; 1 where a fact lost its proof, 2 where the tests cannot be collected."""
    parser = argparse.ArgumentParser(
        prog="make seeds", description="Which facts about the hosts are proved."
    )
    parser.add_argument("--update", action="store_true", help="write the ledger of proved facts")
    parser.add_argument(
        "--missing", action="store_true", help="show only facts that are not proved yet"
    )
    parser.add_argument(
        "--issue", default="", help="show only facts of the issue whose name begins so"
    )
    options = parser.parse_args(argv)
    facts = load_facts()
    try:
        proofs = collect_proofs()
    except CannotCollect as error:
        print(error, file=sys.stderr)
        return 2
    if options.update:
        LEDGER.write_text(
            "".join(f"{fact.id}\n" for fact in facts if fact.id in proofs), encoding="utf-8"
        )
    shown = [
        fact
        for fact in facts
        if any(issue.startswith(options.issue) for issue in fact.issues)
        and not (options.missing and fact.id in proofs)
    ]
    print(render_table(shown, proofs), render_totals(facts, proofs), sep="\n\n")
    problems = find_problems(facts, proofs, load_ledger())
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
