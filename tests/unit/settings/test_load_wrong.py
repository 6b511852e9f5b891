"""Wrong settings and unreadable files: each an error, or ignored where a host owns the file."""

from __future__ import annotations

import errno

import pytest

from prowess.errors import ProfileError
from prowess.model.files import Head
from prowess.settings.read.settings_file import OWN_KEYS
from prowess.testing import MemoryFiles
from tests.unit.settings.hosts import (
    CLAUDE,
    CLAUDE_USER,
    OMP,
    OMP_FILE,
    OPENCLAW,
    OPENCLAW_FILE,
    OPENCODE,
    OPENCODE_GLOBAL,
    PROWESS,
    PROWESS_PROJECT,
    PROWESS_USER,
    ignored,
    load,
    problem,
)

KNOWN = ", ".join(f"`{key}`" for key in OWN_KEYS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "\nignored = []\n",
            ":2: `ignored` is not a known setting; did you mean `ignore`?",
        ),
        ("zzz = 1\n", f":1: `zzz` is not a known setting; the known ones are {KNOWN}."),
        (
            "[discovery]\n\ntrusted_link = []\n",
            ":3: `discovery.trusted_link` is not a known setting; did you mean "
            "`discovery.trusted_links`?",
        ),
        (
            "trusted_links = []\n",
            ":1: `trusted_links` is not a known setting; did you mean `discovery.trusted_links`?",
        ),
        (
            "[skills.pdf]\nenable = true\n",
            ":2: `skills.pdf.enable` is not a known setting; did you mean `enabled`?",
        ),
        (
            '[skills."my skill"]\napiKey = "k"\n',
            ':2: `skills."my skill".apiKey` is not a known setting; did you mean `api_key`?',
        ),
        (
            "[limits]\nfile_byte = 1\n",
            ":2: `limits.file_byte` is not a known setting; did you mean `file_bytes`?",
        ),
    ],
)
def test_an_unknown_key_of_our_own_file_is_an_error_that_names_the_nearest(text, message):
    assert problem(PROWESS, {PROWESS_USER: text}) == PROWESS_USER + message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('\nenabled = "maybe"\n', ":2: `enabled` must be true or false; got the string “maybe”."),
        ("enabled = 1\n", ":1: `enabled` must be true or false; got 1."),
        ("enabled = 2026-01-02\n", ":1: `enabled` must be true or false; got a date or time."),
        ("toggles = true\n", ":1: `toggles` must be a table; got true."),
        ("[toggles]\na = 'no'\n", ":2: `toggles.a` must be true or false; got the string “no”."),
        ("ignore = 'a'\n", ":1: `ignore` must be a list of strings; got the string “a”."),
        ("ignore = [\n'a',\n3]\n", ":3: `ignore.1` must be a string; got 3."),
        ("folders = [['a']]\n", ":1: `folders.0` must be a string; got a list."),
        (
            "discovery = 3\n",
            ":1: `discovery` must be a table; got 3.",
        ),
        ("config = []\n", ":1: `config` must be a table; got a list."),
        (
            "limits.file_bytes = -1\n",
            ":1: `limits.file_bytes` must be a whole number, 0 or more; got -1.",
        ),
        (
            "limits.file_bytes = true\n",
            ":1: `limits.file_bytes` must be a whole number, 0 or more; got true.",
        ),
        (
            "skills.pdf = false\n",
            ":1: `skills.pdf` must be a table; got false.",
        ),
        (
            "[skills.pdf]\nenabled = {}\n",
            ":2: `skills.pdf.enabled` must be true or false; got a table.",
        ),
        (
            "[skills.pdf]\nvisibility = 'user-invocable-only'\n",
            ":2: `skills.pdf.visibility` must be one of on, name-only, user-only, off; got the "
            "string “user-invocable-only”.",
        ),
        (
            "[skills.pdf.env]\nPIN = 1234\n",
            ":2: `skills.pdf.env.PIN` must be a string; got a number.",
        ),
        (
            "[skills.pdf]\napi_key = 1234\n",
            ":2: `skills.pdf.api_key` must be a string; got a number.",
        ),
        (
            "[skills.pdf]\napi_key = {id = 'X'}\n",
            ':2: `skills.pdf.api_key` must be a string, or { keyring = "SERVICE", account = '
            '"NAME" }; got a table.',
        ),
        (
            f"enabled = '{'x' * 50}'\n",
            f":1: `enabled` must be true or false; got the string “{'x' * 39}…”.",
        ),
    ],
)
def test_a_wrong_value_is_an_error_that_names_file_line_and_key(text, message):
    assert problem(PROWESS, {PROWESS_PROJECT: text}) == PROWESS_PROJECT + message


@pytest.mark.parametrize(
    ("table", "file", "text", "message"),
    [
        (
            OMP,
            OMP_FILE,
            "skills:\n  enabled: yes\n",
            ":2: `skills.enabled` must be true or false; got the string “yes”.",
        ),
        (
            OMP,
            OMP_FILE,
            "skills: 3\n",
            ":1: `skills` must be a table; got a number.",
        ),
        (
            OMP,
            OMP_FILE,
            "skills:\n  ignoredSkills:\n  -\n",
            ":3: `skills.ignoredSkills.0` must be a string; got nothing.",
        ),
        (
            OPENCODE,
            OPENCODE_GLOBAL,
            '{\n"skills": {"paths":\n"~/x"}}',
            ":2: `skills.paths` must be a list of strings; got the string “~/x”.",
        ),
        (
            CLAUDE,
            CLAUDE_USER,
            '{"skillOverrides": {\n"x": "user-only"}}',
            ":2: `skillOverrides.x` must be one of on, name-only, user-invocable-only, off; "
            "got the string “user-only”.",
        ),
        (
            OPENCLAW,
            OPENCLAW_FILE,
            "{skills: {entries: {\n x: true}}}",
            ":2: `skills.entries.x` must be a table; got true.",
        ),
        (
            OPENCLAW,
            OPENCLAW_FILE,
            "{agents:\n {defaults: {workspace: []}}}",
            ":2: `agents.defaults.workspace` must be a string; got a list.",
        ),
        (OMP, OMP_FILE, "a: 1\na: 2\n", ":2: not valid YAML (`a` appears twice)."),
    ],
)
def test_a_wrong_value_in_a_file_of_a_host_names_the_key_as_it_stands_there(
    table, file, text, message
):
    assert ignored(table, {file: text}) == file + message


def test_a_pipe_a_folder_and_a_file_that_is_too_large_are_ignored():
    assert ignored(OMP, {OMP_FILE: None}) == (
        f"{OMP_FILE}: expected a regular file, found a pipe or a device."
    )
    assert ignored(OMP, {f"{OMP_FILE}/x": ""}) == (
        f"{OMP_FILE}: expected a regular file, found a folder."
    )
    assert ignored(OMP, {OMP_FILE: "#" * ((1 << 20) + 1)}) == (
        f"{OMP_FILE}: the file has 1,048,577 bytes; at most 1,048,576 are read."
    )


def test_a_file_that_is_no_utf8_names_the_line():
    assert (
        ignored(OMP, {OMP_FILE: b"a: 1\nb: \xff\n"})
        == f"{OMP_FILE}:2: not UTF-8; save the file as UTF-8."
    )


class Locked(MemoryFiles):
    def read_head(self, path: str, limit: int) -> Head:
        raise PermissionError(errno.EACCES, "Permission denied", path)


def test_a_file_that_may_not_be_read_is_ignored():
    assert (
        ignored(OMP, Locked({OMP_FILE: ""}))
        == f"{OMP_FILE}: can't read the file (permission denied)."
    )


class Vanishing(MemoryFiles):
    def find_kind(self, path: str) -> str | None:
        return "file"


def test_a_pipe_that_takes_the_place_of_a_file_is_ignored():
    assert ignored(OMP, Vanishing({OMP_FILE: None})) == (
        f"{OMP_FILE}: can't read the file (it is a pipe, not a regular file)."
    )


def test_a_profile_that_maps_a_key_to_no_setting_is_an_error():
    wrong = {
        **OMP,
        "settings": {
            "main": {"at": ["{omp}/config.yml"], "format": "yaml", "keys": {"a.b": "colour"}}
        },
    }
    with pytest.raises(ProfileError) as raised:
        load(wrong, {OMP_FILE: "a: 1"})
    assert str(raised.value) == (
        "Invalid profile omp.toml: `settings` maps `a.b` to “colour”, which is not a setting."
    )


@pytest.mark.parametrize(
    ("profile", "file", "text", "message"),
    [
        (
            PROWESS,
            PROWESS_USER,
            '[skills.mine]\nenv = "MY_KEY=sk-LEAKED"\n',
            ":2: `skills.mine.env` must be a table; got a string.",
        ),
        (
            PROWESS,
            PROWESS_USER,
            'skills.mine = "sk-LEAKED"\n',
            ":1: `skills.mine` must be a table; got a string.",
        ),
        (
            PROWESS,
            PROWESS_USER,
            "skills = 123\n",
            ":1: `skills` must be a table; got a number.",
        ),
        (
            PROWESS,
            PROWESS_USER,
            "[skills.mine]\napi_key = 123\n",
            ":2: `skills.mine.api_key` must be a string; got a number.",
        ),
        (
            OPENCLAW,
            OPENCLAW_FILE,
            '{skills: {entries: {mine: "sk-LEAKED"}}}',
            ":1: `skills.entries.mine` must be a table; got a string.",
        ),
        (
            OPENCLAW,
            OPENCLAW_FILE,
            '{skills: {entries: "sk-LEAKED"}}',
            ":1: `skills.entries` must be a table; got a string.",
        ),
        (
            OPENCLAW,
            OPENCLAW_FILE,
            '{skills: "sk-LEAKED"}',
            ":1: `skills` must be a table; got a string.",
        ),
        (
            OPENCLAW,
            OPENCLAW_FILE,
            '{skills: {entries: {mine: {env: ["sk-LEAKED"]}}}}',
            ":1: `skills.entries.mine.env` must be a table; got a list.",
        ),
    ],
)
def test_what_stands_where_a_secret_may_stand_is_never_quoted(profile, file, text, message):
    report = problem if profile is PROWESS else ignored
    assert report(profile, {file: text}) == file + message
