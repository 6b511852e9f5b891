"""The whole stage: orders, paths, what is never listed, bad requests."""

from __future__ import annotations

import pytest

from prowess.errors import BudgetTooSmall, InvalidWindow, UsageError
from prowess.model.catalog import CatalogItem, CatalogLine, Shown
from prowess.present.catalog import present
from prowess.profiles.load import load_profile
from prowess.profiles.schema.catalog import BudgetRules, CatalogRules
from tests.unit.present.catalogs import make_items, show


def names(catalog):
    return [line.name for line in catalog.lines]


def named(*given, **fields):
    return [CatalogItem(name=name, description="d", **fields) for name in given]


def test_skills_stand_by_name_whatever_order_they_came_in():
    assert names(show(named("b", "C", "a", "c"))) == ["a", "b", "C", "c"]


def test_opencode_and_openclaw_sort_as_people_do():
    given = named(
        "Dup", "zoo", "élan", "dup", "a-b", "a_b", "ab", "a1", "Alpha", "customize", "eland"
    )
    expected = [
        "a_b",
        "a-b",
        "a1",
        "ab",
        "Alpha",
        "customize",
        "dup",
        "Dup",
        "élan",
        "eland",
        "zoo",
    ]
    assert names(show(given, "opencode")) == expected
    assert names(show(given, "openclaw")) == expected


def test_claude_code_sorts_by_source_and_puts_bundled_skills_last():
    items = [
        *named("z", order=0),
        *named("own", bundled=True),
        *named("b", "A", order=1),
        *named("cmd", order=4),
    ]
    assert names(show(items, "claude-code")) == ["z", "A", "b", "cmd", "own"]


def test_equal_names_stand_by_their_files():
    items = [CatalogItem(name="x", description=path, location=path) for path in ("/b", "/a")]
    assert [line.text for line in show(items).lines] == ["/a", "/b"]


@pytest.mark.parametrize(
    ("path", "home", "shown"),
    [
        ("/home/u/s/SKILL.md", "/home/u", "~/s/SKILL.md"),
        ("/home/u/s/SKILL.md", "/home/u/", "~/s/SKILL.md"),
        ("/home/user/SKILL.md", "/home/u", "/home/user/SKILL.md"),
        ("C:\\Users\\u\\SKILL.md", "C:\\Users\\u", "~\\SKILL.md"),
        ("/s/SKILL.md", "", "/s/SKILL.md"),
        ("/s/SKILL.md", "/", "/s/SKILL.md"),
    ],
)
def test_a_path_below_home_is_written_with_a_tilde_where_the_host_does(path, home, shown):
    item = CatalogItem(name="x", description="d", location=path)
    assert f"<location>{shown}</location>" in show([item], "openclaw", home=home).text
    assert f"<location>{path}</location>" in show([item], "openclaw@documented", home=home).text


def test_a_skill_that_the_settings_show_by_name_only_keeps_its_text_to_itself():
    [line] = show(
        [CatalogItem(name="x", description="secret", name_only=True)], "claude-code"
    ).lines
    assert line == CatalogLine("x", Shown.NAME_ONLY, "", "the settings show only its name")


def test_a_skill_without_a_description_is_listed_by_name_without_a_warning():
    catalog = show([CatalogItem(name="x", description=" \n ")])
    assert catalog.lines == (CatalogLine("x", Shown.NAME_ONLY, "", "it has no description"),)
    assert catalog.warnings == ()


def test_the_tokens_are_those_of_both_sections():
    items = [*named("a"), CatalogItem(name="b", description="d", always=True, body="Do it.")]
    catalog = show(items)
    assert catalog.prompt == f"{catalog.text}\n\n{catalog.always}"
    assert catalog.tokens == show(items[:1]).tokens + show(items[1:]).tokens


@pytest.mark.parametrize("tokens", [0, -1])
def test_a_window_without_tokens_is_refused(tokens):
    with pytest.raises(InvalidWindow) as caught:
        show(named("a"), context_tokens=tokens)
    assert str(caught.value) == f"The context window is {tokens} tokens; it must be at least 1."


@pytest.mark.parametrize("host", ["prowess", "claude-code", "openclaw", "codex"])
def test_a_window_larger_than_any_float_leaves_room_for_all(host):
    catalog = show(named("a"), host, context_tokens=10**400)
    assert [line.shown for line in catalog.lines] == [Shown.WHOLE]


@pytest.mark.parametrize("host", ["prowess", "openclaw", "codex"])
def test_a_budget_that_holds_no_name_is_refused_and_the_least_that_is_named_works(host):
    items = make_items(3, 50)
    with pytest.raises(BudgetTooSmall) as caught:
        show(items, host, characters=10)
    error = caught.value
    assert str(error) == (
        f"A budget of 10 characters is too small for a single name; one name needs at least {error.least:,}, "
        f"all names need {error.names:,}."
    )
    assert [line.shown for line in show(items, host, characters=error.least).lines].count(
        Shown.NAME_ONLY
    ) == 1
    assert [line.shown for line in show(items, host, characters=error.names).lines] == [
        Shown.NAME_ONLY
    ] * 3
    with pytest.raises(BudgetTooSmall):
        show(items, host, characters=error.least - 1)


@pytest.mark.parametrize("host", ["prowess", "claude-code", "opencode"])
@pytest.mark.parametrize("characters", [0, -5])
def test_a_budget_of_nothing_is_refused_everywhere(host, characters):
    with pytest.raises(BudgetTooSmall):
        show(named("a"), host, characters=characters)


def test_a_budget_of_the_profile_that_holds_no_name_leaves_all_out_and_says_so():
    catalog = show(named("a", "b"), context_tokens=100)
    assert (catalog.text, catalog.budget, catalog.over_budget) == ("", 4, False)
    assert [line.shown for line in catalog.lines] == [Shown.LEFT_OUT] * 2
    assert catalog.warnings == ("Of 2 skills, 2 are left out.",)
    assert show(named("a"), context_tokens=100).warnings == ("Of 1 skill, 1 is left out.",)


def test_bad_requests_are_usage_errors():
    assert issubclass(BudgetTooSmall, UsageError)
    assert issubclass(InvalidWindow, UsageError)


def test_a_table_of_rules_alone_is_enough():
    catalog = present(named("a"), catalog=CatalogRules(), budget=BudgetRules())
    assert catalog.lines == (CatalogLine("a", Shown.WHOLE, "d"),)


def test_the_environment_variable_that_sets_the_budget_is_part_of_the_profile():
    assert load_profile("claude-code").budget.variable == "SLASH_COMMAND_TOOL_CHAR_BUDGET"
