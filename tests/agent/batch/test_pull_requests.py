"""Pull requests of a batch: `gh` is a stand-in on PATH that writes down what it is called with."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import msgspec
import pytest

from prowess.agent.batch import phases
from prowess.agent.batch.plan import UnitResult
from prowess.agent.batch.repository import Repository
from prowess.agent.batch.spec import BatchSpec, name_branch
from prowess.agent.events import Event
from prowess.agent.jobs.engine import Engine
from prowess.agent.jobs.values import JobResult
from prowess.model.facts import Facts
from prowess.model.permission import ApprovalAnswer, ApprovalChoice
from tests.agent.batch.conftest import Works

TASK = "Rename get_level to read_level everywhere."
# Not GitHub's program: it answers as that does, and keeps its words and its input.
GH = """#!/usr/bin/env python3
import json, os, sys
with open(os.environ["HOME"] + "/gh.jsonl", "a") as file:
    file.write(json.dumps({"argv": sys.argv[1:], "stdin": sys.stdin.read()}) + "\\n")
if "FAIL" in os.listdir(os.environ["HOME"]):
    sys.exit("not logged in")
if sys.argv[1:3] == ["pr", "create"]:
    print("Creating pull request\\nhttps://example.org/pr/" + sys.argv[sys.argv.index("--head") + 1])
"""


class Desk:
    """A finished batch of two units in a repository with a remote, and someone who answers."""

    def __init__(self, works: Works, monkeypatch: pytest.MonkeyPatch, *, has_gh: bool) -> None:
        self.works = works
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.reply = ApprovalChoice.ONCE
        self.home = Path(works.yard.studio.workspace.home)
        self.remote = works.yard.studio.workspace.root / "remote.git"
        works.git("init", "-q", "--bare", str(self.remote))
        works.git("remote", "add", "origin", str(self.remote))
        base = works.git("rev-parse", "HEAD")
        units = []
        for number, name in enumerate(("cuxhaven", "husum"), 1):
            branch = name_branch("b", f"0{number}-{name}")
            works.git("checkout", "-qb", branch, base)
            (works.project / f"stations/{name}.py").write_text("read_level = 1\n")
            works.git("commit", "-qam", name)
            units.append(
                UnitResult(number=number, title=f"Do {name}", status="done", branch=branch)
            )
        works.git("checkout", "-q", "main")
        failed = UnitResult(number=3, title="Do emden", status="failed", reason="it broke")
        self.units = [*units, failed]
        self.spec = BatchSpec(
            task=TASK, cwd=str(works.project), machine="m", base=base, base_branch="main"
        )
        tools = works.yard.studio.workspace.root / "tools"
        tools.mkdir()
        env = {**works.yard.env(), "PATH": f"{tools}:{os.environ['PATH']}"}
        if has_gh:
            (tools / "gh").write_text(GH)
            (tools / "gh").chmod(0o755)
        names = {"git", "gh"} if has_gh else {"git"}
        facts = Facts(home=str(self.home), platform="linux", env=env, find_bin=names.__contains__)
        self.engine = Engine(works.yard.jobs.database, facts, "m")

        async def ask(
            engine: Engine, job: str, key: str, title: str, **options: object
        ) -> ApprovalAnswer:
            details = options["details"]
            assert isinstance(details, list)
            self.asked.append((title, tuple(details)))
            assert self.list_remote() == [], "nothing is pushed before the answer"
            return ApprovalAnswer(self.reply)

        async def report(event: Event) -> None:
            """Nobody follows."""

        monkeypatch.setattr(Engine, "ask", ask)
        monkeypatch.setattr(phases, "report", report)

    def finish(self, *, pull_requests: str = "one") -> JobResult:
        spec = msgspec.structs.replace(self.spec, pull_requests=pull_requests)
        return asyncio.run(phases.finish_batch(self.engine, "b", spec, self.units))

    def list_remote(self) -> list[str]:
        return self.works.git("ls-remote", "--heads", str(self.remote)).splitlines()

    def list_calls(self) -> list[list[str]]:
        file = self.home / "gh.jsonl"
        calls = (
            [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        )
        assert {one["stdin"] for one in calls} <= {""}, "a question would wait for ever"
        return [one["argv"] for one in calls]

    def list_texts(self) -> list[str]:
        return sorted(one.name for one in (self.works.project / ".git/prowess/b").glob("*"))


@pytest.fixture
def open_desk(works: Works, monkeypatch: pytest.MonkeyPatch):
    return lambda *, has_gh: Desk(works, monkeypatch, has_gh=has_gh)


@pytest.mark.seed("C-129")
def test_one_pull_request_has_all_units(open_desk) -> None:
    desk = open_desk(has_gh=True)
    result = desk.finish()
    assert desk.asked == [
        ("Push 1 branch to origin and open a pull request?", ("batch/b/all",)),
    ]
    (listing, create) = desk.list_calls()
    assert listing == ["pr", "list", "--head", "batch/b/all", "--json", "url", "--jq", ".[0].url"]
    body = create[create.index("--body") + 1]
    assert create == [
        *("pr", "create", "--head", "batch/b/all", "--title", TASK),
        *("--body", body, "--base", "main"),
    ]
    assert body.startswith(f"{TASK}\n\n| # | unit | state |")
    assert "| 3 | Do emden | failed |" in body
    assert [line.split("\t")[1] for line in desk.list_remote()] == ["refs/heads/batch/b/all"]
    assert "Pull request: https://example.org/pr/batch/b/all" in result.answer
    assert (result.status, result.reason) == ("failed", "1 of 3 units were not merged")
    assert desk.list_texts() == []


@pytest.mark.seed("C-129")
def test_with_each_every_unit_that_was_done_gets_a_pull_request(open_desk) -> None:
    desk = open_desk(has_gh=True)
    result = desk.finish(pull_requests="each")
    branches = ("batch/b/01-cuxhaven", "batch/b/02-husum")
    assert desk.asked == [("Push 2 branches to origin and open pull requests?", branches)]
    created = [call for call in desk.list_calls() if call[1] == "create"]
    assert [call[3] for call in created] == list(branches)
    assert [call[5] for call in created] == ["Do cuxhaven", "Do husum"]
    assert created[0][7] == f"Do cuxhaven\n\nPart 1 of: {TASK}\n"
    pushed = [line.split("\t")[1] for line in desk.list_remote()]
    assert pushed == [f"refs/heads/{branch}" for branch in branches]
    assert result.answer.count("Pull request: ") == 2


def test_after_a_kill_no_second_pull_request_is_opened(open_desk) -> None:
    desk = open_desk(has_gh=True)
    gh = desk.works.yard.studio.workspace.root / "tools/gh"
    gh.write_text(GH + '\nif sys.argv[1:3] == ["pr", "list"]: print("https://example.org/pr/7")\n')
    result = desk.finish()
    assert [call[:2] for call in desk.list_calls()] == [["pr", "list"]]
    assert "Pull request: https://example.org/pr/7" in result.answer


def test_nothing_is_pushed_where_the_answer_is_no(open_desk) -> None:
    desk = open_desk(has_gh=True)
    desk.reply = ApprovalChoice.REJECT
    result = desk.finish()
    assert (desk.list_remote(), desk.list_calls()) == ([], [])
    assert desk.list_texts() == ["pull-request-1.md"]
    assert "nothing was pushed" in result.answer


@pytest.mark.parametrize(("kind", "count"), [("one", 1), ("each", 2)])
def test_without_gh_the_text_is_written_and_nobody_is_asked(
    open_desk, kind: str, count: int
) -> None:
    desk = open_desk(has_gh=False)
    result = desk.finish(pull_requests=kind)
    assert (desk.asked, desk.list_remote()) == ([], [])
    assert desk.list_texts() == [f"pull-request-{n}.md" for n in range(1, count + 1)]
    text = (desk.works.project / ".git/prowess/b/pull-request-1.md").read_text()
    heading = TASK if kind == "one" else "Do cuxhaven"
    branch = "batch/b/all" if kind == "one" else "batch/b/01-cuxhaven"
    assert text.startswith(f"# {heading}\n\nBranch: {branch}\n\n")
    assert "nothing was pushed" in result.answer


def test_a_gh_that_fails_is_said_and_the_merge_stays(open_desk) -> None:
    desk = open_desk(has_gh=True)
    (desk.home / "FAIL").touch()
    result = desk.finish()
    assert "No pull request for batch/b/all: " in result.answer
    assert "not logged in" in result.answer
    assert Repository(str(desk.works.project), desk.engine.facts).has_branch("batch/b/all")
