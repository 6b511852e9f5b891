"""Laws of arguments in commands, held against a real bash: a value is passed on, or it is refused.

Every script runs in an empty folder with a canary: no value makes the shell create a file, and
the program that gets it gets all of it.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from prowess.activate.body.substitution import Given, Substitution
from prowess.profiles.load import load_profile
from prowess.shell.bash import fill_argv, fill_bash
from prowess.shell.command_list import list_commands
from prowess.shell.command_runner import SHELLS
from prowess.shell.quotes import FilledCommand, ValueRefused
from prowess.text.value_pattern import parse_pattern

RULES = load_profile("prowess").arguments
SHOW = """#!/bin/sh
for word; do printf '%s\\0' "$word" >> "$LOG"; done
"""

PAYLOADS = [
    "$(touch canary)", "`touch canary`", "; touch canary", "| touch canary", "& touch canary", "\ntouch canary\n",
    "'; touch canary; '", '"; touch canary; "', "a[$(touch canary)]", "E\ntouch canary\nE", "${x:=$(touch canary)}",
    "() { :; }; touch canary", "$((a[$(touch canary)]))", "-x", "--exec=touch canary", "-v a[$(touch canary)]", "\\", "*", "?",
    "[a-z]", "~", "~root", "{a,b}", "!", "!!", "'", '"', "`", "$", "#", "%s%n", "\t", "\r", "\x01", "\x7f", "\u2028", "𝕏 é", "$HOME",
    "$_", "touch canary", "=", "PATH=x", ">canary", "<(touch canary)",
]  # fmt: skip
hostile = st.lists(
    st.sampled_from(PAYLOADS)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8),
    min_size=1,
    max_size=5,
).map("".join)


def fill(script: str, argument: str) -> FilledCommand | None:
    """The command, None where it is refused."""
    filling = Substitution(RULES, Given(arguments=argument, folder="/my skills/x"), names=("who",))
    try:
        return fill_bash(script, list(filling.find_references(script)))
    except ValueRefused:
        return None


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `show`, a program that writes down what it is given."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "show").write_text(SHOW)
    (folder / "show").chmod(0o755)
    return folder


def run(filled: FilledCommand, programs: Path, work: Path) -> list[str]:
    """What `show` was given. Fails where a file was made that the script itself does not name."""
    log = work / "log"
    env = {"PATH": f"{programs}:{os.environ['PATH']}", "LOG": str(log), "Z": "", **filled.env}
    folder = work / "empty"
    folder.mkdir()
    options = SHELLS["bash"].with_values if filled.env else SHELLS["bash"].options
    argv = ["bash", *options, filled.script]
    # Some made-up scripts wait for ever, which harms nobody.
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(
            argv, env=env, cwd=folder, capture_output=True, timeout=10, stdin=subprocess.DEVNULL
        )
    # Values are not in the script, so a file that it names, as in `>&show`, comes from no value.
    written = [path.name for path in folder.iterdir()]
    assert [name for name in written if name not in filled.script] == [], filled.script
    return log.read_bytes().decode().split("\0")[:-1] if log.exists() else []


# Places where a value is allowed: words that hold `@`, and commands that hold such a word.

WORDS = [
    "$ARGUMENTS", '"$ARGUMENTS"', "'$ARGUMENTS'", "$'$ARGUMENTS'", '"$(show_all @)"', '""@""', '"$Z"@', "$Z@", '"${Z:-}"@',
    '"$(X=@; show_all "$X")"', '"$( # it\'s\nshow_all @)"', '"$({ show_all @; } | cat)"', '"$(if true; then show_all @; fi)"',
]  # fmt: skip
COMMANDS = [
    "show @", "if true; then show @; fi", "(show @)", "{ show @; }", "true && ! false && show @", "# it's\nshow @", "false || show @ &&:",
    'X=@; show "$X"', 'X=@\nY="$X"; show "${Y}"', "for i in 1; do show @; done", "while true; do show @; break; done", "show \\\n @",
    "env A=1 show @", "show @ > /dev/null 2>&1", "echo it\\'s \"a'b\" > /dev/null; show @", "set -euo pipefail; show @ | cat",
    "[ -d . ] && show @", "until show @; do exit; done", "if [ -f x ]; then :; else show @; fi", "sh -c 'show \"$1\"' _ @",
    "\"$HOME_OF\"/show @", "show @ < /dev/null; exit $?",
]  # fmt: skip


def nest(words: list[str], command: str) -> str:
    for word in (*words, "$ARGUMENTS"):
        command = command.replace("@", word)
    # `printf %s` is what shows a value inside of a word.
    return command.replace("show_all", "printf %s").replace('"$HOME_OF"/', "")


allowed = st.builds(nest, st.lists(st.sampled_from(WORDS), max_size=3), st.sampled_from(COMMANDS))


@pytest.mark.slow
@pytest.mark.needs("bash")
@settings(max_examples=200)
@given(allowed, hostile)
@example("show $ARGUMENTS", "$(touch canary)")
@example("show $ARGUMENTS", "PATH=x")
def test_where_a_value_is_allowed_the_program_gets_exactly_that_value(
    programs: Path, tmp_path_factory: pytest.TempPathFactory, script: str, argument: str
) -> None:
    filled = fill(script, argument)
    raw = argument.strip()
    if filled is None:
        # The only reason is that it could be read as an option.
        assert raw.startswith("-")
        return
    assert run(filled, programs, tmp_path_factory.mktemp("run")) == [raw]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("word", WORDS)
def test_every_such_place_is_allowed(command: str, word: str) -> None:
    assert fill(nest([word], command), "x") is not None


# Scripts that no author would write, so that a place which is misread shows.

FRAGMENTS = (
    "show |show |echo |cat |printf %s |$ARGUMENTS|$ARGUMENTS|$0|$0|$1|$who|${SKILL_DIR}| | | |\n|;|&&|&|'|\"|`|$(|)|(|${X:-|}|$((|))|"
    "((|[[ | ]]| -eq |[ | ]| -v |eval |bash -c |sh |X=|\"$X\"|$X|${X}|X+=|declare X=|<<E\n|<<'E'\n|\nE\n|<<< |A=(|A[|]|$'|\\|\\$0|#|if |"
    "then |fi |for x in |do |done |while |case x in |esac |{ |} |> /dev/null |2>&1|<(|>(|let |export |awk |test |${A[|$[|!|=|+1|read |unset |"
    'trap |env |exec |>&|&>|f() |;;|set -- |set -e;|{a,|,b}|*|~|$_|$"|time |coproc |function f |\\\n|cd |source |. |command |$@|xargs '
)
pieces = st.sampled_from([*FRAGMENTS.split("|"), "|", "||"])
scripts = st.lists(pieces, min_size=2, max_size=14).map("".join)


@pytest.mark.slow
@pytest.mark.needs("bash")
@settings(max_examples=700)
@given(scripts, hostile)
@example("X=$ARGUMENTS; a[X]=/", "a[$(touch canary)]")
@example('show "$X\\\n" $0', "x")
@example("show >&show $ARGUMENTS", "$(touch canary)")
def test_in_any_script_a_value_is_refused_or_passed_on_whole_and_never_evaluated(
    programs: Path, tmp_path_factory: pytest.TempPathFactory, script: str, argument: str
) -> None:
    value = f"«{argument.strip()}»"
    filled = fill(script, value)
    if filled is None or not any(one.kind == "argument" for one in filled.used):
        return
    given_values = set(filled.env.values())
    for word in run(filled, programs, tmp_path_factory.mktemp("run")):
        assert "«" not in word or any(one in word for one in given_values), (script, word)


@given(scripts, st.text(max_size=20))
def test_reading_a_script_ends_and_never_raises_anything_but_a_refusal(
    script: str, argument: str
) -> None:
    fill(script, argument)
    list_commands(script)
    filling = Substitution(RULES, Given(arguments=argument), names=("who",))
    try:
        fill_argv(f"x {script}", list(filling.find_references(f"x {script}")))
    except ValueRefused as refusal:
        assert 0 <= refusal.at <= len(script) + 2


@given(st.text(), st.text(max_size=20))
def test_any_text_at_all_can_be_read(script: str, argument: str) -> None:
    fill(script, argument)
    list_commands(script)


# Patterns of arguments

atoms = st.sampled_from(["a", "b", "[ab]", "[^a]", ".", r"\d", "1", r"\.", "-"])
repeats = st.sampled_from(["", "", "?", "*", "+", "{1,2}", "{2}", "{0,}"])
patterns = st.lists(st.tuples(atoms, repeats).map("".join), max_size=5).map("".join)


@given(patterns, st.text("ab1.-", max_size=8))
def test_a_pattern_matches_as_python_s_own_does(pattern: str, value: str) -> None:
    expected = re.fullmatch(pattern, value, re.DOTALL) is not None
    assert parse_pattern(pattern).matches(value) is expected
