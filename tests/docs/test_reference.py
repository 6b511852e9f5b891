"""The generated pages say all there is, and the pages link to places that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import prowess
import prowess.testing
from prowess.diagnostics import CODES
from prowess.model.outcome import State
from prowess.supply.scan.rules import SCAN_CODES
from tests.docs.pages import GENERATED, ROOT, list_pages, name_page

PAGES = [*list_pages(), *sorted(GENERATED.glob("*.md"))]


def load(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def slug(heading: str) -> str:
    """The anchor that a heading gets on the usual forges."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def list_headings(path: Path) -> set[str]:
    text = re.sub(r"^(```+).*?^\1$", "", load(path), flags=re.DOTALL | re.MULTILINE)
    return {slug(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


def test_every_public_name_has_its_place_in_the_reference_of_the_library():
    text = load(GENERATED / "api.md")
    named = set(re.findall(r"^### `(\w+)`$", text, re.MULTILINE))
    moved = {target.rpartition(".")[2] for target in prowess._MOVED.values()}
    assert {*prowess.__all__, *prowess.testing.__all__, *moved} - named == set()
    assert {"SkillSource", "Ranker", "Runner", "SecretStore", "UsageStore"} <= named


def test_every_adapter_is_in_the_reference_of_the_library():
    text = load(GENERATED / "api.md")
    places = re.findall(r"^## `prowess\.adapters\.(\w+)`$", text, re.MULTILINE)
    assert {"anthropic", "langchain", "openai_agents", "pydantic_ai"} <= set(places)
    assert {"SkillToolset", "SkillMiddleware", "MessageSkills", "add_skills"} <= set(
        re.findall(r"^### `(\w+)`$", text, re.MULTILINE)
    )


def test_every_diagnostic_code_is_in_the_reference():
    assert re.findall(
        r"^\| `([a-z0-9-]+)`", load(GENERATED / "diagnostics.md"), re.MULTILINE
    ) == list(CODES)


def test_every_code_of_the_scan_is_in_the_reference():
    page = load(GENERATED / "scan-rules.md")
    assert re.findall(r"^\| `([a-z-]+)`", page, re.MULTILINE) == list(SCAN_CODES)


def test_every_state_is_explained():
    rows = re.findall(
        r"^\| (\w+) \| `", load(ROOT / "docs" / "concepts" / "states.md"), re.MULTILINE
    )
    assert rows == [state.value for state in State]


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_links_to_a_heading_lead_to_one(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", load(page), flags=re.DOTALL)
    broken = []
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", text):
        place = page.parent / target if target else page
        if "://" not in target and anchor not in list_headings(place):
            broken.append(f"{target}#{anchor}")
    assert broken == []


def test_every_page_is_reached_from_the_index():
    index = load(ROOT / "docs" / "README.md")
    linked = {
        (ROOT / "docs" / target).resolve() for target in re.findall(r"\]\(([^)#\s]+\.md)\)", index)
    }
    below = {
        path
        for folder in ("guides", "concepts", "reference")
        for path in (ROOT / "docs" / folder).glob("*.md")
    }
    assert below - linked == set()


def test_the_page_on_settings_names_all_that_a_project_may_not_set():
    from prowess.settings.read.project_limits import USERS_OWN

    page = (ROOT / "docs" / "guides" / "settings.md").read_text(encoding="utf-8")
    table = page.partition("## What a project can't set")[2].partition("\n## ")[0]
    written = {"trusted_links": "discovery.trusted_links", "overrides": "skills"}
    written["mcp_servers"] = "mcp.servers"
    for head, *rest in USERS_OWN:
        key = ".".join(
            [written.get(head, head), *("NAME" if part == "*" else part for part in rest)]
        )
        assert f"`{key.removesuffix('.NAME') if head == 'limits' else key}`" in table
