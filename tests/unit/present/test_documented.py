"""The catalog as the documents of the hosts describe it, from files on disk to the text a model is
shown.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from prowess.model.catalog import Catalog, CatalogItem, CatalogLine, Shown
from prowess.model.outcome import State
from prowess.model.skill import LoadedFrom, Root, Scope, Source
from prowess.present.catalog import present
from prowess.present.offer import describe_skill
from prowess.present.tokens import (
    LoadingComparison,
    TokenCounter,
    compare_loading,
    count_item,
    estimate_tokens,
)
from prowess.profiles.load import load_profile
from tests.unit.present.catalogs import make_items, show, show_counts
from tests.workspace import Workspace, skill_text


def catalog_of(
    workspace: Workspace, host: str, *, scan: dict[str, Any] | None = None, **options: Any
) -> Catalog:
    """What a host shows a model of the skills that are ready on a machine."""
    skills = workspace.open(host, **scan or {})
    ready = [o for o in skills.snapshot.outcomes if o.state is State.READY and o.skill is not None]
    items = [
        describe_skill(
            o.skill,
            root=o.candidate.root,
            body=o.skill.content if o.skill.manifest.always else None,
        )
        for o in ready
        if o.skill is not None
    ]
    rules = skills.profile
    given: dict[str, Any] = {"context_tokens": 200_000, "home": str(workspace.home)} | options
    return present(items, catalog=rules.catalog, budget=rules.budget, **given)


# opencode

OPENCODE = "opencode@documented"
SENTENCES = (
    "Each skill has instructions for one kind of task.\n"
    "When a task matches the description of a skill, load that skill with the skill tool.\n"
)


@pytest.mark.seed("O-28", "O-31", "O-32")
def test_opencode_shows_two_sentences_and_a_detailed_list_without_any_body(workspace):
    place = workspace.skill(
        "project/.opencode/skill/pdf", description="Fill in forms", body="The whole text\n"
    )
    assert catalog_of(workspace, OPENCODE).text == (
        SENTENCES + "<available_skills>\n"
        "  <skill>\n"
        "    <name>pdf</name>\n"
        "    <description>Fill in forms</description>\n"
        f"    <location>{place}</location>\n"
        "  </skill>\n"
        "</available_skills>"
    )


@pytest.mark.seed("O-33")
def test_opencode_shows_the_short_list_in_the_description_of_the_tool(workspace):
    workspace.skill("project/.opencode/skill/pdf", description="Fill in forms")
    workspace.skill("project/.opencode/skill/csv", description="Read tables")
    word = load_profile(OPENCODE).catalog.tool_format
    assert catalog_of(workspace, OPENCODE, format=word).text == (
        "Loads one of these skills into the conversation.\n"
        "## Available Skills\n"
        "- **csv**: Read tables\n"
        "- **pdf**: Fill in forms"
    )
    assert catalog_of(workspace, OPENCODE, format=word).text != catalog_of(workspace, OPENCODE).text
    assert load_profile("opencode").catalog.tool_format == ""


@pytest.mark.seed("O-33")
def test_opencode_says_in_the_description_of_the_tool_that_there_are_none(workspace):
    assert (
        catalog_of(workspace, OPENCODE, format="opencode-list").text == "No skills are available."
    )


# oh-my-pi

OMP = "omp@documented"


@pytest.mark.seed("P-02", "P-35")
def test_omp_lists_names_and_descriptions_to_read_by_address_without_hidden_ones(workspace):
    workspace.skill("project/.omp/skills/pdf", description="Fill in forms")
    workspace.skill("project/.omp/skills/secret", description="Not for the list", hide="true")
    assert catalog_of(workspace, OMP).text == (
        "# Skills & Rules\n"
        "If a skill fits the task, read it as skill://NAME before you do anything else.\n"
        "<skills>\n"
        "- pdf: Fill in forms\n"
        "</skills>"
    )


@pytest.mark.seed("P-36")
def test_omp_shows_no_list_where_no_tool_can_read_skills(workspace):
    workspace.skill("project/.omp/skills/pdf", description="Fill in forms")
    catalog = catalog_of(workspace, OMP, can_read_skill_urls=False)
    assert catalog.text == ""
    assert catalog.lines == (
        CatalogLine("pdf", Shown.LEFT_OUT, "", "none of the agent's tools can read skill://"),
    )


# OpenClaw

OPENCLAW = "openclaw@documented"


@pytest.mark.seed("W-32", "W-33", "W-34", "W-35", "W-38", "A-28", "A-29", "A-30", "A-31", "A-32")
def test_openclaw_shows_mandatory_rules_and_three_things_of_each_skill(workspace):
    weather = workspace.skill(
        "project/skills/weather", description="Get weather", body="Call the service.\n"
    )
    discord = workspace.skill("home/.openclaw/skills/discord", description="Send messages")
    assert catalog_of(workspace, OPENCLAW).text == (
        "## Skills (mandatory)\n"
        "Before you answer, check the descriptions of the skills below.\n"
        "- If exactly one skill clearly fits, read the SKILL.md at its location with the read tool and follow it.\n"
        "- If several fit, choose the most specific one.\n"
        "- If none clearly fits, read none.\n"
        "- Read at most one skill up front, and none before you have chosen it; never guess a location.\n"
        "Relative paths in a skill are relative to the folder of its SKILL.md.\n"
        "\n"
        "<available_skills>\n"
        "  <skill>\n"
        "    <name>discord</name>\n"
        "    <description>Send messages</description>\n"
        f"    <location>{discord}</location>\n"
        "  </skill>\n"
        "  <skill>\n"
        "    <name>weather</name>\n"
        "    <description>Get weather</description>\n"
        f"    <location>{weather}</location>\n"
        "  </skill>\n"
        "</available_skills>"
    )


@pytest.mark.seed("W-34")
def test_openclaw_lists_at_most_150_skills_where_the_chapter_gives_no_number():
    catalog = show(make_items(200, 3), OPENCLAW)
    assert show_counts(catalog) == {"left-out": 50, "whole": 150}


@pytest.mark.seed("W-35")
def test_a_skill_of_ordinary_length_costs_500_to_2000_tokens_to_read():
    paragraph = "Call the service with the name of the town, wait for the answer, and report the temperature in words.\n"
    assert 500 <= estimate_tokens(paragraph * 25) <= 2_000
    assert 500 <= estimate_tokens(paragraph * 85) <= 2_000


@pytest.mark.seed("W-36", "W-37")
def test_reading_on_demand_saves_46000_tokens_of_fifty_skills_when_two_are_read():
    compared = compare_loading([1_000] * 50, catalog=2_000, reads=2, window=200_000)
    assert compared == LoadingComparison(up_front=50_000, on_demand=4_000, saved=46_000, share=0.23)


@pytest.mark.seed("W-36")
def test_a_catalog_of_fifty_ordinary_skills_costs_about_2000_tokens():
    items = [
        CatalogItem(
            name=f"skill-{n:02d}",
            description="Get current weather and forecasts.",
            location=f"/opt/skills/s{n:02d}/SKILL.md",
        )
        for n in range(50)
    ]
    assert show(items, OPENCLAW).tokens == pytest.approx(2_000, rel=0.5)


@pytest.mark.seed("W-39")
def test_always_injects_the_whole_body_and_the_skill_is_not_listed_as_well(workspace):
    place = workspace.write(
        "project/skills/memory/SKILL.md",
        skill_text("memory", always="true", body="Recall first.\n"),
    )
    catalog = catalog_of(workspace, OPENCLAW)
    assert catalog.prompt == (
        "These skills apply to every request. Follow them; there is no need to read them again.\n"
        "<always_skills>\n"
        f'<skill_content name="memory" location="{place}">\n'
        "Recall first.\n"
        "</skill_content>\n"
        "</always_skills>"
    )
    assert catalog.lines == (
        CatalogLine("memory", Shown.INJECTED, "", "its header says `always: true`"),
    )


@pytest.mark.seed("W-40")
def test_always_with_more_than_500_tokens_is_injected_with_a_warning(workspace):
    for name, words in (("long", 600), ("short", 300)):
        text = skill_text(name, always="true", body="word " * words)
        workspace.write(f"project/skills/{name}/SKILL.md", text)
    catalog = catalog_of(workspace, OPENCLAW)
    assert [line.shown for line in catalog.lines] == [Shown.INJECTED, Shown.INJECTED]
    assert [(found.code, found.file) for found in catalog.diagnostics] == [
        ("always-long", workspace.path("project/skills/long/SKILL.md"))
    ]


# Claude Code

CLAUDE = "claude-code@documented"


@pytest.mark.seed("C-66")
def test_claude_code_offers_what_the_model_may_start_and_is_not_built_in(workspace):
    workspace.skill("home/.claude/skills/mine", description="Mine")
    workspace.skill(
        "home/.claude/skills/by-hand", description="Users only", disable_model_invocation="true"
    )
    workspace.skill("builtin/help", description="Help")
    source = Source("claude", "builtin", workspace.path("builtin"), LoadedFrom.BUNDLED, "builtin")
    built_in = Root(
        path=workspace.path("builtin"),
        scope=Scope.BUNDLED,
        source=source,
        order=9,
        group="builtin-command",
    )
    planned = workspace.scan(CLAUDE).roots
    catalog = catalog_of(workspace, CLAUDE, scan={"roots": (*planned, built_in)})
    assert catalog.text == "You can load these skills with the Skill tool:\n\n- mine: Mine"
    assert catalog.lines == (
        CatalogLine("mine", Shown.WHOLE, "Mine"),
        CatalogLine("help", Shown.LEFT_OUT, "", "skills of this kind are not offered to the model"),
    )


@pytest.mark.seed("C-67")
@pytest.mark.parametrize(("window", "budget"), [(200_000, 8_000), (1_000_000, 40_000)])
def test_claude_code_gives_the_list_one_hundredth_of_the_window(window, budget):
    catalog = show(make_items(300, 240), CLAUDE, context_tokens=window)
    assert catalog.budget == budget
    assert catalog.characters <= budget


@pytest.mark.seed("C-68")
def test_claude_code_shows_at_most_250_characters_of_a_description():
    [line] = show(make_items(1, 400), CLAUDE).lines
    assert line == CatalogLine(
        "s00000",
        Shown.SHORTENED,
        f"{'d' * 249}…",
        "its text has 400 characters; at most 250 are shown per skill",
    )


@pytest.mark.seed("C-69")
def test_claude_code_never_cuts_bundled_descriptions_not_even_at_250_characters():
    own = CatalogItem(name="own", description="b" * 3_000, bundled=True)
    catalog = show([*make_items(500, 200), own], CLAUDE)
    assert catalog.lines[-1] == CatalogLine("own", Shown.WHOLE, "b" * 3_000)


@pytest.mark.seed("C-70")
def test_claude_code_shares_what_bundled_descriptions_leave_evenly_among_the_others():
    without = show(make_items(50, 250), CLAUDE)
    own = CatalogItem(name="own", description="b" * 1_993, bundled=True)
    beside = show([*make_items(50, 250), own], CLAUDE)
    [alone] = {len(line.text) for line in without.lines}
    [shared] = {len(line.text) for line in beside.lines if line.name != "own"}
    # A line of 2,000 characters with its line break, taken from fifty shares.
    assert alone - shared == 40
    assert max(without.characters, beside.characters) <= 8_000


@pytest.mark.seed("C-71")
def test_claude_code_lists_the_others_by_name_in_the_extreme():
    own = CatalogItem(name="own", description="b" * 1_000, bundled=True)
    catalog = show([*make_items(700, 200), own], CLAUDE)
    assert show_counts(catalog) == {"name-only": 700, "whole": 1}
    assert catalog.text.splitlines()[2:4] == ["- s00000", "- s00001"]


@pytest.mark.seed("C-72")
def test_the_cost_of_a_skill_is_that_of_its_four_texts_together():
    item = CatalogItem(
        name="doc",
        description="Writes pages",
        when_to_use="asked to",
        argument_hint="<file>",
        location="/x",
    )
    characters = TokenCounter("characters", exact=True, count=len)
    assert count_item(item, characters) == len("doc Writes pages asked to <file>")
    assert count_item(item) == estimate_tokens("doc Writes pages asked to <file>")
    for field in ("description", "when_to_use", "argument_hint"):
        assert count_item(msgspec.structs.replace(item, **{field: ""})) < count_item(item)
