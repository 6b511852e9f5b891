"""Scripts: replayed to the letter, refused with a line where they are wrong, and recorded."""

from __future__ import annotations

import json

import pytest

from prowess.agent.script import Script, ScriptedAnswer, ScriptedCall, load_script
from prowess.errors import MachineError
from prowess.errors.agent import ScriptError
from prowess.machine.files import LocalFiles
from tests.agent.studio import call, say


def load(tmp_path, text):
    path = tmp_path / "s.jsonl"
    path.write_text(text, encoding="utf-8")
    return load_script(str(path), LocalFiles())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", ':1: the first line must be `{"prowess-script": 1}`.'),
        ("[]\n", ':1: the first line must be `{"prowess-script": 1}`.'),
        ('{"prowess-script": 2}\n', ":1: it has version 2; this Prowess reads version 1."),
        (
            '{"prowess-script": 1}\n\n{"txt": "x"}\n',
            ":3: Object contains unknown field `txt`.",
        ),
        ('{"prowess-script": 1}\n{}\n', ":2: an answer needs a `text` or `calls`."),
        ('{"prowess-script": 1}\n{"text": 3}\n', ":2: Expected `str`, got `int` - at `$.text`."),
    ],
)
def test_a_script_that_cannot_be_read_is_an_error_with_its_line(tmp_path, text, problem):
    with pytest.raises(ScriptError) as error:
        load(tmp_path, text)
    assert str(error.value) == f"{tmp_path}/s.jsonl{problem}"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b'{"prowess-script\xff": 1}\n', ':1: the first line must be `{"prowess-script": 1}`.'),
        (b'{"prowess-script": 1}\n{"text": "\xff"}\n', ":2: the line is not valid UTF-8."),
    ],
)
def test_a_script_with_bytes_that_are_not_text_is_an_error_with_its_line(tmp_path, data, problem):
    path = tmp_path / "s.jsonl"
    path.write_bytes(data)
    with pytest.raises(ScriptError) as error:
        load_script(str(path), LocalFiles())
    assert str(error.value) == f"{path}{problem}"


def test_a_script_that_is_not_there_is_an_error_of_the_machine(tmp_path):
    with pytest.raises(MachineError):
        load_script(str(tmp_path / "none"), LocalFiles())


def test_answers_are_given_in_order_to_the_agent_they_are_for(tmp_path):
    lines = [say("a"), {**say("c"), "agent": "child"}, say("b")]
    text = "\n".join(json.dumps(line) for line in ({"prowess-script": 1}, *lines))
    script = load(tmp_path, text)
    assert [script.take(agent, "").text for agent in ("", "", "child")] == ["a", "b", "c"]
    with pytest.raises(ScriptError, match="no answer of the agent “child” is left"):
        script.take("child", "")


def test_a_request_that_lacks_what_is_expected_ends_the_turn(studio):
    ended, _ = studio.run({**say("x"), "expect": ["Do it."]})
    assert (ended.status, ended.answer) == ("done", "x")
    ended, _ = studio.run({**say("x"), "expect": ["Do that."]})
    assert (ended.status, ended.reason.endswith("does not contain “Do that.”")) == ("failed", True)


def test_a_script_that_is_used_up_ends_the_turn(studio):
    studio.write("a.txt", "A\n")
    ended, _ = studio.run(call("Read", file_path="a.txt"))
    assert ended.status == "failed"
    assert "the model was asked again, but no answer is left" in ended.reason


def test_a_recording_replays_the_same(studio, tmp_path):
    studio.write("a.txt", "A\n")
    answers = [
        {"thinking": "Hm.", "text": "I look.", **call("Read", file_path="a.txt")},
        say("It has an 旗."),
    ]
    record = tmp_path / "deep" / "record.jsonl"
    first, events = studio.run(*answers, record=str(record))
    lines = record.read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0]) == {"prowess-script": 1}
    assert [json.loads(line) for line in lines[1:]] == [
        {
            "thinking": "Hm.",
            "text": "I look.",
            "calls": [{"tool": "Read", "input": {"file_path": "a.txt"}}],
        },
        {"text": "It has an 旗."},
    ]
    second, again = studio.run(model=f"script:{record}")
    assert second == first
    kinds = [type(event) for event in events]
    assert [type(event) for event in again] == kinds


@pytest.mark.parametrize(
    ("answers", "count", "left"),
    [
        (["a", "b", "c"], 1, ["b", "c"]),
        (["a", "b", "c"], 3, ["c"]),
        (["a", "b", "c"], 9, ["c"]),
        (["a", "b", None], 3, []),
        ([], 1, []),
    ],
)
def test_a_script_that_goes_on_keeps_its_last_words_but_repeats_no_call(answers, count, left):
    called = (ScriptedCall(tool="Bash"),)
    lines = [ScriptedAnswer(text=one) if one else ScriptedAnswer(calls=called) for one in answers]
    script = Script("s", enumerate(lines))
    script.skip("", count)
    assert [script.take("", "").text for _ in left] == left
    with pytest.raises(ScriptError, match="no answer is left"):
        script.take("", "")
