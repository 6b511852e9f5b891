"""Who gets the room: every strategy against what was measured of its host or is planned for
Prowess.
"""

from __future__ import annotations

import pytest

from prowess.model.catalog import CatalogItem, Shown
from prowess.present.budget import find_budget
from prowess.profiles.load import load_profile
from tests.unit.present.catalogs import make_items, show, show_counts


def with_text(catalog):
    """The names of skills of which more than the name is shown."""
    return [line.name for line in catalog.lines if line.shown in (Shown.WHOLE, Shown.SHORTENED)]


# The room


@pytest.mark.parametrize(
    ("host", "window", "room"),
    [
        ("claude-code", 200_000, 8_000),
        ("claude-code", 1_000_000, 40_000),
        ("claude-code", None, 8_000),
        ("claude-code@documented", 200_000, 8_000),
        ("codex", 200_000, 16_000),
        ("codex", 272_000, 21_760),
        ("codex", None, 21_760),
        ("openclaw", 200_000, 18_000),
        ("openclaw", 32_000, 6_400),
        ("openclaw", None, 18_000),
        ("opencode", 200_000, None),
        ("omp", 200_000, None),
        ("spec", 200_000, None),
        ("prowess", 200_000, 8_000),
        ("prowess", None, 8_000),
        ("prowess", 10, 0),
    ],
)
def test_the_room_comes_from_the_profile_and_the_window(host, window, room):
    assert find_budget(load_profile(host).budget, window=window) == room


def test_a_fraction_of_two_hundredths_doubles_the_room_in_claude_code():
    assert show([], "claude-code", rules={"share": 0.02}).budget == 16_000


# Claude Code, as released


@pytest.mark.parametrize(("characters", "texts"), [(8_000, 20), (20_000, 60), (100, 0)])
def test_claude_code_keeps_as_many_whole_texts_as_fit_and_every_name(characters, texts):
    # The release was asked with names of four characters.
    items = [CatalogItem(name=f"s{n:03d}", description="d" * 300) for n in range(200)]
    catalog = show(items, "claude-code", characters=characters)
    assert len(with_text(catalog)) == texts
    assert show_counts(catalog) == {
        key: count for key, count in (("name-only", 200 - texts), ("whole", texts)) if count
    }
    assert catalog.over_budget is (characters == 100)
    assert len(catalog.text.splitlines()) == 202


def test_claude_code_keeps_the_text_of_what_is_used_and_of_bundled_skills_in_their_places():
    items = make_items(200, 300)
    items[150] = CatalogItem(name="used", description="u" * 300, uses=3)
    items[199] = CatalogItem(name="zz-own", description="b" * 300, bundled=True)
    catalog = show(items, "claude-code")
    assert with_text(catalog) == [*(f"s{n:05d}" for n in range(17)), "used", "zz-own"]
    assert [line.name for line in catalog.lines] == sorted(item.name for item in items)


def test_claude_code_keeps_a_text_that_fills_the_room_exactly_and_none_that_is_one_too_long():
    # Three lines `- a`, of which one becomes `- a: ` and ten characters, and two line breaks.
    own = load_profile("claude-code").budget.own_lines
    room = 3 * len("- a") + 2 + len(": ") + 10
    items = [
        CatalogItem(name="a", description="a" * 10, uses=1),
        CatalogItem(name="b", description="b" * 10),
        CatalogItem(name="c", description=""),
    ]
    exact = show(items, "claude-code", characters=room + own)
    assert (with_text(exact), exact.characters, exact.over_budget) == (["a"], room, False)
    assert with_text(show(items, "claude-code", characters=room + own - 1)) == []


def test_claude_code_passes_over_a_text_that_does_not_fit_and_takes_a_shorter_one():
    items = [
        CatalogItem(name="a", description="a" * 500, uses=2),
        CatalogItem(name="b", description="b" * 5, uses=1),
    ]
    assert with_text(show(items, "claude-code", characters=400)) == ["b"]


def test_claude_code_counts_an_emoji_as_two():
    own = load_profile("claude-code").budget.own_lines
    items = [CatalogItem(name="a", description="🎉" * 10)]
    room = len("- a: ") + 20 + own
    assert with_text(show(items, "claude-code", characters=room)) == ["a"]
    assert with_text(show(items, "claude-code", characters=room - 1)) == []


def test_claude_code_cuts_in_utf16_units_and_leaves_no_half_character():
    [line] = show([CatalogItem(name="a", description="🎉" * 800)], "claude-code").lines
    assert line.text == "🎉" * 767 + " …"


def test_claude_code_keeps_bundled_texts_and_all_names_even_over_budget():
    items = [*make_items(3, 50), CatalogItem(name="own", description="b" * 500, bundled=True)]
    catalog = show(items, "claude-code", characters=100)
    assert show_counts(catalog) == {"name-only": 3, "whole": 1}
    assert (catalog.characters, catalog.budget, catalog.over_budget) == (534, 100, True)


def test_claude_code_cuts_a_text_at_1536_characters_of_which_the_last_is_a_mark():
    items = [
        CatalogItem(name="long", description="d" * 1_000, when_to_use="w" * 1_000, bundled=True)
    ]
    [line] = show(items, "claude-code").lines
    assert line.text == f"{'d' * 1_000} - {'w' * 532}…"
    assert line.shown is Shown.SHORTENED
    assert line.why == "its text has 2,003 characters; at most 1,536 are shown per skill"


# Claude Code, as documented


def test_documented_claude_code_shares_the_room_evenly_among_the_others():
    items = [*make_items(40, 249), CatalogItem(name="own", description="b" * 900, bundled=True)]
    catalog = show(items, "claude-code@documented")
    lengths = {len(line.text) for line in catalog.lines if line.name != "own"}
    # 8,000 less 907 for the bundled line, 40 names of nine characters with their line breaks, and
    # ": " of each.
    assert lengths == {(8_000 + 1 - 907 - 40 * 9) // 40 - 2}
    assert show_counts(catalog) == {"shortened": 40, "whole": 1}
    assert 8_000 - 40 < catalog.characters <= 8_000


def test_documented_claude_code_lists_the_others_by_name_where_a_share_is_too_small():
    items = [*make_items(400, 250), CatalogItem(name="own", description="b" * 900, bundled=True)]
    catalog = show(items, "claude-code@documented")
    assert show_counts(catalog) == {"name-only": 400, "whole": 1}
    assert catalog.over_budget is False


def test_documented_claude_code_says_so_where_bundled_texts_and_names_exceed_the_budget():
    catalog = show(
        [CatalogItem(name="own", description="b" * 9_000, bundled=True)], "claude-code@documented"
    )
    assert (catalog.characters, catalog.over_budget) == (9_007, True)


# OpenClaw


def located(number, folder="/home/u/workspace/skills"):
    return [
        CatalogItem(
            name=f"skill-{n:04d}",
            description="d" * 300,
            location=f"{folder}/skill-{n:04d}/SKILL.md",
        )
        for n in range(number)
    ]


def test_openclaw_shows_everything_where_it_fits():
    catalog = show(located(20), "openclaw", home="/home/u")
    assert show_counts(catalog) == {"whole": 20}
    assert catalog.warnings == ()


def test_openclaw_gives_each_text_the_same_bound_where_not_everything_fits():
    catalog = show(located(100), "openclaw", home="/home/u")
    [length] = {len(line.text) for line in catalog.lines}
    assert show_counts(catalog) == {"shortened": 100}
    assert 4 <= length <= 220
    assert {line.text[-3:] for line in catalog.lines} == {"..."}
    assert 18_000 - 2 * 100 < catalog.characters <= 18_000
    assert catalog.warnings == ("Of 100 skills, 100 are shortened.",)


def test_openclaw_bounds_a_text_by_4_to_220_characters_and_shows_names_below_that():
    names = show([CatalogItem(name="x", location="/x")], "openclaw").characters + len(
        "    <description></description>\n"
    )
    lengths = {}
    for room in (3, 4, 220, 299, 300):
        [line] = show(
            [CatalogItem(name="x", description="d" * 300, location="/x")],
            "openclaw",
            characters=names + room,
        ).lines
        lengths[room] = len(line.text)
    assert lengths == {3: 0, 4: 4, 220: 220, 299: 220, 300: 300}


def test_openclaw_leaves_a_text_within_the_bound_whole():
    items = [*located(100), CatalogItem(name="zz", description="short", location="/x")]
    catalog = show(items, "openclaw")
    assert (catalog.lines[-1].shown, catalog.lines[-1].text) == (Shown.WHOLE, "short")


def test_openclaw_lists_names_then_the_first_names_and_at_most_150():
    catalog = show(
        located(1000, "/home/u/a/longer/way/to/the/workspace/of/someone/skills"), "openclaw"
    )
    counts = show_counts(catalog)
    assert counts["left-out"] + counts["name-only"] == 1000
    assert 100 < counts["name-only"] < 150
    assert [line.shown for line in catalog.lines] == sorted(
        (line.shown for line in catalog.lines), key=lambda s: s != "name-only"
    )
    assert catalog.lines[999].why == "at most 150 skills are listed"
    assert "<description>" not in catalog.text
    assert catalog.characters <= 18_000


def test_openclaw_says_in_the_prompt_what_was_cut_where_that_fits():
    catalog = show(located(140), "openclaw", home="/home/u", characters=17_000)
    assert catalog.text.endswith("</available_skills>\nOf 140 skills, 140 are shown by name only.")
    tight = show(located(140), "openclaw", home="/home/u", characters=catalog.characters - 1)
    assert tight.text.endswith("</available_skills>")
    assert tight.warnings == catalog.warnings


def test_openclaw_counts_utf16_units():
    items = [CatalogItem(name="x", description="😀" * 10, location="/x")]
    assert show(items, "openclaw").characters == len(show(items, "openclaw").text) + 10


# Codex


def test_codex_deals_characters_in_turn():
    items = [
        CatalogItem(name="a", description="1234567890", location="/a"),
        CatalogItem(name="b", description="12", location="/b"),
        CatalogItem(name="c", description="1234567890", location="/c"),
    ]
    # Each line is counted with its end, and rounded up to four bytes: 16 for a name alone.
    catalog = show(items, "codex", characters=24 + 20 + 24)
    assert [line.text for line in catalog.lines] == ["1234567", "12", "1234567"]
    assert [line.shown for line in catalog.lines] == [Shown.SHORTENED, Shown.WHOLE, Shown.SHORTENED]
    smaller = show(items, "codex", characters=24 + 20 + 20)
    # The last four bytes go to the first, which fills them.
    assert [line.text for line in smaller.lines] == ["1234567", "12", "123"]


def make_codex_items(count: int) -> list[CatalogItem]:
    """So many skills of a user, and the four that the release listed beside them."""
    root, system = "/home/u/.agents/skills", "/home/u/.codex/skills/.system"
    own = ("imagegen", "openai-docs", "skill-creator", "skill-installer")
    placed = [(f"s{number:04}", root, "user", 1) for number in range(count)]
    placed += [(name, system, "bundled", 0) for name in own]
    return [
        CatalogItem(
            name=name,
            description="d" * 300,
            location=f"{folder}/{name}/SKILL.md",
            root=folder,
            scope=scope,
            order=order,
        )
        for name, folder, scope, order in placed
    ]


def test_codex_shortens_and_leaves_out_as_was_measured():
    small = show(make_codex_items(200), "codex", context_tokens=100_000)
    assert show_counts(small) == {"name-only": 53, "shortened": 151}
    large = show(make_codex_items(1_000), "codex", context_tokens=272_000)
    assert show_counts(large) == {"left-out": 402, "name-only": 602}


def test_codex_leaves_out_the_last_names_where_not_all_fit():
    catalog = show(make_items(2_000, 300, location="/x"), "codex", context_tokens=100_000)
    counts = show_counts(catalog)
    line = len("- s00000: (file: /x)\n") + 3
    assert counts == {"left-out": 2_000 - 8_000 // line, "name-only": 8_000 // line}


@pytest.mark.parametrize(("asked", "room"), [(5_000, 20_000), (10_000, 40_000), (20_000, 40_000)])
def test_codex_has_a_setting_for_tokens_that_is_capped(asked, room):
    assert show([], "codex", rules={"tokens": asked}).budget == room


def test_codex_has_a_setting_for_the_window_which_counts_where_none_is_given():
    rules = {"window": 100_000}
    assert show([], "codex", rules=rules, context_tokens=None).budget == 8_000
    assert show([], "codex", rules=rules, context_tokens=200_000).budget == 16_000


def test_codex_cuts_a_description_at_1024_characters():
    [line] = show(make_items(1, 2_000), "codex").lines
    assert line.text == f"{'d' * 1_021}..."


# Hosts without a budget


def test_opencode_shows_everything_however_much_it_is():
    catalog = show(make_items(500, 2_000), "opencode")
    assert show_counts(catalog) == {"whole": 500}
    assert (catalog.budget, catalog.over_budget) == (None, False)


def test_opencode_says_so_where_a_budget_was_asked_for_that_it_does_not_have():
    assert show(make_items(5, 200), "opencode", characters=100).over_budget is True


def test_omp_as_released_shortens_every_description_to_100_characters():
    text = "Reads every kind of table there is in a file.  " + "More about it. " * 9
    [line] = show([CatalogItem(name="tables", description=text)], "omp").lines
    assert line.text == "Reads every kind of table there is in a file."
    [line] = show([CatalogItem(name="tables", description=text)], "omp@documented").lines
    assert line.text == " ".join(text.split())


# Prowess


TWO = "The first sentence says what it does for you. The second one says when you should use it, at some length."
FIRST = "The first sentence says what it does for you."


def prowess(items, extra):
    """Prowess's catalog with so many characters more than the names alone take."""
    names = show([CatalogItem(name=item.name) for item in items])
    return show(items, rules={"sentence": 100}, characters=names.characters + extra)


def test_prowess_shows_what_is_relevant_whole_then_first_sentences_then_names():
    items = [CatalogItem(name=f"s{n}", description=TWO) for n in range(4)]
    items[2] = CatalogItem(name="s2", description=TWO, relevance=0.5)
    catalog = prowess(items, len(TWO) + len(FIRST) + 2 * 2)
    assert {line.name: line.text for line in catalog.lines} == {
        "s0": FIRST,
        "s1": "",
        "s2": TWO,
        "s3": "",
    }
    assert catalog.characters == catalog.budget


def test_prowess_takes_the_most_relevant_first_and_then_the_most_used():
    items = [
        CatalogItem(name="used", description=TWO, uses=9),
        CatalogItem(name="less", description=TWO, relevance=0.2),
        CatalogItem(name="more", description=TWO, relevance=0.7),
    ]
    shown = {extra: with_text(prowess(items, extra * (len(TWO) + 2))) for extra in (1, 2, 3)}
    assert shown == {1: ["more"], 2: ["less", "more"], 3: ["less", "more", "used"]}


def test_prowess_gives_each_its_first_sentence_before_any_is_whole_where_nothing_is_known():
    items = [CatalogItem(name=f"s{n}", description=TWO) for n in range(3)]
    catalog = prowess(items, 3 * (len(FIRST) + 2) + len(TWO) - len(FIRST))
    assert [line.text for line in catalog.lines] == [TWO, FIRST, FIRST]
    assert catalog.lines[1].why is not None
    assert catalog.lines[1].why.startswith("its full text does not fit in the ")


def test_prowess_loses_no_name_while_the_names_fit():
    items = make_items(400, 300)
    catalog = prowess(items, 0)
    assert show_counts(catalog) == {"name-only": 400}
    assert catalog.characters == catalog.budget


def test_prowess_leaves_out_the_least_relevant_where_not_all_names_fit():
    items = [
        CatalogItem(name=f"s{n:05d}", description="d", relevance=float(n)) for n in range(10_000)
    ]
    catalog = show(items)
    assert catalog.characters <= 8_000
    kept = [line.name for line in catalog.lines if line.shown is Shown.NAME_ONLY]
    assert kept == [f"s{n:05d}" for n in range(10_000 - len(kept), 10_000)]
    assert len(kept) > 700


def test_prowess_shows_at_most_1024_characters_of_a_skill():
    [line] = show(make_items(1, 2_000)).lines
    assert (line.shown, len(line.text)) == (Shown.SHORTENED, 1_024)


def test_a_score_that_is_no_number_counts_as_none():
    items = [
        CatalogItem(name="a", description="d", relevance=float("nan")),
        CatalogItem(name="b", description="d", relevance=0.1),
    ]
    assert with_text(prowess(items, 3)) == ["b"]
