"""The files that a body refers to."""

from __future__ import annotations

import pytest

from prowess.parse.lint.references import find_references
from tests.effort import soon


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
        ("Read `./gone.md`, not `./README.md`, `./main.py`, `./run` or `tool ./out.md`, `[t](./file.md)`.", ["./gone.md"]),
        ("{baseDir}/gone.sh and `${CLAUDE_SKILL_DIR}/gone.py`, ${SKILL_DIR}/a/b.md.", ["{baseDir}/gone.sh", "${CLAUDE_SKILL_DIR}/gone.py", "${SKILL_DIR}/a/b.md"]),
        ("`$SKILL_DIR/a.md` `{baseDir}/out` `{baseDir}/<name>.md` `{baseDir}/a.{png,jpg}` `${OTHER_DIR}/a.md`", ["$SKILL_DIR/a.md"]),
        ("[a]({baseDir}/x.md)", ["{baseDir}/x.md"]),
        ("```python\nopen('{baseDir}/x.json')\n```", ["{baseDir}/x.json"]),
        ('<img src="assets/gone.png" width=3> <a class="x" href=\'docs/a.html\'> <img src="https://x.y/z.png">', ["assets/gone.png", "docs/a.html"]),
        ("[s](file:///etc/passwd) [t](file:/etc/hosts)", ["/etc/passwd", "/etc/hosts"]),
        ("@references/k.md and (@./assets/a.txt). Not a@scripts/b.md, @types/node, @src/x.ts, @name.", ["references/k.md", "./assets/a.txt"]),
        ("```bash\npython scripts/gone.py --out assets/\nbash ./scripts/gone.sh # not scripts/this.sh\nX=scripts/c.py\n```", ["scripts/gone.py", "./scripts/gone.sh", "scripts/c.py"]),
        ("```sh\npython {baseDir}/scripts/gone.py\n./build.sh\nsrc/run.py ../scripts/x.py /scripts/y.py my/scripts/z.py\n```", ["{baseDir}/scripts/gone.py"]),
        ("1. Run\n    ```bash\n    node scripts/a.js\n    ```\n   [b](y.md)", ["scripts/a.js", "y.md"]),
        ("```\npython scripts/gone.py\n```\n```text\nscripts/x.py\n```", []),
        ("`scripts/v1.2` `scripts/run` `assets/.hidden` `assets/.a.json`", ["assets/.a.json"]),
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


def test_folders_of_the_skill_are_its_own():
    text = "`data/a.csv` `src/b.py` `./data/c.csv` `../data/d.csv`\n```bash\ncat data/e.csv\n```\n@data/f.csv"
    found = [
        reference.path for reference in find_references(text, owns=lambda folder: folder == "data")
    ]
    assert found == ["data/a.csv", "./data/c.csv", "data/e.csv", "data/f.csv"]


@pytest.mark.parametrize("path", ["../x.md", "../../etc/a.txt", "a/../../b.md"])
def test_a_variable_does_not_keep_a_path_inside(path):
    assert [one.is_outside for one in find_references(f"{{baseDir}}/{path}")] == [True]


def test_lines_are_counted():
    assert [
        (r.path, r.line) for r in find_references("\n[a](b.md)\n\n`scripts/c.py`", first=7)
    ] == [
        ("b.md", 8),
        ("scripts/c.py", 10),
    ]


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "](",
        "`",
        "](a(",
        "[a]: ",
        "scripts/",
        "../",
        "](<",
        "` scripts/a",
        "{baseDir}/a",
        "@a/",
        '<img src="',
        "<img ",
        "a.",
        "./",
    ],
)
def test_no_text_takes_long(piece):
    text = piece * (200_000 // len(piece))
    assert all(path in text for path in soon(lambda: paths(text)))
