"""Each format as a model would see it, whole."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from prowess.errors import UnknownFormat
from prowess.model.catalog import CatalogItem
from prowess.present.catalog import ORDERS
from prowess.present.formats import FORMATS
from prowess.present.strategies import STRATEGIES
from prowess.profiles.schema.catalog import BudgetStrategy, CatalogFormat, CatalogOrder
from tests.unit.present.catalogs import show

ITEMS = [
    CatalogItem(
        name="pdf",
        description="Fill <forms> & 'more'",
        when_to_use="a form comes",
        location="/home/u/pdf/SKILL.md",
    ),
    CatalogItem(name="bare", location="/opt/bare/SKILL.md", label="Bare one"),
]


def test_every_word_of_the_schema_has_its_function():
    assert set(FORMATS) == set(get_args(CatalogFormat))
    assert set(STRATEGIES) == set(get_args(BudgetStrategy))
    assert set(ORDERS) == set(get_args(CatalogOrder))


def test_claude_code_has_a_line_each_with_when_to_use_and_label_and_bare_names():
    assert show(ITEMS, "claude-code").text == (
        "You can load these skills with the Skill tool:\n"
        "\n"
        "- bare (Bare one)\n"
        "- pdf: Fill &lt;forms&gt; & 'more' - a form comes"
    )


def test_opencode_has_xml_in_which_every_skill_has_all_three_tags():
    assert show(ITEMS, "opencode").text == (
        "Each skill has instructions for one kind of task.\n"
        "When a task matches the description of a skill, load that skill with the skill tool.\n"
        "<available_skills>\n"
        "  <skill>\n"
        "    <name>bare</name>\n"
        "    <description></description>\n"
        "    <location>/opt/bare/SKILL.md</location>\n"
        "  </skill>\n"
        "  <skill>\n"
        "    <name>pdf</name>\n"
        "    <description>Fill &lt;forms&gt; &amp; &#39;more&#39;</description>\n"
        "    <location>/home/u/pdf/SKILL.md</location>\n"
        "  </skill>\n"
        "</available_skills>"
    )


def test_openclaw_has_rules_and_paths_below_home_with_a_tilde():
    assert show(ITEMS, "openclaw", home="/home/u").text == (
        "## Skills\n"
        "Before you answer, check the descriptions of the skills below.\n"
        "- If exactly one skill clearly fits, read the SKILL.md at its location with the read tool and follow it.\n"
        "- If several fit, choose the most specific one.\n"
        "- If none clearly fits, read none.\n"
        "- Read at most one skill up front, and none before you have chosen it; never guess a location.\n"
        "Relative paths in a skill are relative to the folder of its SKILL.md.\n"
        "\n"
        "<available_skills>\n"
        "  <skill>\n"
        "    <name>bare</name>\n"
        "    <location>/opt/bare/SKILL.md</location>\n"
        "  </skill>\n"
        "  <skill>\n"
        "    <name>pdf</name>\n"
        "    <description>Fill &lt;forms&gt; &amp; &apos;more&apos;</description>\n"
        "    <location>~/pdf/SKILL.md</location>\n"
        "  </skill>\n"
        "</available_skills>"
    )


def test_omp_has_a_list_that_sends_the_model_to_skill_urls():
    assert show(ITEMS, "omp").text == (
        "# Skills & Rules\n"
        "If a skill fits the task, read it as skill://NAME before you do anything else.\n"
        "<skills>\n"
        "- bare\n"
        "- pdf: Fill &lt;forms&gt; &amp; 'more'\n"
        "</skills>"
    )


CODEX_HEAD = (
    "<skills_instructions>\n"
    "## Skills\n"
    "A skill is a set of instructions in the file that is listed with it. Use one when the user"
    " names it or the task clearly fits its description, and read its file first."
)


def test_codex_has_a_list_with_files():
    assert show(ITEMS, "codex").text == (
        f"{CODEX_HEAD}\n"
        "### Available skills\n"
        "- bare: (file: /opt/bare/SKILL.md)\n"
        "- pdf: Fill &lt;forms&gt; &amp; 'more' (file: /home/u/pdf/SKILL.md)\n"
        "</skills_instructions>"
    )


def test_codex_has_a_table_of_roots_where_that_is_shorter():
    near, far = "/home/someone/project/.agents/skills", "/home/someone/.codex/skills"
    items = [
        CatalogItem(name="a", location=f"{near}/a/SKILL.md", root=near, order=1, scope="project"),
        CatalogItem(name="b", location=f"{near}/g/b/SKILL.md", root=near, order=1, scope="project"),
        CatalogItem(name="c", location=f"{far}/c/SKILL.md", root=far, order=0, scope="user"),
        CatalogItem(name="d", location=f"{far}/d/SKILL.md", root=far, order=0, scope="user"),
        CatalogItem(name="e", location="/else/e/SKILL.md", root=far, order=0, scope="bundled"),
    ]
    assert show(items, "codex").text == (
        f"{CODEX_HEAD} Paths begin with a name from the table of roots.\n"
        "### Skill roots\n"
        f"- `r0` = `{far}`\n"
        f"- `r1` = `{near}`\n"
        "### Available skills\n"
        "- e: (file: /else/e/SKILL.md)\n"
        "- a: (file: r1/a/SKILL.md)\n"
        "- b: (file: r1/g/b/SKILL.md)\n"
        "- c: (file: r0/c/SKILL.md)\n"
        "- d: (file: r0/d/SKILL.md)\n"
        "</skills_instructions>"
    )
    [alone] = [show(items[:1], "codex").text]
    assert "### Skill roots" not in alone


def test_the_standard_has_plain_xml():
    assert show(ITEMS, "spec").text == (
        "<available_skills>\n"
        "  <skill>\n"
        "    <name>bare</name>\n"
        "    <location>/opt/bare/SKILL.md</location>\n"
        "  </skill>\n"
        "  <skill>\n"
        "    <name>pdf</name>\n"
        "    <description>Fill &lt;forms&gt; &amp; &#39;more&#39;</description>\n"
        "    <location>/home/u/pdf/SKILL.md</location>\n"
        "  </skill>\n"
        "</available_skills>"
    )


PROWESS_HEAD = (
    "## Skills\n"
    "A skill has instructions for one kind of work. If one clearly fits the task, {} before you start and follow it. "
    "If several fit, use the most specific; if none fits, read none.\n"
    "<available_skills>\n"
)


def test_prowess_has_lines_without_paths_where_skill_urls_can_be_read():
    assert show(ITEMS).text == (
        PROWESS_HEAD.format("read it as skill://NAME")
        + "- bare\n- pdf: Fill &lt;forms&gt; &amp; 'more' - a form comes\n</available_skills>"
    )


def test_prowess_has_lines_with_paths_where_they_cannot():
    assert show(ITEMS, can_read_skill_urls=False).text == (
        PROWESS_HEAD.format("read the file listed with it")
        + "- bare (/opt/bare/SKILL.md)\n"
        + "- pdf: Fill &lt;forms&gt; &amp; 'more' - a form comes (/home/u/pdf/SKILL.md)\n</available_skills>"
    )


def test_markdown_has_a_heading_and_bold_names():
    assert show(ITEMS, "spec", format="markdown", note="A *Mac* is connected.").text == (
        "## Skills\n"
        "\n"
        "A \\*Mac\\* is connected.\n"
        "\n"
        "- **bare** (/opt/bare/SKILL.md)\n"
        "- **pdf**: Fill &lt;forms&gt; &amp; 'more' (/home/u/pdf/SKILL.md)"
    )


def test_json_is_an_array_of_objects_or_an_object_with_a_note():
    skills = [
        {"name": "bare", "location": "/opt/bare/SKILL.md"},
        {"name": "pdf", "description": "Fill <forms> & 'more'", "location": "/home/u/pdf/SKILL.md"},
    ]
    assert json.loads(show(ITEMS, "spec", format="json").text) == skills
    assert json.loads(show(ITEMS, "spec", format="json", note='a "Mac"').text) == {
        "note": 'a "Mac"',
        "skills": skills,
    }


@pytest.mark.parametrize(
    "host", ["prowess", "spec", "claude-code", "opencode", "openclaw", "omp", "codex"]
)
def test_the_note_of_a_remote_machine_heads_the_catalog(host):
    head, note, rest = show(ITEMS, host, note="Programs run on a <Mac>\nfar away.").text.partition(
        "Programs run on a &lt;Mac&gt; far away.\n"
    )
    assert note
    assert "pdf" not in head
    assert "pdf" in rest


@pytest.mark.parametrize(
    ("host", "text"),
    [
        ("prowess", ""),
        ("spec", ""),
        ("claude-code", ""),
        ("openclaw", ""),
        ("omp", ""),
        ("codex", ""),
        (
            "opencode",
            "Each skill has instructions for one kind of task.\n"
            "When a task matches the description of a skill, load that skill with the skill tool.\n"
            "No skills are available.",
        ),
    ],
)
def test_without_skills_there_is_no_section_unless_the_host_says_so(host, text):
    catalog = show([], host)
    assert (catalog.text, catalog.lines, catalog.characters, catalog.over_budget) == (
        text,
        (),
        0,
        False,
    )


def test_without_skills_json_is_an_empty_array():
    assert show([], "prowess", format="json").text == "[]"
    assert show([], "opencode", format="json").text == "[]"


def test_a_format_takes_the_hosts_spelling_only_where_it_suits():
    assert (
        "Fill &lt;forms&gt; &amp; &#39;more&#39;" in show(ITEMS, "claude-code", format="xml").text
    )
    assert "Fill &lt;forms&gt; &amp; &apos;more&apos;" in show(ITEMS, "openclaw", format="xml").text


def test_an_unknown_format_is_refused_with_the_ones_there_are():
    with pytest.raises(UnknownFormat) as caught:
        show(ITEMS, format="yaml")
    assert str(caught.value) == (
        "There is no catalog format “yaml”; the formats are claude-lines, codex-list, "
        "copilot-xml, gemini-xml, json, markdown, omp-list, openclaw, opencode-list, opencode-xml, "
        "pi-xml, qwen-xml, prowess, xml."
    )
