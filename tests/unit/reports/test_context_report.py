"""Context files as a report, and the sentence where there are none."""

from __future__ import annotations

from prowess.discover.context import ContextFile
from prowess.reports.context_report import ContextReport, load_context, render_none
from tests.unit.reports.folders import HOME, PROJECT, open_project


def load(files: dict[str, str], *, host: str = "prowess") -> ContextReport:
    return load_context(open_project(files, host=host))


def test_files_come_with_their_depth_and_size():
    report = load({"AGENTS.md": "Be kind.\n"})
    assert report.found.files == (ContextFile(f"{PROJECT}/AGENTS.md", "Be kind.\n", 0),)
    assert report.estimated_tokens == 3
    assert report.shape()["files"] == [
        {"path": f"{PROJECT}/AGENTS.md", "depth": 0, "characters": 9, "estimated_tokens": 3}
    ]


def test_where_there_are_none_it_says_which_were_searched_for_and_where():
    assert render_none(load({}, host="codex"), home=HOME) == (
        "No context file applies here: there is no AGENTS.md in ~/p or above it, up to /."
    )
