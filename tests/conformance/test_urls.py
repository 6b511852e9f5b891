"""Every `skill://` address that was recorded from omp's release, held against Prowess answering as
omp.

The host's sentences are not compared, only whether it refused and why. What is unsafe there keeps
Prowess's own answer.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from prowess.activate.resources.addresses import parse_address
from prowess.activate.resources.lookup import EMPTY_FOLDER, Resource, resolve
from prowess.errors import UnknownSkill
from prowess.errors.activation import AddressError
from prowess.machine.files import LocalFiles
from prowess.profiles.load import load_profile
from tests.conformance.trees import CASES, Tree

CASE: dict[str, Any] = json.loads((CASES / "omp" / "urls.json").read_text(encoding="utf-8"))
RECORDED: dict[str, Any] = CASE["expect"]["urls"]
UNSAFE: dict[str, str] = CASE["unsafe"]

# How the release's sentences begin, and the kind of trouble that each is about.
KINDS = {
    "skill:// URL requires": "no-name",
    "Unknown skill": "unknown-skill",
    "Absolute paths": "absolute",
    "Path traversal": "outside",
    "File not found": "missing",
    "skill:// URL must resolve": "not-a-file",
    "The argument 'path'": "malformed",
    "URI error": "malformed",
}

# Prowess's own answers: to what the release does unsafely, and to one file that it refuses for its
# name alone.
OWN = {
    "skill://pdf/link.txt": "outside",
    "skill://pdf/linkdir": "outside",
    "skill://pdf/linkdir/secret.txt": "outside",
    "skill://pdf/missing.md": "missing",
    "skill://pdf/../pdf-evil/f.txt": "outside",
    "skill://pdf/%2e%2e/pdf-evil/f.txt": "outside",
    "skill://pdf/..\\secret.txt": "outside",
    "skill://pdf/C:/x": "absolute",
    "skill://pdf/%252e%252e/x": "missing",
    "skill://pdf/dang": "missing",
    "skill://pdf/script.py:1-2": "missing",
    "skill://pdf/*.md": "missing",
}
DOTTED = "skill://pdf/..dots.md"
SAME = [url for url in RECORDED if url not in UNSAFE and url != DOTTED]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    tree = Tree(CASE, tmp_path_factory.mktemp("urls"))
    os.mkfifo(tree.root / "project/.omp/skills/pdf/fifo")
    return tree


def answer(tree: Tree, url: str) -> Resource:
    rules = load_profile("omp@18.2.3").resources
    skills = {o.name: o.skill for o in tree.open().snapshot.shown if o.skill is not None}
    return resolve(parse_address(url, dots=rules.dots), skills, LocalFiles(), rules=rules)


def describe(tree: Tree, url: str) -> dict[str, Any]:
    """Prowess's answer in the words of the record."""
    try:
        found = answer(tree, url)
    except AddressError as error:
        return {"ok": False, "kind": error.kind}
    except UnknownSkill:
        return {"ok": False, "kind": "unknown-skill"}
    return {
        "ok": True,
        "contentType": found.content_type,
        "size": found.size,
        "path": tree.relative(found.path),
        "content": found.content,
    }


def expected(url: str) -> dict[str, Any]:
    recorded = RECORDED[url]
    if not recorded["ok"]:
        return {
            "ok": False,
            "kind": next(
                kind for start, kind in KINDS.items() if recorded["error"].startswith(start)
            ),
        }
    told = {key: recorded[key] for key in ("ok", "contentType", "size", "content")}
    told["path"] = recorded["path"].rstrip("/")
    if told["content"] == "(empty directory)":
        told |= {"content": EMPTY_FOLDER, "size": len(EMPTY_FOLDER)}
    return told


@pytest.mark.parametrize("url", SAME)
def test_prowess_answers_an_address_as_omp_does(tree: Tree, url: str) -> None:
    assert describe(tree, url) == expected(url)


def test_every_unsafe_answer_is_known() -> None:
    assert OWN.keys() == UNSAFE.keys()
    assert len(SAME) + len(OWN) + 1 == len(RECORDED) == 64


@pytest.mark.parametrize(("url", "kind"), OWN.items())
def test_what_is_unsafe_in_omp_is_refused_and_no_place_on_the_machine_is_told(
    tree: Tree, url: str, kind: str
) -> None:
    with pytest.raises(AddressError) as caught:
        answer(tree, url)
    assert caught.value.kind == kind
    assert str(tree.root) not in f"{caught.value} {caught.value.path} {caught.value.args}"


def test_a_missing_file_is_named_as_it_was_asked_for(tree: Tree) -> None:
    with pytest.raises(AddressError) as caught:
        answer(tree, "skill://pdf/sub/missing.md")
    assert (
        str(caught.value) == "skill://pdf/sub/missing.md: the skill has no file “sub/missing.md”."
    )
    assert caught.value.path == "sub/missing.md"


def test_a_name_that_only_begins_with_two_dots_is_no_way_out(tree: Tree) -> None:
    assert describe(tree, DOTTED) == {
        "ok": True,
        "contentType": "text/markdown",
        "size": 2,
        "path": "project/.omp/skills/pdf/..dots.md",
        "content": "dd",
    }


def test_the_listing_of_a_linked_folder_tells_nothing_of_what_lies_outside(tree: Tree) -> None:
    (Path(tree.root) / "project/.omp/skills/pdf/sub/out").symlink_to(tree.root)
    assert answer(tree, "skill://pdf/sub").content == "deep/\nout/\nB.txt\nz.txt"
    with pytest.raises(AddressError):
        answer(tree, "skill://pdf/sub/out")
