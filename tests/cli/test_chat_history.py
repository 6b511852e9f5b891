"""The texts that were typed in earlier chats."""

from __future__ import annotations

from pathlib import Path

import pytest

from prowess.cli.chat.history import ChatHistory
from prowess.model.facts import Facts


@pytest.mark.parametrize("damage", [b"", b"not JSON", b'"half', b'"\xff"', b"3"])
def test_a_damaged_line_costs_that_line_only(tmp_path: Path, damage: bytes) -> None:
    facts = Facts(home=str(tmp_path), env={})
    history = ChatHistory(facts)
    history.store_string("first")
    file = tmp_path / ".local/state/prowess/chat-history.jsonl"
    file.write_bytes(file.read_bytes() + damage + b"\n")
    history.store_string("last")
    assert list(ChatHistory(facts).load_history_strings()) == ["last", "first"]
