"""`[jobs]`: the user says where jobs are kept; a project cannot."""

from __future__ import annotations

import pytest

from prowess.errors import SettingError
from prowess.model.settings import JobSettings
from prowess.settings.describe import describe_settings
from tests.workspace import Workspace

OWN = "home/.config/prowess/prowess.toml"
TEXT = """
[jobs]
database = "postgresql://me:hush@db.example/prowess"
concurrency = 2
pull_requests = "each"
background = false
"""


def test_the_users_file_says_where_and_how_jobs_run(workspace: Workspace) -> None:
    workspace.write(OWN, TEXT)
    assert workspace.open().settings().jobs == JobSettings(
        database="postgresql://me:hush@db.example/prowess",
        concurrency=2,
        pull_requests="each",
        background=False,
    )


def test_the_address_of_the_database_is_not_shown(workspace: Workspace) -> None:
    workspace.write(OWN, TEXT)
    opened = workspace.open()
    shown = {key: value for key, value, _ in describe_settings(opened.settings(), opened.profile)}
    assert {key: value for key, value in shown.items() if key.startswith("jobs.")} == {
        "jobs.database": "(set)",
        "jobs.concurrency": 2,
        "jobs.pull_requests": "each",
        "jobs.background": False,
    }


def test_a_project_has_no_say_about_jobs(workspace: Workspace) -> None:
    workspace.write("project/prowess.toml", TEXT)
    settings = workspace.open().settings()
    assert settings.jobs == JobSettings()
    assert [(one.code, one.field) for one in settings.diagnostics] == [
        ("setting-ignored", "jobs.database"),
        ("setting-ignored", "jobs.concurrency"),
        ("setting-ignored", "jobs.pull_requests"),
        ("setting-ignored", "jobs.background"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[jobs]\ndatabse = 'x'\n", "jobs.database"),
        ("[jobs]\ndatabase = 'mysql://me:hush@x/y'\n", "postgresql://user@host/name"),
        ("[jobs]\nconcurrency = 0\n", "1 or more"),
        ("[jobs]\npull_requests = 'many'\n", "one of one, each"),
        ("[jobs]\nbackground = 'no'\n", "true or false"),
    ],
)
def test_a_wrong_value_is_refused(workspace: Workspace, text: str, said: str) -> None:
    workspace.write(OWN, text)
    with pytest.raises(SettingError, match=said) as caught:
        workspace.open().settings()
    assert "hush" not in str(caught.value)
