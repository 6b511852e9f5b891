"""Sessions on disk: they go on after the program has ended, in whichever way."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from prowess.agent.events import Event, SessionStarted, TextDelta, ToolFinished, Warned
from prowess.agent.session_file import list_sessions, load_session
from prowess.errors import MachineError, UsageError
from prowess.machine.append_file import AppendFile
from tests.agent.studio import Asked, Studio, call, pick, say
from tests.agent.test_session import Seen


def resume(studio: Studio, session_id: str, *answers, fork: bool = False, **options):
    saved = load_session(studio.facts, session_id)
    return studio.open(*answers, resume=saved, fork=fork, **options)


def list_texts(seen: Seen, request: int = -1) -> list[str]:
    messages = seen.messages[request]
    return [str(getattr(part, "content", "")) for message in messages for part in message.parts]


def test_a_session_goes_on_where_it_ended(studio):
    studio.write("a.txt", "A\n")
    first = studio.open(call("Read", file_path="a.txt"), say("It is A."))
    first.run("What is in a.txt?")
    first.close()
    seen = Seen("As I said.")
    events: list[Event] = []
    second = resume(studio, first.id, model=seen.model)
    assert second.run("And now?", on_event=events.append).answer == "As I said."
    assert (second.id, pick(events, SessionStarted)[0].resumed) == (first.id, True)
    texts = [text for text in list_texts(seen) if text]
    assert texts == ["What is in a.txt?", "     1\tA", "It is A.", "And now?"]
    second.close()
    saved = load_session(studio.facts, first.id)
    assert [(turn.number, turn.text) for turn in saved.turns] == [
        (1, "What is in a.txt?"),
        (2, "And now?"),
    ]


def test_a_turn_that_failed_is_kept_with_all_that_comes_after_it(studio):
    first = studio.open(say("1"))
    first.run("one")
    # The script has no more answers.
    assert first.run("two").status == "failed"
    first.close()
    second = resume(studio, first.id, say("3"))
    second.run("three")
    second.close()
    saved = load_session(studio.facts, first.id)
    assert (saved.is_damaged, len(saved.turns)) == (False, 3)
    seen = Seen("4")
    resume(studio, first.id, model=seen.model).run("four")
    assert [text for text in list_texts(seen) if text] == ["one", "1", "two", "three", "3", "four"]


@pytest.mark.parametrize("number", [0, 1])
def test_a_session_with_bytes_that_are_not_text_is_damaged_and_ends_nothing(studio, number):
    session = studio.open(say("1"), say("2"))
    session.run("one")
    session.run("two")
    session.close()
    (file,) = Path(studio.facts.home).rglob(f"{session.id}.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    lines[number] = lines[number].replace(b'"', b'"\xff', 1)
    file.write_bytes(b"".join(lines))
    if number == 0:
        with pytest.raises(UsageError, match="There is no session"):
            load_session(studio.facts, session.id)
        assert list_sessions(studio.facts) == []
    else:
        assert load_session(studio.facts, session.id).is_damaged
        assert [saved.header.id for saved in list_sessions(studio.facts)] == [session.id]


def test_loaded_skills_are_known_after_a_resume(studio):
    studio.skill("charts", paths="charts/**", description="Charts.")
    studio.write("charts/a", "x\n")
    first = studio.open(call("Read", file_path="charts/a"), say("1"))
    first.run("x")
    first.close()
    seen = Seen()
    second = resume(studio, first.id, model=seen.model)
    second.run("y")
    # A skill that woke stays awake.
    assert "- charts: Charts." in seen.instructions[0] + str(seen.messages[0])


def test_a_fork_leaves_its_parent_alone(studio):
    first = studio.open(say("1"))
    first.run("one")
    first.close()
    seen = Seen("2")
    child = resume(studio, first.id, model=seen.model, fork=True)
    child.run("two")
    child.close()
    assert list_texts(seen) == ["one", "1", "two"]
    parent, forked = (load_session(studio.facts, id) for id in (first.id, child.id))
    assert ([turn.text for turn in parent.turns], [turn.text for turn in forked.turns]) == (
        ["one"],
        ["one", "two"],
    )
    assert forked.header.parent == first.id


def test_sessions_are_listed_newest_first_for_their_folder(studio):
    for text in ("one", "two"):
        session = studio.open(say("x"))
        session.run(text)
        session.close()
        time.sleep(0.02)
    listed = list_sessions(studio.facts, cwd=str(studio.project))
    assert [one.title for one in listed] == ["two", "one"]
    assert list_sessions(studio.facts, cwd="/elsewhere") == []
    with pytest.raises(UsageError, match="There is no session “none”"):
        load_session(studio.facts, "none")
    with pytest.raises(UsageError):
        load_session(studio.facts, "../../etc/passwd")


def test_the_files_of_sessions_are_private_and_hidden_from_commands(studio):
    session = studio.open(say("x"))
    session.run("secret")
    folder = studio.workspace.home / ".local/state/prowess/sessions"
    (file,) = folder.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    done = studio.use("Bash", rules={"allow": ["Bash"]}, command=f"cat {file}; ls {folder}")
    assert "secret" not in done.output


def test_without_keep_nothing_is_written(studio):
    studio.run(say("x"), keep=False)
    assert list_sessions(studio.facts) == []


def test_a_call_of_unknown_outcome_is_shown_told_to_the_model_and_not_repeated(studio):
    session = studio.open(
        call("Bash", command="echo x >> log"), say("1"), rules={"allow": ["Bash"]}
    )
    session.run("one")
    session.close()
    path = studio.workspace.home / f".local/state/prowess/sessions/{session.id}.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    kinds = [json.loads(line).get("kind") for line in lines]
    # As if it had been killed while the command ran, in the middle of a write.
    path.write_text("".join(lines[: kinds.index("call") + 1]) + '{"kind":"resu')
    seen = Seen("I look first.")
    events: list[Event] = []
    again = resume(studio, session.id, model=seen.model)
    again.run("go on", on_event=events.append)
    (warning,) = pick(events, Warned)
    assert (warning.code, "Bash echo x >> log" in warning.message) == ("unknown-outcome", True)
    assert "It is unknown whether they were done:\n- Bash echo x >> log" in list_texts(seen)[-1]
    assert studio.read("log") == "x\n"
    again.close()
    assert load_session(studio.facts, session.id).unknown == ()


def test_a_call_that_cannot_be_written_down_does_not_run(studio, monkeypatch):
    real = AppendFile.append

    def refuse(self, line, *, sync=False):
        if b'"kind":"call"' in line:
            raise MachineError("write", self.path, "No space left on device")
        real(self, line, sync=sync)

    monkeypatch.setattr(AppendFile, "append", refuse)
    ended, events = studio.run(
        call("Bash", command="touch x"), say("It failed."), rules={"allow": ["Bash"]}
    )
    assert [one.outcome for one in pick(events, ToolFinished)] == ["failed"]
    assert (ended.status, (studio.project / "x").exists()) == ("done", False)


def test_a_full_disk_ends_the_turn_with_a_reason(studio, monkeypatch):
    session = studio.open(say("x"))

    def refuse(self, line, *, sync=False):
        raise MachineError("write", self.path, "No space left on device")

    monkeypatch.setattr(AppendFile, "append", refuse)
    events: list[Event] = []
    ended = session.run("x", on_event=events.append)
    assert (ended.status, "No space left on device" in ended.reason) == ("failed", True)
    assert [one.code for one in pick(events, Warned)] == ["session-not-saved"]


def test_an_approver_is_asked_again_after_a_resume(studio):
    session = studio.open(say("1"))
    session.run("x")
    session.close()
    asked = Asked()
    again = resume(studio, session.id, call("Bash", command="echo a"), say("2"), approver=asked)
    again.run("y")
    assert len(asked.requests) == 1


def test_an_unknown_outcome_is_kept_until_the_model_has_been_told(studio):
    session = studio.open(call("Bash", command="echo x"), say("1"), rules={"allow": ["Bash"]})
    session.run("one")
    session.close()
    path = studio.workspace.home / f".local/state/prowess/sessions/{session.id}.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    kinds = [json.loads(line).get("kind") for line in lines]
    path.write_text("".join(lines[: kinds.index("call") + 1]))
    # Neither a model that is not installed nor a skill that runs apart tells the model.
    broken = resume(studio, session.id, model="nobody:x")
    assert broken.run("go on").status == "failed"
    broken.close()
    studio.skill("apart", context="fork")
    apart = resume(studio, session.id, {**say("Apart."), "agent": "apart"})
    assert apart.run("/apart").answer == "Apart."
    apart.close()
    for is_told in (True, False):
        seen = Seen("I look first.")
        events: list[Event] = []
        again = resume(studio, session.id, model=seen.model)
        again.run("go on", on_event=events.append)
        again.close()
        codes = [one.code for one in pick(events, Warned)]
        assert codes == (["unknown-outcome"] if is_told else [])
        assert ("- Bash echo x" in list_texts(seen)[-1]) is is_told


def test_a_skill_that_ran_apart_is_part_of_the_session(studio):
    studio.skill("apart", context="fork")
    session = studio.open({**say("It is blue."), "agent": "apart"})
    events: list[Event] = []
    session.run("/apart now", on_event=events.append)
    session.close()
    own = [one.text for one in pick(events, TextDelta) if not one.agent]
    assert own == ["It is blue."]
    seen = Seen("Blue, I said.")
    resume(studio, session.id, model=seen.model).run("Which colour?")
    assert list_texts(seen) == ["/apart now", "It is blue.", "Which colour?"]
