"""Wrong settings and unreadable files: each an error that says where and what."""

from __future__ import annotations

import errno

import pytest

from prowess.errors import ProfileError
from prowess.ports import Head
from prowess.settings.read.file_mapping import OWN_KEYS
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
    load,
    problem,
)

KNOWN = ", ".join(f"`{key}`" for key in OWN_KEYS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "\nignored = []\n",
            ":2: `ignored` is not a known setting; the nearest known one is `ignore`.",
        ),
        ("zzz = 1\n", f":1: `zzz` is not a known setting; the known ones are {KNOWN}."),
        (
            "[discovery]\n\ntrusted_link = []\n",
            ":3: `discovery.trusted_link` is not a known setting; the nearest known one is `discovery.trusted_links`.",
        ),
        (
            "trusted_links = []\n",
            ":1: `trusted_links` is not a known setting; the nearest known one is `discovery.trusted_links`.",
        ),
        (
            "[skills.pdf]\nenable = true\n",
            ":2: `skills.pdf.enable` is not a known setting; the nearest known one is `enabled`.",
        ),
        (
            '[skills."my skill"]\napiKey = "k"\n',
            ':2: `skills."my skill".apiKey` is not a known setting; the nearest known one is `api_key`.',
        ),
        (
            "[limits]\nfile_byte = 1\n",
            ":2: `limits.file_byte` is not a known setting; the nearest known one is `file_bytes`.",
        ),
    ],
)
def test_an_unknown_key_of_our_own_file_is_an_error_that_names_the_nearest(text, message):
    assert problem(PROWESS, {PROWESS_USER: text}) == PROWESS_USER + message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('\nenabled = "maybe"\n', ":2: `enabled` is the text “maybe”; it must be true or false."),
        ("enabled = 1\n", ":1: `enabled` is the number 1; it must be true or false."),
        ("enabled = 2026-01-02\n", ":1: `enabled` is a date or a time; it must be true or false."),
        ("toggles = true\n", ":1: `toggles` is true; it must be a table of keys and values."),
        ("[toggles]\na = 'no'\n", ":2: `toggles.a` is the text “no”; it must be true or false."),
        ("ignore = 'a'\n", ":1: `ignore` is the text “a”; it must be a list of texts."),
        ("ignore = [\n'a',\n3]\n", ":3: `ignore.1` is the number 3; it must be a text."),
        ("folders = [['a']]\n", ":1: `folders.0` is a list; it must be a text."),
        (
            "discovery = 3\n",
            ":1: `discovery` is the number 3; it must be a table of keys and values.",
        ),
        ("config = []\n", ":1: `config` is a list; it must be a table of keys and values."),
        (
            "limits.file_bytes = -1\n",
            ":1: `limits.file_bytes` is the number -1; it must be a whole number, 0 or more.",
        ),
        (
            "limits.file_bytes = true\n",
            ":1: `limits.file_bytes` is true; it must be a whole number, 0 or more.",
        ),
        (
            "skills.pdf = false\n",
            ":1: `skills.pdf` is false; it must be a table of keys and values.",
        ),
        (
            "[skills.pdf]\nenabled = {}\n",
            ":2: `skills.pdf.enabled` is a table; it must be true or false.",
        ),
        (
            "[skills.pdf]\nvisibility = 'user-invocable-only'\n",
            ":2: `skills.pdf.visibility` is the text “user-invocable-only”; "
            "it must be one of on, name-only, user-only, off.",
        ),
        (
            "[skills.pdf.env]\nPIN = 1234\n",
            ":2: `skills.pdf.env.PIN` is a number; it must be a text.",
        ),
        (
            "[skills.pdf]\napi_key = 1234\n",
            ":2: `skills.pdf.api_key` is a number; it must be a text.",
        ),
        (
            "[skills.pdf]\napi_key = {id = 'X'}\n",
            ":2: `skills.pdf.api_key` is a table; it must be a text, or the place of one: "
            '{ keyring = "SERVICE", account = "NAME" }.',
        ),
        (
            f"enabled = '{'x' * 50}'\n",
            f":1: `enabled` is the text “{'x' * 39}…”; it must be true or false.",
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
            ":2: `skills.enabled` is the text “yes”; it must be true or false.",
        ),
        (
            OMP,
            OMP_FILE,
            "skills: 3\n",
            ":1: `skills` is a number; it must be a table of keys and values.",
        ),
        (
            OMP,
            OMP_FILE,
            "skills:\n  ignoredSkills:\n  -\n",
            ":3: `skills.ignoredSkills.0` is empty; it must be a text.",
        ),
        (
            OPENCODE,
            OPENCODE_GLOBAL,
            '{\n"skills": {"paths":\n"~/x"}}',
            ":2: `skills.paths` is the text “~/x”; it must be a list of texts.",
        ),
        (
            CLAUDE,
            CLAUDE_USER,
            '{"skillOverrides": {\n"x": "user-only"}}',
            ":2: `skillOverrides.x` is the text “user-only”; "
            "it must be one of on, name-only, user-invocable-only, off.",
        ),
        (
            OPENCLAW,
            OPENCLAW_FILE,
            "{skills: {entries: {\n x: true}}}",
            ":2: `skills.entries.x` is true; it must be a table of keys and values.",
        ),
        (
            OPENCLAW,
            OPENCLAW_FILE,
            "{agents:\n {defaults: {workspace: []}}}",
            ":2: `agents.defaults.workspace` is a list; it must be a text.",
        ),
        (OMP, OMP_FILE, "a: 1\na: 2\n", ":2: this is not valid YAML (`a` stands twice)."),
    ],
)
def test_a_wrong_value_in_a_file_of_a_host_names_the_key_as_it_stands_there(
    table, file, text, message
):
    assert problem(table, {file: text}) == file + message


def test_a_pipe_a_folder_and_a_file_that_is_too_large_are_errors():
    assert problem(OMP, {OMP_FILE: None}) == (
        f"{OMP_FILE}: the settings cannot be read from a pipe or a device; it must be an ordinary file."
    )
    assert problem(OMP, {f"{OMP_FILE}/x": ""}) == (
        f"{OMP_FILE}: the settings cannot be read from a folder; it must be an ordinary file."
    )
    assert problem(OMP, {OMP_FILE: "#" * ((1 << 20) + 1)}) == (
        f"{OMP_FILE}: the file has 1,048,577 bytes; at most 1,048,576 are read."
    )


def test_a_file_that_is_no_utf8_names_the_line():
    assert (
        problem(OMP, {OMP_FILE: b"a: 1\nb: \xff\n"})
        == f"{OMP_FILE}:2: the file is not UTF-8 text; save it as UTF-8."
    )


class Locked(MemoryFiles):
    def read_head(self, path: str, limit: int) -> Head:
        raise PermissionError(errno.EACCES, "Permission denied", path)


def test_a_file_that_may_not_be_read_is_an_error():
    assert (
        problem(OMP, Locked({OMP_FILE: ""}))
        == f"{OMP_FILE}: the file cannot be read (permission denied)."
    )


class Vanishing(MemoryFiles):
    def find_kind(self, path: str) -> str | None:
        return "file"


def test_a_pipe_that_takes_the_place_of_a_file_is_an_error():
    assert problem(OMP, Vanishing({OMP_FILE: None})) == (
        f"{OMP_FILE}: the file cannot be read (it is not an ordinary file but a pipe)."
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
        "The profile omp.toml cannot be used: it maps `a.b` to “colour”, which is no setting (at `settings`)."
    )


@pytest.mark.parametrize(
    ("profile", "file", "text", "message"),
    [
        (
            PROWESS,
            PROWESS_USER,
            '[skills.mine]\nenv = "MY_KEY=sk-LEAKED"\n',
            ":2: `skills.mine.env` is a text; it must be a table of keys and values.",
        ),
        (
            PROWESS,
            PROWESS_USER,
            'skills.mine = "sk-LEAKED"\n',
            ":1: `skills.mine` is a text; it must be a table of keys and values.",
        ),
        (
            PROWESS,
            PROWESS_USER,
            "skills = 123\n",
            ":1: `skills` is a number; it must be a table of keys and values.",
        ),
        (
            PROWESS,
            PROWESS_USER,
            "[skills.mine]\napi_key = 123\n",
            ":2: `skills.mine.api_key` is a number; it must be a text.",
        ),
        (
            OPENCLAW,
            OPENCLAW_FILE,
            '{skills: {entries: {mine: "sk-LEAKED"}}}',
            ":1: `skills.entries.mine` is a text; it must be a table of keys and values.",
        ),
        (
            OPENCLAW,
            OPENCLAW_FILE,
            '{skills: {entries: "sk-LEAKED"}}',
            ":1: `skills.entries` is a text; it must be a table of keys and values.",
        ),
        (
            OPENCLAW,
            OPENCLAW_FILE,
            '{skills: "sk-LEAKED"}',
            ":1: `skills` is a text; it must be a table of keys and values.",
        ),
        (
            OPENCLAW,
            OPENCLAW_FILE,
            '{skills: {entries: {mine: {env: ["sk-LEAKED"]}}}}',
            ":1: `skills.entries.mine.env` is a list; it must be a table of keys and values.",
        ),
    ],
)
def test_what_stands_where_a_secret_may_stand_is_never_quoted(profile, file, text, message):
    assert problem(profile, {file: text}) == file + message
