"""Commands: their names, who has one, what a typed text means, and completion."""

from __future__ import annotations

import pytest

from prowess.activate.slash.commands import (
    SlashCommand,
    build_commands,
    humanize_name,
    name_commands,
    sanitize_name,
)
from prowess.activate.slash.completion import complete, spell
from prowess.activate.slash.dispatch import Dispatch
from prowess.activate.slash.parser import CommandCall, Mention, Notice, Plain, parse_command
from prowess.model.outcome import State
from prowess.model.skill import LoadedFrom
from prowess.text.collation import collate
from tests.unit.activate.skills import commands_of, make_outcome, make_snapshot, rules_of
from tests.workspace import Workspace

HOSTS = [
    "prowess",
    "claude-code",
    "claude-code@documented",
    "openclaw",
    "opencode",
    "omp",
    "codex",
    "spec",
]


def typed(host: str, text: str, *names: str):
    """What a text means to a host with these skills: the skill and its arguments, or what else it
    is.
    """
    found = parse_command(text, commands_of(host, *map(make_outcome, names)), rules_of(host))
    match found:
        case CommandCall():
            return found.command.skill_name, found.arguments
        case Mention():
            return [command.skill_name for command in found.commands]
        case Notice():
            return f"notice: {found.kind}"
        case Plain():
            return "text"


# Names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("my-skill", "my_skill"),
        ("My Skill", "my_skill"),
        ("my__skill", "my_skill"),
        ("-edge-", "edge"),
        ("a" * 40, "a" * 32),
        ("中文", "skill"),
        ("../../evil", "evil"),
        ("Café au lait", "caf_au_lait"),
    ],
)
def test_openclaw_spells_a_name_with_small_letters_digits_and_low_lines(name, expected):
    assert sanitize_name(name, most=32) == expected


def test_openclaw_makes_names_unique_by_a_number_within_32_characters():
    names = ["my-skill", "my_skill", "My Skill", "help", "中文", "天气", "b" * 33, "b" * 34]
    found = [each.name for each in name_commands(names, rules=rules_of("openclaw"))]
    assert found == [
        "my_skill",
        "my_skill_2",
        "my_skill_3",
        "help_2",
        "skill_2",
        "skill_3",
        "b" * 32,
        "b" * 30 + "_2",
    ]


def test_openclaw_hands_out_names_in_the_order_of_words():
    commands = commands_of("openclaw", *map(make_outcome, ["my_skill", "My Skill", "my-skill"]))
    assert [(command.skill_name, command.name) for command in commands] == [
        ("My Skill", "my_skill"),
        ("my_skill", "my_skill_2"),
        ("my-skill", "my_skill_3"),
    ]


def test_words_are_sorted_as_the_english_locale_sorts_them():
    names = ["b", "B", "a-b", "a_b", "a b", "a.b", "ab", "a1", "é", "e", "f", "A", "a", "$", "9"]
    ordered = ["$", "9", "a", "A", "a b", "a_b", "a-b", "a.b", "a1", "ab", "b", "B", "e", "é", "f"]
    assert sorted(names, key=collate) == ordered


def test_ten_thousand_names_that_are_alike_get_ten_thousand_commands():
    found = {each.name for each in name_commands(["天气"] * 10_000, rules=rules_of("openclaw"))}
    assert len(found) == 10_000
    assert max(map(len, found)) <= 32


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("my-skill", "My Skill"),
        ("my_skill", "My Skill"),
        ("Declared Name!", "Declared Name!"),
        ("天气", "天气"),
        ("-", "-"),
    ],
)
def test_a_menu_shows_a_name_as_people_write_it(name, expected):
    assert humanize_name(name) == expected


@pytest.mark.parametrize("host", ["prowess", "claude-code", "opencode"])
def test_a_name_in_any_script_is_typed_as_it_is_written(host):
    assert typed(host, "/天气 北京", "天气") == ("天气", "北京")
    assert typed(host, "/Naïve-Ünïcode x", "Naïve-Ünïcode") == ("Naïve-Ünïcode", "x")


# What a command is


@pytest.mark.seed("W-41", "A-02")
def test_a_command_has_a_name_of_its_own_the_skills_name_its_description_and_perhaps_a_dispatch():
    plain = make_outcome("my-skill", "Does things.")
    direct = make_outcome(
        "weather", "Weather.", command_dispatch="tool", command_tool="weather_fetch"
    )
    commands = {
        command.skill_name: command for command in commands_of("openclaw@documented", plain, direct)
    }
    assert commands["my-skill"] == SlashCommand(
        name="my_skill",
        skill_name="my-skill",
        description="Does things.",
        location="/skills/my-skill/SKILL.md",
        folder="/skills/my-skill",
        own_folder="/skills/my-skill",
        source="claude:user",
    )
    assert commands["weather"].dispatch == Dispatch(
        kind="tool", tool_name="weather_fetch", arg_mode="raw"
    )


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("prowess", True),
        ("openclaw", True),
        ("claude-code", False),
        ("opencode", False),
        ("omp", False),
    ],
)
def test_only_a_host_that_knows_dispatch_sends_a_command_around_the_model(host, expected):
    (command,) = commands_of(host, make_outcome("a", command_dispatch="tool", command_tool="t"))
    assert command.dispatch == (Dispatch(tool_name="t") if expected else None)


@pytest.mark.seed("C-01")
def test_a_skill_of_claude_code_is_a_command_and_listed_to_the_model(workspace: Workspace):
    workspace.git("home/project")
    workspace.skill("home/.claude/skills/review")
    skills = workspace.open("claude-code@documented", cwd="home/project")
    commands = build_commands(skills.snapshot, skills.profile.commands)
    assert [command.name for command in commands] == ["review"]
    assert [skill.name for skill in skills.snapshot.skills] == ["review"]
    found = parse_command("/review all", commands, skills.profile.commands)
    assert isinstance(found, CommandCall)
    assert (found.command.skill_name, found.arguments) == ("review", "all")


@pytest.mark.seed("P-39")
@pytest.mark.parametrize(("setting", "expected"), [("true", ["a", "b"]), ("false", [])])
def test_omp_has_a_command_for_every_skill_unless_commands_are_off(
    workspace: Workspace, setting, expected
):
    workspace.skill("home/.omp/agent/skills/a")
    workspace.skill("home/.omp/agent/skills/b")
    workspace.git()
    workspace.write("home/.omp/agent/config.yml", f"skills:\n  enableSkillCommands: {setting}\n")
    skills = workspace.open("omp@documented")
    commands = build_commands(skills.snapshot, skills.profile.commands)
    assert [command.name for command in commands] == expected
    found = parse_command("/skill:a", commands, skills.profile.commands)
    assert isinstance(found, CommandCall) == bool(expected)


@pytest.mark.seed("P-37", "P-49")
def test_a_hidden_skill_of_omp_can_be_typed_and_typing_changes_nothing_that_is_discovered(
    workspace: Workspace,
):
    workspace.git()
    workspace.skill("home/.omp/agent/skills/quiet", hide="true")
    skills = workspace.open("omp@documented")
    before = workspace.ends(skills.snapshot)
    found = parse_command(
        "/skill:quiet now",
        build_commands(skills.snapshot, skills.profile.commands),
        skills.profile.commands,
    )
    assert isinstance(found, CommandCall)
    assert (found.command.skill_name, found.arguments, found.command.model_visible) == (
        "quiet",
        "now",
        False,
    )
    assert (
        workspace.ends(skills.reload())
        == before
        == {"home/.omp/agent/skills/quiet/SKILL.md": "hidden"}
    )


def test_prowess_has_commands_unless_its_settings_switch_them_off(workspace: Workspace):
    workspace.skill("project/.prowess/skills/a")
    assert len(build_commands(workspace.scan(), rules_of("prowess"))) == 1
    workspace.write("project/prowess.toml", "skill_commands = false\n")
    assert len(build_commands(workspace.scan(), rules_of("prowess"))) == 0


STATES = [State.DENIED, State.DORMANT, State.HIDDEN, State.READY, State.INELIGIBLE, State.DISABLED]


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("prowess", {"dormant", "hidden", "ready"}),
        ("claude-code", {"denied", "hidden", "ready"}),
        ("claude-code@documented", {"denied", "dormant", "hidden", "ready"}),
        ("openclaw", {"hidden", "ready"}),
        ("opencode", {"denied", "hidden", "ready"}),
        ("omp", {"hidden", "ready"}),
    ],
)
def test_what_a_skill_ended_as_decides_whether_it_has_a_command(host, expected):
    commands = commands_of(host, *(make_outcome(state.value, state=state) for state in STATES))
    assert {command.skill_name for command in commands} == expected


def test_openclaw_has_no_command_for_a_skill_that_the_agent_is_not_given():
    commands = commands_of("openclaw", make_outcome("b", state=State.HIDDEN, rule="agent_skills"))
    assert list(commands) == []


# What was typed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/review", ("review", "")),
        ("/review  a  b ", ("review", "a  b")),
        ("  /review a", ("review", "a")),
        ("/review\nfirst\nsecond", ("review", "first\nsecond")),
        ("/skill review a", ("review", "a")),
        ("/skill:review a", ("review", "a")),
        ("/REVIEW a", ("review", "a")),
        ("please /skill:review the code", ("review", "please the code")),
        ("use $review here", ["review"]),
        ("see /review here", "text"),
        ("/unknown a", "text"),
        ("/", "text"),
        ("/ review", "text"),
        ("/skill", "text"),
        ("/usr/bin/env", "text"),
        ("", "text"),
    ],
)
def test_prowess_understands_every_form(text, expected):
    assert typed("prowess", text, "review") == expected


@pytest.mark.parametrize(
    ("host", "forms"),
    [
        ("claude-code", {"/a x": ("a", "x")}),
        ("opencode", {"/a x": ("a", "x")}),
        ("openclaw", {"/a x": ("a", "x"), "/skill a x": ("a", "x"), "$a x": ["a"]}),
        ("omp", {"/skill:a x": ("a", "x"), "x /skill:a y": ("a", "x y")}),
        ("omp@documented", {"/skill:a x": ("a", "x")}),
        ("codex", {"$a x": ["a"]}),
    ],
)
def test_a_host_understands_its_own_forms_and_no_others(host, forms):
    every = ["/a x", "/skill a x", "/skill:a x", "$a x", "x /skill:a y"]
    assert {text: typed(host, text, "a") for text in every} == {
        text: forms.get(text, "text") for text in every
    }


def test_a_skill_that_is_called_skill_can_be_typed():
    assert typed("prowess", "/skill do it", "skill") == ("skill", "do it")
    assert typed("prowess", "/skill skill", "skill") == ("skill", "")
    assert typed("prowess", "/skill pdf x", "skill", "pdf") == ("pdf", "x")


def test_an_unknown_command_says_which_names_are_near_and_stays_as_it_was_typed():
    commands = commands_of("prowess", make_outcome("review"), make_outcome("deploy"))
    assert parse_command("/reveiw now", commands, rules_of("prowess")) == Plain(
        text="/reveiw now", name="reveiw", nearest=("review",)
    )
    assert parse_command("/skill:reveiw", commands, rules_of("prowess")) == Plain(
        text="/skill:reveiw", name="reveiw", nearest=("review",)
    )
    assert parse_command("/skill reveiw", commands, rules_of("prowess")) == Plain(
        text="/skill reveiw", name="reveiw", nearest=("review",)
    )
    assert parse_command("hello", commands, rules_of("prowess")) == Plain(text="hello")


def test_a_skill_for_the_model_alone_answers_with_a_notice():
    commands = commands_of("claude-code", make_outcome("inner", user_invocable=False))
    assert parse_command("/inner x", commands, rules_of("claude-code")) == Notice(
        kind="not-invocable",
        name="inner",
        message="The skill “inner” is only for the model: its header says `user-invocable: false`. "
        "Describe the task, and the model can use it.",
    )
    assert commands.typable == ()


@pytest.mark.parametrize("host", ["omp", "opencode"])
def test_a_host_that_does_not_know_the_field_lets_the_user_type_the_skill(host):
    commands = commands_of(host, make_outcome("inner", user_invocable=False))
    text = f"{spell(next(iter(commands)), rules_of(host))} x"
    assert isinstance(parse_command(text, commands, rules_of(host)), CommandCall)


@pytest.mark.parametrize(
    ("state", "what"),
    [
        (State.DISABLED, "is disabled"),
        (State.DENIED, "is not permitted here"),
        (State.INELIGIBLE, "cannot be used on this machine"),
        (State.INVALID, "cannot be loaded"),
    ],
)
def test_a_name_that_is_known_but_not_usable_answers_with_the_reason(state, what):
    commands = commands_of("prowess", make_outcome("deploy", state=state, reason="so it is."))
    for text in ("/deploy x", "/skill:deploy x", "/skill deploy x", "now /skill:deploy"):
        assert parse_command(text, commands, rules_of("prowess")) == Notice(
            kind=state.value, name="deploy", message=f"The skill “deploy” {what}: so it is."
        )


def test_a_winner_is_typed_although_another_of_its_name_lost():
    commands = commands_of("prowess", make_outcome("a", state=State.SHADOWED), make_outcome("a"))
    assert isinstance(parse_command("/a", commands, rules_of("prowess")), CommandCall)


def test_openclaw_matches_a_command_exactly_and_a_skill_roughly():
    assert typed("openclaw", "/my_skill x", "my-skill") == ("my-skill", "x")
    assert typed("openclaw", "/My_Skill x", "my-skill") == ("my-skill", "x")
    assert typed("openclaw", "/my-skill x", "my-skill") == "text"
    assert typed("openclaw", "/skill my-skill x", "my-skill") == ("my-skill", "x")
    assert typed("openclaw", "/SKILL My_Skill x", "my-skill") == ("my-skill", "x")


@pytest.mark.parametrize("host", ["claude-code", "opencode", "omp"])
def test_other_hosts_match_names_to_the_letter(host):
    lead = "/skill:" if host == "omp" else "/"
    assert typed(host, f"{lead}plain", "plain") == ("plain", "")
    assert typed(host, f"{lead}Plain", "plain") == "text"


def test_prowess_forgives_a_spelling_that_only_one_skill_can_mean():
    assert typed("prowess", "/My_Skill x", "my-skill") == ("my-skill", "x")
    assert typed("prowess", "/my_skill x", "my-skill", "My Skill") == "text"
    assert typed("prowess", "/my-skill x", "my-skill", "My Skill") == ("my-skill", "x")


def test_a_name_with_blanks_is_typed_as_it_is_written():
    assert typed("prowess", "/Declared Name! do it", "Declared Name!") == (
        "Declared Name!",
        "do it",
    )
    assert typed("prowess", "/skill:a b c d", "a b", "a b c") == ("a b c", "d")
    assert typed("prowess", "/a bc", "a b") == "text"
    assert typed("claude-code", "/Declared Name! do it", "Declared Name!") == "text"


def test_labels_aliases_and_short_names_are_understood_where_nothing_else_has_them():
    outcomes = (
        make_outcome("plug:pk", label="plug:fancy", loaded_from=LoadedFrom.PLUGIN),
        make_outcome("plug:taken", loaded_from=LoadedFrom.PLUGIN),
        make_outcome("taken"),
        make_outcome("folder", label="pretty", aliases=("fold", "taken")),
        make_outcome("sub/a:nested"),
    )
    for host in ("claude-code", "prowess"):
        index = commands_of(host, *outcomes)
        expected = {
            "/plug:pk": "plug:pk",
            "/plug:fancy": "plug:pk",
            "/pk": "plug:pk",
            "/fancy": "plug:pk",
            "/taken": "taken",
            "/plug:taken": "plug:taken",
            "/pretty": "folder",
            "/fold": "folder",
            "/sub/a:nested": "sub/a:nested",
            "/nested": None,
        }
        found = {text: parse_command(text, index, rules_of(host)) for text in expected}
        assert {
            text: each.command.skill_name if isinstance(each, CommandCall) else None
            for text, each in found.items()
        } == expected


@pytest.mark.parametrize("host", ["opencode", "omp", "openclaw"])
def test_a_host_without_further_names_does_not_understand_them(host):
    index = commands_of(host, make_outcome("folder", label="pretty", aliases=("fold",)))
    assert [
        isinstance(parse_command(f"/{name}", index, rules_of(host)), CommandCall)
        for name in ("pretty", "fold")
    ] == [False] * 2


@pytest.mark.seed("C-73")
def test_local_skills_and_those_of_mcp_servers_are_looked_up_together():
    local, remote = make_outcome("greet"), make_outcome("srv:greet", loaded_from=LoadedFrom.MCP)
    index = commands_of("claude-code@documented", local, remote)
    found = [
        parse_command(text, index, rules_of("claude-code@documented"))
        for text in ("/greet a", "/srv:greet b")
    ]
    assert [
        (each.command.skill_name, each.arguments) for each in found if isinstance(each, CommandCall)
    ] == [
        ("greet", "a"),
        ("srv:greet", "b"),
    ]


def test_a_command_of_the_agents_own_keeps_its_name_and_the_skill_is_reached_behind_skill():
    index = commands_of("prowess", make_outcome("help"), taken=["help"])
    assert parse_command("/help", index, rules_of("prowess")) == Plain(
        text="/help", name="help", nearest=("help",)
    )
    found = parse_command("/skill:help me", index, rules_of("prowess"))
    assert isinstance(found, CommandCall)
    assert found.arguments == "me"
    assert spell(found.command, rules_of("prowess")) == "/skill:help"


# omp: one token in the middle


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fix the bug /skill:foo focus on auth", ("foo", "fix the bug focus on auth")),
        ("fix\n/skill:foo\nthen test", ("foo", "fix then test")),
        ("end with /skill:foo", ("foo", "end with")),
        ("first /skill:foo then /skill:bar", ("foo", "first then /skill:bar")),
        ("glued x/skill:foo here", "text"),
        ("a /skill:foo, b", "text"),
        ("a /skill:none b", "text"),
        ("/compact /skill:foo", "text"),
        ("!ls /skill:foo", "text"),
        ("!!ls /skill:foo", "text"),
        ("$ print() /skill:foo", "text"),
        ("$$\tprint() /skill:foo", "text"),
        ("$x /skill:foo", ("foo", "$x")),
        ("  /skill:foo\nline one\nline two", ("foo", "line one\nline two")),
    ],
)
def test_omp_takes_one_token_in_the_middle_and_the_words_around_it_as_arguments(text, expected):
    assert typed("omp", text, "foo", "bar") == expected


# Mentions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("use $weather and $pdf-tools", ["weather", "pdf-tools"]),
        ("$weather, $weather again", ["weather"]),
        ("$weather: now", ["weather"]),
        ("$Weather", ["weather"]),
        ("$pdf_tools", ["pdf-tools"]),
        ("costs $5 in $HOME", "text"),
        ("a literal \\$weather", "text"),
        ("a backslash \\\\$weather", ["weather"]),
        ("$unknown", "text"),
    ],
)
def test_openclaw_finds_skills_that_a_text_mentions(text, expected):
    assert typed("openclaw", text, "weather", "pdf-tools", "home") == expected


def test_a_name_in_capitals_is_a_variable_even_where_a_skill_is_called_so():
    assert typed("openclaw", "$HOME", "HOME") == "text"
    assert typed("prowess", "$HOME", "HOME") == "text"


def test_prowess_finds_mentions_in_any_script():
    assert typed("prowess", "用 $天气 看看 $5", "天气") == ["天气"]


def test_a_text_may_mention_eight_skills_and_not_nine():
    names = [f"s{number}" for number in range(9)]
    eight = " ".join(f"${name}" for name in names[:8])
    assert typed("openclaw", eight, *names) == names[:8]
    commands = commands_of("openclaw", *map(make_outcome, names))
    assert parse_command(f"{eight} $s8", commands, rules_of("openclaw")) == Notice(
        kind="too-many",
        name="s0",
        message="The text mentions 9 skills; the limit is 8.",
    )


def test_a_mention_in_a_slash_command_is_part_of_its_arguments():
    assert typed("openclaw", "/weather $pdf", "weather", "pdf") == ("weather", "$pdf")


# Completion


def completed(text: str, *outcomes, host: str = "prowess", **options):
    return [
        each.text
        for each in complete(text, commands_of(host, *outcomes), rules_of(host), **options)
    ]


def test_completion_ranks_the_name_before_the_description_and_scattered_letters_last():
    outcomes = [
        make_outcome("review"),
        make_outcome("review-code"),
        make_outcome("code-review"),
        make_outcome("audit", "Gives a review of a change."),
        make_outcome("rust-evolve-interview"),
        make_outcome("other", "nothing"),
    ]
    assert completed("/review", *outcomes) == [
        "/review",
        "/review-code",
        "/code-review",
        "/audit",
        "/rust-evolve-interview",
    ]


@pytest.mark.parametrize("text", ["/REV", "/skill:rev", "/skill rev", "$rev", "rev"])
def test_completion_takes_every_form_in_any_case(text):
    assert completed(text, make_outcome("review"), make_outcome("deploy")) == ["/review"]


def test_completion_is_bounded_and_keeps_the_order_of_equals():
    outcomes = [make_outcome(f"s{number:02}") for number in range(40)]
    assert completed("/", *outcomes) == [f"/s{number:02}" for number in range(25)]
    assert completed("/s", *outcomes, most=2) == ["/s00", "/s01"]


def test_completion_finds_aliases_and_labels_and_leaves_out_what_cannot_be_typed():
    outcomes = [
        make_outcome("folder", label="pretty", aliases=("quick",)),
        make_outcome("prettier", user_invocable=False),
    ]
    assert completed("/pret", *outcomes) == ["/folder"]
    assert completed("/quick", *outcomes) == ["/folder"]


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("claude-code", "/my-skill"),
        ("openclaw", "/my_skill"),
        ("omp", "/skill:my-skill"),
        ("codex", "$my-skill"),
    ],
)
def test_a_completion_is_spelled_as_the_host_types_it(host, expected):
    assert completed("my", make_outcome("my-skill"), host=host) == [expected]


def test_a_completion_carries_the_hint_of_the_arguments():
    outcomes = [
        make_outcome("a", argument_hint="<file> [line]"),
        make_outcome("b", arguments=("from", "to")),
    ]
    found = complete("/", commands_of("prowess", *outcomes), rules_of("prowess"))
    assert [each.hint for each in found] == ["<file> [line]", "<from> <to>"]


@pytest.mark.parametrize("host", HOSTS)
def test_what_completion_gives_types_that_very_skill(host):
    outcomes = [make_outcome(name) for name in ("a", "b-c", "d_e", "天气")]
    index = commands_of(host, *outcomes)
    for each in complete("", index, rules_of(host)):
        found = parse_command(f"{each.text} x", index, rules_of(host))
        commands = (
            found.commands
            if isinstance(found, Mention)
            else [found.command]
            if isinstance(found, CommandCall)
            else []
        )
        assert [command.skill_name for command in commands] == [each.command.skill_name]


def test_the_commands_of_nothing_are_none():
    assert list(build_commands(make_snapshot(), rules_of("prowess"))) == []
    assert parse_command("/x", commands_of("prowess"), rules_of("prowess")) == Plain(
        text="/x", name="x"
    )
