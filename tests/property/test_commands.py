"""Laws of commands: names are unique and plain, what is typed comes through unchanged, nothing
typed breaks anything.
"""

from __future__ import annotations

import re

from hypothesis import assume, example, given
from hypothesis import strategies as st

from prowess.activate.slash.commands import (
    SlashCommand,
    humanize_name,
    name_commands,
    sanitize_name,
)
from prowess.activate.slash.completion import complete, spell
from prowess.activate.slash.messages import SHAPES, Message, build_message
from prowess.activate.slash.parser import CommandCall, Mention, Notice, Plain, parse_command
from prowess.model.outcome import State
from prowess.shell.configured_tools import build_argv
from prowess.text.collation import collate
from tests.unit.activate.skills import commands_of, make_outcome, rules_of

HOSTS = (
    "prowess",
    "claude-code",
    "claude-code@documented",
    "openclaw",
    "openclaw@documented",
    "opencode",
    "omp",
    "codex",
)
RULES = {host: rules_of(host) for host in HOSTS}

names = st.one_of(
    st.text(min_size=1, max_size=40),
    st.sampled_from(
        [
            "help",
            "skill",
            "my-skill",
            "My Skill",
            "my_skill",
            "天气",
            "中文",
            "a:b",
            "x/y",
            "HOME",
            "_",
            "-",
        ]
    ),
    st.text("ab_- ", min_size=1, max_size=6),
)
words = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp"), exclude_characters="/"),
    min_size=1,
)
texts = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from(
            ["/", "/skill", "/skill:", "$", "a", "b", " ", "\n", "\\", "!", "天", "HOME", ":"]
        )
    ).map("".join),
)


def index_of(host: str, skills: list[str]):
    return commands_of(host, *(make_outcome(name) for name in dict.fromkeys(skills)))


@given(st.lists(names, max_size=30))
def test_openclaws_names_are_plain_short_unique_and_never_one_of_its_own(skills):
    rules = RULES["openclaw"]
    found = [each.name for each in name_commands(skills, rules=rules)]
    assert len(found) == len(skills)
    assert len(set(found)) == len(found)
    assert all(re.fullmatch(r"[a-z0-9_]{1,32}", name) for name in found)
    assert set(found).isdisjoint(rules.reserved)


@given(names)
def test_spelling_a_name_plainly_twice_is_spelling_it_once(name):
    once = sanitize_name(name, most=32)
    assert sanitize_name(once, most=32) == once.strip("_")
    assert humanize_name(name)


@given(st.lists(names, max_size=12), st.sampled_from(HOSTS))
def test_every_skill_has_exactly_one_command(skills, host):
    found = [command.skill_name for command in index_of(host, skills)]
    assert sorted(found) == sorted(set(skills))


@given(st.lists(words, min_size=1, max_size=8), st.text(), st.sampled_from(HOSTS))
def test_a_command_as_it_is_spelled_with_any_arguments_starts_its_skill_with_those_arguments(
    skills, arguments, host
):
    rules = RULES[host]
    assume("mention" not in rules.forms[:1])
    index = index_of(host, skills)
    for command in index:
        typed = f"{spell(command, rules)} {arguments}"
        found = parse_command(typed, index, rules)
        if command.name in ("skill",) or command.name.startswith("skill:"):
            continue
        assert found == CommandCall(
            command=command, arguments=arguments.strip(), text=typed, form=rules.forms[0]
        )


@given(st.lists(names, max_size=6), texts, st.sampled_from(HOSTS))
@example(["a"], "/skill:", "prowess")
@example(["a"], "/skill: a", "omp")
@example(["a b"], "/a", "prowess")
def test_nothing_that_is_typed_breaks_anything_or_is_changed(skills, text, host):
    found = parse_command(text, index_of(host, skills), RULES[host])
    assert isinstance(found, CommandCall | Mention | Notice | Plain)
    if not isinstance(found, Notice):
        assert found.text == text
    if isinstance(found, CommandCall):
        assert found.arguments == found.arguments.strip()


@given(st.lists(names, max_size=12), texts, st.integers(0, 5), st.sampled_from(HOSTS))
def test_completion_is_bounded_ranked_and_made_of_commands(skills, text, most, host):
    index = index_of(host, skills)
    found = complete(text, index, RULES[host], most=most)
    assert len(found) <= most
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    assert {each.command for each in found} <= set(index.typable)


@given(names, st.text(), st.text(), st.sampled_from(sorted(SHAPES)))
def test_a_message_of_any_shape_is_made_from_any_name_body_and_arguments(
    name, body, arguments, shape
):
    from msgspec.structs import replace

    rules = replace(RULES["prowess"], message=shape, most_line=0, most_lead=0)
    command = SlashCommand(
        name=name, skill_name=name, location="/s/SKILL.md", folder="/s", model_visible=False
    )
    call = CommandCall(command=command, arguments=arguments, text=arguments, form="name")
    made = build_message(call, rules, bodies=[body])
    assert isinstance(made, Message)
    assert made.skills == (name,)
    if shape == "claude-typed":
        assert made.parts[0].count("</command-message>") == 1
        assert made.parts[0].lower().count("</command-args>") <= 1
    if shape == "codex-blocks":
        assert made.parts[1].lower().count("</skill>") == 1
    if shape.startswith("openclaw"):
        assert body not in made.text or body in arguments or len(body) < 90


@given(st.lists(st.text(min_size=1), min_size=1), st.text())
def test_what_was_typed_is_never_more_than_one_argument_of_a_program(template, argument):
    params = {"command": argument, "commandName": "c", "skillName": "s"}
    argv = build_argv([*template, "{argument}"], params)
    assert len(argv) == len(template) + 1
    assert argv[-1] == argument


@given(st.lists(names))
def test_the_order_of_words_is_total(skills):
    backwards = list(reversed(skills))
    assert sorted(skills, key=collate) == sorted(backwards, key=collate)


@given(names, st.sampled_from([State.DISABLED, State.INELIGIBLE, State.INVALID]))
def test_a_skill_that_cannot_be_used_is_never_called(name, state):
    for host in HOSTS:
        index = commands_of(host, make_outcome(name, state=state))
        for lead in ("/", "/skill ", "/skill:", "$"):
            assert isinstance(parse_command(f"{lead}{name} x", index, RULES[host]), Notice | Plain)
