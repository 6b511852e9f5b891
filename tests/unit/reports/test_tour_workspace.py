"""The tour as a value: every state once, paths relative, and nothing left behind."""

from __future__ import annotations

import os

from prowess.model.outcome import DECIDED_BY_GATE, DECIDED_BY_PARSE, DECIDED_BY_RESOLVE
from prowess.reports.tour_workspace import find_workspace, list_decided, take_tour


def test_the_tour_is_there_while_it_is_open_and_gone_afterwards():
    with take_tour() as tour:
        assert os.path.isdir(tour.scanned)
        assert tour.workspace == find_workspace()
        assert (tour.contested, [answer.host for answer in tour.answers]) == (
            "release-notes",
            ["claude-code", "opencode"],
        )
        decided = [
            outcome.name
            for states in (DECIDED_BY_PARSE, DECIDED_BY_RESOLVE, DECIDED_BY_GATE)
            for outcome in list_decided(tour.snapshot, states)
        ]
        assert len(decided) + len(tour.snapshot.skills) == len(tour.snapshot.outcomes)
    assert not os.path.lexists(tour.scanned)


def test_numbers_and_paths_do_not_depend_on_where_the_copy_lies():
    shapes = []
    for _ in range(2):
        with take_tour("opencode") as tour:
            shapes.append({**tour.shape(), "seconds": 0})
            assert tour.scanned not in str(shapes[-1])
    assert shapes[0] == shapes[1]
