"""`prowess sbom`: what is installed, in CycloneDX."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.supply.install.conftest import Desk, two_skills
from tests.workspace import skill_text


def test_a_document_has_each_skill_with_its_commit_and_each_file_with_its_digest(
    desk: Desk,
) -> None:
    upstream = desk.repository(two_skills())
    commit = desk.do_git(upstream, "rev-parse", "HEAD")
    install(desk, f"file://{upstream}")
    text = desk.run("sbom").out
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    alpha, beta = json.loads(text)["components"]
    assert (alpha["name"], alpha["version"], beta["name"]) == ("alpha", commit, "beta")
    digests = {one["name"]: one["hashes"][0]["content"] for one in alpha["components"]}
    script = b"#!/bin/sh\necho a\n"
    assert sorted(digests) == ["SKILL.md", "scripts/run.sh"]
    assert digests["scripts/run.sh"] == hashlib.sha256(script).hexdigest()


def test_the_same_lock_file_gives_the_same_bytes_and_a_changed_one_another_serial_number(
    desk: Desk,
) -> None:
    install(desk, str(desk.source({"SKILL.md": skill_text("one", "Does one.")}, "one")))
    first = desk.run("sbom").out
    assert desk.run("sbom").out == first
    install(desk, str(desk.source({"SKILL.md": skill_text("two", "Does two.")}, "two")))
    assert read_document(desk)["serialNumber"] != json.loads(first)["serialNumber"]


def test_a_repository_on_a_known_server_has_its_own_package_url(desk: Desk) -> None:
    install(desk, str(desk.source({"SKILL.md": skill_text("one", "Does one.")}, "one")))
    lock = desk.project / "prowess.lock"
    content = json.loads(lock.read_text())
    skill = content["skills"][0]
    skill |= {"kind": "git", "source": "ada/tools", "resolved": "c0ffee", "path": "skills/one"}
    lock.write_text(json.dumps(content))
    (shown,) = read_document(desk)["components"]
    assert shown["purl"] == "pkg:github/ada/tools@c0ffee#skills/one"
    skill |= {"source": "gitlab:ada/tools"}
    lock.write_text(json.dumps(content))
    (shown,) = read_document(desk)["components"]
    assert shown["purl"].startswith("pkg:gitlab/ada/tools@c0ffee")


def test_a_document_can_be_written_to_a_file_and_nothing_installed_is_a_document_too(
    desk: Desk,
) -> None:
    assert "components" not in read_document(desk)
    answer = desk.run("sbom", "--output", "bom.json")
    assert (answer.code, answer.out) == (0, "Wrote bom.json: 0 skills.\n")
    written = Path(desk.project, "bom.json").read_text()
    assert written == desk.run("sbom").out
    assert desk.json("sbom", "-o", "bom.json")["skills"] == 0


def test_a_time_that_is_none_is_named(desk: Desk) -> None:
    install(desk, str(desk.source({"SKILL.md": skill_text("one", "Does one.")}, "one")))
    lock = desk.project / "prowess.lock"
    content = json.loads(lock.read_text())
    content["skills"][0]["installed_at"] = "yesterday"
    lock.write_text(json.dumps(content))
    answer = desk.run("sbom")
    assert answer.code != 0
    assert "`installed_at` is not a time with a time zone: 'yesterday'" in answer.err


def install(desk: Desk, source: str) -> None:
    answer = desk.run("install", source, "--all", "--yes")
    assert answer.code == 0, answer.err


def read_document(desk: Desk) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(desk.run("sbom").out)
    return document


def test_the_lock_file_is_not_overwritten(desk: Desk) -> None:
    desk.run("install", str(desk.source(two_skills())), "--all", "--yes")
    lock = desk.project / "prowess.lock"
    before = lock.read_bytes()
    answer = desk.run("sbom", "-o", "prowess.lock")
    assert (answer.code, answer.err) == (
        2,
        "prowess: prowess.lock is a lock file; write the document to another file.\n",
    )
    (desk.project / "bom.json").symlink_to(lock)
    assert desk.run("sbom", "-o", "bom.json").code == 2
    assert lock.read_bytes() == before
