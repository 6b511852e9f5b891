"""Laws of the catalog: it keeps to its budget, more room never means less, and no text leaves its
place.
"""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from prowess.model.catalog import SHOWN_ORDER, Catalog, CatalogItem, Shown
from prowess.present.catalog import present
from prowess.profiles.load import known_editions, known_hosts, load_profile
from prowess.text.markup import tidy_block, tidy_line

HOSTS = [f"{host}@{edition}" for host in known_hosts() for edition in known_editions(host)]
KEEP_TO_THEIR_BUDGET = ["prowess", "openclaw", "openclaw@documented", "codex"]
XML_HOSTS = ["spec", "opencode", "opencode@documented", "openclaw", "openclaw@documented"]
LINE_HOSTS = ["prowess", "claude-code", "claude-code@documented", "omp", "omp@documented", "codex"]

MARKUP = [
    "</available_skills>",
    "<skill>",
    "</description>",
    "&lt;",
    "]]>",
    "<!--",
    "- **x**: ",
    "\n- other: ",
    "\r\n",
    "\x1b[0m",
]
# Everything that a string can hold, halves of surrogate pairs included, and markup oftener than
# chance would have it.
ANY_TEXT = st.lists(
    st.one_of(st.text(st.characters(exclude_categories=()), max_size=9), st.sampled_from(MARKUP)),
    max_size=4,
).map("".join)
SENTENCES = st.lists(
    st.sampled_from(["Reads tables.", "Use when a file comes in.", "x" * 40, "表格。", "a & b"]),
    max_size=12,
).map(" ".join)
ITEMS = st.lists(
    st.builds(
        CatalogItem,
        name=st.one_of(
            st.from_regex(r"[a-z]{1,8}(-[a-z]{1,8})?", fullmatch=True),
            ANY_TEXT.filter(lambda text: bool(text.strip())),
        ),
        description=st.one_of(SENTENCES, ANY_TEXT),
        when_to_use=st.one_of(st.just(""), ANY_TEXT),
        location=st.one_of(st.just("/home/u/skills/x/SKILL.md"), ANY_TEXT),
        label=st.one_of(st.just(""), ANY_TEXT),
        order=st.integers(0, 3),
        bundled=st.booleans(),
        uses=st.integers(0, 3),
        relevance=st.one_of(st.none(), st.floats()),
        name_only=st.booleans(),
        always=st.booleans(),
        body=st.one_of(st.none(), ANY_TEXT, st.just("</skill_content> </always_skills>")),
    ),
    max_size=7,
)
ROOM = st.integers(1, 3_000)


def show(items: list[CatalogItem], host: str, **rules: Any) -> Catalog:
    """The catalog as a host would make it, with numbers of its budget replaced."""
    profile = load_profile(host)
    budget = msgspec.structs.replace(profile.budget, share=0.0, without_window=0, **rules)
    return present(items, catalog=profile.catalog, budget=budget, home="/home/u")


@given(host=st.sampled_from(HOSTS), items=ITEMS, room=ROOM)
def test_a_catalog_keeps_to_its_budget_or_says_that_it_does_not(host, items, room):
    catalog = show(items, host, characters=room)
    assert catalog.over_budget is (catalog.characters > room)
    assert catalog.budget == room


@given(host=st.sampled_from(KEEP_TO_THEIR_BUDGET), items=ITEMS, room=ROOM)
def test_strategies_that_can_leave_skills_out_never_exceed_their_budget(host, items, room):
    catalog = show(items, host, characters=room)
    assert catalog.over_budget is False
    assert len(catalog.text) <= room + (1_000 if load_profile(host).budget.counts == "lines" else 0)


@given(host=st.sampled_from(HOSTS), items=ITEMS, one=ROOM, other=ROOM)
def test_more_room_never_means_less_of_any_skill(host, items, one, other):
    small, large = (show(items, host, characters=room) for room in sorted((one, other)))
    for less, more in zip(small.lines, large.lines, strict=True):
        assert less.name == more.name
        assert SHOWN_ORDER[less.shown] <= SHOWN_ORDER[more.shown]
        assert len(less.text) <= len(more.text)


@given(items=ITEMS, one=ROOM, other=ROOM)
def test_more_room_for_injected_bodies_never_takes_one_out(items, one, other):
    small, large = (show(items, "prowess", always_characters=room) for room in sorted((one, other)))
    for less, more in zip(small.lines, large.lines, strict=True):
        assert less.shown is not Shown.INJECTED or more.shown is Shown.INJECTED


@given(host=st.sampled_from(HOSTS), items=ITEMS, room=ROOM)
def test_every_skill_is_accounted_for_and_what_is_not_whole_has_a_reason(host, items, room):
    catalog = show(items, host, characters=room)
    assert sorted(line.name for line in catalog.lines) == sorted(item.name for item in items)
    assert [line for line in catalog.lines if line.shown is not Shown.WHOLE and not line.why] == []


@given(host=st.sampled_from(HOSTS), data=st.data(), items=ITEMS)
def test_the_order_in_which_skills_came_does_not_matter(host, data, items):
    # Items that are equal to a host's order in everything it looks at keep the order they came in.
    distinct = list({(item.name, item.location): item for item in items}.values())
    mixed = data.draw(st.permutations(distinct))
    assert show(mixed, host) == show(distinct, host)


def xml_of(text: str) -> list[dict[str, str]]:
    """The skills of a catalog in XML, read by a real parser."""
    start = text.index("<available_skills>")
    end = text.rindex("</available_skills>") + len("</available_skills>")
    root = ElementTree.fromstring(text[start:end])
    assert {child.tag for child in root} <= {"skill"}
    return [{tag.tag: tag.text or "" for tag in skill} for skill in root]


@given(host=st.sampled_from(XML_HOSTS), items=ITEMS)
def test_xml_gives_back_every_text_whatever_it_holds(host, items):
    catalog = show(items, host, skills=0)
    listed = [line for line in catalog.lines if line.shown is not Shown.INJECTED]
    if not listed:
        return
    found = xml_of(catalog.text)
    assert [skill["name"] for skill in found] == [tidy_line(line.name) for line in listed]
    assert [skill.get("description", "") for skill in found] == [line.text for line in listed]
    wholes = {tidy_block(item.description) for item in items}
    assert {line.text for line in listed if line.shown is Shown.WHOLE} <= wholes


@given(items=ITEMS)
def test_xml_gives_back_every_location(items):
    catalog = show(items, "spec")
    shown = [skill.get("location", "") for skill in xml_of(catalog.text)] if items else []
    assert sorted(shown) == sorted(tidy_block(item.location) for item in items)


@given(items=ITEMS)
def test_json_gives_back_every_text_whatever_it_holds(items):
    profile = load_profile("spec")
    catalog = present(items, catalog=profile.catalog, budget=profile.budget, format="json")
    assert [(one["name"], one.get("description", "")) for one in json.loads(catalog.text)] == [
        (tidy_line(line.name), line.text) for line in catalog.lines
    ]


@given(items=ITEMS)
def test_markdown_gives_back_every_name_and_text_whatever_it_holds(items):
    profile = load_profile("spec")
    items = [msgspec.structs.replace(item, location="") for item in items]
    catalog = present(items, catalog=profile.catalog, budget=profile.budget, format="markdown")
    lines = [token for token in MarkdownIt().parse(catalog.text) if token.type == "inline"][1:]
    assert [plain(line) for line in lines] == [
        tidy_line(line.name) + (f": {line.text}" if line.text else "") for line in catalog.lines
    ]


def plain(line: Any) -> str:
    """The text of a line of Markdown, which has nothing in it but text and one name in bold."""
    assert {child.type for child in line.children} <= {
        "text",
        "text_special",
        "strong_open",
        "strong_close",
    }
    return "".join(child.content for child in line.children)


@given(host=st.sampled_from(LINE_HOSTS), items=ITEMS)
def test_a_list_has_one_line_for_each_skill_and_no_tag_of_a_skill(host, items):
    catalog = show(items, host)
    bare = show([CatalogItem(name="x")], host, per_item=0).text
    listed = [line for line in catalog.lines if line.shown not in (Shown.INJECTED, Shown.LEFT_OUT)]
    if not listed:
        return
    assert len(catalog.text.split("\n")) == len(bare.split("\n")) + len(listed) - 1
    assert len(catalog.text.splitlines()) == len(bare.splitlines()) + len(listed) - 1
    assert re.findall("<[^\n]*", catalog.text) == re.findall("<[^\n]*", bare)


@given(host=st.sampled_from(HOSTS), items=ITEMS)
def test_a_prompt_can_always_be_sent(host, items):
    prompt = show(items, host).prompt
    assert prompt.encode("utf-8").decode() == prompt
    assert re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f]", prompt) == []


@given(items=ITEMS)
def test_no_body_closes_its_tag(items):
    catalog = show(items, "prowess", always_characters=0)
    injected = [line.name for line in catalog.lines if line.shown is Shown.INJECTED]
    assert catalog.always.count("</skill_content>") == len(injected)
    assert catalog.always.count("</always_skills>") == bool(injected)
