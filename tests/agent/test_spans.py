"""Spans of the agent: turns, requests, calls, sub-agents, hooks and compactions, without contents."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.agent.studio import Studio, call, say
from tests.spans import EXPORTER, export_spans

SECRET = "a-very-private-word"


@pytest.fixture
def spans(studio: Studio) -> Iterator[InMemorySpanExporter]:
    export_spans()
    EXPORTER.clear()
    yield EXPORTER
    EXPORTER.clear()


def find(spans: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [one for one in spans.get_finished_spans() if one.name == name]


def is_below(spans: InMemorySpanExporter, child: ReadableSpan, name: str) -> bool:
    """Whether a span is somewhere below one with a name."""
    by_id = {one.context.span_id: one for one in spans.get_finished_spans() if one.context}
    above = child.parent
    while above is not None and above.span_id in by_id:
        if by_id[above.span_id].name == name:
            return True
        above = by_id[above.span_id].parent
    return False


def test_a_turn_is_a_tree_of_spans(studio, spans):
    studio.write("a.txt", f"{SECRET}\n")
    session = studio.open(
        call("Read", file_path="a.txt"),
        call("Task", prompt=SECRET),
        {**say("Child."), "agent": "general-purpose"},
        say(SECRET),
        {**say("Short."), "agent": "compaction"},
    )
    session.run(SECRET)
    session.run("/compact")
    first, second = find(spans, "prowess.turn")
    assert dict(first.attributes or {}) == {
        "prowess.session": session.id,
        "prowess.turn": 1,
        "prowess.status": "done",
        "prowess.requests": 4,
        "prowess.input_tokens": 200,
        "prowess.output_tokens": (first.attributes or {})["prowess.output_tokens"],
    }
    assert (second.attributes or {})["prowess.turn"] == 2
    (child,) = find(spans, "prowess.subagent")
    assert dict(child.attributes or {}) == {
        "prowess.agent": "general-purpose",
        "prowess.depth": 1,
        "prowess.status": "done",
    }
    assert is_below(spans, child, "execute_tool Task")
    (read,) = find(spans, "execute_tool Read")
    assert is_below(spans, read, "prowess.turn")
    agents = [one.name for one in spans.get_finished_spans() if one.name.startswith("invoke_agent")]
    assert sorted(agents) == [
        "invoke_agent compaction",
        "invoke_agent general-purpose",
        "invoke_agent prowess",
    ]
    assert len([one for one in spans.get_finished_spans() if one.name.startswith("chat ")]) == 5
    (compact,) = find(spans, "prowess.compact")
    assert (compact.attributes or {})["prowess.status"] == "done"


def test_no_contents_are_recorded_also_where_something_fails(studio, spans):
    studio.write("a.txt", f"{SECRET}\n")
    studio.run(
        call("Read", file_path=f"{SECRET}.txt"),
        call("Bash", command=f"echo {SECRET}"),
        call("Edit", file_path="a.txt", old_string="nothing", new_string=SECRET),
        say(SECRET),
        text=SECRET,
    )
    studio.run(text=SECRET)
    assert len(find(spans, "prowess.turn")) == 2
    recorded = [json.loads(one.to_json()) for one in spans.get_finished_spans()]
    assert [one["name"] for one in recorded if SECRET in json.dumps(one)] == []


def test_hooks_are_spans(studio, spans):
    hook = {"hooks": [{"type": "command", "command": "true"}]}
    studio.workspace.write(
        "home/.claude/settings.json", json.dumps({"hooks": {"PreToolUse": [hook]}})
    )
    studio.write("a.txt", "A\n")
    studio.host = "claude-code"
    studio.run(call("Read", file_path="a.txt"), say("Done."))
    (span,) = find(spans, "prowess.hook")
    assert (span.attributes or {})["prowess.event"] == "PreToolUse"
    assert (span.attributes or {})["prowess.outcome"] == "done"


_PROGRAM = """
import sys
from prowess import Skills
from prowess.agent import Session
from prowess.telemetry import is_traced

with Session(Skills(".", cache=False), model=sys.argv[1], keep=False) as session:
    assert session.run("Hello.").status == "done"
assert not is_traced()
assert "opentelemetry.sdk" not in sys.modules
"""


@pytest.mark.slow
def test_nothing_is_done_where_nobody_exports_spans(studio):
    model = studio.script(say("Hello."))
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, model],
        cwd=studio.project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
