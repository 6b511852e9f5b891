"""Every field of the standard and of the hosts, checked into a manifest."""

from __future__ import annotations

import pytest

from prowess.model.skill import Manifest, Requires
from prowess.parse.manifest.fields import read_manifest
from prowess.profiles.load import load_profile
from prowess.profiles.schema.header import FieldRules
from tests.unit.parse.rules import read_fields

PROWESS = FieldRules(name_accepts_numbers=True, openclaw_at=("openclaw", "clawdbot", "top"))
OMP = FieldRules(flags_need_booleans=True, camel_case=True)


def manifest_of(frontmatter, fields=PROWESS):
    manifest, diagnostics = read_manifest(frontmatter, fields=fields)
    return manifest, [(finding.code, finding.field) for finding in diagnostics]


def test_nothing_declared_is_nothing_held():
    assert manifest_of({}) == (Manifest(), [])


def test_every_field_is_understood():
    header = """\
name: pdf
description: Read PDF files.
license: MIT
compatibility: Linux
metadata: {author: me}
allowed-tools: [Read, Bash(git *)]
disallowed-tools: Write
when_to_use: now
argument-hint: "[file]"
arguments: file mode
version: 1.10
model: inherit
effort: high
context: fork
background: false
agent: Explore
hooks: {Stop: []}
paths: src/**, docs
globs: ["*.py"]
shell: powershell
user-invocable: "no"
disable-model-invocation: yes
hide: true
alwaysApply: true
always: on
enabled: 1
command-dispatch: tool
command-tool: send
command-arg-mode: raw
aliases: [p, q]
os: [darwin, linux]
requires: {bins: [a], anyBins: "b, c", env: [D], config: [e.f]}
install: [{kind: Brew, formula: x}]
primaryEnv: KEY
skillKey: pdf-key
emoji: 📄
homepage: https://example.org
unknown: kept elsewhere
"""
    assert manifest_of(read_fields(header).frontmatter) == (
        Manifest(
            name="pdf",
            description="Read PDF files.",
            license="MIT",
            compatibility="Linux",
            metadata={"author": "me"},
            allowed_tools=("Read", "Bash(git *)"),
            disallowed_tools=("Write",),
            when_to_use="now",
            argument_hint="[file]",
            arguments=("file", "mode"),
            version="1.10",
            model="inherit",
            effort="high",
            context="fork",
            background=False,
            agent="Explore",
            hooks={"Stop": []},
            paths=("src/**", "docs"),
            globs=("*.py",),
            shell="powershell",
            user_invocable=False,
            disable_model_invocation=True,
            hide=True,
            always_apply=True,
            always=True,
            enabled=True,
            command_dispatch="tool",
            command_tool="send",
            command_arg_mode="raw",
            aliases=("p", "q"),
            os=("darwin", "linux"),
            requires=Requires(bins=("a",), any_bins=("b", "c"), env=("D",), config=("e.f",)),
            install=({"kind": "brew", "formula": "x"},),
            primary_env="KEY",
            skill_key="pdf-key",
            emoji="📄",
            homepage="https://example.org",
        ),
        [],
    )


@pytest.mark.parametrize(
    "field",
    ["license", "hooks", "paths", "hide", "metadata", "effort", "context", "os", "requires"],
)
def test_an_empty_field_is_as_if_it_were_not_there(field):
    assert manifest_of({field: None}) == (Manifest(), [])


@pytest.mark.parametrize(
    ("field", "value", "code", "message"),
    [
        ("license", ["a"], "field-type", "`license` is a list; it must be a string."),
        ("model", {"a": 1}, "field-type", "`model` is a mapping; it must be a string."),
        ("hooks", "x", "field-type", "`hooks` is “x”; it must be a mapping."),
        (
            "paths",
            {"a": 1},
            "field-type",
            "`paths` is a mapping; it must be a list of words.",
        ),
        (
            "paths",
            [["a"]],
            "field-type",
            "`paths` is a list; it must be a list of words.",
        ),
        (
            "effort",
            "huge",
            "field-value",
            "`effort` is “huge”; it must be one of low, medium, high, xhigh, max, or a whole number.",
        ),
        (
            "context",
            "spoon",
            "field-value",
            "`context` is “spoon”; it must be one of inline, fork.",
        ),
        (
            "shell",
            "fish",
            "field-value",
            "`shell` is “fish”; it must be one of bash, powershell, none.",
        ),
        ("command-dispatch", "x", "field-value", "`command-dispatch` is “x”; it must be `tool`."),
        (
            "hide",
            "maybe",
            "field-value",
            "`hide` is “maybe”; it must be one of true, yes, on, 1, false, no, off, 0.",
        ),
        (
            "hide",
            2,
            "field-value",
            "`hide` is `2`; it must be one of true, yes, on, 1, false, no, off, 0.",
        ),
    ],
)
def test_a_value_that_cannot_be_used_is_named_and_the_field_counts_as_not_given(
    field, value, code, message
):
    manifest, [finding] = read_manifest({field: value}, fields=PROWESS)
    assert manifest == Manifest()
    assert (finding.code, finding.field, finding.message) == (code, field, message)


@pytest.mark.seed("C-25")
@pytest.mark.parametrize(
    ("value", "flag"),
    [
        *((word, True) for word in (True, "true", "Yes", "ON", "1", 1)),
        *((word, False) for word in (False, "false", "No", "off", "0", 0)),
    ],
)
def test_truth_words_are_read_in_quotes_and_without(value, flag):
    fields = load_profile("claude-code@documented").fields
    assert read_manifest({"user-invocable": value}, fields=fields)[0].user_invocable is flag


@pytest.mark.seed("P-09")
def test_omp_takes_real_truth_values_only_and_camel_case():
    assert manifest_of({"hide": "true"}, OMP) == (Manifest(), [("field-value", "hide")])
    assert manifest_of({"hide": True, "alwaysApply": False, "globs": ["*.py"]}, OMP) == (
        Manifest(hide=True, always_apply=False, globs=("*.py",)),
        [],
    )
    assert manifest_of({"disableModelInvocation": True}, OMP) == (
        Manifest(disable_model_invocation=True),
        [],
    )
    unread = [("field-unknown", "disableModelInvocation")]
    assert manifest_of({"disableModelInvocation": True}) == (Manifest(), unread)


@pytest.mark.seed("C-26")
@pytest.mark.parametrize(("value", "effort"), [("low", "low"), ("MAX", "max"), (3, 3), ("12", 12)])
def test_effort_is_a_word_or_a_number(value, effort):
    assert manifest_of({"effort": value})[0].effort == effort


@pytest.mark.seed("C-21")
@pytest.mark.parametrize(
    ("value", "hint"), [("<a> [b]", "<a> [b]"), (["file"], "[file]"), (["a", 2], "[a, 2]")]
)
def test_a_hint_in_brackets_is_text_though_yaml_sees_a_list(value, hint):
    assert manifest_of({"argument-hint": value}) == (Manifest(argument_hint=hint), [])


@pytest.mark.seed("C-22")
def test_when_to_use_is_spelled_with_underscores_only():
    fields = load_profile("claude-code@documented").fields
    manifest, _ = read_manifest({"when_to_use": "now", "when-to-use": "never"}, fields=fields)
    assert manifest.when_to_use == "now"
    assert read_manifest({"when-to-use": "never"}, fields=fields)[0].when_to_use is None


@pytest.mark.seed("C-19", "C-29", "C-31")
@pytest.mark.parametrize("value", ["a, b", ["a", "b"]])
@pytest.mark.parametrize(
    ("field", "attribute"),
    [("allowed-tools", "allowed_tools"), ("paths", "paths"), ("arguments", "arguments")],
)
def test_lists_may_be_written_as_text(field, attribute, value):
    fields = load_profile("claude-code@documented").fields
    manifest, _ = read_manifest({field: value}, fields=fields)
    assert getattr(manifest, attribute) == ("a", "b")


@pytest.mark.seed("C-20", "C-21", "C-22", "C-23", "C-24", "C-27", "C-28", "C-30", "C-40")
def test_the_header_of_the_claude_code_document_is_read_whole():
    profile = load_profile("claude-code@documented")
    header = """\
description: Review a change
when_to_use: before a merge
argument-hint: "[branch]"
allowed-tools:
  - Read
  - Bash(git diff *)
model: sonnet
context: fork
agent: reviewer
effort: high
paths: "src/**"
shell: bash
version: "1.0"
hooks: {PreToolUse: []}
arguments:
  - branch
"""
    frontmatter = read_fields(header, profile.header).frontmatter
    assert read_manifest(frontmatter, fields=profile.fields) == (
        Manifest(
            description="Review a change",
            when_to_use="before a merge",
            argument_hint="[branch]",
            allowed_tools=("Read", "Bash(git diff *)"),
            model="sonnet",
            context="fork",
            agent="reviewer",
            effort="high",
            paths=("src/**",),
            shell="bash",
            version="1.0",
            hooks={"PreToolUse": []},
            arguments=("branch",),
        ),
        (),
    )
