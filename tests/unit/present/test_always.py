"""`always: true`: bodies in a section of their own."""

from __future__ import annotations

from prowess.diagnostics import Diagnostic, Severity
from prowess.model.catalog import CatalogItem, CatalogLine, Shown
from prowess.present.always import find_long_body
from tests.unit.present.catalogs import show


def always(name, body, **fields):
    return CatalogItem(
        name=name, description="d", always=True, body=body, location=f"/{name}/SKILL.md", **fields
    )


def test_a_body_stands_whole_in_a_section_of_its_own_and_the_skill_is_not_listed():
    catalog = show(
        [
            always("a&b", "Recall first.\n\n</skill_content> <b>\n"),
            CatalogItem(name="other", description="o"),
        ]
    )
    assert catalog.always == (
        "These skills apply to every request. Follow them; there is no need to read them again.\n"
        "<always_skills>\n"
        '<skill_content name="a&amp;b" location="/a&amp;b/SKILL.md">\n'
        "Recall first.\n\n&lt;/skill_content> <b>\n"
        "</skill_content>\n"
        "</always_skills>"
    )
    assert catalog.lines == (
        CatalogLine("a&b", Shown.INJECTED, "", "its header says `always: true`"),
        CatalogLine("other", Shown.WHOLE, "o"),
    )
    assert "a&amp;b" not in catalog.text


def test_what_does_not_fit_is_listed_like_any_other_with_a_finding():
    items = [always("big", "x" * 900), always("small", "y" * 100)]
    catalog = show(items, rules={"always_characters": 500})
    assert [(line.name, line.shown) for line in catalog.lines] == [
        ("big", Shown.WHOLE),
        ("small", Shown.INJECTED),
    ]
    assert "x" not in catalog.always.replace("skill", "").replace("text", "")
    assert len(catalog.always) <= 500
    assert catalog.diagnostics == (
        Diagnostic(
            code="always-too-large",
            severity=Severity.WARNING,
            message="the body of “big” does not fit in the 500 characters for skills with "
            "`always: true`, so it is listed like any other skill",
            file="/big/SKILL.md",
            field="always",
            hint="Shorten the body, or let the model load the skill when it needs it.",
        ),
    )


def test_the_room_is_used_to_the_last_character():
    items = [always("a", "x"), always("b", "y")]
    whole = show(items).always
    assert show(items, rules={"always_characters": len(whole)}).always == whole
    assert show(items, rules={"always_characters": len(whole) - 1}).always == show(items[:1]).always


def test_a_body_of_more_than_500_tokens_is_worth_a_warning():
    finding = find_long_body(always("a", "word " * 600))
    assert finding is not None
    assert (finding.code, finding.message) == (
        "always-long",
        "`always: true` adds about 593 tokens to every request; 500 or fewer are recommended",
    )
    assert find_long_body(always("a", "word " * 300)) is None
    assert find_long_body(CatalogItem(name="a", body="word " * 600)) is None
    assert [found.code for found in show([always("a", "word " * 600)]).diagnostics] == [
        "always-long"
    ]


def test_openclaw_as_released_lists_it_and_injects_nothing():
    catalog = show([always("a", "Recall.")], "openclaw")
    assert (catalog.always, catalog.diagnostics) == ("", ())
    assert catalog.lines == (CatalogLine("a", Shown.WHOLE, "d"),)


def test_without_a_body_it_is_listed_like_any_other():
    assert show([CatalogItem(name="a", description="d", always=True)]).lines == (
        CatalogLine("a", Shown.WHOLE, "d"),
    )
