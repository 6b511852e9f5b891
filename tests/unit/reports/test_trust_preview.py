"""What trusting a project would let run, and which entry of the list makes a folder trusted."""

from __future__ import annotations

import pytest

from prowess.model.origin import Origin
from prowess.reports.trust_preview import (
    DeclaredSetting,
    RunnableSkill,
    TrustPreview,
    describe_hooks,
    preview_trust,
)
from prowess.state.trust import TrustFile
from tests.workspace import Workspace


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    workspace = Workspace(tmp_path)
    workspace.git()
    monkeypatch.setenv("HOME", str(workspace.home))
    monkeypatch.setenv("PROWESS_NO_CACHE", "1")
    return workspace


def preview(workspace: Workspace, host: str | None = None) -> TrustPreview:
    root = str(workspace.project)
    return preview_trust(root, root, host)


def test_a_project_without_commands_runs_nothing(workspace):
    workspace.skill("project/.agents/skills/quiet")
    assert preview(workspace) == TrustPreview()
    assert preview(workspace).is_empty


def test_commands_hooks_tools_and_variables_are_listed(workspace):
    location = str(
        workspace.skill(
            "project/.agents/skills/log",
            body="!`git log`\n",
            hooks="{Stop: [{hooks: [{command: ./stop.sh}]}]}",
        )
    )
    settings = str(
        workspace.write(
            "project/prowess.toml",
            '[tools.tide]\ncommand = ["tide", "{argument}"]\n'
            '[skills.log]\napi_key = "secret"\nenv = { B = "2", A = "1" }\n',
        )
    )
    found = preview(workspace)
    assert found == TrustPreview(
        skills=(RunnableSkill("log", location, ("git log",), ("Stop: ./stop.sh",)),),
        tools=(DeclaredSetting("tide", Origin(settings, 1), "tide '{argument}'"),),
        variables=(
            DeclaredSetting("log: A", Origin(settings, 5)),
            DeclaredSetting("log: B", Origin(settings, 5)),
            DeclaredSetting("log: api_key", Origin(settings, 4)),
        ),
    )
    assert found.shape()["tools"] == [
        {"name": "tide", "command": "tide '{argument}'", "file": settings, "line": 1}
    ]
    assert "secret" not in repr(found)


def test_skills_of_the_user_and_links_out_of_the_project_are_not_the_projects(workspace):
    workspace.skill("home/.agents/skills/mine", body="!`mine`\n")
    workspace.skill("elsewhere/far", body="!`far`\n")
    workspace.link("project/.agents/skills/far", str(workspace.root / "elsewhere/far"))
    assert preview(workspace) == TrustPreview()


@pytest.mark.parametrize(
    ("hooks", "described"),
    [
        (None, []),
        ("Stop", []),
        ({"Stop": None, "Start": []}, ["Stop", "Start"]),
        ({"Stop": {"url": "https://x", "command": 3}}, ["Stop: https://x"]),
        (
            {"Stop": [{"hooks": ({"prompt": "p"}, {"command": "c"})}]},
            ["Stop: p", "Stop: c"],
        ),
    ],
)
def test_hooks_are_described_whatever_shape_they_have(hooks, described):
    assert list(describe_hooks(hooks)) == described


def test_the_innermost_entry_that_covers_a_folder_is_found(workspace):
    store = TrustFile(
        str(workspace.root / "trust.json"), home=str(workspace.home), today=lambda: "2026-01-01"
    )
    for folder in ("loose/a/b", "loose/ab"):
        (workspace.root / folder).mkdir(parents=True)
    assert store.find_trusted(str(workspace.root / "loose/a/b")) is None
    outer = store.trust(str(workspace.root / "loose"))
    inner = store.trust(str(workspace.root / "loose/a"))
    assert store.find_trusted(str(workspace.root / "loose/a/b")) == inner
    assert store.find_trusted(str(workspace.root / "loose/ab")) == outer


def test_what_git_ignores_and_what_no_host_reads_is_listed_too(workspace):
    workspace.write("project/.gitignore", "build/\n")
    workspace.skill("project/build/cache/x", body="!`touch ignored`\n")
    workspace.skill("project/docs/deep/down/y", body="!`touch deep`\n")
    workspace.write(
        "project/docs/deep/prowess.toml", '[tools.fetch]\ncommand = ["curl", "{argument}"]\n'
    )
    workspace.git("project/vendor/other")
    workspace.skill("project/vendor/other/z", body="!`touch other`\n")
    found = preview_trust(str(workspace.project), str(workspace.project))
    assert [(one.name, one.commands) for one in found.skills] == [
        ("x", ("touch ignored",)),
        ("y", ("touch deep",)),
    ]
    assert [(one.name, one.command) for one in found.tools] == [("fetch", "curl '{argument}'")]
