"""`prowess chat` without a terminal: lines in, answers out, and its local commands."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tomllib
from itertools import pairwise
from typing import Any

import pytest

from prowess.cli.chat.local_commands import ALIASES, COMMANDS, find_local, load_local
from prowess.cli.chat.markdown_blocks import MarkdownBlocks
from prowess.cli.chat.mentions import find_mentions, quote_mention
from prowess.cli.chat.terminal_text import find_breaks
from tests.cli.terminal import Answer, Terminal

pytest.importorskip("pydantic_ai")
pytest.importorskip("prompt_toolkit")


def script(terminal: Terminal, *answers: dict[str, Any]) -> str:
    lines = [{"prowess-script": 1}, *answers]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    terminal.write("script.jsonl", text)
    return f"script:{terminal.root}/script.jsonl"


def call(tool: str, **input: object) -> dict[str, Any]:
    return {"calls": [{"tool": tool, "input": input}]}


@pytest.fixture
def say(terminal: Terminal, monkeypatch: pytest.MonkeyPatch):
    """Type lines into a chat, through a pipe."""

    def type_lines(*lines: str, options: tuple[str, ...] = ()) -> Answer:
        data = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return terminal.run("chat", *options)

    return type_lines


def test_a_pipe_gets_plain_text_and_the_code_of_what_went_wrong(terminal, say):
    model = script(
        terminal,
        {"text": "**One**, 一。"},
        call("Write", file_path="a", content="x"),
        {"text": "Two."},
        {"text": "Three."},
    )
    answer = say("first", "", "second", "third", options=("--model", model))
    assert (answer.code, answer.out) == (5, "**One**, 一。\nTwo.\nThree.\n")
    assert "\x1b" not in answer.out + answer.err
    assert "refused: Write needs approval" in answer.err


def test_json_is_events_and_nothing_else(terminal, say):
    model = script(terminal, {"text": "One."}, {"text": "Two."})
    answer = say("a", "/context", "b", options=("--model", model, "--json"))
    events = [json.loads(line)["event"] for line in answer.out.splitlines()]
    assert (answer.code, events.count("turn-ended"), events[0]) == (0, 2, "session-started")


def test_a_line_that_is_not_text_is_refused_and_the_next_one_is_not(terminal, say):
    answer = say("\udcff", "ok", options=("--model", script(terminal, {"text": "Fine."})))
    assert (answer.code, answer.out) == (0, "Fine.\n")
    assert "The line is not valid UTF-8." in answer.err


def test_a_chat_goes_on_where_it_was(terminal, say):
    options = ("--model", script(terminal, {"text": "Yes."}))
    say("hello", options=options)
    assert say("again", options=(*options, "--continue")).out == "Yes.\n"
    answer = say("/clear", "and again", options=(*options, "--continue"))
    assert answer.out == "The model has forgotten the conversation so far.\nYes.\n"
    (session,) = terminal.json("sessions")["sessions"]
    assert (session["turns"], session["title"]) == (3, "hello")
    assert say("new", options=(*options, "--continue", "--fork")).code == 0
    assert len(terminal.json("sessions")["sessions"]) == 2


def test_a_cleared_chat_names_the_tasks_whose_report_does_not_come(terminal, say):
    options = ("--model", script(terminal, {"text": "Yes."}))
    say("hello", options=options)
    (session,) = terminal.json("sessions")["sessions"]
    path = terminal.home / f".local/state/prowess/sessions/{session['id']}.jsonl"
    with path.open("a") as file:
        file.write('{"kind":"job","job":"1116-1","name":"apart"}\n')
    answer = say("/clear", "/clear", options=(*options, "--continue"))
    assert answer.err.count("“apart” cannot arrive here; see `prowess jobs show 1116-1`") == 1


def test_without_a_model_nothing_pretends_to_be_one(terminal, say):
    terminal.skill("project/.agents/skills/tides", description="Reads tide tables.", body="Read.\n")
    answer = say("read the tide tables", "/tides now", "/nothing")
    assert "The skill “tides” fits best" in answer.err
    assert "No model is configured." in answer.err
    assert answer.out.count("Read.\n") == 2
    assert "“/nothing” is not a command here" in answer.err


def test_another_model_and_other_rules_while_it_goes_on(terminal, say):
    other = script(terminal, call("Bash", command="echo hi"), {"text": "Said hi."})
    terminal.write("other.jsonl", (terminal.root / "script.jsonl").read_text())
    model = script(terminal, {"text": "First."})
    assert other == model
    answer = say(
        "one",
        f"/model script:{terminal.root}/other.jsonl",
        "/permissions allow Bash(echo *)",
        "/permissions",
        "two",
        "/model nonsense",
        "/permissions maybe x",
        "/quit",
        "never",
        options=("--model", model),
    )
    assert answer.code == 0
    assert answer.out.splitlines()[0] == "First."
    assert answer.out.splitlines()[-1] == "Said hi."
    assert "allow  Bash(echo *)  this chat" in answer.out
    assert "nonsense" in answer.err
    assert "Write `/permissions allow|ask|deny RULE`" in answer.err


def test_a_command_that_does_not_exist_is_not_sent(terminal, say):
    terminal.skill("project/.agents/skills/help", description="Helps.", body="Help.\n")
    model = script(terminal, {"text": "1", "expect": ["/etc/hosts"]}, {"text": "2"})
    lines = ("/hlp", "/etc/hosts is a file", "/skill:help")
    answer = say(*lines, options=("--model", model))
    assert answer.out == "1\n2\n"
    assert "There is no command “/hlp”. Did you mean /help?" in answer.err
    # The chat's own command comes first; the skill has another spelling.
    assert "+ skill help" in answer.err


@pytest.mark.seed("C-137")
def test_skills_is_a_local_command_whose_code_is_loaded_when_it_is_called(terminal):
    assert COMMANDS["skills"].summary.startswith("List the available skills")
    assert find_local("/skills tide") == ("skills", "tide")
    code = (
        "import sys; sys.argv = ['prowess']\n"
        "from prowess.cli.chat import chat, local_commands\n"
        "name = 'prowess.cli.chat.commands.skills'\n"
        "before = name in sys.modules\n"
        "local_commands.load_local('skills')\n"
        "print(before, name in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"


@pytest.mark.seed("C-138")
def test_skills_shows_every_skill_with_source_state_and_description(terminal, say):
    terminal.skill("project/.claude/skills/tides", description="Reads tide tables.")
    terminal.skill("home/.claude/skills/ports", description="Knows harbours.")
    terminal.write("project/.claude/skills/broken/SKILL.md", "---\nname: [\n---\n")
    model = script(terminal, {"text": "never"})
    options = ("--model", model, "--host", "claude-code@documented")
    answer = say("/skills", "/skills harbour", options=options)
    rows = [line.split() for line in answer.out.splitlines()]
    heading = ["NAME", "STATE", "SWITCH", "SCOPE", "SOURCE", "TOKENS", "DESCRIPTION"]
    assert rows[0] == heading
    # The skills that ship are there for Prowess's own agent, whatever the host.
    skills = [row for row in rows[1:] if row[0] in "●○!✗" and row[4] != "bundled"]
    listed = {row[1]: row[2:6] for row in skills}
    shown = terminal.json("list", "--all", "--host", "claude-code@documented")["skills"]
    assert listed == {
        one["name"]: [one["state"], "on", one["scope"], one["source"]["label"]] for one in shown
    }
    assert "Reads tide tables." in answer.out
    assert re.search(r"\n1 of \d+ skills match “harbour”\.", answer.out)


def find_state(terminal: Terminal, name: str) -> str:
    listed = terminal.json("list", "--all")["skills"]
    (state,) = [one["state"] for one in listed if one["name"] == name]
    return str(state)


@pytest.mark.parametrize(
    ("word", "setting", "state"),
    [
        ("name-only", {"visibility": "name-only"}, "ready"),
        ("user-only", {"visibility": "user-only"}, "hidden"),
        ("off", {"enabled": False}, "disabled"),
    ],
)
def test_a_switch_is_saved_and_undone(terminal, say, word, setting, state):
    terminal.skill("project/.agents/skills/tides", description="Reads tide tables.")
    options = ("--model", script(terminal, {"text": "never"}))
    answer = say(f"/skills tides {word}", options=options)
    assert f"“tides” is {word}, in prowess.toml." in answer.err
    written = tomllib.loads((terminal.root / "project/prowess.toml").read_text())
    assert written == {"skills": {"tides": setting}}
    assert find_state(terminal, "tides") == state
    assert f"“tides” is {word}, already." in say(f"/skills tides {word}", options=options).err
    assert "“tides” is on, in prowess.toml." in say("/skills tides on", options=options).err
    assert find_state(terminal, "tides") == "ready"


@pytest.mark.parametrize(
    ("host", "folder", "word", "said"),
    [
        ("claude-code", ".claude", "name-only", "is name-only, in .claude/settings.local.json"),
        ("opencode", ".opencode", "name-only", "opencode can only switch a skill on and off."),
        ("opencode", ".opencode", "off", "is off, in opencode.json"),
    ],
)
def test_a_switch_is_saved_where_the_host_has_one(terminal, say, host, folder, word, said):
    terminal.skill(f"project/{folder}/skills/tides", description="Reads tide tables.")
    options = ("--model", script(terminal, {"text": "never"}), "--host", host)
    assert said in say(f"/skills tides {word}", options=options).err


def test_a_switch_that_does_not_exist_is_reported_and_changes_nothing(terminal, say):
    terminal.skill("project/.agents/skills/tides", description="Reads tide tables.")
    model = script(terminal, {"text": "unused"})
    answer = say(
        "/skills tides sometimes",
        "/skills tides tables",
        "/plugin one maybe",
        options=("--model", model),
    )
    assert "“sometimes” is not one of on, name-only, user-only, off." in answer.err
    assert re.search(r"\n1 of \d+ skills match “tides tables”", answer.out)
    assert "“one maybe” is not understood. Write `/plugin NAME on|off`." in answer.err
    assert not (terminal.project / "prowess.toml").exists()


def test_files_that_are_named_reach_the_model_as_far_as_the_rules_allow(terminal, say):
    terminal.write("project/a b.txt", "alpha\n")
    terminal.write("project/src/one.py", "pass\n")
    terminal.write("home/.ssh/id_rsa", "TOP SECRET")
    terminal.write("project/private.txt", "hush\n")
    model = script(
        terminal,
        {"text": "1", "expect": ['<attached_file path="a b.txt">', "alpha", "src/one.py"]},
        {"text": "2"},
    )
    answer = say(
        'see @"a b.txt" and @src, and write to me@example.org or @nobody',
        f"what about @{terminal.home}/.ssh/id_rsa and @private.txt",
        options=("--model", model, "--deny", "Read(private.txt)", "--record", "kept.jsonl"),
    )
    assert answer.out == "1\n2\n"
    assert "There is no file “nobody”; “@nobody” is sent as text." in answer.err
    assert "example.org" not in answer.err
    assert "id_rsa was not attached" in answer.err
    assert "private.txt was not attached: the rule `deny: Read(private.txt)`" in answer.err
    state = terminal.home / ".local/state/prowess/sessions"
    kept = "".join(path.read_text() for path in state.iterdir())
    assert "alpha" in kept
    assert "TOP SECRET" not in kept
    assert "hush" not in kept


def test_every_local_command_has_its_code():
    for name in COMMANDS:
        assert callable(load_local(name))
    assert set(ALIASES.values()) <= set(COMMANDS)
    assert find_local("/helpful") is None
    assert find_local("help") is None


def test_other_commands_import_nothing_of_the_chat(terminal):
    code = (
        "import sys\n"
        "from prowess.cli import main\n"
        "main(['list']); main(['chat', '--help'])\n"
        "heavy = ('prompt_toolkit', 'pydantic_ai', 'prowess.cli.chat', 'asyncio')\n"
        "sys.stderr.write(repr([name for name in heavy if name in sys.modules]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]"


@pytest.mark.parametrize(
    ("text", "finished"),
    [
        ("one", ""),
        ("one\n\ntwo", ""),
        ("one\n\ntwo\n", "one\n\n"),
        ("```\na\n\nb\n", ""),
        ("```\na\n\nb\n```\n\nc\n", "```\na\n\nb\n```\n\n"),
        ("- a\n\n- b\n\n", ""),
        ("- a\n\n- b\n\nc\n", "- a\n\n- b\n\n"),
        ("1. a\n\n   more\n\n2. b\n", ""),
        ("| a |\n|---|\n| b |\n\nc\n", "| a |\n|---|\n| b |\n\n"),
    ],
)
def test_markdown_is_cut_only_where_it_no_longer_changes(text, finished):
    blocks = MarkdownBlocks()
    assert (blocks.add(text), blocks.rest) == (finished, text[len(finished) :])
    # It does not matter in which pieces it comes.
    pieces = MarkdownBlocks()
    assert "".join(map(pieces.add, text)) == finished
    assert (pieces.end(), pieces.rest) == (text[len(finished) :], "")


def test_mentions_are_files_that_exist(tmp_path):
    (tmp_path / "a.txt").write_text("")
    (tmp_path / "b c.txt").write_text("")
    text = 'Look at @a.txt, @"b c.txt" and @a.txt; not @gone.txt, x@a.txt or @\0.'
    assert find_mentions(text, str(tmp_path)) == (("a.txt", "b c.txt"), ("gone.txt", "\0"))
    chinese = "请看@a.txt，再看 @a.txt的内容；没有@没有.md。见 @a.txt。"
    assert find_mentions(chinese, str(tmp_path)) == (("a.txt",), ("没有.md",))
    assert (quote_mention("a.txt"), quote_mention("b c.txt")) == ("@a.txt", '@"b c.txt"')


@pytest.mark.parametrize(
    ("line", "width", "parts"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("高度以米为单位，基准", 8, ["高度以米", "为单位，", "基准"]),
        ("高度以米，为", 8, ["高度以", "米，为"]),
        ("see 高度以米", 8, ["see 高度", "以米"]),
        ("", 8, [""]),
    ],
)
def test_lines_are_broken_at_blanks_and_around_wide_characters(line, width, parts):
    edges = [0, *find_breaks(line, width), len(line)]
    assert [line[start:end].strip() for start, end in pairwise(edges)] == parts
