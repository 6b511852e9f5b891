"""What the pages show is true: their code runs, their commands print what stands below them, their
files are valid.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from prowess import ProwessError
from tests.docs.pages import ROOT, Block, list_pages, load_blocks, name_page, parse_blocks
from tests.docs.reader import Reader, compare, is_shown, split_session

PAGES = [page for page in list_pages() if load_blocks(page)]
PAGE = ROOT / "docs" / "page.md"
# Pages whose code uses a library that nothing else in the suite needs.
LIBRARIES = {"docs/guides/serving-many-users.md": "fastapi"}


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    return Reader(tmp_path, monkeypatch)


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_everything_that_a_page_shows_is_true(page, reader):
    if name_page(page) in LIBRARIES:
        pytest.importorskip(LIBRARIES[name_page(page)])
    blocks = list(load_blocks(page))
    assert reader.read_all(blocks) == blocks


def test_the_pages_for_strangers_are_among_those_that_are_read():
    read = {name_page(page) for page in PAGES}
    assert {"README.md", "docs/guides/first-steps.md", "docs/concepts/states.md"} <= read


def test_blocks_know_their_line_their_language_and_what_they_follow():
    text = "# Page\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\nWords.\n\n````markdown a/SKILL.md broken\n```\n````\n"
    assert list(parse_blocks(PAGE, text)) == [
        Block(PAGE, 4, "python", (), "print(1)\n", None),
        Block(PAGE, 8, "text", (), "1\n", "python"),
        Block(PAGE, 14, "markdown", ("a/SKILL.md", "broken"), "```\n", None),
    ]


def test_a_session_is_commands_with_what_is_shown_below_each():
    block = Block(
        PAGE, 1, "console", (), "$ prowess list\n$ prowess check   # comment\none\n\ntwo\n"
    )
    assert split_session(block) == [
        ("prowess list", None),
        ("prowess check   # comment", "one\n\ntwo\n"),
    ]


@pytest.mark.parametrize(
    "shown",
    [
        "one\ntwo 2\nthree\n",
        "…\nthree\n",
        "one\n…\n",
        "one\ntwo …\nthree\n",
        "one\ntwo 2\n…\nthree\n",
        "…\n",
    ],
)
def test_dots_stand_for_the_rest_of_a_line_or_for_any_lines(shown):
    assert is_shown("one\ntwo 2  \nthree\n", shown)


@pytest.mark.parametrize("shown", ["one\n", "one\n…\ntwo 2\n", "two …\n…\n", "one\ntwo\nthree\n"])
def test_what_is_not_printed_is_noticed(shown):
    with pytest.raises(AssertionError):
        compare("one\ntwo 2\nthree\n", shown, "page")


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```python\nraise ValueError\n```\n",
        "```console\n$ prowess list\nnothing\n```\n",
        "```console\n$ prowess explain nobody\n```\n",
        "```console\n$ prowess explain nobody\n…\n$ echo $?\n2\n```\n",
        "```console\n$ rm -r .\n```\n",
        '```toml prowess.toml\nenabled = "no"\n```\n',
        "```toml skipper.toml\nname = 'skipper'\nunknown = 1\n```\n",
        "```toml\nno\n```\n",
        "```markdown\n# No file\n```\n",
        "```markdown skills/a/SKILL.md\n---\nname: b\n---\n```\n",
        "```markdown skills/a/SKILL.md broken\n---\nname: a\ndescription: Use it when asked.\n---\n\nText.\n```\n",
        "```sh\nls\n```\n",
    ],
)
def test_a_page_that_is_not_true_is_noticed(text, reader):
    with pytest.raises((AssertionError, ValueError, ProwessError)):
        reader.read_all(parse_blocks(PAGE, text))
