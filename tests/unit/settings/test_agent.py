"""`[agent]`: the user chooses the model; a project cannot."""

from __future__ import annotations

import pytest

from prowess.errors import SettingError
from prowess.model.settings import AgentSettings
from tests.workspace import Workspace

OWN = "home/.config/prowess/prowess.toml"
TEXT = """
[agent]
model = "sonnet"

[agent.models]
sonnet = "anthropic:claude-sonnet-4-5"
"""


def test_the_users_file_chooses_the_model_and_its_short_names(workspace: Workspace) -> None:
    workspace.write(OWN, TEXT)
    settings = workspace.open().settings()
    assert settings.agent == AgentSettings(
        model="sonnet", models={"sonnet": "anthropic:claude-sonnet-4-5"}
    )
    assert settings.origin("agent.models.sonnet").line == 6


def test_the_users_file_says_when_a_conversation_is_compacted(workspace: Workspace) -> None:
    text = "[agent]\ncontext_window = 32768\ncompact_at = 0\n"
    workspace.write(OWN, text)
    expected = AgentSettings(context_window=32_768, compact_at=0.0)
    assert workspace.open().settings().agent == expected
    workspace.write(OWN, "")
    workspace.write("project/prowess.toml", text)
    settings = workspace.open().settings()
    assert settings.agent == AgentSettings()
    assert [one.field for one in settings.diagnostics] == [
        "agent.context_window",
        "agent.compact_at",
    ]


def test_only_the_user_says_when_an_idle_chat_makes_a_plan(workspace: Workspace) -> None:
    text = "[agent]\ndream_after = 0.5\n"
    workspace.write("project/prowess.toml", text)
    settings = workspace.open().settings()
    assert (settings.agent, settings.diagnostics[0].field) == (AgentSettings(), "agent.dream_after")
    workspace.write(OWN, text)
    assert workspace.open().settings().agent == AgentSettings(dream_after=0.5)


def test_a_project_cannot_choose_a_model(workspace: Workspace) -> None:
    workspace.write("project/prowess.toml", TEXT)
    settings = workspace.open().settings()
    assert settings.agent == AgentSettings()
    assert [(one.code, one.field) for one in settings.diagnostics] == [
        ("setting-ignored", "agent.model"),
        ("setting-ignored", "agent.models.sonnet"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[agent]\nmodle = 'x'\n", "agent.model"),
        ("[agent]\nmodel = 3\n", "a string"),
        ("[agent]\nmodels = 'x'\n", "table"),
        ("[agent]\ncontext_window = -1\n", "whole number"),
        ("[agent]\ncompact_at = 1.5\n", "share"),
        ("[agent]\ndream_after = -1\n", "minutes, or 0 for never"),
        ("[agent]\ndream_after = true\n", "minutes, or 0 for never"),
    ],
)
def test_a_wrong_value_is_refused(workspace: Workspace, text: str, said: str) -> None:
    workspace.write(OWN, text)
    with pytest.raises(SettingError, match=said):
        workspace.open().settings()
