"""How the commands of a script are joined: pipes, and where input and output go."""

from __future__ import annotations

import pytest

from prowess.shell.command_list import list_pipelines


@pytest.mark.parametrize(
    ("script", "commands", "pipes"),
    [
        ("a | b", ["a", "b"], {1: 0}),
        ("a |& b | c", ["a", "b", "c"], {1: 0, 2: 1}),
        ("a |\n b", ["a", "b"], {1: 0}),
        ("a; b && c || d", ["a", "b", "c", "d"], {}),
        ("(a; b) | c", ["a", "b", "c"], {2: 1}),
        ("a | (b; c)", ["a", "b", "c"], {1: 0}),
        ("a | { b; }", ["a", "b"], {1: 0}),
        ("a | sudo -E b -", ["a", "sudo"], {1: 0}),
        ('a | b "$(c)"', ["a", "c", "b"], {2: 0}),
        ('a "$(b | c)" | d', ["b", "c", "a", "d"], {1: 0, 3: 2}),
        ("| a", ["a"], {}),
        ("a | | b", ["a", "b"], {1: 0}),
        ("", [], {}),
    ],
)
def test_a_command_reads_from_the_one_before_its_pipe(script, commands, pipes):
    found = list_pipelines(script)
    assert [words[0] for words in found.commands] == commands
    assert found.pipes == pipes


@pytest.mark.parametrize(
    ("script", "targets"),
    [
        ("a > b 2>&1", ("b", "1")),
        ("a < <(b c)", ("<(b c)",)),
        ("a &> /dev/null", ("/dev/null",)),
        ("a <<< $(b)", ("$(b)",)),
        ("a <<EOF\nb\nEOF\n", ()),
    ],
)
def test_targets_are_where_input_and_output_go(script, targets):
    assert list_pipelines(script).targets == targets


@pytest.mark.parametrize(
    ("script", "assignments"),
    [
        ("A=1 B='2 3' c D=4", ("A=1", "B=2 3")),
        ("A=$(b)", ("A=$(b)",)),
        ("c $(A=1 d); E=2", ("A=1", "E=2")),
        ("c <<F\n$(A=1 d)\nF\n", ("A=1",)),
        ("export A=1", ()),
    ],
)
def test_assignments_are_the_words_that_set_variables(script, assignments):
    assert list_pipelines(script).assignments == assignments


def test_what_is_nested_too_deeply_is_left_out():
    deep = "$(" * 60 + "a" + ")" * 60
    assert list_pipelines(f"b | c {deep}").commands == (("b",),)
