"""`claude-api`: what its reference says is what the installed package has."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import anthropic
import pytest
from anthropic.types import StopReason
from anthropic.types.message_create_params import MessageCreateParamsBase
from anthropic.types.model import Model

import prowess
from prowess.agent.events import ToolFinished
from tests.agent.shipped.test_dream import run, turn_on
from tests.agent.studio import Studio, call, pick, say

SKILL = Path(prowess.__file__).parent / "bundled/claude-api"
REFERENCES = sorted((SKILL / "references").glob("*.md"))
BLOCKS = [
    (file.name, block)
    for file in REFERENCES
    for block in re.findall(r"```python\n(.*?)```", file.read_text(), re.DOTALL)
]


@pytest.mark.seed("C-120")
def test_a_question_is_answered_from_the_reference(studio: Studio) -> None:
    turn_on(studio, "claude-api")
    read = call("read_skill_file", url="skill://claude-api/references/errors.md")
    ended, events = run(
        studio, "/claude-api What is status 529?", read, say("OverloadedError (errors.md).")
    )
    assert ended.status == "done", ended.reason
    [finished] = pick(events, ToolFinished)
    assert "| 529 | `OverloadedError` |" in finished.output


def read_table(name: str, heading: str) -> list[list[str]]:
    """The rows of the first table after a heading, each as its cells."""
    text = (SKILL / "references" / name).read_text().partition(heading)[2]
    rows = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert rows is not None
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows[0].splitlines()[2:]]


def test_the_reference_names_the_version_that_it_describes() -> None:
    assert "version 2.8 of the package" in " ".join((SKILL / "SKILL.md").read_text().split())
    assert anthropic.__version__.startswith("2.8.")


def test_parameters_and_stop_reasons_are_those_of_the_package() -> None:
    named = [name for row in read_table("messages.md", "## Request") for name in words(row[0])]
    known = get_type_hints(MessageCreateParamsBase)
    assert set(named) <= set(known)
    assert not {"temperature", "top_p", "top_k"} & set(known)
    reasons = [row[0].strip("`") for row in read_table("messages.md", "## Answer")]
    assert sorted(reasons) == sorted(get_args(StopReason))


def words(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_every_model_is_known_to_the_package() -> None:
    known = get_args(get_args(Model)[0])
    named = {
        one for file in REFERENCES for one in re.findall(r"claude-[a-z]+-[\d-]+", file.read_text())
    }
    assert named
    assert named <= set(known)


def test_each_status_has_the_exception_that_the_package_raises() -> None:
    for status, exception, _ in read_table("errors.md", "# Errors"):
        found = getattr(anthropic, exception.strip("`"), None)
        found = found or getattr(anthropic._exceptions, exception.strip("`"))
        assert found.status_code == int(status)


def find_calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name.startswith("client."):
                yield re.sub(r"with_options\(.*?\)\.", "", name), node


@pytest.mark.parametrize(("file", "block"), BLOCKS)
def test_every_example_calls_what_exists_with_parameters_that_it_takes(
    file: str, block: str
) -> None:
    client: Any = anthropic.Anthropic(api_key="none")
    with client:
        calls = list(find_calls(ast.parse(block)))
        assert calls or "anthropic" in block, file
        for name, node in calls:
            method = client
            for part in name.split(".")[1:]:
                method = getattr(method, part)
            accepted = inspect.signature(method).parameters
            assert {one.arg for one in node.keywords} <= set(accepted), name
