"""`/keybindings`: the key file is changed as a whole, with clashes and reserved keys refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from prowess.agent import Session
from prowess.agent.events import Event, ToolFinished
from prowess.agent.key_bindings import KEYS, parse_keys
from prowess.agent.shipped.key_tools import KeyTools
from prowess.errors import ProwessError
from prowess.runtime import Skills
from prowess.supply.bundled import BundledSource
from tests.agent.studio import Asked, Studio, call, pick, say

KEY_FILE = "home/.prowess/keybindings.toml"


@pytest.mark.seed("C-107")
def test_keys_are_changed_with_a_difference_and_a_backup(studio: Studio) -> None:
    studio.workspace.write("home/.config/prowess/prowess.toml", "[features]\nkeybindings = true\n")
    file = studio.workspace.write(KEY_FILE, '# mine\nunfold = ["f2"]\n')
    script = studio.script(
        call("ListKeys"),
        call("SetKeys", keys={"send": ["ctrl+o"], "follow-up": ["Alt+F", "f5"]}),
        say("Done."),
    )
    skills = Skills(studio.project, facts=studio.facts, cache=False, sources=(BundledSource(),))
    asked, events = Asked(), list[Event]()
    with Session(skills, model=script, approver=asked) as session:
        ended = session.run("/keybindings send with Ctrl+O", on_event=events.append)
    assert ended.status == "done", ended.reason
    listed, changed = [one.output for one in pick(events, ToolFinished)]
    assert "unfold: F2 (Show the last call of a tool in full.)" in listed
    assert "cancel" not in listed
    [request] = asked.requests
    assert '+send = ["ctrl+o"]' in str(request.metadata["diff"])
    text = file.read_text()
    assert "# mine\n" in text
    bindings = parse_keys(text, "keys")
    assert bindings["send"].keys == (("c-o",),)
    assert (bindings["follow-up"].keys, bindings["follow-up"].labels) == (
        (("escape", "f"), ("f5",)),
        ("Alt+F", "F5"),
    )
    assert bindings["new-line"] == KEYS["new-line"]
    [backup] = Path(changed.rpartition(" is in ")[2].rstrip(".")).iterdir()
    assert backup.read_text() == '# mine\nunfold = ["f2"]\n'


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"send": ["ctrl+o"]}, "Ctrl+O is the key of both `send` and `unfold`"),
        ({"send": ["ctrl+c"]}, "Ctrl+C is reserved: it always cancels"),
        ({"send": ["Ctrl+M"]}, "Ctrl+M is the same as Enter in a terminal"),
        ({"new-line": ["ctrl+enter"]}, "Ctrl+Enter is the key of both `follow-up` and"),
        ({"send": ["a"]}, "A can't be used as a key of the chat; use Ctrl or Alt"),
        ({"send": []}, "`send` needs a key"),
        ({"cancel": ["f5"]}, "the key of `cancel` can't be changed; it is Ctrl+C"),
        ({"snd": ["f5"]}, "there is no action `snd`; did you mean `send`?"),
        ({}, "Name at least one action"),
    ],
)
def test_a_key_that_is_taken_or_reserved_is_refused_and_nothing_is_written(
    studio: Studio, keys: dict[str, list[str]], problem: str
) -> None:
    with pytest.raises(ProwessError) as raised:
        KeyTools(studio.skills()).set_keys(keys)
    assert problem in str(raised.value)
    assert not Path(studio.workspace.path(KEY_FILE)).exists()


def test_two_actions_can_swap_their_keys(studio: Studio) -> None:
    plan = KeyTools(studio.skills()).set_keys({"send": ["ctrl+o"], "unfold": ["enter"]})
    assert plan.run is not None
    plan.run(lambda: False)
    bindings = parse_keys(Path(studio.workspace.path(KEY_FILE)).read_text(), "keys")
    assert (bindings["send"].keys, bindings["unfold"].keys) == ((("c-o",),), (("enter",),))


@pytest.mark.parametrize("text", ["send = 1\n", "send = [1]\n", "send\n", "[send]\na = 1\n"])
def test_a_key_file_of_the_wrong_shape_is_an_error_with_its_name(text: str) -> None:
    with pytest.raises(ProwessError, match=r"keys\.toml"):
        parse_keys(text, "keys.toml")
