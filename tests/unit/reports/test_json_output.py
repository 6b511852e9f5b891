"""The JSON shapes that reports share."""

from __future__ import annotations

from prowess.diagnostics import diagnose
from prowess.reports.json_output import shape_diagnostic, shape_list
from tests.unit.reports.folders import PROJECT, open_project, skill


def test_a_list_has_the_outcomes_asked_for_and_the_counts_of_all():
    files = {
        ".agents/skills/a/SKILL.md": skill("a"),
        ".agents/skills/b/SKILL.md": skill("b", hide="true", enabled="false"),
    }
    snapshot = open_project(files).snapshot
    disabled = [one for one in snapshot.outcomes if one.name == "b"]
    assert shape_list(snapshot, disabled) == {
        "host": "prowess",
        "edition": "current",
        "cwd": PROJECT,
        "counts": {"disabled": 1, "ready": 1},
        "skills": [
            {
                "name": "b",
                "description": "Does it.",
                "location": f"{PROJECT}/.agents/skills/b/SKILL.md",
                "folder": f"{PROJECT}/.agents/skills/b",
                "scope": "project",
                "source": {
                    "provider": "agents",
                    "level": "project",
                    "path": f"{PROJECT}/.agents/skills",
                    "loaded_from": "skills",
                    "label": "agents:project",
                },
                "state": "disabled",
                "reason": "its header says `enabled: false`",
                "rule": "enabled",
                "notes": [{"state": "hidden", "reason": "its header says `hide: true`"}],
            }
        ],
        "diagnostics": [],
    }


def test_a_finding_has_only_the_fields_it_needs():
    finding = diagnose("limit-reached", "Too many.", file="/p")
    assert shape_diagnostic(finding) == {
        "code": "limit-reached",
        "severity": finding.severity.value,
        "message": "Too many.",
        "file": "/p",
        **({"hint": finding.hint} if finding.hint else {}),
    }
