"""Laws of the ledger: what is saved comes back, what survives fits, nothing is lost on the way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prowess.activate.ledger import Ledger, LedgerEntry, parse_ledger, render_ledger
from prowess.activate.survival import compact, find_survivors
from prowess.present.tokens import estimate_tokens
from prowess.profiles.schema.body import CompactionRules

anything = st.text(st.characters(exclude_categories=()))
entries = st.builds(
    LedgerEntry,
    name=st.one_of(st.sampled_from(["a", "b", "c"]), anything),
    at=st.floats(allow_nan=False, allow_infinity=False),
    by=st.sampled_from(["user", "model"]),
    location=anything,
    digest=anything,
    tokens=st.integers(0, 10**9),
    arguments=anything,
    text=st.one_of(anything, st.integers(1, 400).map(lambda times: "some words\n" * times)),
    loaded=st.booleans(),
    partial=st.booleans(),
)
rules = st.builds(
    CompactionRules,
    tokens=st.integers(0, 400),
    per_skill=st.integers(0, 200),
    least=st.integers(0, 100),
)
counts = st.sampled_from(
    [len, estimate_tokens, lambda text: len(text.split()), lambda text: len(text) % 7]
)


def ledger_of(recorded: list[LedgerEntry]) -> Ledger:
    ledger = Ledger()
    for entry in recorded:
        ledger = ledger.record(entry)
    return ledger


@given(st.lists(entries, max_size=8))
def test_what_is_saved_comes_back_as_it_was(recorded):
    ledger = ledger_of(recorded)
    assert parse_ledger(render_ledger(ledger)) == (ledger, ())


@given(st.one_of(st.text(), st.binary().map(lambda data: data.decode("latin-1"))))
def test_no_file_breaks_the_reading(text):
    ledger, found = parse_ledger(text)
    assert bool(found) or ledger == Ledger()


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_no_entry_breaks_the_reading(data):
    import json

    ledger, found = parse_ledger(json.dumps({"version": 1, "entries": [data]}))
    assert (ledger, len(found)) == (Ledger(), 1)


@given(st.lists(entries, max_size=8), rules, counts)
def test_what_survives_fits_and_everything_else_is_named(recorded, bounds, count):
    ledger = ledger_of(recorded)
    found = find_survivors(ledger, bounds, count=count)
    assert found.tokens <= bounds.tokens
    assert all(
        survivor.tokens == count(survivor.text) <= bounds.per_skill for survivor in found.kept
    )
    assert [survivor.name for survivor in found.kept] + list(found.dropped) == [
        entry.name for entry in ledger.loaded
    ]
    texts = {entry.name: entry.text for entry in ledger.loaded}
    for survivor in found.kept:
        whole = texts[survivor.name]
        assert survivor.text == whole or (
            survivor.cut and whole.startswith(survivor.text.rpartition("\n\n[")[0])
        )


@given(st.lists(entries, max_size=8), st.integers(0, 300), st.integers(0, 300))
def test_more_room_never_keeps_fewer_skills(recorded, room, more):
    ledger = ledger_of(recorded)
    small = find_survivors(ledger, CompactionRules(tokens=room, per_skill=50, least=20), count=len)
    large = find_survivors(
        ledger, CompactionRules(tokens=room + more, per_skill=50, least=20), count=len
    )
    assert len(large.kept) >= len(small.kept)


@given(st.lists(entries, max_size=8), rules)
def test_after_a_compaction_exactly_the_survivors_are_loaded_and_it_can_be_saved(recorded, bounds):
    ledger = ledger_of(recorded)
    found = find_survivors(ledger, bounds, count=len)
    after = compact(ledger, found)
    assert {entry.name for entry in after.loaded} == {survivor.name for survivor in found.kept}
    assert [(entry.name, entry.at) for entry in after.entries] == [
        (entry.name, entry.at) for entry in ledger.entries
    ]
    assert all(not after.is_loaded(survivor.name, "") for survivor in found.kept if survivor.cut)
    assert parse_ledger(render_ledger(after)) == (after, ())


@given(st.lists(entries, max_size=8), st.sampled_from(["a", "b"]))
def test_what_is_recorded_is_loaded_until_it_is_forgotten(recorded, name):
    entry = LedgerEntry(name=name, at=1.0, by="user", digest="d", arguments="x")
    ledger = ledger_of(recorded).record(entry)
    assert ledger.is_loaded(name, "d", arguments="x")
    assert not ledger.forget(name).is_loaded(name, "d")
    assert not ledger.forget().loaded
