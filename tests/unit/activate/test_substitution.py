"""Placeholders: which there are, what each becomes, and that one pass is all there is."""

from __future__ import annotations

from typing import Any

import pytest

from prowess.activate.body.substitution import (
    Given,
    Reference,
    Substitution,
    find_folder,
    substitute,
)
from prowess.diagnostics import diagnose
from prowess.profiles.load import load_profile
from tests.workspace import Workspace

OWN = load_profile("prowess").arguments
CLAUDE = load_profile("claude-code").arguments
DOCUMENTED = load_profile("claude-code@documented").arguments
OPENCODE = load_profile("opencode").arguments


def fill(
    body: str, arguments: str = "", rules: Any = OWN, *, names: tuple[str, ...] = (), **given: Any
) -> str:
    text, diagnostics = substitute(body, rules, Given(arguments=arguments, **given), names=names)
    assert diagnostics == ()
    return text


@pytest.mark.parametrize("rules", [OWN, CLAUDE], ids=["prowess", "claude-code"])
@pytest.mark.parametrize(
    ("body", "filled"),
    [
        ("<$ARGUMENTS>", "<a 'b c' d>"),
        ("<$0|$1|$2>", "<a|b c|d>"),
        ("<$ARGUMENTS[0]|$ARGUMENTS[1]|$ARGUMENTS[x]>", "<a|b c|a 'b c' d[x]>"),
        ("<$0> <$3> <$ARGUMENTS[7]>", "<a> <$3> <$ARGUMENTS[7]>"),
        ("<$0> <$99999999999999999999>", "<a> <$99999999999999999999>"),
        ("$0x $0.5 $0é", "$0x a.5 aé"),
        (r"\$0 \$ARGUMENTS \$ARGUMENTS[1] \\$0 \$x $1", r"$0 $ARGUMENTS $ARGUMENTS[1] \\a \$x b c"),
        ("$0 ${0} ${ARGUMENTS} $ $$ $-", "a ${0} ${ARGUMENTS} $ $$ $-"),
    ],
)
def test_arguments_stand_in_for_their_placeholders(rules: Any, body: str, filled: str) -> None:
    assert fill(body, "  a 'b c' d  ", rules) == filled


def test_an_argument_without_a_value_is_empty_by_name_and_stays_by_number() -> None:
    assert fill("<$who> <$what> <$1>", "me", names=("who", "what")) == "<me> <> <$1>"
    assert fill("<$ARGUMENTS> <$0> <$who>", "", names=("who",)) == "<> <$0> <>"


def test_a_number_of_seven_digits_or_more_is_no_number_of_an_argument() -> None:
    body = "<$000001> <$0000001> <$ARGUMENTS[000001]> <$ARGUMENTS[0000001]> <$0000000>"
    filled = "<b> <$0000001> <b> <$ARGUMENTS[0000001]> <$0000000>"
    assert fill(body, "a b") == filled
    assert fill("<$000001> <$0000001>", "a b", OPENCODE) == "<a> <$0000001>"


def test_each_placeholder_says_where_it_is_what_goes_there_and_whether_it_takes_an_argument() -> (
    None
):
    filling = Substitution(
        OWN, Given(arguments="me too", folder="/s"), names=("who", "how", "what")
    )
    text = r"$who $what $7 $ARGUMENTS \$0 ${SKILL_DIR}"
    assert list(filling.find_references(text)) == [
        Reference(0, 4, "me", "argument", "ARGUMENT_0", takes=True),
        Reference(5, 10, "", "argument", "ARGUMENT_NONE", takes=False),
        Reference(14, 24, "me too", "argument", "ARGUMENTS", takes=True),
        Reference(25, 28, "$0", "literal"),
        Reference(29, 41, "/s", "variable", "SKILL_DIR"),
    ]
    assert filling.finish() == "\n\nARGUMENTS: me too"


@pytest.mark.seed("C-79")
def test_named_arguments_are_filled_also_between_back_quotes() -> None:
    body = "For the `$endpoint` endpoint in `$format` format; $formats and ${format} stay."
    filled = "For the `/users` endpoint in `a b` format; $formats and ${format} stay."
    assert fill(body, '/users "a b"', DOCUMENTED, names=("endpoint", "format")) == filled


def test_the_longest_name_wins_and_a_name_may_have_dots_and_hyphens() -> None:
    assert fill("$a-b $a.c $a $a-x", "1 2 3", names=("a", "a-b", "a.c")) == "2 3 1 1-x"


def test_a_name_of_ours_can_be_taken_by_the_author() -> None:
    assert fill("<$ARGUMENTS>", "one two", names=("first", "ARGUMENTS")) == "<two>"


@pytest.mark.parametrize(
    ("body", "filled"),
    [
        ("No placeholder.\n", "No placeholder.\n\n\nARGUMENTS: it's  me"),
        ("Missing $7.", "Missing $7.\n\nARGUMENTS: it's  me"),
        (r"Escaped \$ARGUMENTS.", "Escaped $ARGUMENTS.\n\nARGUMENTS: it's  me"),
        ("Empty $late.", "Empty .\n\nARGUMENTS: it's  me"),
        ("Taken: $0", "Taken: it's"),
    ],
)
def test_arguments_that_nothing_took_are_added_at_the_end(body: str, filled: str) -> None:
    assert fill(body, " it's  me ", names=("1", "a", "b", "late")) == filled


def test_without_arguments_nothing_is_added() -> None:
    assert fill("No placeholder.\n", "  \n ") == "No placeholder.\n"


@pytest.mark.parametrize("value", ["$0 $ARGUMENTS", r"\$0", "${SKILL_DIR}", "$who", r"\1 \g<0>"])
def test_what_is_put_in_is_never_looked_at_again(value: str) -> None:
    assert (
        fill("<$ARGUMENTS> <$who>", value, names=("who",), folder="/secret")
        == f"<{value}> <{value.split(maxsplit=1)[0]}>"
    )


@pytest.mark.seed("C-77", "C-78")
def test_variables_name_the_folder_the_conversation_the_project_and_the_effort() -> None:
    body = "${CLAUDE_SKILL_DIR}/a ${CLAUDE_SESSION_ID} ${CLAUDE_PROJECT_DIR} ${CLAUDE_EFFORT} ${CLAUDE_OTHER}"
    given: dict[str, Any] = {"folder": "/s/pdf", "session": "c-1", "project": "/p", "effort": 7}
    filled = "/s/pdf/a c-1 /p 7 ${CLAUDE_OTHER}"
    assert [fill(body, "", rules, **given) for rules in (DOCUMENTED, CLAUDE, OWN)] == [filled] * 3
    own = "${SKILL_DIR}/a ${SESSION_ID} ${PROJECT_DIR} ${EFFORT} ${CLAUDE_OTHER}"
    assert fill(own, **given) == filled
    assert fill(own, "", CLAUDE, **given) == own


def test_a_variable_is_no_argument_and_cannot_be_escaped() -> None:
    assert fill(r"\${SKILL_DIR}", "x", folder="/s") == "\\/s\n\nARGUMENTS: x"


@pytest.mark.seed("C-100")
def test_the_folder_of_a_skill_without_one_stays_as_it_is_with_a_diagnostic() -> None:
    text, diagnostics = substitute(
        "${CLAUDE_SKILL_DIR}/x and ${CLAUDE_SKILL_DIR}", DOCUMENTED, Given(), file="/S.md"
    )
    assert text == "${CLAUDE_SKILL_DIR}/x and ${CLAUDE_SKILL_DIR}"
    message = "`${CLAUDE_SKILL_DIR}` is left as it is because the skill has no folder."
    assert diagnostics == (diagnose("variable-unset", message, file="/S.md"),)


def test_a_command_file_of_claude_code_has_no_folder_to_name(workspace: Workspace) -> None:
    workspace.write("home/.claude/commands/old.md", "In ${CLAUDE_SKILL_DIR}")
    workspace.skill("home/.claude/skills/new")
    skills = workspace.open("claude-code")
    assert find_folder(skills.get("old"), CLAUDE) is None
    assert find_folder(skills.get("new"), CLAUDE) == workspace.path("home/.claude/skills/new")


def test_claude_code_keeps_a_mark_of_a_command_out_of_values() -> None:
    assert fill("<$ARGUMENTS> <$1>", "a !b c! x!`d`", CLAUDE) == r"<a \!b c! x! `d`> <\!b>"
    assert fill("-", "!`d`", CLAUDE) == "-\n\nARGUMENTS: \\! `d`"
    assert fill("<$ARGUMENTS>", "!`d`") == "<!`d`>"


def test_opencode_counts_from_one_and_adds_arguments_without_a_label() -> None:
    assert fill("<$1> <$2> <$0>", "a b", OPENCODE) == "<a> <b> <$0>"
    assert fill("Body", "a b", OPENCODE) == "Body\n\na b"


@pytest.mark.parametrize("host", ["spec", "openclaw", "omp", "codex"])
def test_hosts_that_fill_nothing_leave_the_body_as_it_is(host: str) -> None:
    body = r"$ARGUMENTS $0 \$0 ${CLAUDE_SKILL_DIR} $who"
    rules = load_profile(host).arguments
    assert fill(body, "a b", rules, names=("who",), folder="/s") == body
