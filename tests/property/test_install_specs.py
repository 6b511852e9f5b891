"""Whatever an author writes as a way to install: it is refused, or it stays what it should be."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from prowess.gate.eligibility import Verdict
from prowess.gate.remedies import NODE_INSTALLERS, find_remedies, tools_folder
from prowess.model.skill import Manifest
from prowess.supply.dependencies.steps import plan_steps
from prowess.testing import make_facts

FACTS = make_facts("/home/me", bins=("brew", "uv", "go", *NODE_INSTALLERS))
OWN_WORDS = {"install", "add", "global", "--global", "--ignore-scripts", "tool"}
PIECES = ["-", "--", "x", "@", "/", "..", "\\", "$(id)", ";", " ", "\n", "https://x.org/", "a.zip"]
TEXT = st.lists(st.sampled_from(PIECES), max_size=6).map("".join) | st.text(max_size=20)
VALUE = TEXT | st.integers() | st.booleans() | st.none() | st.lists(TEXT, max_size=3)
FIELDS = "label bins os formula package module url archive extract stripComponents targetDir sha256"
SPECS = st.fixed_dictionaries(
    {"kind": st.sampled_from(["brew", "node", "go", "uv", "download"])},
    optional=dict.fromkeys(FIELDS.split(), VALUE),
)


@given(st.lists(SPECS, max_size=3), TEXT)
def test_no_value_becomes_an_option_a_path_outside_or_another_word(
    specs: list[dict[str, Any]], name: str
) -> None:
    manifest = Manifest(name=name or "x", install=tuple(specs))
    verdict = Verdict(bins=("x", "jq"))
    remedies = find_remedies(manifest, verdict, FACTS)
    for step in plan_steps(remedies, verdict):
        download = step.remedy.download
        if download is None:
            _, *words = step.remedy.command
            assert all(word in OWN_WORDS or not word.startswith("-") for word in words)
            assert all(word.isprintable() and not set(word) & set(" ;$`|&") for word in words)
            continue
        assert download.url.startswith("https://")
        assert download.owner.startswith(f"{tools_folder(FACTS)}/")
        assert f"{download.folder}/".startswith(f"{download.owner}/")
        assert ".." not in download.folder.split("/")
