"""Laws of scripts: every argument arrives as it is, and what is shown is what runs."""

from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st

from prowess.errors.activation import ScriptRefused
from prowess.shell.scripts import INTERPRETERS, find_interpreter, plan_script

# Whatever a program can be given: no NUL, no half of a character.
WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@given(argv=st.lists(WORDS, max_size=8), ending=st.sampled_from(sorted(INTERPRETERS)))
def test_arguments_arrive_as_they_are_and_are_shown_as_they_arrive(
    argv: list[str], ending: str
) -> None:
    script = f"scripts/it's a run.{ending}"
    interpreter = find_interpreter(script, b"")
    command = plan_script(
        script,
        argv,
        interpreter=interpreter,
        shown=f"/skills/x/{script}",
        real=f"/real/{script}",
        folder="/skills/x",
        env={},
        cwd=None,
        seconds=1,
        output_bytes=1,
    )
    assert command.argv == (*interpreter, f"/real/{script}", *argv)
    assert shlex.split(command.readable or command.text) == [
        *interpreter,
        f"/skills/x/{script}",
        *argv,
    ]
    assert bool(command.programs) is bool(argv)


@given(name=WORDS, head=st.binary(max_size=400))
def test_a_script_is_run_by_its_first_line_or_a_known_program_or_not_at_all(
    name: str, head: bytes
) -> None:
    try:
        program, *arguments = find_interpreter(name, head)
    except ScriptRefused as refused:
        assert refused.script == name
        return
    assert program
    assert len(arguments) <= 1
    by_ending = program in INTERPRETERS.values() and not arguments
    assert by_ending or head.startswith(b"#!")
