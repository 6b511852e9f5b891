"""Wording that several reports share: hosts, counts of states, and reasons."""

from __future__ import annotations

from collections.abc import Mapping

from prowess.model.outcome import Note, Outcome, State


def name_host(host: str, edition: str) -> str:
    """A host as `--host` takes it: `opencode`, or `opencode@documented`."""
    return host if edition == "current" else f"{host}@{edition}"


def render_counts(counts: Mapping[State, int]) -> str:
    """`12 ready, 1 hidden, 2 shadowed`: ready skills first."""
    return ", ".join(
        f"{counts[state]:,} {state.value}" for state in reversed(State) if counts.get(state)
    )


def cite_reason(found: Outcome | Note) -> str:
    """Why a skill is not ready, with the file and line of the setting that decided."""
    reason = found.reason or ""
    return reason if found.origin is None else f"{reason} ({found.origin})"


def lower_first(sentence: str) -> str:
    """A sentence as the end of another: its first letter small, unless it starts with a name."""
    starts_with_a_word = sentence[1:2].islower() or sentence[1:2] == " "
    return sentence[:1].lower() + sentence[1:] if starts_with_a_word else sentence
