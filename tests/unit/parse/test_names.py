"""What a skill is called and what is said of it, host by host."""

from __future__ import annotations

import pytest

from prowess.diagnostics import Severity
from prowess.model.skill import Manifest
from prowess.parse.header.fast import HeaderReading
from prowess.parse.manifest.names import Understood, understand
from prowess.profiles.load import load_profile
from prowess.profiles.schema.header import FieldRules
from tests.unit.parse.rules import CLAUDE_CODE as CLAUDE_HEADER
from tests.unit.parse.rules import OMP as OMP_HEADER
from tests.unit.parse.rules import OPENCODE as OPENCODE_HEADER
from tests.unit.parse.rules import read, read_fields

PROWESS = FieldRules(name_accepts_numbers=True, description_from_body=True)
CLAUDE_CODE = FieldRules(name_from="folder", description_from_body=True, empty_description="Skill")
OPENCODE = FieldRules(
    name_from="frontmatter",
    required=("name",),
    trim=False,
    description="text",
    description_hidden_when_missing=True,
    reserved_names=("__proto__",),
)
OMP = FieldRules(trim=False, description="text-or-empty", flags_need_booleans=True, camel_case=True)
SPEC = FieldRules(
    name_from="frontmatter",
    required=("name", "description"),
    description="required-text",
    strict=True,
    openclaw_at=(),
    known=("name", "description", "license", "compatibility", "metadata", "allowed-tools"),
)


def grasp(frontmatter, fields, *, lead="", required=(), folder="folder"):
    reading = HeaderReading(frontmatter, lead)
    return understand(reading, default_name=folder, required=required, fields=fields)


def summary(understood: Understood):
    if not understood.valid:
        return None
    return understood.name, understood.description


def found(understood: Understood):
    return [(finding.code, finding.severity.value) for finding in understood.diagnostics]


def test_a_plain_header_is_understood_without_a_word():
    assert grasp({"name": "a", "description": "d"}, PROWESS) == Understood(
        "a", None, "d", Manifest(name="a", description="d")
    )


def test_a_reading_that_is_invalid_stays_so():
    reading = HeaderReading({}, valid=False)
    understood = understand(reading, default_name="x", required=(), fields=FieldRules())
    assert (understood.valid, understood.name) == (False, "x")


# Prowess


@pytest.mark.parametrize(
    ("frontmatter", "name"),
    [
        ({"name": " a "}, "a"),
        ({"name": ""}, "folder"),
        ({}, "folder"),
        ({"name": 7}, "7"),
        ({"name": None}, "folder"),
    ],
)
def test_prowess_takes_the_name_of_the_header_or_the_folder(frontmatter, name):
    assert grasp({**frontmatter, "description": "d"}, PROWESS).name == name


def test_prowess_takes_a_missing_description_from_the_body_with_a_warning():
    understood = grasp({"name": "a"}, PROWESS, lead="Title")
    assert (summary(understood), found(understood)) == (
        ("a", "Title"),
        [("description-from-body", "warning")],
    )


def test_prowess_warns_where_there_is_nothing_to_describe_a_skill():
    understood = grasp({"name": "a"}, PROWESS)
    assert (summary(understood), found(understood)) == (
        ("a", None),
        [("description-missing", "warning")],
    )


@pytest.mark.parametrize(
    ("value", "text"), [(42, "42"), (1.5, "1.5"), (1.0, "1"), (True, "true"), ("  x\n", "x")]
)
def test_prowess_takes_numbers_for_text(value, text):
    assert grasp({"description": value}, PROWESS).description == text


# Claude Code


@pytest.mark.seed("C-32")
def test_claude_code_names_a_skill_by_its_folder():
    fields = load_profile("claude-code@documented").fields
    understood = grasp({"name": "fancy", "description": "d"}, fields)
    assert (understood.name, understood.label) == ("folder", "fancy")


@pytest.mark.parametrize(
    ("value", "label"), [("fancy", "fancy"), (7, "7"), ("folder", None), ("", None), (["a"], None)]
)
def test_the_name_in_the_header_is_a_label_to_claude_code(value, label):
    understood = grasp({"name": value, "description": "d"}, CLAUDE_CODE)
    assert (understood.name, understood.label) == ("folder", label)


@pytest.mark.seed("C-20", "C-35")
@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("---\n---\n# The heading\n\nText\n", "The heading"),
        ("---\ndescription: 42\n---\nBody\n", "42"),
        ("---\ndescription: [a, b]\n---\nBody\n", "Body"),
        ("---\ndescription: |\n  one\n  two\n---\nB\n", "one\ntwo"),
        ("# Just text\n\nmore\n", "Just text"),
        ("---\ndescription: x\nbody\n", "---"),
        ("", "Skill"),
    ],
)
def test_claude_code_always_finds_a_description(text, description):
    understood = understand(
        read(text, CLAUDE_HEADER), default_name="folder", required=(), fields=CLAUDE_CODE
    )
    assert summary(understood) == ("folder", description)


# opencode


@pytest.mark.seed("O-02", "O-03")
@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("name: a\ndescription: d\n", ("a", "d")),
        ('name: ""\ndescription: d\n', ("", "d")),
        ('name: "  padded  "\ndescription: " d "\n', ("  padded  ", " d ")),
        ("name: ../../evil\ndescription: d\n", ("../../evil", "d")),
        ('name: a\ndescription: ""\n', ("a", "")),
        ("name: a\ndescription: >\n  one\n  two\n", ("a", "one two\n")),
        ("description: d\n", None),
        ("name: 123\ndescription: d\n", None),
        ("name: true\ndescription: d\n", None),
        ("name: null\ndescription: d\n", None),
        ("name: a\ndescription:\n", None),
        ("name: a\ndescription: 42\n", None),
        ("name: a\ndescription: [a, b]\n", None),
        ("name: a\ndescription: 2024-01-01\n", None),
        ("name: __proto__\ndescription: d\n", None),
        ("Name: a\nDescription: d\n", None),
    ],
)
def test_opencode_wants_text(header, expected):
    understood = understand(
        read_fields(header, OPENCODE_HEADER), default_name="folder", required=(), fields=OPENCODE
    )
    assert summary(understood) == expected
    assert (expected is None) == any(
        finding.severity.value == "error" for finding in understood.diagnostics
    )


def test_opencode_keeps_a_skill_without_a_description_and_hides_it():
    understood = grasp({"name": "a"}, OPENCODE)
    assert (summary(understood), understood.hidden_because) == (
        ("a", None),
        "it has no description",
    )
    assert grasp({"name": "a", "description": ""}, OPENCODE).hidden_because is None


@pytest.mark.seed("O-25", "O-26")
@pytest.mark.parametrize(
    "frontmatter", [{"name": "a"}, {"description": "d"}, {"name": 1, "description": "d"}, {}]
)
def test_the_documented_opencode_wants_both_and_what_fails_is_reported(frontmatter):
    profile = load_profile("opencode@documented")
    understood = grasp(frontmatter, profile.fields)
    assert summary(understood) is None
    assert {"name-missing", "description-missing"} & {code for code, _ in found(understood)}


@pytest.mark.seed("O-25")
def test_the_documented_opencode_checks_nothing_else():
    profile = load_profile("opencode@documented")
    frontmatter = {"name": "Any Name!", "description": "d" * 5000, "license": [1], "x": None}
    assert summary(grasp(frontmatter, profile.fields)) == ("Any Name!", "d" * 5000)


# omp


@pytest.mark.seed("P-11", "P-12", "P-13", "P-14")
@pytest.mark.parametrize(
    ("frontmatter", "required", "expected"),
    [
        ({"description": "d"}, ("description",), ("folder", "d")),
        ({"name": "  ", "description": "d"}, ("description",), ("folder", "d")),
        ({"name": 7, "description": "d"}, ("description",), ("folder", "d")),
        ({"name": " a ", "description": "d\n"}, ("description",), ("a", "d\n")),
        ({"name": "a", "description": 42}, ("description",), ("a", "")),
        ({"name": "a", "description": ["x"]}, ("description",), ("a", "")),
        ({"name": "a", "description": ""}, ("description",), None),
        ({"name": "a", "description": None}, ("description",), None),
        ({"name": "a"}, ("description",), None),
        ({}, ("description",), None),
        ({"name": "a"}, (), ("a", "")),
        ({"name": "a", "description": ""}, (), ("a", "")),
        ({}, (), ("folder", "")),
    ],
)
def test_omp_wants_a_description_where_the_root_says_so(frontmatter, required, expected):
    assert summary(grasp(frontmatter, OMP, required=required)) == expected


@pytest.mark.seed("P-10")
def test_unknown_keys_are_kept_in_the_frontmatter_without_a_word():
    reading = read_fields("name: a\ndescription: d\ncolour: blue\n", OMP_HEADER)
    understood = understand(reading, default_name="x", required=(), fields=OMP)
    assert (reading.frontmatter["colour"], understood.diagnostics) == ("blue", ())


# The standard


@pytest.mark.parametrize(
    ("frontmatter", "codes"),
    [
        ({"name": "pdf-tools", "description": "d"}, []),
        ({"name": "pdf-tools", "description": "d" * 1024, "compatibility": "c" * 500}, []),
        ({"description": "d"}, ["name-missing"]),
        ({"name": "pdf-tools"}, ["description-missing"]),
        ({"name": "pdf-tools", "description": " "}, ["description-missing"]),
        ({"name": "pdf-tools", "description": 5}, ["field-type"]),
        ({"name": "PDF", "description": "d"}, ["name-invalid", "name-mismatch"]),
        ({"name": "pdf--tools", "description": "d"}, ["name-invalid", "name-mismatch"]),
        ({"name": "a" * 65, "description": "d"}, ["name-invalid", "name-mismatch"]),
        ({"name": "other", "description": "d"}, ["name-mismatch"]),
        ({"name": "pdf-tools", "description": "d" * 1025}, ["description-too-long"]),
        ({"name": "pdf-tools", "description": "d", "compatibility": "c" * 501}, ["field-too-long"]),
        ({"name": "pdf-tools", "description": "d", "hooks": {}}, ["field-unknown"]),
    ],
)
def test_the_standard_is_kept_to_the_letter(frontmatter, codes):
    understood = grasp(frontmatter, SPEC, folder="pdf-tools")
    assert [code for code, _ in found(understood)] == codes
    assert understood.valid is (not codes)
    assert {severity for _, severity in found(understood)} <= {"error"}


def test_messages_name_what_was_found_and_what_is_allowed():
    understood = grasp({"name": "A" * 71, "description": 5, "x": 1}, SPEC, folder="a")
    assert [finding.message for finding in understood.diagnostics] == [
        "`description` is `5`; the standard only accepts a string.",
        "`name` has 71 characters; at most 64 are allowed.",
        "`name` is “" + "A" * 39 + "…”, but the folder is “a”.",
        "Unknown field `x`; the known fields are name, description, license, compatibility, metadata, allowed-tools.",
    ]


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        *((value, False) for value in (None, "", 0, 0.0, -0.0, False, float("nan"))),
        *(
            (value, True)
            for value in (" ", [], {}, [0], {"a": 1}, 1, -1, True, float("inf"), "0", "false")
        ),
    ],
)
def test_omp_wants_a_description_that_is_true_in_javascript(value, valid):
    understood = grasp({"name": "a", "description": value}, OMP, required=("description",))
    assert understood.valid is valid
    assert understood.description == (value if isinstance(value, str) else "")


OWN = load_profile("prowess").fields


@pytest.mark.parametrize(
    ("name", "folder", "messages"),
    [
        ("a-1", "a-1", []),
        ("a", "b", ["`name` is “a”, but the folder is “b”; hosts differ in which they use."]),
        (
            "My Skill",
            "My Skill",
            ["`name` is “My Skill”; the standard only allows a-z, 0-9 and single hyphens."],
        ),
        (
            "a--b",
            "a--b",
            ["`name` is “a--b”; the standard only allows a-z, 0-9 and single hyphens."],
        ),
        (
            "x" * 65,
            "x" * 65,
            ["`name` has 65 characters; the standard allows 64."],
        ),
    ],
)
def test_prowess_takes_any_name_and_warns_of_one_that_the_standard_refuses(name, folder, messages):
    understood = grasp({"name": name, "description": "d"}, OWN, folder=folder)
    assert (understood.name, understood.valid) == (name, True)
    assert [finding.message for finding in understood.diagnostics] == messages
    assert {severity for _, severity in found(understood)} <= {"warning"}


def test_a_name_that_the_folder_gives_is_not_warned_of():
    assert grasp({"description": "d"}, OWN, folder="My Skill").diagnostics == ()


# What a root requires, and numbers as names


@pytest.mark.parametrize(
    ("frontmatter", "fields", "codes"),
    [
        ({"description": "d"}, PROWESS, ["name-missing"]),
        ({"name": "a", "description": "d"}, PROWESS, []),
        ({"name": "", "description": "d"}, PROWESS, []),
        ({}, PROWESS, ["description-missing", "name-missing"]),
        ({"description": "d"}, OPENCODE, ["name-missing"]),
        ({"name": 7, "description": "d"}, OPENCODE, ["name-missing"]),
    ],
)
def test_a_root_can_require_a_name_and_its_lack_is_reported_once(frontmatter, fields, codes):
    understood = grasp(frontmatter, fields, required=("name",))
    assert [code for code, _ in found(understood)] == codes
    assert understood.valid is ("name-missing" not in codes)


def test_without_a_root_that_requires_it_a_name_may_be_missing():
    assert grasp({"description": "d"}, PROWESS, required=("description",)).diagnostics == ()


@pytest.mark.parametrize(("value", "name"), [(7, "7"), (1.0, "1"), (2.5, "2.5"), (True, "true")])
def test_a_host_may_take_a_number_in_the_header_for_a_name(value, name):
    fields = FieldRules(name_from="frontmatter", name_accepts_numbers=True)
    understood = grasp({"name": value, "description": "d"}, fields)
    assert (understood.name, understood.label, found(understood)) == (name, None, [])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (["a"], "`name` is a list; it must be a string."),
        (None, "`name` is empty; it must be a string."),
    ],
)
def test_a_host_that_takes_numbers_for_names_takes_nothing_else(value, message):
    fields = FieldRules(name_from="frontmatter", name_accepts_numbers=True)
    understood = grasp({"name": value, "description": "d"}, fields)
    assert (understood.name, understood.valid) == ("folder", False)
    assert [finding.message for finding in understood.diagnostics] == [message]


# Each problem once


def test_a_misspelt_field_that_is_refused_is_not_suggested_as_well():
    frontmatter = {"name": "a", "description": "d", "desciption": "e"}
    [finding] = grasp(frontmatter, SPEC, folder="a").diagnostics
    assert (finding.code, finding.severity, finding.field) == (
        "field-unknown",
        Severity.ERROR,
        "desciption",
    )
    assert finding.message.startswith("Unknown field `desciption`; the known fields are name, ")


def test_a_suggestion_says_more_than_that_a_field_is_unknown():
    frontmatter = {"name": "a", "description": "d", "desciption": "e", "colour": "blue"}
    fields = FieldRules(known=("name", "description"))
    assert [(one.severity, one.message) for one in grasp(frontmatter, fields).diagnostics] == [
        (Severity.INFO, "Unknown field `colour`; the known fields are name, description."),
        (Severity.WARNING, "Unknown field `desciption`; did you mean `description`?"),
    ]


def test_a_field_that_is_refused_is_still_checked():
    understood = grasp({"name": "a", "description": "d", "hooks": "x"}, SPEC, folder="a")
    assert [(one.code, one.field, one.severity) for one in understood.diagnostics] == [
        ("field-unknown", "hooks", Severity.ERROR),
        ("field-type", "hooks", Severity.WARNING),
    ]


def test_what_a_host_makes_of_a_description_is_said_once():
    understood = grasp({"name": "a", "description": ["x"], "license": ["y"]}, OMP)
    assert [one.message for one in understood.diagnostics] == [
        "`description` is a list, not a string; it counts as empty.",
        "`license` is a list; it must be a string.",
    ]
