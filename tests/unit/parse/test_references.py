"""The files that a body refers to."""

from __future__ import annotations

import time

import pytest

from prowess.parse.references import find_references


def paths(body):
    return [reference.path for reference in find_references(body)]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("See [guide](references/guide.md).", ["references/guide.md"]),
        ("![logo](assets/logo.png 'Logo') and [x](<with space.md>)", ["assets/logo.png", "with space.md"]),
        ("[a](docs/a.md#part) [b](b.md?raw=1) [c](a%20b.md)", ["docs/a.md", "b.md", "a b.md"]),
        ("[id]: ./notes/one.md", ["./notes/one.md"]),
        ("[a](f(1).md)", ["f(1).md"]),
        ("[a](https://x.y/z.md) [b](mailto:a@b) [c](#part) [d](//x/y) <https://x.y>", []),
        ("[a](src/*.md) [b](<name>.md) [c]({dir}/x.md) [d]($HOME/x) [e](path/to/file.md) [f](...)", []),
        ("Run `scripts/run.py --all` or `python scripts/b.py`.", ["scripts/run.py", "scripts/b.py"]),
        ("Read `references/a.md`, `./assets/b.txt`, not `src/main.py` nor `README.md`.", ["references/a.md", "./assets/b.txt"]),
        ("`scripts/*.py` `scripts/<name>.py` `scripts/` `my/scripts/x.py` `https://x/scripts/y.py`", []),
        ("`../templates/x.md`", ["../templates/x.md"]),
        ("```\n[a](x.md)\n`scripts/x.py`\n```\n[b](y.md)", ["y.md"]),
        ("~~~~md\n```\n[a](x.md)\n~~~~\n[b](y.md)", ["y.md"]),
        ("`[a](x.md)` is an example", []),
    ],
)  # fmt: skip
def test_links_and_own_paths_are_found_and_examples_are_not(body, found):
    assert paths(body) == found


@pytest.mark.parametrize(
    ("path", "outside"),
    [("a.md", False), ("./a.md", False), ("x/../a.md", False), ("../a.md", True), ("/etc/passwd", True), ("..dots.md", False)],
)  # fmt: skip
def test_a_path_that_leaves_the_folder_is_outside(path, outside):
    [reference] = find_references(f"[x]({path})")
    assert reference.is_outside is outside


def test_lines_are_counted():
    assert [(r.path, r.line) for r in find_references("\n[a](b.md)\n\n`scripts/c.py`", first=7)] == [
        ("b.md", 8),
        ("scripts/c.py", 10),
    ]


@pytest.mark.parametrize("piece", ["[", "](", "`", "](a(", "[a]: ", "scripts/", "../", "](<", "` scripts/a"])
def test_no_text_takes_long(piece):
    started = time.perf_counter()
    paths(piece * (200_000 // len(piece)))
    assert time.perf_counter() - started < 2
