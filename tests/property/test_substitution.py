"""Laws of filling a body: what has no placeholder stays, what is put in is not read again, and no
text is lost.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prowess.activate.body.arguments import split_words
from prowess.activate.body.substitution import Given, Substitution, substitute
from prowess.errors.activation import CommandRefused
from prowess.machine.facts import current_facts
from prowess.machine.processes import ProcessRunner
from prowess.model.facts import Facts
from prowess.profiles.load import known_hosts, load_profile
from prowess.profiles.schema.profile import Profile
from prowess.shell.command_runner import Draft, Surroundings, draft_body
from prowess.shell.embedded_commands import find_commands
from prowess.testing import make_facts

PROFILES = [load_profile(host) for host in (*known_hosts(), "claude-code@documented")]
OWN = load_profile("prowess")
FACTS = make_facts()

# Text in which the characters that mean something are far more frequent than chance would have
# them.
PIECES = [
    "$",
    "$0",
    "$1",
    "$ARGUMENTS",
    "$ARGUMENTS[0]",
    "$who",
    "${SKILL_DIR}",
    "\\",
    "!",
    "`",
    "!`",
    "```",
    "```!",
    "\n",
]
PIECES += [
    "'",
    '"',
    " ",
    "\t",
    ";",
    "#",
    "(",
    ")",
    "[",
    "{",
    "a=",
    "&&",
    "it's",
    "é",
    "\u2028",
    "~~~",
    "> ",
    "- ",
]
texts = st.one_of(
    st.text(), st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=25).map("".join)
)
profiles = st.sampled_from(PROFILES)


def draft(
    body: str, arguments: str, profile: Profile = OWN, facts: Facts = FACTS, **options: str
) -> Draft:
    given_ = Given(arguments=arguments, folder="/s", session="c", project="/p", effort="low")
    around = Surroundings(facts=facts, cwd=options.get("cwd"))
    return draft_body(
        body,
        given_,
        around,
        arguments=profile.arguments,
        embedded=profile.embedded,
        names=("who", "what"),
    )


@given(texts, profiles)
def test_a_body_without_a_placeholder_stays_as_it_is(body: str, profile: Profile) -> None:
    body = body.replace("$", "S")
    assert substitute(body, profile.arguments, Given(folder="/s"), names=("who",)) == (body, ())


@given(texts, texts, profiles)
def test_arguments_are_added_or_put_in_but_never_both_and_never_lost(
    body: str, arguments: str, profile: Profile
) -> None:
    plain = body.replace("$", "S")
    raw = arguments.strip()
    text, _ = substitute(plain, profile.arguments, Given(arguments=arguments))
    added = {"labelled": f"\n\nARGUMENTS: {raw}", "plain": f"\n\n{raw}", "never": ""}[
        profile.arguments.append
    ]
    if not profile.arguments.guard_marks:
        assert text == plain + (added if raw else "")
    if profile.arguments.placeholders and raw and not profile.arguments.guard_marks:
        # A blank before it, since a body that ends with a backslash would escape it.
        assert (
            substitute(f"{plain} $ARGUMENTS", profile.arguments, Given(arguments=raw))[0]
            == f"{plain} {raw}"
        )


@given(texts)
def test_prowess_s_words_hold_every_character_of_the_arguments_but_blanks_and_grouping_quotes(
    text: str,
) -> None:
    words = split_words(text)
    left = iter("".join(text.split()))
    kept = "".join("".join(words).split())
    dropped = []
    for character in kept:
        for found in left:
            if found == character:
                break
            dropped.append(found)
        else:
            pytest.fail(f"{character!r} is not in the arguments")
    dropped += list(left)
    assert set(dropped) <= {'"', "'"}
    assert len(dropped) % 2 == 0


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), max_size=6))
def test_words_without_blanks_and_quotes_come_back_as_they_were(words: list[str]) -> None:
    plain = [re.sub(r"[\s\"']", "x", word) for word in words]
    assert split_words(" ".join(plain)) == tuple(plain)


@given(texts, texts, profiles)
def test_filling_never_raises_and_never_reads_what_it_put_in(
    body: str, arguments: str, profile: Profile
) -> None:
    """What a placeholder became is found again, whole and in order, between the pieces of the body."""
    filling = Substitution(
        profile.arguments, Given(arguments=arguments, folder="/s"), names=("who",)
    )
    references = list(filling.find_references(body))
    assert [reference.start for reference in references] == sorted(
        {reference.start for reference in references}
    )
    expected, place = [], 0
    for reference in references:
        assert place <= reference.start < reference.end <= len(body)
        expected += [body[place : reference.start], reference.value]
        place = reference.end
    if not profile.arguments.guard_marks:
        assert filling.fill(body) == "".join(expected) + body[place:]


@given(texts, texts, texts)
def test_arguments_make_no_commands_and_unmake_none(body: str, one: str, other: str) -> None:
    spots = [spot.command for spot in find_commands(body).spots]
    for arguments in (one, other):
        try:
            assert [command.text for command in draft(body, arguments).commands] == spots
        except CommandRefused as refused:
            assert refused.command in spots


@given(texts)
def test_commands_do_not_overlap_and_stand_where_they_are_said_to_stand(body: str) -> None:
    place = 0
    for spot in find_commands(body).spots:
        assert place <= spot.start < spot.end <= len(body)
        assert body.startswith(("!`", "```!"), spot.start)
        assert body.endswith("`", 0, spot.end)
        place = spot.end


# What is put to a real shell

CONTEXTS = """\
printf '%s\\0' $ARGUMENTS
printf '%s\\0' "$ARGUMENTS"
printf '%s\\0' '$ARGUMENTS'
printf '%s\\0' $'$ARGUMENTS'
printf '%s\\0' pre"mid$ARGUMENTS"'x'$ARGUMENTS
X=$ARGUMENTS; printf '%s\\0' "$X" # isn't $ARGUMENTS
for x in $ARGUMENTS; do printf '%s\\0' "$x"; done
A=($ARGUMENTS b); printf '%s\\0' "${A[0]}"
if [ -n x$ARGUMENTS ]; then printf '%s\\0' $ARGUMENTS; fi
[[ -n x && x$ARGUMENTS == x* ]] && printf '%s\\0' $ARGUMENTS
bash -c 'printf "%s\\0" "$1"' _ $ARGUMENTS
(printf '%s\\0' $ARGUMENTS) 2>&1 | cat
cat <(printf '%s\\0' $ARGUMENTS)
cat <<E
$ARGUMENTS
E
"""
PAYLOADS = [
    "; touch pwned", "$(touch pwned)", "`touch pwned`", "'; touch pwned; '", '"; touch pwned; "', "\ntouch pwned\n",
    "a[$(touch pwned)]", "E\ntouch pwned\nE", "| touch pwned", "${x:=$(touch pwned)}", "() { :; }; touch pwned", "\\", "*",
    "~", "-n", "%s", "{a,b}", "!", "\x01", "\x7f", "\r", "\u2028", "𝕏",
]  # fmt: skip
hostile = st.lists(
    st.sampled_from(PAYLOADS)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8),
    min_size=1,
    max_size=6,
).map("".join)


@cache
def _runner() -> ProcessRunner:
    return ProcessRunner(current_facts())


@pytest.mark.slow
@pytest.mark.needs("bash")
@settings(max_examples=60)
@given(hostile)
def test_an_argument_of_any_text_reaches_a_real_bash_unchanged_and_runs_nothing(
    tmp_path_factory: pytest.TempPathFactory, argument: str
) -> None:
    folder = tmp_path_factory.mktemp("empty")
    planned = draft(f"```!\n{CONTEXTS}```", argument, facts=current_facts(), cwd=str(folder))
    finished = _runner().run(planned.commands[0])
    raw = argument.strip()
    plain = [raw, raw, raw, raw, f"premid{raw}x{raw}", *[raw] * 8]
    assert finished.output == "".join(f"{value}\0" for value in plain) + f"{raw}\n"
    assert (finished.code, list(Path(folder).iterdir())) == (0, [])


# Scripts made of places: a piece of a word that holds `@`, and what a word or a command may stand
# in.

PIECES_OF_WORDS = [
    "$ARGUMENTS", '"$ARGUMENTS"', "'$ARGUMENTS'", "$'$ARGUMENTS'", '"${X:-$ARGUMENTS}"', '"$(printf %s @)"',
    '"$(case x in x) printf %s @;; esac)"', '"$(case y in (x|z) ;; y) printf %s @; esac)"', '"`printf %s @`"',
    '"`printf %s \\"$ARGUMENTS\\"`"', '"$(cat <<E\n$ARGUMENTS\nE\n)"', "\"$(cat <<'E'\n$ARGUMENTS\nE\n)\"",
    '"$( # it\'s\nprintf %s @)"', '"$([[ a =~ (a|b) ]] && printf %s @)"', "$\"$ARGUMENTS\"", '"$(f() { printf %s "\\$1"; }; f @)"',
    '"$(X=@; printf %s "$X")"', '"$(A=(x @); printf %s "${A[1]}")"', '"$(for x in @; do printf %s "$x"; done)"',
    '"$(bash -c \'printf %s "$1"\' _ @)"', '"$(printf %s @ | cat)"', '"$(cat < <(printf %s @))"', '"${Y#\'}\'}$ARGUMENTS"',
    '"$(X=@; printf %s "${X:0:99999}")"', '"$(X=@; printf %s "${X/a[0]/b}" >/dev/null; printf %s @)"', '""@""',
]  # fmt: skip
FRAMES = [
    "printf %s @ > got", "if true; then printf %s @ > got; fi", "case x in x) printf %s @ > got;; esac", "(printf %s @) > got",
    "{ printf %s @; } > got", "f() { printf %s @ > got; }; f", "true && ! false && printf %s @ > got", "# it's\nprintf %s @ > got",
    "X=@; printf %s \"$X\" > got", "for i in 1; do printf %s @; done > got", "while true; do printf %s @ > got; break; done",
    "env A=1 printf %s @ > got", "[[ a < b && -n x ]] && printf %s @ > got", "((1)); printf %s \\\n @ > got",
    "cat <<'A' > /dev/null; printf %s @ > got\n$(x) `\nA", "echo it\\'s \"a'b\" > /dev/null; printf %s @ > got",
    "eval printf %s @ > got", "printf %s @ | bash > got", "X=@; echo $((X)) > got", "bash -c \"printf %s @\" > got",
]  # fmt: skip


def nest(pieces: list[str], frame: str) -> str:
    """A script in which the pieces stand in one another, in a frame."""
    script = frame
    for piece in pieces:
        script = script.replace("@", piece)
    return script.replace("@", "$ARGUMENTS")


scripts = st.builds(
    nest, st.lists(st.sampled_from(PIECES_OF_WORDS), max_size=3), st.sampled_from(FRAMES)
)


@pytest.mark.slow
@pytest.mark.needs("bash")
@settings(max_examples=150)
@given(scripts, hostile)
def test_in_a_script_of_any_quoting_an_argument_is_refused_or_arrives_unchanged_and_runs_nothing(
    tmp_path_factory: pytest.TempPathFactory, script: str, argument: str
) -> None:
    folder = Path(tmp_path_factory.mktemp("empty"))
    try:
        planned = draft(f"```!\n{script}\n```", argument, facts=current_facts(), cwd=str(folder))
    except CommandRefused:
        return
    finished = _runner().run(planned.commands[0])
    # What a command writes loses the line ends behind it when it becomes a word; an argument has
    # none there.
    raw = argument.strip()
    assert (finished.output, finished.code) == ("", 0)
    assert {one.name: one.read_bytes() for one in folder.iterdir()} == {"got": raw.encode()}


@pytest.mark.parametrize("frame", FRAMES[:16])
@pytest.mark.parametrize(
    "piece", ["$ARGUMENTS", '"$ARGUMENTS"', "'$ARGUMENTS'", '"$(printf %s @)"']
)
def test_plain_scripts_of_that_grammar_are_not_refused(frame: str, piece: str) -> None:
    assert len(draft(f"```!\n{nest([piece], frame)}\n```", "x").commands) == 1
