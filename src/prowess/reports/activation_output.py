"""Activations, and what a typed text leads to, as JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from prowess.activate.slash.dispatch import ToolReply
from prowess.activate.slash.parser import Notice, Plain
from prowess.conversation.slash_commands import RunResult
from prowess.model.activation import Activation
from prowess.model.usage import Caller
from prowess.reports.json_output import shape_diagnostic


def shape_activation(activation: Activation, by: Caller) -> dict[str, Any]:
    """What a model receives when a skill is loaded."""
    return {
        "name": activation.name,
        "by": by,
        "text": activation.text,
        "title": activation.title,
        "folder": activation.folder,
        "digest": activation.digest,
        "files": list(activation.files),
        "more_files": activation.more_files,
        "metadata": dict(activation.metadata),
        "trusted": activation.trusted,
        "requests": msgspec.to_builtins(activation.requests),
        "diagnostics": [shape_diagnostic(one) for one in activation.diagnostics],
    }


def shape_run_result(result: RunResult) -> dict[str, Any]:
    """What a typed text leads to, by its `kind`: a reply, a notice, plain text or a message."""
    # A notice is for the person who typed; a model gets nothing.
    if isinstance(result, Notice):
        return {
            "kind": "notice",
            "notice": result.kind,
            "name": result.name,
            "message": result.message,
        }
    if isinstance(result, Plain):
        return {
            "kind": "plain",
            "text": result.text,
            "name": result.name,
            "nearest": list(result.nearest),
        }
    diagnostics = [shape_diagnostic(one) for one in result.diagnostics]
    if isinstance(result, ToolReply):
        return {
            "kind": "reply",
            "text": result.text,
            "tool": result.tool,
            "run_id": result.run_id,
            "diagnostics": diagnostics,
        }
    return {
        "kind": "message",
        "text": result.text,
        "parts": list(result.parts),
        "delivery": result.delivery.value,
        "custom": result.kind == "custom",
        "skills": list(result.skills),
        "details": dict(result.details),
        "untrusted": list(result.untrusted),
        "requests": msgspec.to_builtins(result.requests),
        "diagnostics": diagnostics,
    }
