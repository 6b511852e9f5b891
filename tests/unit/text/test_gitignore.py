"""Patterns as git has them, held against git itself, and the files that hold them."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest

from prowess.text.gitignore import parse_pattern
from prowess.text.ignore_files import IgnoreChain, parse_ignore_file


def matches(line: str, path: str) -> bool:
    """Whether a line means exactly this path; a `/` at its end says that it is a folder."""
    pattern = parse_pattern(line)
    return pattern is not None and pattern.matches(
        path.rstrip("/").split("/"), is_folder=path.endswith("/")
    )


@pytest.mark.parametrize(
    ("line", "meant", "not_meant"),
    [
        ("*.md", ["a.md", "b/c/a.md", ".md"], ["a.mdx", "a.md/b"]),
        ("docs", ["docs", "docs/", "a/docs"], ["docs2", "docs/a"]),
        ("docs/", ["docs/", "a/docs/"], ["docs", "docs/a"]),
        ("/docs", ["docs"], ["a/docs"]),
        ("src/*.ts", ["src/a.ts"], ["src/b/a.ts", "x/src/a.ts"]),
        ("src/**", ["src/a", "src/a/b"], ["src", "a/src/b"]),
        ("**/src", ["src", "a/src", "a/b/src"], ["src/a"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["a/x/b/c", "b"]),
        ("a/**/**/b", ["a/b", "a/x/b"], ["a"]),
        ("**", ["a", "a/b"], []),
        ("a?c", ["abc", "x/abc"], ["ac", "a/c"]),
        ("[a-c]x", ["ax", "cx"], ["dx"]),
        ("[!a-c]x", ["dx"], ["ax", "x"]),
        ("[]-]x", ["]x", "-x"], ["ax"]),
        ("[[:digit:]_]", ["7", "_"], ["a"]),
        ("[^/]x", ["ax"], ["b/ax", "x"]),
        ("\\#a", ["#a"], ["\\#a"]),
        ("\\!a", ["!a"], []),
        ("a\\*", ["a*"], ["ab"]),
        ("a\\ ", ["a "], ["a"]),
        ("a  ", ["a"], ["a  "]),
        ("a\r", ["a"], []),
        ("#a", [], ["#a", "a"]),
        ("", [], ["a"]),
        ("/", [], ["a"]),
        ("a[b", [], ["a[b", "ab"]),
        ("a\\", [], ["a", "a\\"]),
        ("[[:nothing:]]", [], ["n", ":"]),
        ("[z-a]", ["z"], ["m", "a"]),
        ("foo**bar", ["foobar", "foo-bar"], ["foo/bar"]),
        ("[ab]/c", ["a/c", "b/c"], ["c", "x/a/c", "a/c/d", "[ab]/c"]),
        ("a\\/b", ["a/b"], ["ab", "x/a/b", "a\\/b"]),
        ("a\\/[bc]", ["a/b", "a/c"], ["a/d", "x/a/b", "ab"]),
        ("[a]\\/b/c", ["a/b/c"], ["a/b", "b/c", "a/bc"]),
    ],
)
def test_a_line_means_what_it_means_to_git(
    line: str, meant: list[str], not_meant: list[str]
) -> None:
    assert [path for path in meant if not matches(line, path)] == []
    assert [path for path in not_meant if matches(line, path)] == []


PIECES = (
    "a b * ** ? / [ab] [!a] [^a] \\* \\a [a-c] []a] [[:alpha:]] [c-a] ! # foo /**/ **/ /** [ ] - [a\\]] [/] [^/] \\ . "
    "[[:foo:]] [-a] [a-]"
).split(" ")
NAMES = ("a", "b", "ab", "a.b", "foo", "-", "]", "!x", "#y", "a b", "A")
# Git takes the plain beginning of a pattern off before it looks at the rest, so that `b**/c` means
# `b/**/c` there, against its own manual; and it lets an escaped `/` stand for no folder less than a
# plain one.
ODD_IN_GIT = re.compile(r"[^/*!]\*\*+(/|\\/|$)|[^/]!\*\*|\*\\/")


@pytest.mark.needs("git")
@pytest.mark.parametrize("seed", range(8))
def test_whatever_the_patterns_git_says_the_same(seed: int, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    chance = random.Random(seed)
    for _ in range(25):
        lines = [
            "".join(chance.choices(PIECES, k=chance.randint(1, 5)))
            for _ in range(chance.randint(1, 5))
        ]
        lines = [line for line in lines if not ODD_IN_GIT.search(line)]
        (tmp_path / ".gitignore").write_text("\n".join(lines) + "\n", encoding="utf-8")
        paths = sorted({"/".join(chance.choices(NAMES, k=chance.randint(1, 4))) for _ in range(40)})
        command = ["git", "-C", str(tmp_path), "check-ignore", "--no-index", "-z", "--stdin"]
        asked = subprocess.run(command, input="\0".join(paths), capture_output=True, text=True)
        ignored = set(asked.stdout.split("\0")) - {""}
        file = parse_ignore_file("/p", (tmp_path / ".gitignore").read_bytes())
        rules = IgnoreChain().add(file)
        assert (lines, {path for path in paths if is_ignored(rules, path)}) == (lines, ignored)


def is_ignored(rules: IgnoreChain, path: str) -> bool:
    """Walk down to a file, as whoever lists folders does."""
    names = path.split("/")
    heads = ["/".join(["/p", *names[:count]]) for count in range(1, len(names) + 1)]
    return any(
        rules.find_pattern(head, is_folder=head is not heads[-1]) is not None for head in heads
    )


def test_the_innermost_file_that_says_something_decides() -> None:
    outer = parse_ignore_file("/p", b"*.log\nbuild/\n")
    inner = parse_ignore_file("/p/a", b"!keep.log\n")
    rules = IgnoreChain().add(outer).add(inner)
    assert rules.find_pattern("/p/a/x.log", is_folder=False) == "*.log"
    assert rules.find_pattern("/p/a/keep.log", is_folder=False) is None
    assert rules.find_pattern("/p/keep.log", is_folder=False) == "*.log"
    assert rules.find_pattern("/q/x.log", is_folder=False) is None


def test_only_the_patterns_that_ignore_a_folder_itself_are_left_out_for_it() -> None:
    rules = (
        IgnoreChain()
        .add(parse_ignore_file("/p", b".claude/\n*\n!*.md\n__pycache__/\n"))
        .without("/p/.claude/skills")
    )
    assert rules.find_pattern("/p/.claude/skills/x", is_folder=True) is None
    assert rules.find_pattern("/p/.claude/skills/x/__pycache__", is_folder=True) == "__pycache__/"


def test_a_folder_that_is_wanted_again_keeps_every_pattern() -> None:
    rules = (
        IgnoreChain()
        .add(parse_ignore_file("/p", b"*\n!.claude\n!.claude/**\nold/\n"))
        .without("/p/.claude/skills")
    )
    assert rules.find_pattern("/p/.claude/skills/x", is_folder=True) is None
    assert rules.find_pattern("/p/.claude/skills/old", is_folder=True) == "old/"
    assert rules.find_pattern("/p/elsewhere", is_folder=True) == "*"


def test_lines_that_mean_nothing_are_told_with_their_numbers() -> None:
    assert parse_ignore_file("/p", b"\xef\xbb\xbfa\n\n# [\nx[\r\n!\n").broken == (
        (4, "x["),
        (5, "!"),
    )
