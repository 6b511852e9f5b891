"""`arguments` as a mapping: what each argument may be, and mistakes in saying it."""

from __future__ import annotations

from typing import Any

import pytest

from prowess.diagnostics import diagnose
from prowess.model.skill import DeclaredArgument
from prowess.parse.manifest.fields import read_manifest
from prowess.profiles.load import load_profile

FIELDS = load_profile("prowess").fields


def test_a_mapping_gives_the_names_in_order_and_what_each_may_be() -> None:
    arguments = {
        "target": {"choices": ["staging", 2], "required": True},
        "version": {"pattern": "v[0-9]+"},
        "rest": None,
        "ARGUMENTS": {"options": True},
    }
    manifest, found = read_manifest({"arguments": arguments}, fields=FIELDS)
    assert manifest.arguments == ("target", "version", "rest")
    assert manifest.declared_arguments == (
        DeclaredArgument(name="target", choices=("staging", "2"), required=True),
        DeclaredArgument(name="version", pattern="v[0-9]+"),
        DeclaredArgument(name="rest"),
        DeclaredArgument(name="ARGUMENTS", options=True),
    )
    assert found == ()


@pytest.mark.parametrize("arguments", ["a b", ["a", "b"]])
def test_a_list_of_names_limits_nothing(arguments: Any) -> None:
    manifest, _ = read_manifest({"arguments": arguments}, fields=FIELDS)
    assert (manifest.arguments, manifest.declared_arguments) == (("a", "b"), ())


@pytest.mark.parametrize(
    ("declared", "field", "why"),
    [
        (
            "x",
            "arguments.a",
            "is “x”; it must be a mapping with pattern, choices, options, required",
        ),
        ({"patern": "x"}, "arguments.a.patern", "is not a known key; the keys are pattern, choices, options, required"),
        ({"pattern": 1}, "arguments.a.pattern", "is `1`; it must be a string"),
        ({"pattern": "(a)"}, "arguments.a.pattern", "cannot be used: `(a)` in it is not supported"),
        ({"choices": "x"}, "arguments.a.choices", "is “x”; it must be a list of at least one word"),
        ({"choices": []}, "arguments.a.choices", "is a list; it must be a list of at least one word"),
        ({"options": "yes"}, "arguments.a.options", "is “yes”; it must be true or false"),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_and_the_argument_then_takes_no_value(
    declared: Any, field: str, why: str
) -> None:
    manifest, found = read_manifest({"arguments": {"a": declared}}, fields=FIELDS)
    assert manifest.declared_arguments == (DeclaredArgument(name="a", problem=f"`{field}` {why}"),)
    assert found == (diagnose("field-value", f"`{field}` {why}.", field=field),)


def test_a_command_may_ask_for_no_shell() -> None:
    assert read_manifest({"shell": "none"}, fields=FIELDS)[0].shell == "none"
