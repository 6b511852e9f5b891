"""Where commands stand in a body, and what only looks like one."""

from __future__ import annotations

import pytest

from prowess.shell.embedded_commands import EmbeddedCommand, find_commands


def commands(body: str) -> list[str]:
    found = find_commands(body)
    assert found.unclosed is None
    return [command.text for command in found.commands]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("!`a`", ["a"]),
        ("x !`a b` y\t!`c` z\n!`d`", ["a b", "c", "d"]),
        ("- !`a`\n> !`b`\n1. x: !`c`", ["a", "b", "c"]),
        ("KEY=!`a`", []),
        (r"\!`a` and (!`b`)", []),
        ("!`a` !`b`", ["a", "b"]),
        ("!`a`!`b`", ["a"]),
        ("!` ` !``", []),
        ("! `a`", []),
        ("!`never closed\nby `this`", []),
        ("``see !`a` here`` !`b`", ["b"]),
        ("`foo !` and `bar`", []),
        ("Press the ` key.\n!`a`", ["a"]),
        ("`one` !`a` `two`", ["a"]),
        ("    !`a`", ["a"]),
    ],
)
def test_commands_within_a_line_stand_free_and_outside_of_code_spans(
    body: str, found: list[str]
) -> None:
    assert commands(body) == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("```!\na\nb\n```", ["a\nb"]),
        ("```!\r\na\r\nb\r\n```\r\n", ["a\nb"]),
        ("```! a\nb\n```", [" a\nb"]),
        ("```!\na\n\n  b\n```   \nx", ["a\n\n  b"]),
        ("- item\n  ```!\n  a\n  ```", ["  a"]),
        ("```!\n```\n", []),
        ("```!\na `b` !`c`\n```", ["a `b` !`c`"]),
        ("~~~!\na\n~~~", []),
        ("````!\na\n````", []),
        ("> ```!\n> a\n> ```", []),
        ("``` !\na\n```", []),
        ("```!a```", []),
    ],
)
def test_a_block_is_a_command_where_its_fence_says_so(body: str, found: list[str]) -> None:
    assert commands(body) == found


@pytest.mark.parametrize(
    "body",
    [
        "```\n!`a`\n```",
        "```bash\n!`a`\n```",
        "~~~\n!`a`\n```!\nb\n```\n~~~",
        "````md\n```!\na\n```\n!`b`\n````",
        "- x\n\n      ```\n      !`a`\n      ```",
        "> ```\n> !`a`\n> ```",
        "- ```sh\n  !`a`\n  ```",
        "1. ```\n   !`a`\n   ```",
        "```\n!`a`\n``` not the end\n!`b`\n```",
        "```\n!`a`\nnever closed",
        "```\n    ```\n!`a`\n```",
        "```\n\t```\n!`a`\n```",
        "```\n> ```\n!`a`\n```",
        "> ```\n>> ```x\n> !`a`\n> ```",
        "- ```\n      ```\n  !`a`\n  ```",
        "- x\n\n  ```\n      ```\n  !`a`\n  ```",
        "1. x\n\n   ```\n       ```\n   !`a`\n   ```",
        "   ```\n    ```\n!`a`\n```",
        "```\n- x\n```\n```\n     ```\n!`a`\n```",
    ],
)
def test_what_stands_in_an_ordinary_code_block_is_an_example(body: str) -> None:
    assert commands(body) == []


@pytest.mark.parametrize(
    "body",
    [
        "- ```\n  x\ntext !`b`",
        "- x\n\n  ```\n  y\n- !`b`",
        "> ```\n> x\ntext !`b`",
        "```\nx\n   ```\n!`b`",
        "- ```\n  x\n     ```\n  !`b`",
        "- a\n  - ```\n    x\n    ```\n    !`b`",
        "1. ```\n   x\n   ```\n!`b`",
        "  ```\n  x\n```\n!`b`",
        "- ```\n  x\n\n  ```\n!`b`",
    ],
)
def test_a_code_block_ends_at_its_fence_or_with_what_it_stands_in(body: str) -> None:
    assert commands(body) == ["b"]


def test_commands_after_a_code_block_are_found_again() -> None:
    assert commands("```\n!`a`\n```\n!`b`\n```!\nc\n```\n") == ["b", "c"]


def test_a_command_covers_its_mark_and_knows_the_line_of_its_text() -> None:
    body = "x !`a` y\n  ```!\nb\n  ```  \nz"
    found = find_commands(body).commands
    assert found == (EmbeddedCommand(2, 6, "a", 1), EmbeddedCommand(11, 23, "b", 3))
    assert [body[command.start : command.end] for command in found] == [
        "!`a`",
        "```!\nb\n  ```",
    ]


def test_a_block_of_commands_that_is_never_closed_is_told_by_its_line() -> None:
    found = find_commands("!`a`\n```!\nb\n!`c`\n")
    assert (found.commands, found.unclosed) == ((EmbeddedCommand(0, 4, "a", 1),), 2)


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("- x\n" + "  ```\n  a\n  ```\n" * 20_000 + "!`a`", 1),
        ("-  " * 30_000 + "\n!`a`", 1),
        ("!`a" * 100_000, 1),
        ("".join("!" + "`" * length for length in range(1, 800)), 0),
        ("```!\n" * 50_000, 0),
        ("> " * 100_000 + "!`a`", 1),
        ("- !`" * 100_000, 50_000),
        ("`` !`" * 60_000, 0),
    ],
)
def test_a_long_body_is_read_in_one_pass(body: str, count: int) -> None:
    assert len(find_commands(body).commands) == count
