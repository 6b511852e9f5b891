"""Wording that several reports share: hosts, counts of states, and reasons."""

from __future__ import annotations

from collections.abc import Mapping

from prowess.model.outcome import Note, Outcome, State


def name_host(host: str, edition: str) -> str:
    """A host as `--host` takes it: `opencode`, or `opencode@documented`."""
    return host if edition == "current" else f"{host}@{edition}"


def render_counts(counts: Mapping[State, int]) -> str:
    """`12 ready, 1 hidden, 2 shadowed`: ready skills first."""
    # States are in the order in which they are decided, so `ready` is the last.
    occurring = [state for state in reversed(State) if counts.get(state)]
    return ", ".join(f"{counts[state]:,} {state.value}" for state in occurring)


def cite_reason(decided: Outcome | Note) -> str:
    """Why a skill is not ready, with the file and line of the setting that decided."""
    reason = decided.reason or ""
    if decided.origin is None:
        return reason
    return f"{reason} ({decided.origin})"


def lower_first(sentence: str) -> str:
    """A sentence as the end of another: its first letter small, unless it starts with a name."""
    # `YAML` and `` `name` `` stay as they are, `A` does not.
    second = sentence[1:2]
    starts_with_a_word = second.islower() or second == " "
    if not starts_with_a_word:
        return sentence
    return sentence[:1].lower() + sentence[1:]
