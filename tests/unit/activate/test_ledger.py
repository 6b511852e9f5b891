"""The ledger of a conversation: what is loaded, what survives a compaction, and its JSON."""

from __future__ import annotations

import json

import pytest

from prowess.activate.ledger import Ledger, LedgerEntry, parse_ledger, render_ledger
from prowess.activate.survival import Survival, Survivor, compact, find_survivors
from prowess.diagnostics import diagnose
from prowess.profiles.load import load_profile
from prowess.profiles.schema.body import CompactionRules


def entry(name: str, at: float = 0.0, **fields) -> LedgerEntry:
    return LedgerEntry(name=name, at=at, **{"by": "model", "digest": f"sha256:{name}", **fields})


def record(*entries: LedgerEntry) -> Ledger:
    ledger = Ledger()
    for each in entries:
        ledger = ledger.record(each)
    return ledger


def count(text: str) -> int:
    """A token for each word, so that figures can be read off."""
    return len(text.split())


# What is loaded


def test_recording_gives_a_new_ledger_and_leaves_the_old_one_as_it_was():
    empty = Ledger()
    assert empty.record(entry("a")) == Ledger((entry("a"),))
    assert empty == Ledger()


def test_a_skill_is_found_by_its_latest_activation():
    ledger = record(entry("a", 1, by="user"), entry("b", 2), entry("a", 3))
    assert ledger.find("a") == entry("a", 3)
    assert ledger.find("c") is None
    assert ledger.loaded == (entry("a", 3), entry("b", 2))


def test_a_skill_is_loaded_in_one_version_and_with_its_arguments():
    ledger = record(entry("a", digest="sha256:1", arguments="x"))
    assert ledger.is_loaded("a", "sha256:1")
    assert ledger.is_loaded("a", "sha256:1", arguments="x")
    assert not ledger.is_loaded("a", "sha256:1", arguments="y")
    assert not ledger.is_loaded("a", "sha256:2")
    assert not ledger.is_loaded("b", "sha256:1")


def test_of_earlier_activations_only_the_fact_remains():
    ledger = record(entry("a", 1, text="old", tokens=1), entry("a", 2, text="new", tokens=1))
    assert ledger.entries == (entry("a", 1, tokens=1), entry("a", 2, text="new", tokens=1))


def test_a_forgotten_skill_is_not_loaded_but_stays_known():
    ledger = record(entry("a", 1, text="t"), entry("b", 2, text="t"))
    forgotten = ledger.forget("a")
    assert forgotten.entries == (entry("a", 1, loaded=False), entry("b", 2, text="t"))
    assert not forgotten.is_loaded("a", "sha256:a")
    assert forgotten.is_loaded("b", "sha256:b")
    assert ledger.forget().loaded == ()


def test_a_skill_that_is_loaded_again_after_it_was_forgotten_is_loaded():
    ledger = record(entry("a", 1)).forget("a").record(entry("a", 2))
    assert ledger.loaded == (entry("a", 2),)


# What survives


RULES = CompactionRules(tokens=25, per_skill=10, least=3)
NOTE = "\n\n[The rest of this skill was left out to save space. Read it in /s/SKILL.md.]"


def words(number: int) -> str:
    return " ".join(["word"] * number)


def test_the_newest_survive_whole_while_there_is_room():
    ledger = record(
        entry("a", 1, text=words(10)), entry("b", 2, text=words(10)), entry("c", 3, text=words(5))
    )
    assert find_survivors(ledger, RULES, count=count) == Survival(
        (
            Survivor(name="c", text=words(5), tokens=5),
            Survivor(name="b", text=words(10), tokens=10),
            Survivor(name="a", text=words(10), tokens=10),
        )
    )


def test_where_the_room_ends_everything_older_is_dropped_also_what_is_small():
    entries = [entry(f"big{number}", number + 1, text=words(10)) for number in range(3)]
    ledger = record(entry("small", 0, text="tiny"), *entries)
    found = find_survivors(ledger, CompactionRules(tokens=20, per_skill=10, least=3), count=count)
    assert [survivor.name for survivor in found.kept] == ["big2", "big1"]
    assert found.dropped == ("big0", "small")


def test_a_skill_that_is_too_long_is_cut_and_ends_with_where_to_read_on():
    rules = CompactionRules(tokens=100, per_skill=20, least=3)
    lines = "\n".join(["one two three four"] * 10)
    found = find_survivors(
        record(entry("a", text=lines, location="/s/SKILL.md")), rules, count=count
    )
    (survivor,) = found.kept
    assert survivor.text.endswith(NOTE)
    assert survivor.text.removesuffix(NOTE) == "one two three four"
    assert (survivor.cut, survivor.tokens, survivor.tokens <= 20) == (
        True,
        count(survivor.text),
        True,
    )


def test_a_skill_without_a_file_says_to_load_it_again():
    found = find_survivors(
        record(entry("a", text=words(99))), CompactionRules(tokens=50, per_skill=40), count=count
    )
    assert found == Survival((), ("a",))
    found = find_survivors(
        record(entry("a", text=words(99))),
        CompactionRules(tokens=50, per_skill=40, least=5),
        count=count,
    )
    assert found.kept[0].text.endswith(" Load it again to read all of it.]")


def test_the_last_one_is_cut_to_the_room_that_is_left_unless_that_is_too_little():
    ledger = record(entry("old", 1, text=words(100)), entry("new", 2, text=words(10)))
    rules = CompactionRules(tokens=40, per_skill=100, least=25)
    assert [each.tokens for each in find_survivors(ledger, rules, count=count).kept] == [10, 30]
    rules = CompactionRules(tokens=34, per_skill=100, least=25)
    assert find_survivors(ledger, rules, count=count).dropped == ("old",)


def test_the_bounds_of_the_hosts():
    assert {
        host: (rules.tokens, rules.per_skill)
        for host in (
            "prowess",
            "claude-code",
            "claude-code@documented",
            "opencode",
            "openclaw",
            "omp",
        )
        for rules in [load_profile(host).compaction]
        if rules.tokens
    } == {
        "prowess": (25_000, 5_000),
        "claude-code": (25_000, 5_000),
        "claude-code@documented": (25_000, 5_000),
    }


def test_five_large_skills_survive_in_claude_code_and_nothing_older():
    rules = load_profile("claude-code").compaction
    entries = [
        entry(f"s{number}", number, text=words(9_000), location=f"/{number}") for number in range(7)
    ]
    found = find_survivors(record(*entries), rules, count=count)
    assert [survivor.name for survivor in found.kept] == ["s6", "s5", "s4", "s3", "s2"]
    assert [survivor.tokens for survivor in found.kept] == [5_000] * 5
    assert found.dropped == ("s1", "s0")


def test_nothing_survives_where_the_host_gives_nothing_back():
    found = find_survivors(
        record(entry("a", text="t")), load_profile("opencode").compaction, count=count
    )
    assert found == Survival((), ("a",))


def test_after_a_compaction_the_dropped_are_forgotten_and_a_cut_one_is_not_whole():
    rules = CompactionRules(tokens=40, per_skill=30, least=3)
    entries = [
        entry("old", 0, text=words(20)),
        entry("cut", 1, text=words(90), location="/c"),
        entry("new", 2, text="n"),
    ]
    ledger = record(*entries)
    found = find_survivors(ledger, rules, count=count)
    after = compact(ledger, found)
    assert found.dropped == ("old",) or found.tokens <= 40
    assert after.is_loaded("new", "sha256:new")
    assert not after.is_loaded("cut", "sha256:cut")
    assert [each.name for each in after.loaded] == [
        "new",
        "cut",
        *([] if "old" in found.dropped else ["old"]),
    ]
    again = find_survivors(after, rules, count=count)
    assert again.kept == found.kept


# JSON


def test_a_ledger_is_saved_with_its_version_and_comes_back_as_it_was():
    ledger = record(
        entry(
            "a",
            1.5,
            by="user",
            location="/s/\udcff/SKILL.md",
            tokens=7,
            arguments="x\ny",
            text="天气",
        ),
        entry("b", 2, partial=True),
    ).forget("b")
    text = render_ledger(ledger)
    assert json.loads(text)["version"] == 1
    assert parse_ledger(text) == (ledger, ())


def test_unknown_keys_do_not_matter():
    text = '{"version": 1, "more": {}, "entries": [{"name": "a", "at": 1, "by": "user", "mood": "good"}]}'
    assert parse_ledger(text) == (Ledger((LedgerEntry(name="a", at=1.0, by="user"),)), ())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is not JSON"),
        ("{", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("[]", "it has no list of `entries`"),
        ('{"version": 1}', "it has no list of `entries`"),
        ('{"entries": []}', "its version is None; only version 1 is supported"),
        ('{"version": 2, "entries": []}', "its version is 2; only version 1 is supported"),
    ],
)
def test_a_broken_file_is_a_diagnostic_and_counts_as_empty(text, reason):
    message = f"The saved conversation cannot be used: {reason}. All skills count as not loaded."
    assert parse_ledger(text, file="/l.json") == (
        Ledger(),
        (diagnose("state-unreadable", message, file="/l.json"),),
    )


def test_a_broken_entry_does_not_take_the_others_along():
    text = '{"version": 1, "entries": [{"name": 1}, 7, {"name": "a", "at": 1, "by": "cat"}, {"name": "b", "at": 1, "by": "user"}]}'
    ledger, found = parse_ledger(text)
    assert [each.name for each in ledger.entries] == ["b"]
    assert [each.message for each in found] == [
        "3 entries of the saved conversation cannot be read; the skills in them count as not loaded."
    ]
