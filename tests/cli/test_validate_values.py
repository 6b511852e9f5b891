"""`prowess validate`: values that cannot be used, and the law that it says whatever `check` says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.terminal import Terminal

GOOD = "name: x\ndescription: Does x. Use when x.\n"
PLACE = "project/.agents/skills/x/SKILL.md"


def write(terminal: Terminal, header: str, body: str = "Body\n") -> None:
    terminal.write(PLACE, f"---\n{header}---\n{body}")


def validate(terminal: Terminal, *arguments: str) -> list[dict[str, Any]]:
    (file,) = json.loads(terminal.run("validate", ".agents/skills", "--json", *arguments).out)[
        "files"
    ]
    return list(file["diagnostics"])


def check(terminal: Terminal, *arguments: str) -> list[dict[str, Any]]:
    return list(json.loads(terminal.run("check", "--json", *arguments).out)["diagnostics"])


def place(finding: dict[str, Any]) -> tuple[str, str | None]:
    return finding["code"], finding.get("field")


WRONG_VALUES = [
    ("paths: [3, {x: y}]", "field-type", "paths"),
    ("effort: hugee", "field-value", "effort"),
    ("context: forkk", "field-value", "context"),
    ("shell: fish", "field-value", "shell"),
    ("user-invocable: maybe", "field-value", "user-invocable"),
    ("requires: git", "field-type", "requires"),
    ("install: x", "field-type", "install"),
    ("os: 5", "field-type", "os"),
    ("os: [linux, plan9]", "field-value", "os"),
    ("hooks: []", "field-type", "hooks"),
    ("arguments: {a: 1}", "field-value", "arguments.a"),
    ("license: [a]", "field-type", "license"),
    ("metadata: 5", "metadata-unreadable", "metadata"),
    (
        "metadata: {openclaw: {install: [{kind: bogus}]}}",
        "field-value",
        "metadata.openclaw.install[0].kind",
    ),
    ("metadata: {openclaw: {os: [plan9]}}", "field-value", "metadata.openclaw.os"),
    (
        "metadata: {openclaw: {requires: {bins: 5}}}",
        "field-type",
        "metadata.openclaw.requires.bins",
    ),
    ('metadata: {openclaw: "{requires: {bins: [x"}', "metadata-unreadable", "metadata.openclaw"),
    ("metadata: {clawdbot: 5}", "metadata-unreadable", "metadata.clawdbot"),
]


@pytest.mark.parametrize(("field", "code", "path"), WRONG_VALUES)
def test_a_value_that_cannot_be_used_is_an_error_with_its_line(terminal, field, code, path):
    write(terminal, f"{GOOD}{field}\n")
    errors = [one for one in validate(terminal) if one["severity"] == "error"]
    assert [(*place(one), one["line"]) for one in errors] == [(code, path, 4)]
    assert terminal.run("validate").code == 1


@pytest.mark.parametrize(("field", "code", "path"), WRONG_VALUES)
def test_checking_warns_of_it_with_the_same_line(terminal, field, code, path):
    write(terminal, f"{GOOD}{field}\n")
    assert [(*place(one), one["severity"], one["line"]) for one in check(terminal)] == [
        (code, path, "warning", 4)
    ]


def test_a_value_at_the_top_is_looked_at_though_another_place_comes_first(terminal):
    write(terminal, f"{GOOD}os: 5\nmetadata: {{openclaw: {{os: [linux]}}}}\n")
    assert [place(one) for one in validate(terminal) if one["severity"] == "error"] == [
        ("field-type", "os")
    ]


@pytest.mark.parametrize(
    ("block", "path", "near"),
    [
        ("requires: {bin: [git]}", "metadata.openclaw.requires.bin", "bins"),
        ("requires: {any_bins: [git]}", "metadata.openclaw.requires.any_bins", "anyBins"),
        ("requires: {envs: [KEY]}", "metadata.openclaw.requires.envs", "env"),
        ("oss: [linux]", "metadata.openclaw.oss", "os"),
        ("require: {bins: [git]}", "metadata.openclaw.require", "requires"),
        ("primary_env: KEY", "metadata.openclaw.primary_env", "primaryEnv"),
    ],
)
@pytest.mark.parametrize("ask", [check, validate])
def test_a_misspelt_key_of_openclaw_is_a_warning_that_names_the_right_one(
    terminal, ask, block, path, near
):
    write(terminal, f"{GOOD}metadata:\n  openclaw:\n    {block}\n")
    key = path.rpartition(".")[2]
    (finding,) = ask(terminal)
    assert (*place(finding), finding["severity"], finding["line"]) == (
        "field-unknown",
        path,
        "warning",
        6,
    )
    assert (
        finding["message"]
        == f"Unknown field `{path}`; did you mean `{path.removesuffix(key)}{near}`?"
    )


@pytest.mark.parametrize("ask", [check, validate])
def test_other_keys_of_openclaw_are_nobodys_business(terminal, ask):
    write(
        terminal,
        f"{GOOD}metadata: {{openclaw: {{links: [a], nix: b, category: c, requires: {{node: [18]}}}}}}\n",
    )
    assert ask(terminal) == []


@pytest.mark.parametrize(
    "value",
    [
        '\'{"requires": {"bins": ["no-such-program"]}}\'',
        "\"{requires: {bins: ['no-such-program']}}\"",
    ],
)
def test_json_below_openclaw_counts_as_it_does_below_metadata(terminal, value):
    write(terminal, f"{GOOD}metadata:\n  openclaw: {value}\n")
    answer = json.loads(terminal.run("check", "--json").out)
    assert answer["diagnostics"] == []
    assert [one["reason"] for one in answer["ineligible"]] == [
        "the program no-such-program cannot be found"
    ]


# Whatever `check` says of a file, `validate` says too.

HEADERS = [
    *(f"{GOOD}{field}\n" for field, _, _ in WRONG_VALUES),
    *(f"{GOOD}{key}: x\n" for key in ("descripton", "allowed_tools", "user_invocable", "Licence", "colour")),
    *(f"description: Use when x.\nname: {name}\n" for name in ("y", "X", "true", "[a]", "5", "'a b'", "''", "x--y")),
    *(f"name: x\n{line}\n" for line in ("", "description:", "description: ''", "description: [a]", "description: 5")),
    *(f"{GOOD}{line}\n" for line in ("argument-hint: [a] [b]", "license: a: b", "license: x\nlicense: y", "\tversion: 1")),
    *(f"{GOOD}{line}\n" for line in ("user-invocable: yes", "user-invocable: 'on'", "hide: 1", "always: 'yes'")),
    *(f"{GOOD}{line}\n" for line in ("enabled: []", "command-dispatch: x", "allowedTools: x", "effort: {}", "model: []")),
    f"name: x\ndescription: Use when #1.\nversion: {'9' * 30}\n",
    f"{GOOD}metadata: {{openclaw: {{always: 'true', skillKey: [a], requires: 5, install: [x]}}}}\n",
    "- a\n",
    "name: [\n",
]  # fmt: skip
HOSTS = [
    "prowess",
    "spec",
    "claude-code",
    "claude-code@documented",
    "opencode",
    "openclaw",
    "omp",
    "codex",
]


def covers(found: list[dict[str, Any]], finding: dict[str, Any]) -> bool:
    """Whether a finding was made, or something graver about the same field or the whole header."""
    errors = [one for one in found if one["severity"] == "error"]
    if place(finding) in [place(one) for one in found]:
        return True
    field = finding.get("field")
    whole = [
        one["code"]
        for one in errors
        if one["code"].startswith(("header-", "yaml-")) or one["code"] == "host-refuses"
    ]
    return bool(whole) or any(one.get("field") == field for one in errors)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("header", HEADERS)
def test_whatever_check_finds_in_a_file_validate_finds_too(terminal, header, host):
    terminal.write(
        f"project/.claude/skills/x/{PLACE.rpartition('/')[2]}", f"---\n{header}---\nBody\n"
    )
    write(terminal, header)
    seen = [one for one in check(terminal, "--host", host) if one["code"] != "name-collision"]
    found = validate(terminal, "--host", host)
    assert [one for one in seen if not covers(found, one)] == []


def test_what_only_a_host_cannot_use_is_said_in_its_name(terminal):
    write(terminal, f"{GOOD}user-invocable: 'yes'\n")
    assert [one["severity"] for one in validate(terminal)] == ["info"]
    (finding,) = [one for one in validate(terminal, "--host", "omp") if one["severity"] == "error"]
    assert place(finding) == ("field-value", "user-invocable")
    assert finding["message"] == "oh-my-pi: `user-invocable` is “yes”; it must be true or false."


# Hints


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("true", 'Put it in quotes, `name: "true"`, or choose another name.'),
        ("5", 'Put it in quotes, `name: "5"`, or choose another name.'),
        ("[a]", "Write the name as one string."),
        ("", "Write a name after `name:`."),
    ],
)
def test_a_name_that_is_no_text_has_a_hint_that_fits(terminal, value, hint):
    write(terminal, f"name: {value}\ndescription: Use when x.\n")
    assert [one["hint"] for one in validate(terminal) if one["code"] == "name-missing"] == [hint]


def test_a_missing_name_is_to_be_added(terminal):
    write(terminal, "description: Use when x.\n")
    assert [one["hint"] for one in validate(terminal)] == ["Add `name:` to the header."]


def test_a_blank_description_is_to_be_written(terminal):
    write(terminal, "name: x\ndescription: ''\n")
    assert [one["hint"] for one in validate(terminal)] == [
        "Write what the skill does and when to use it."
    ]


@pytest.mark.parametrize("ask", [check, validate])
def test_an_effort_may_be_a_number_and_the_finding_says_so(terminal, ask):
    write(terminal, f"{GOOD}effort: hugee\n")
    (finding,) = [one for one in ask(terminal) if one["code"] == "field-value"]
    assert (
        finding["message"]
        == "`effort` is “hugee”; it must be one of low, medium, high, xhigh, max, or a whole number."
    )
    assert finding["hint"] == "Use one of the allowed values."
