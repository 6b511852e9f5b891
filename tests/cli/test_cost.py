"""`prowess cost`: what skills cost in every request and when they are used, in the terminal, as
JSON and as a page.
"""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.errors import MissingExtra
from prowess.model.catalog import Shown
from prowess.present.tokens import ESTIMATE, compare_loading, estimate_tokens
from prowess.reports.cost import (
    CostReport,
    Method,
    SkillCost,
    choose_method,
    load_costs,
    render_share,
)
from prowess.reports.cost_page import render_page
from tests.cli.terminal import Terminal

HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">'


def write_three(terminal: Terminal) -> None:
    terminal.skill("project/.agents/skills/large", description="Does much.", body="word " * 400)
    terminal.skill("project/.agents/skills/small", description="Does little.", body="word " * 50)
    terminal.skill("project/.agents/skills/empty", description="Does nothing.", body="")


def make_report(*names: str, location: str = "/skills/x/SKILL.md") -> CostReport:
    costs = tuple(
        SkillCost(
            name=name, location=location, shown=Shown.WHOLE, listed=10, described=10, body=100
        )
        for name in names
    )
    return CostReport(
        host="prowess",
        edition="current",
        cwd="/",
        method=Method(ESTIMATE, "Estimates."),
        window=200_000,
        reads=2,
        skills=costs,
        catalog=50,
        comparison=compare_loading([100] * len(costs), catalog=50, reads=2, window=200_000),
    )


def test_the_table_has_every_skill_with_its_bar_and_below_it_what_is_saved(terminal):
    write_three(terminal)
    answer = terminal.run("cost")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == (
        "NAME   CATALOG  BODY  TOKENS\n"
        "large        4   395  █░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░\n"
        "small        4    49  █░░░░\n"
        "empty        4     0  █\n"
        "\n"
        "█ in every request   ░ when used\n"
        "\n"
        "the catalog, in every request                     78  less than 0.1 % of the window\n"
        "the catalog and 2 skills, each used once         374  0.2 % of the window\n"
        "all skills loaded up front                       444  0.2 % of the window\n"
        "Loading on demand saves 70 tokens, less than 0.1 % of the window.\n"
        "Token counts are estimates, off by 3 % in the median against OpenAI's o200k.\n"
    )


@pytest.mark.seed("W-36", "W-37")
def test_fifty_skills_of_a_thousand_tokens_save_a_quarter_of_the_window(terminal):
    described = (
        "Fetches, checks and converts the readings of one harbour, then reports what is off. Use when asked for "
        * 2
    )
    for number in range(50):
        terminal.skill(
            f"project/.agents/skills/skill-{number:02}", description=described, body="word " * 1012
        )
    told = terminal.json("cost", "--reads", "2", "--window", "200000")
    compared = told["comparison"]
    assert told["average_body"] == 1000
    assert compared["up_front"] == 50_000
    assert 1_800 <= told["catalog"] <= 2_600
    assert compared["on_demand"] == told["catalog"] + 2_000
    assert compared["saved"] == 50_000 - compared["on_demand"]
    assert round(compared["saved_share"], 2) == 0.23


def test_json_has_the_counts_of_every_skill_the_most_expensive_first(terminal):
    write_three(terminal)
    folder = terminal.path("project/.agents/skills")
    told = terminal.json("cost")
    skills = told.pop("skills")
    assert told == {
        "version": 1,
        "host": "prowess",
        "edition": "current",
        "cwd": str(terminal.project),
        "method": {"name": "estimate", "exact": False},
        "window": 200_000,
        "reads": 2,
        "catalog": 78,
        "catalog_share": 78 / 200_000,
        "bodies": 444,
        "average_body": 148,
        "comparison": {"up_front": 444, "on_demand": 374, "saved": 70, "saved_share": 70 / 200_000},
        "warnings": [],
    }
    assert skills == [
        {
            "name": name,
            "location": f"{folder}/{name}/SKILL.md",
            "shown": "whole",
            "listed": 4,
            "described": 4,
            "body": body,
        }
        for name, body in (("large", 395), ("small", 49), ("empty", 0))
    ]


@pytest.mark.seed("C-72")
def test_what_describes_a_skill_counts_whole_and_what_the_catalog_shows_counts_as_it_is_shown(
    terminal,
):
    words = "argument-hint: one two three\nwhen_to_use: Use it when somebody asks.\n"
    terminal.write(
        "project/.agents/skills/a/SKILL.md",
        f"---\nname: a\ndescription: Reads files.\n{words}---\nBody\n",
    )
    (cost,) = terminal.json("cost")["skills"]
    assert cost["described"] == estimate_tokens(
        "a Reads files. Use it when somebody asks. one two three"
    )
    assert cost["listed"] == estimate_tokens("a Reads files. - Use it when somebody asks.")


def test_a_skill_by_name_only_and_one_that_is_left_out_are_told(terminal):
    for number in range(600):
        terminal.skill(f"project/.agents/skills/skill-{number:04}", description="long " * 20)
    answer = terminal.run("cost", "--window", "200000")
    lines = answer.out.splitlines()
    assert len([line for line in lines if line.startswith("skill-")]) == 30
    assert [line for line in lines if line.startswith("570 more (--all) ")] != []
    assert [line for line in lines if line.startswith("Of 600 skills, ")] != []
    skills = terminal.json("cost")["skills"]
    assert {cost["shown"]: cost["listed"] for cost in skills} == {"name-only": 4, "left-out": 0}
    whole = terminal.run("cost", "--all").out.splitlines()
    assert len([line for line in whole if line.startswith("skill-")]) == 600


def test_a_body_that_is_always_there_costs_every_request_and_nothing_more_when_used(terminal):
    terminal.skill("project/.agents/skills/rules", always="true", body="word " * 100)
    (cost,) = terminal.json("cost")["skills"]
    assert (cost["shown"], cost["listed"], cost["body"]) == ("injected", 100, 99)
    assert terminal.run("cost").out.splitlines()[1].split()[:3] == ["rules", "100", "0"]


def test_exact_counts_are_said_to_be_exact_and_for_whom(terminal):
    write_three(terminal)
    for name in ("o200k", "o200k_base"):
        answer = terminal.run("cost", "--encoding", name)
        assert answer.out.endswith(
            "Token counts are exact for OpenAI models that use o200k_base, and estimates for others.\n"
        )
    told = terminal.json("cost", "--model", "openai/gpt-4o-mini")
    assert told["method"] == {"name": "o200k_base", "exact": True}
    assert [cost["body"] for cost in told["skills"]] == [401, 51, 0]
    assert terminal.json("cost", "--model", "gpt-4")["method"]["name"] == "cl100k_base"


def test_a_model_of_another_maker_is_said_to_be_estimated(terminal):
    write_three(terminal)
    answer = terminal.run("cost", "--model", "some-model\x1b[31m")
    assert answer.out.endswith(
        "Token counts are estimates: no exact tokenizer is available for some-model\\x1b[31m.\n"
    )


def test_without_the_extra_a_model_is_estimated_and_an_encoding_is_refused(terminal, monkeypatch):
    write_three(terminal)

    def refuse(encoding):
        raise MissingExtra("tokens", "count tokens exactly")

    monkeypatch.setattr("prowess.reports.cost.get_counter", refuse)
    assert choose_method(None, "gpt-4o").says == (
        'Token counts are estimates. For exact counts for gpt-4o: Run `pip install "prowess[tokens]"`.'
    )
    assert terminal.run("cost", "--encoding", "o200k") == (
        2,
        "",
        "prowess: The extra “tokens”, which is needed to count tokens exactly, is not installed.\n"
        'Run `pip install "prowess[tokens]"`.\n',
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--encoding", "p50k"),
            "prowess: There is no encoding “p50k”; the encodings are o200k_base, cl100k_base.",
        ),
        (
            ("--encoding", "o200k", "--model", "gpt-4o"),
            "prowess: --encoding and --model cannot be used together.",
        ),
        (
            ("--window", "0"),
            "prowess: The context window is 0 tokens; it must be at least 1.",
        ),
        (("--reads", "-1"), "Error: Invalid value for '--reads': -1 is not in the range x>=0."),
    ],
)
def test_a_wrong_request_is_a_sentence(terminal, arguments, said):
    write_three(terminal)
    answer = terminal.run("cost", *arguments)
    assert (answer.code, answer.out, answer.err.splitlines()[-1]) == (2, "", said)


def test_with_few_short_skills_it_admits_that_loading_all_would_be_cheaper(terminal):
    terminal.skill("project/.agents/skills/tiny", body="Go.\n")
    answer = terminal.run("cost")
    assert "the catalog and 1 skill, used  " in answer.out
    assert "With so few and short skills, loading all of them up front would save " in answer.out
    assert "the same, no skill used  " in terminal.run("cost", "--reads", "0").out


def test_where_no_skill_is_ready_it_says_so(terminal):
    assert terminal.run("cost") == (
        0,
        "prowess has no skill ready here, so skills cost nothing.\n",
        "",
    )
    assert terminal.run("cost", "--html", "page.html").code == 0
    assert "No skill is ready here." in (terminal.project / "page.html").read_text(encoding="utf-8")


def test_a_body_that_cannot_be_read_is_told_and_the_others_are_counted(terminal, monkeypatch):
    write_three(terminal)

    def lose(skills, *arguments, **options):
        os.unlink(terminal.path("project/.agents/skills/small/SKILL.md"))
        return load_costs(skills, *arguments, **options)

    monkeypatch.setattr("prowess.cli.commands.cost.load_costs", lose)
    answer = terminal.run("cost")
    assert answer.code == 0
    lost = terminal.path("project/.agents/skills/small/SKILL.md")
    assert answer.err == f"Could not read {lost}; its text is not counted.\n"
    assert "small        4  not read  █\n" in answer.out


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.0, "0.0 % of the window"),
        (0.0001, "less than 0.1 % of the window"),
        (-0.0001, "less than −0.1 % of the window"),
        (0.23, "23.0 % of the window"),
        (-0.012, "−1.2 % of the window"),
        (61.4, "61 times the window"),
    ],
)
def test_shares_are_written_so_that_something_never_looks_like_nothing(share, said):
    assert render_share(share) == said


# The page


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_one_file_that_asks_for_nothing_and_runs_nothing(terminal):
    write_three(terminal)
    answer = terminal.run("cost", "--html", "out/page.html")
    assert answer == (
        0,
        "Wrote out/page.html. 3 skills cost about 78 tokens in every request, less than 0.1 % of the window.\n",
        "",
    )
    html = (terminal.project / "out/page.html").read_text(encoding="utf-8")
    page = Page(html)
    assert {tag for tag, _ in page.elements}.isdisjoint(
        {"script", "link", "img", "iframe", "object", "embed", "a"}
    )
    assert [
        name
        for _, attrs in page.elements
        for name in attrs
        if name in ("src", "href") or name.startswith("on")
    ] == []
    assert re.findall(r"https?:|url\(|@import", html) == []
    policy = next(attrs["content"] for _, attrs in page.elements if attrs.get("http-equiv"))
    assert str(policy).startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert "prefers-color-scheme: dark" in html
    assert (
        "meta",
        {"name": "viewport", "content": "width=device-width, initial-scale=1"},
    ) in page.elements
    bars = [
        attrs["style"]
        for tag, attrs in page.elements
        if tag == "i" and attrs.get("class") == "body" and "style" in attrs
    ]
    assert bars == ["width:66.67%", "width:100.00%", "width:99.00%", "width:12.28%"]
    assert "Loading on demand saves 70 tokens" in page.text


def test_the_page_replaces_the_old_one_whole_and_keeps_its_permissions(terminal):
    write_three(terminal)
    page = terminal.write("project/page.html", "old")
    page.chmod(0o600)
    assert terminal.run("cost", "--html", str(page)).code == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (page.stat().st_mode & 0o777, terminal.tree("project/.agents/skills/large")) == (
        0o600,
        ["SKILL.md"],
    )
    assert [path.name for path in terminal.project.iterdir() if path.name.startswith("page")] == [
        "page.html"
    ]


def test_a_page_that_cannot_be_written_is_a_sentence(terminal):
    write_three(terminal)
    answer = terminal.run("cost", "--html", ".")
    assert (answer.code, answer.out) == (4, "")
    assert answer.err.startswith(f"prowess: Could not write {terminal.project}: ")
    assert json.loads(terminal.run("cost", "--html", "p.html", "--json").out)["html"] == "p.html"


def test_more_skills_than_anybody_looks_at_can_be_unfolded():
    page = Page(render_page(make_report(*(f"s{number}" for number in range(100)))))
    assert [tag for tag, _ in page.elements].count("details") == 1
    assert "40 more skills, which cost less" in page.text
    assert [attrs.get("scope") for tag, attrs in page.elements if tag == "th"].count("row") == 103


@given(st.text(), st.text())
def test_nothing_that_a_skill_is_called_changes_the_shape_of_the_page(name, location):
    plain = Page(render_page(make_report("x")))
    page = Page(render_page(make_report(name, location=location)))
    assert page.elements == plain.elements
    assert not any(ord(one) < 32 and one != "\n" for one in page.text)


def test_a_hostile_name_is_shown_as_it_is(terminal):
    header = (
        f"---\nname: {json.dumps(HOSTILE)}\ndescription: {json.dumps(HOSTILE)}\n---\n{HOSTILE}\n"
    )
    terminal.write("project/.agents/skills/a/SKILL.md", header)
    assert terminal.run("cost", "--html", "page.html").code == 0
    html = (terminal.project / "page.html").read_text(encoding="utf-8")
    page = Page(html)
    assert HOSTILE in page.text
    assert "<script" not in html
    assert "<img" not in html


BLUE, TEAL = (0x3D, 0x5B, 0xD1), (0x23, 0x99, 0x8B)


def read_png(path: Path) -> list[list[tuple[int, ...]]]:
    """The pixels of a picture as a browser writes it: 8 bits, not interlaced."""
    data = path.read_bytes()
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert (depth, kind in (2, 6)) == (8, True)
    size = 3 if kind == 2 else 4
    packed, at = b"", 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += length + 12
    raw, stride = zlib.decompress(packed), width * size
    rows: list[list[tuple[int, ...]]] = []
    above = bytearray(stride)
    for number in range(height):
        start = number * (stride + 1)
        line = undo_filter(raw[start], bytearray(raw[start + 1 : start + 1 + stride]), above, size)
        rows.append([tuple(line[place : place + 3]) for place in range(0, stride, size)])
        above = line
    return rows


def undo_filter(kind: int, line: bytearray, above: bytearray, size: int) -> bytearray:
    for place in range(len(line)):
        left = line[place - size] if place >= size else 0
        corner = above[place - size] if place >= size else 0
        up = above[place]
        nearest = min((left, up, corner), key=lambda one: abs(left + up - corner - one))
        line[place] = (line[place] + (0, left, up, (left + up) // 2, nearest)[kind]) & 255
    return line


@pytest.mark.slow
@pytest.mark.needs("chromium")
def test_a_browser_draws_the_bars_and_complains_of_nothing(terminal):
    write_three(terminal)
    header = f"---\nname: {json.dumps(HOSTILE)}\ndescription: d\n---\n{HOSTILE}\n"
    terminal.write("project/.agents/skills/hostile/SKILL.md", header)
    assert terminal.run("cost", "--html", "page.html").code == 0
    shot = terminal.project / "page.png"
    done = subprocess.run(
        [
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            f"--user-data-dir={terminal.root / 'browser'}",
            f"--screenshot={shot}",
            "--window-size=800,1000",
            (terminal.project / "page.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    rows = read_png(shot)
    runs = {colour: max(row.count(colour) for row in rows) for colour in (BLUE, TEAL)}
    # The largest bar of each colour: the catalog alone in the comparison, and all bodies up front.
    assert runs[TEAL] > 300
    assert 30 < runs[BLUE] < runs[TEAL]
