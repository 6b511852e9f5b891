"""Laws of activation, through the real surface: what no input can change."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prowess.errors import ProwessError
from prowess.errors.activation import CommandRefused
from prowess.model.outcome import Note, Outcome, State
from prowess.model.skill import Candidate, LoadedFrom, Root, Scope, Source
from tests.workspace import Workspace, skill_text

# One file is written and read again by each example, which is what is wanted here.
# Those of a test replace those of the profile, so that slow drawing is named here again.
UNSUITABLE = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow)
slow = settings(max_examples=60, suppress_health_check=UNSUITABLE)
text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200)
ROOT = "home/.prowess/skills"


@pytest.fixture(scope="module")
def place() -> Iterator[Workspace]:
    folder = Path(tempfile.mkdtemp())
    yield Workspace(folder)
    shutil.rmtree(folder)


@slow
@given(body=text.filter(lambda body: "$" not in body and "!" not in body))
def test_a_body_without_placeholders_is_given_as_it_is(place: Workspace, body: str) -> None:
    place.write("home/.claude/skills/x/SKILL.md", skill_text("x", body=f"B{body}"))
    made = place.open("claude-code", env={"PROWESS_NO_USAGE": "1"}).activate("x")
    folder = place.path("home/.claude/skills/x")
    assert made.text == f"Base folder of this skill: {folder}\n\nB{body}"


@settings(max_examples=300, suppress_health_check=UNSUITABLE)
@given(
    parts=st.lists(
        st.sampled_from(
            ["..", ".", "a", "a.md", "link", "deep", "%2e%2e", "%2E.", "..%2f", "%2f", "\\", "..\\", "/", "", "C:", "~",
             "%00", "%25", ":1-3", "?", "#", "skill:", "SKILL.md", "secret", "up", "%5c.."]
        ) | st.text(max_size=4),
        max_size=6,
    ),
    glue=st.sampled_from(["/", "", "%2f", "\\"]),
)  # fmt: skip
def test_no_address_leads_out_of_its_skill(place: Workspace, parts: list[str], glue: str) -> None:
    folder = place.root / ROOT / "pdf"
    if not folder.exists():
        place.skill(f"{ROOT}/pdf")
        place.write(f"{ROOT}/pdf/a.md", "inside")
        place.write(f"{ROOT}/pdf/deep/a.md", "inside")
        place.write(f"{ROOT}/secret", "OUTSIDE")
        place.write("home/.prowess/secret", "OUTSIDE")
        place.write("project/a", "OUTSIDE")
        place.link(f"{ROOT}/pdf/link", place.path(f"{ROOT}/secret"))
        place.link(f"{ROOT}/pdf/deep/up", place.path("home/.prowess"))
    skills = place.open(env={"PROWESS_NO_USAGE": "1"})
    try:
        found = skills.read(f"skill://pdf/{glue.join(parts)}")
    except ProwessError as error:
        assert "OUTSIDE" not in str(error)
        return
    assert "OUTSIDE" not in found.content
    real = os.path.realpath(found.path)
    assert real == str(folder) or real.startswith(f"{folder}/")


@pytest.mark.needs("bash")
@settings(max_examples=40, suppress_health_check=UNSUITABLE)
@given(
    argument=text
    | st.sampled_from(
        ["$(touch ran)", "`touch ran`", "; touch ran", "' ; touch ran '", '"$(id)"', "\\"]
    )
)
def test_an_argument_of_any_text_reaches_a_real_bash_unchanged_and_runs_nothing(
    place: Workspace, argument: str
) -> None:
    place.skill(
        f"{ROOT}/say",
        body="!`printf '[%s]' $ARGUMENTS > out; printf '[%s]' \"$ARGUMENTS\" >> out`\n",
        shell="bash",
    )
    skills = place.open(
        cwd="shell", bins=["bash"], env={"PROWESS_NO_USAGE": "1", "PATH": os.environ["PATH"]}
    )
    given_ = argument.strip()
    if given_.startswith("-"):
        # A program could read it as an option, and the header does not allow that.
        with pytest.raises(CommandRefused):
            skills.activate("say", argument)
        return
    skills.activate("say", argument)
    assert (place.root / "shell" / "out").read_bytes().decode() == f"[{given_}]" * 2
    assert sorted(path.name for path in (place.root / "shell").iterdir()) == ["out"]


SOURCE = Source("x", "user", "/r", LoadedFrom.SKILLS, "x:user")
CANDIDATE = Candidate(
    "/r/a/SKILL.md", "/r/a", "a", Root(path="/r", scope=Scope.USER, source=SOURCE, order=0), None
)
NOTES = st.lists(
    st.sampled_from([state for state in State if state is not State.READY]).map(
        lambda state: Note(state, state.value)
    ),
    max_size=5,
)


@given(notes=NOTES, gone=st.sampled_from(list(State)))
def test_an_obstacle_that_goes_leaves_exactly_the_others(notes: list[Note], gone: State) -> None:
    before = Outcome.conclude(CANDIDATE, "a", None, list(notes), ())
    after = before.without(gone)

    def obstacles(outcome: Outcome) -> list[State]:
        own = [] if outcome.state is State.READY else [outcome.state]
        return sorted((*own, *(note.state for note in outcome.notes)))

    assert obstacles(after) == [state for state in obstacles(before) if state is not gone]
    assert after.without(gone) is after
    assert (after.candidate, after.name, after.skill) == (
        before.candidate,
        before.name,
        before.skill,
    )


@slow
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["load", "type", "touch", "forget", "compact"]), text), max_size=8
    )
)
def test_a_conversation_that_was_saved_goes_on_as_the_same(
    place: Workspace, steps: list[tuple[str, str]]
) -> None:
    if not (place.root / ROOT / "one").exists():
        place.skill(f"{ROOT}/one", body="Do $ARGUMENTS\n")
        place.skill(f"{ROOT}/two", paths="'*.py'")
    skills = place.open(env={"PROWESS_NO_USAGE": "1"})
    first = skills.conversation()
    for step, given_ in steps:
        if step == "load":
            first.activate("one", given_, by="model")
        elif step == "type":
            first.run(f"/one {given_}")
        elif step == "touch":
            first.touched(f"{given_}.py")
        elif step == "forget":
            first.forget("one")
        else:
            first.compact()
    saved = first.save()
    second = skills.conversation(saved=saved)
    assert (second.ledger, second.save(), second.diagnostics) == (first.ledger, saved, ())
    assert [o.state for o in second.snapshot.outcomes] == [o.state for o in first.snapshot.outcomes]


@settings(max_examples=150, suppress_health_check=UNSUITABLE)
@given(
    name=st.text(max_size=12) | st.sampled_from(["one", "/one", "two"]),
    arguments=st.text(max_size=60),
)
def test_whatever_a_model_calls_the_tool_with_there_is_an_answer(
    place: Workspace, name: str, arguments: str
) -> None:
    place.skill(f"{ROOT}/one", body="Do $ARGUMENTS, $0 and $1\n")
    conversation = place.open(env={"PROWESS_NO_USAGE": "1"}).conversation()
    answer = conversation.tool().answer({"name": name, "arguments": arguments})
    assert answer.is_error is (answer.activation is None)
    assert conversation.save()


@settings(max_examples=150, suppress_health_check=UNSUITABLE)
@given(
    typed=st.text(max_size=40)
    | st.text(max_size=30).map("/one {}".format)
    | st.text(max_size=30).map("$one {}".format)
)
def test_whatever_a_user_types_there_is_an_answer(place: Workspace, typed: str) -> None:
    place.skill(f"{ROOT}/one", body="Do $ARGUMENTS, $0 and $1\n")
    conversation = place.open(env={"PROWESS_NO_USAGE": "1"}).conversation()
    assert conversation.run(typed) is not None
    assert isinstance(conversation.complete(typed), tuple)
