"""Fields that are text keep the text that their author wrote, in Prowess's own reading and nowhere
else.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.profiles.load import load_profile
from tests.unit.parse.rules import EVERY_HOST, read, read_fields
from tests.workspace import Workspace

HOSTS = [host for host in EVERY_HOST if host != "prowess"]


@pytest.mark.parametrize(
    "text",
    "1.10 1.0 007 1e3 2024-01-01 0x1F 0o17 12 -0 +1 .5 1. true True FALSE .inf .NaN 1_000 1:30 00".split(),
)
@pytest.mark.parametrize(
    "line", ["{key}: {text}", "{key}:   {text}  # a note", '"{key}": {text}', "{key}:\n  {text}"]
)
@pytest.mark.parametrize("key", ["name", "version", "license", "description"])
def test_a_field_that_is_text_keeps_what_was_written(key: str, line: str, text: str) -> None:
    header = line.format(key=key, text=text)
    assert read_fields(f"{header}\nother: 1.10\n").frontmatter == {key: text, "other": 1.1}


@pytest.mark.parametrize("text", ["~", "null", ""])
def test_a_field_without_a_value_stays_without_one(text: str) -> None:
    assert read_fields(f"version: {text}\n").frontmatter == {"version": None}


def test_a_version_below_metadata_keeps_what_was_written() -> None:
    header = "metadata:\n  author: a\n  version: 1.10\n  priority: 1.10\nversion: 2.20\n"
    assert read_fields(header).frontmatter == {
        "metadata": {"author": "a", "version": "1.10", "priority": 1.1},
        "version": "2.20",
    }
    header = (
        "metadata:\n    version: 1.10\n    inner:\n      version: 1.1\nother:\n    version: 1.100\n"
    )
    assert read_fields(header).frontmatter["metadata"] == {
        "version": "1.10",
        "inner": {"version": 1.1},
    }


@pytest.mark.parametrize(
    ("header", "fields"),
    [
        ("{version: 1.10}\n", {"version": 1.1}),
        ("metadata: {version: 1.10}\n", {"metadata": {"version": 1.1}}),
        ("version: &v 1.10\n", {"version": 1.1}),
        ("version: [1.10]\n", {"version": [1.1]}),
        (
            "metadata:\n  inner:\n    version: 1.10\n  version: 1.1\n",
            {"metadata": {"inner": {"version": 1.1}, "version": "1.1"}},
        ),
    ],
)
def test_a_value_whose_text_stands_on_no_line_of_its_own_stays_as_it_was_read(
    header: str, fields: object
) -> None:
    assert read_fields(header).frontmatter == fields


def test_what_was_written_is_kept_beside_a_repair_and_with_other_line_ends() -> None:
    reading = read_fields("name: 1e3\ndescription: Use when: x\nversion: 1.10\n")
    assert reading.frontmatter == {"name": "1e3", "description": "Use when: x", "version": "1.10"}
    assert read("---\r\nversion: 1.10\r\n---\r\nBody").frontmatter == {"version": "1.10"}


@pytest.mark.parametrize("host", HOSTS)
def test_other_hosts_read_a_number_as_they_do(host: str) -> None:
    expected = "1.1" if host == "openclaw" else 1.1
    assert read_fields("version: 1.10\n", EVERY_HOST[host]).frontmatter == {"version": expected}


@pytest.mark.parametrize("host", ["claude-code", "omp", "pi", "qwen"])
@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0755", 755),
        ("-0755", -755),
        ("+0755", 755),
        ("0755 # octal", 755),
        ("-012", -12),
        ("-0b11 # two bits", "-0b11"),
        ("-0x1f", "-0x1f"),
        ("+0o17", "+0o17"),
        ("0x1f", 31),
        ("0" + "9" * 14, 10**14 - 1),
        ("0" + "9" * 30, 1e30),
        ("0" + "9" * 5_000, float("inf")),
        ('"0755"', "0755"),
        ("0７５５", "0７５５"),
    ],
)
@pytest.mark.parametrize("key", ["version", '"version"'])
def test_a_number_after_zeros_is_what_javascript_has(
    host: str, text: str, number: object, key: str
) -> None:
    rules = load_profile(host).header
    fields = read_fields(f"{key}: {text}\n", rules).frontmatter
    assert repr(fields) == repr({"version": number})


def test_a_number_in_a_broken_header_is_what_javascript_has() -> None:
    header = f"description: a: b\nsmall: 7.0\nlarge: {'9' * 30}\n"
    assert read_fields(header, load_profile("qwen").header).frontmatter == {
        "description": "a: b",
        "small": 7,
        "large": 1e30,
    }


@pytest.mark.parametrize(("text", "number"), [("7", 7), ("9" * 30, 1e30)])
def test_a_number_in_json_is_what_javascript_has(text: str, number: float) -> None:
    rules = load_profile("opencode").header
    reading = read(f'---json\n{{"name": "x", "size": [{text}, 1]}}\n---\nBody\n', rules)
    assert reading.frontmatter == {"name": "x", "size": [number, 1]}


@pytest.mark.parametrize("name", ["007", "1e3", "2024-01-01"])
def test_a_skill_is_called_what_its_author_wrote(workspace: Workspace, name: str) -> None:
    workspace.write(
        f"project/.claude/skills/{name}/SKILL.md", f"---\nname: {name}\nversion: 1.10\n---\nBody\n"
    )
    (outcome,) = workspace.scan().outcomes
    assert outcome.skill is not None
    assert (outcome.name, outcome.skill.manifest.name, outcome.skill.manifest.version) == (
        name,
        name,
        "1.10",
    )
    assert [finding.code for finding in outcome.diagnostics] == ["description-from-body"]


@given(st.one_of(st.integers(-(2**63), 2**63), st.floats()).map(str))
def test_any_number_is_kept_as_it_was_written(number: str) -> None:
    assert read_fields(f"version: {number}\n").frontmatter == {"version": number}
