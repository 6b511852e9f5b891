"""What those who watch see: spans, metrics and log lines, with names and counts and no contents."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from prowess.errors import UnknownSkill
from prowess.errors.activation import ApprovalNeeded, CommandFailed, NotPermitted
from prowess.model.command import Finished
from prowess.telemetry import observe
from tests.spans import EXPORTER, export_spans
from tests.unit.conversation.ports import ONCE, Person, Recorder
from tests.workspace import Workspace

ROOT = "home/.prowess/skills"
USER_FILE = "home/.config/prowess/prowess.toml"
SECRET = "a-very-private-word"

# A process has one provider, so all tests share it.
READER = InMemoryMetricReader()


@pytest.fixture(scope="module", autouse=True)
def providers() -> None:
    export_spans()
    metrics.set_meter_provider(MeterProvider([READER]))


@pytest.fixture(autouse=True)
def spans(providers: None) -> Iterator[InMemorySpanExporter]:
    EXPORTER.clear()
    yield EXPORTER
    EXPORTER.clear()


def named(operation: str) -> list[ReadableSpan]:
    return [span for span in EXPORTER.get_finished_spans() if span.name == f"prowess.{operation}"]


def test_a_load_with_a_command_is_a_tree_of_spans(workspace: Workspace) -> None:
    workspace.write(USER_FILE, '[permissions.skill]\n"*" = "ask"\n')
    workspace.skill(f"{ROOT}/pdf", body=f"!`echo {SECRET}`\n")
    runner = Recorder(lambda command: Finished(code=0, output=SECRET))
    chat = workspace.open().conversation(approver=Person(ONCE), runner=runner)
    chat.catalog()
    made = chat.activate("pdf", by="model")
    (scan,), (catalog,), (activate,) = named("scan"), named("catalog"), named("activate")
    (approve,), (run,) = named("approve"), named("run")
    assert dict(scan.attributes or {}) == {
        "prowess.host": "prowess",
        "prowess.candidates": 1,
        "prowess.skills": 1,
    }
    assert (catalog.attributes or {})["prowess.skills"] == 1
    assert (catalog.attributes or {})["prowess.left_out"] == 0
    tokens = (activate.attributes or {})["prowess.tokens"]
    assert isinstance(tokens, int)
    assert tokens > 0
    assert dict(activate.attributes or {}) == {
        "prowess.host": "prowess",
        "prowess.caller": "model",
        "prowess.skill": "pdf",
        "prowess.digest": made.digest,
        "prowess.tokens": tokens,
        "prowess.repeated": False,
    }
    assert dict(approve.attributes or {}) == {
        "prowess.skill": "pdf",
        "prowess.permission": "skill",
        "prowess.granted": True,
        "prowess.by": "person",
    }
    assert dict(run.attributes or {}) == {
        "prowess.skill": "pdf",
        "prowess.confined": True,
        "prowess.exit_code": 0,
        "prowess.timed_out": False,
        "prowess.left_out": 0,
    }
    assert activate.context is not None
    assert [span.parent and span.parent.span_id for span in (approve, run)] == [
        activate.context.span_id
    ] * 2


def test_no_span_holds_contents_or_messages(
    workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="prowess")
    workspace.write(USER_FILE, '[permissions.skill]\n"shut" = "ask"\n')
    workspace.skill(f"{ROOT}/pdf", description=SECRET, body=f"!`echo {SECRET}`\n")
    workspace.skill(f"{ROOT}/shut", body=SECRET)
    runner = Recorder(lambda command: Finished(code=3, output=SECRET))
    chat = workspace.open().conversation(runner=runner)
    chat.catalog()
    with pytest.raises(CommandFailed):
        chat.activate("pdf", SECRET)
    with pytest.raises(NotPermitted):
        chat.activate("shut", by="model")
    with pytest.raises(UnknownSkill):
        chat.activate(SECRET, by="model")
    failed = [(span.attributes or {}).get("error.type") for span in named("activate")]
    assert failed == ["CommandFailed", "NotPermitted", "UnknownSkill"]
    assert all(not span.status.is_ok for span in named("activate"))
    shown = "".join(span.to_json() for span in EXPORTER.get_finished_spans()) + caplog.text
    assert SECRET not in shown
    assert str(workspace.root) not in shown
    assert not any(span.events for span in EXPORTER.get_finished_spans())


def test_metrics_say_how_long_and_how_many_tokens_for_each_skill(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/measured", body="Text\n")
    chat = workspace.open().conversation()
    chat.activate("measured")
    chat.activate("measured", "again")
    data = READER.get_metrics_data()
    assert data is not None
    found = {
        metric.name: point.count  # type: ignore[union-attr]
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.data.data_points
        if (point.attributes or {}).get("prowess.skill") == "measured"
    }
    assert found == {"prowess.duration": 2, "prowess.tokens": 2}


def test_the_log_has_a_line_for_each_operation(
    workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    workspace.skill(f"{ROOT}/pdf")
    chat = workspace.open().conversation()
    chat.activate("pdf")
    assert caplog.records == []
    caplog.set_level(logging.DEBUG, logger="prowess")
    chat.activate("pdf")
    (record,) = caplog.records
    assert record.name == "prowess"
    assert record.getMessage().startswith("activate ")
    assert "skill='pdf'" in record.getMessage()


def test_an_async_call_belongs_to_the_span_of_its_caller(workspace: Workspace) -> None:
    import asyncio

    workspace.skill(f"{ROOT}/pdf")
    chat = workspace.open().conversation()
    with trace.get_tracer("test").start_as_current_span("outer") as outer:
        asyncio.run(chat.activate_async("pdf"))
    (activate,) = named("activate")
    assert activate.parent is not None
    assert activate.parent.span_id == outer.get_span_context().span_id


def test_where_nobody_watches_nothing_is_imported() -> None:
    program = (
        "import sys, prowess.telemetry as t\n"
        "with t.observe('scan', host='x') as seen: seen.note(skills=1)\n"
        "assert not seen\n"
        "assert not {'opentelemetry', 'logging'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_an_observation_lets_errors_through() -> None:
    with pytest.raises(KeyError), observe("run"):
        raise KeyError("x")
    (span,) = named("run")
    assert dict(span.attributes or {}) == {"error.type": "KeyError"}


def test_a_call_that_asks_first_did_not_fail(workspace: Workspace) -> None:
    workspace.write(USER_FILE, '[permissions.skill]\n"*" = "ask"\n')
    workspace.skill(f"{ROOT}/asked-first")
    with pytest.raises(ApprovalNeeded):
        workspace.open().conversation().activate("asked-first", by="model", answers={})
    for (span,) in (named("activate"), named("approve")):
        assert (span.attributes or {})["prowess.suspended"] is True
        assert "error.type" not in (span.attributes or {})
        assert span.status.status_code is trace.StatusCode.UNSET
    assert "asked-first" not in str(READER.get_metrics_data())
