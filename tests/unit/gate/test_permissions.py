"""Rules as people write them, in the files where they write them, and what becomes of a skill."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from prowess.errors import SettingError, SwitchError, UsageError
from prowess.gate.permissions import (
    AgentRules,
    decide,
    find_denied,
    gather_rules,
    parse_given,
    request_skill,
    section_removed,
)
from prowess.model.outcome import Note, State
from prowess.model.permission import Action, ApprovalRequest, Decision
from prowess.model.settings import Origin, Settings
from prowess.model.skill import Manifest
from prowess.profiles.load import load_profile
from prowess.testing import make_facts
from prowess.text.globs import matches_wildcard
from tests.workspace import Workspace

OPENCODE = "opencode@documented"
CLAUDE = "claude-code@documented"
OPENCODE_FILE = "project/opencode.json"
CLAUDE_FILE = "project/.claude/settings.json"


def rules_of(
    workspace: Workspace,
    host: str,
    *,
    agent: str | None = None,
    env: dict[str, str] | None = None,
    **given: Any,
) -> AgentRules:
    """The rules that the settings files of a workspace give for a host."""
    skills = workspace.open(host, env=env)
    return gather_rules(
        skills.settings(),
        skills.profile.permissions,
        skills.facts,
        agent=agent,
        given=parse_given(**given),
    )


def find_ignored(workspace: Workspace, host: str) -> str:
    """Where and why a settings file of a host is ignored as a whole."""
    [finding] = workspace.open(host).settings().diagnostics
    assert finding.code == "settings-ignored"
    why = finding.message.removeprefix("The whole settings file is ignored: ")
    return f"{finding.file}:{finding.line}: {why}"


def opencode(workspace: Workspace, config: dict[str, Any], **options: Any) -> AgentRules:
    workspace.write(OPENCODE_FILE, json.dumps(config, indent=1))
    return rules_of(workspace, OPENCODE, **options)


def claude(workspace: Workspace, **lists: list[str]) -> AgentRules:
    workspace.write(CLAUDE_FILE, json.dumps({"permissions": lists}, indent=1))
    return rules_of(workspace, CLAUDE)


def action(rules: AgentRules, name: str, manifest: Manifest | None = None) -> str:
    return decide(request_skill(name, manifest), rules, manifest).action.value


def shown(rules: AgentRules, *names: str) -> list[str]:
    return [name for name in names if find_denied(name, Manifest(), rules) is None]


# Patterns


@pytest.mark.parametrize(
    ("text", "pattern", "covered"),
    [
        ("pdf", "pdf", True),
        ("pdf", "PDF", False),
        ("pdf", "*", True),
        ("", "*", True),
        ("a/b", "*", True),
        ("a/b/c", "a*c", True),
        ("a\nb", "a*b", True),
        ("pdf-tools", "pdf", False),
        ("pdf", "pd?", True),
        ("pd", "pd?", False),
        ("pdff", "pd?", False),
        ("pdf", "pdf *", True),
        ("pdf now", "pdf *", True),
        ("pdfs", "pdf *", False),
        ("x-pdf", "*-pdf *", True),
        ("pdf", "[p]df", False),
        ("p.f", "p.f", True),
        ("pdf", "p.f", False),
        ("abcabd", "*ab?", True),
        ("abcab", "*ab?", False),
    ],
)
def test_a_pattern_covers_a_whole_name(text: str, pattern: str, covered: bool) -> None:
    assert matches_wildcard(text, pattern) is covered


def test_a_pattern_made_to_be_slow_is_not() -> None:
    assert matches_wildcard("a" * 5_000, "*a" * 50 + "b") is False


# Tables, as in opencode


def test_without_rules_the_host_decides(workspace: Workspace) -> None:
    rules = rules_of(workspace, OPENCODE)
    assert decide(request_skill("pdf"), rules) == Decision(
        Action.ALLOW, "the rule `*: allow` allows it", rules.written[0]
    )
    table = msgspec.structs.replace(load_profile(OPENCODE).permissions, base={})
    bare = gather_rules(Settings(), table, make_facts())
    assert decide(request_skill("pdf"), bare) == Decision(
        Action.ASK, "no rule matches and the default is `ask`"
    )


def test_what_the_default_denies_names_the_default_as_its_rule() -> None:
    table = msgspec.structs.replace(
        load_profile(OPENCODE).permissions, base={}, default=Action.DENY
    )
    rules = gather_rules(Settings(), table, make_facts())
    assert find_denied("pdf", Manifest(), rules) == Note(
        State.DENIED, "no rule matches and the default is `deny`", rule="permissions.default"
    )


@pytest.mark.seed("O-30")
def test_a_denied_skill_is_not_shown_and_an_asked_one_is(workspace: Workspace) -> None:
    rules = opencode(workspace, {"permission": {"skill": {"deploy": "deny", "send-*": "ask"}}})
    assert shown(rules, "deploy", "send-mail", "pdf") == ["send-mail", "pdf"]
    assert [action(rules, name) for name in ("deploy", "send-mail", "pdf")] == [
        "deny",
        "ask",
        "allow",
    ]


def test_a_decision_says_which_rule_of_which_line_made_it(workspace: Workspace) -> None:
    text = '{\n  // mine\n  "permission": {\n    "skill": {\n      "*": "allow",\n      "deploy*": "deny",\n    },\n  },\n}\n'
    file = str(workspace.write(OPENCODE_FILE, text))
    rules = rules_of(workspace, OPENCODE)
    decision = decide(request_skill("deploy-it"), rules)
    assert decision.rule is not None
    assert decision.rule.origin == Origin(file, 6)
    reason = f"the rule `skill.deploy*: deny` in {file}:6 denies it"
    assert (decision.action, decision.reason) == (Action.DENY, reason)
    assert find_denied("deploy-it", Manifest(), rules) == Note(
        State.DENIED, reason, rule="skill.deploy*: deny"
    )


def test_the_last_rule_that_matches_wins_and_the_order_of_keys_is_kept(
    workspace: Workspace,
) -> None:
    few = opencode(workspace, {"permission": {"skill": {"*": "deny", "few": "allow"}}})
    assert (shown(few, "few", "other"), section_removed(few)) == (["few"], False)
    none = opencode(workspace, {"permission": {"skill": {"few": "allow", "*": "deny"}}})
    assert (shown(none, "few", "other"), section_removed(none)) == ([], True)


@pytest.mark.seed("O-29")
@pytest.mark.parametrize(
    ("config", "removed"),
    [
        ({"permission": {"skill": "deny"}}, True),
        ({"permission": {"skill": {"*": "deny"}}}, True),
        ({"permission": "deny"}, True),
        ({"permission": {"*": "deny"}}, True),
        ({"permission": {"s*": "deny"}}, True),
        ({"tools": {"skill": False}}, True),
        ({"tools": {"*": False}}, True),
        ({"tools": {"skill": True}}, False),
        ({"tools": {"skill": False}, "permission": {"skill": "ask"}}, False),
        ({"permission": {"skill": {"a*": "deny"}}}, False),
        ({"permission": {"skill": "ask"}}, False),
        ({"permission": {"skill": "deny", "*": "allow"}}, False),
        ({"permission": {"bash": "deny"}}, False),
        ({}, False),
    ],
)
def test_the_section_goes_where_skills_are_denied_altogether(
    workspace: Workspace, config: dict[str, Any], removed: bool
) -> None:
    rules = opencode(workspace, config)
    assert section_removed(rules) is removed
    assert not removed or shown(rules, "pdf", "deploy") == []


@pytest.mark.seed("O-30")
def test_an_agent_has_rules_of_its_own_after_those_of_all(workspace: Workspace) -> None:
    config = {
        "permission": {"skill": "deny"},
        "agent": {
            "plan": {"permission": {"skill": {"few": "allow"}}},
            "build": {"tools": {"skill": True}},
        },
        "mode": {"old": {"permission": {"skill": "ask"}}},
    }
    seen = {
        agent: (shown(opencode(workspace, config, agent=agent), "few", "other"))
        for agent in (None, "plan", "build", "old", "unheard-of")
    }
    everything = ["few", "other"]
    assert seen == {
        None: [],
        "plan": ["few"],
        "build": everything,
        "old": everything,
        "unheard-of": [],
    }


def test_agents_of_the_host_have_the_hosts_rules_and_users_may_change_them(
    workspace: Workspace,
) -> None:
    assert section_removed(rules_of(workspace, OPENCODE, agent="explore")) is True
    config = {"agent": {"explore": {"permission": {"skill": {"pdf": "allow"}}}}}
    rules = opencode(workspace, config, agent="explore")
    assert (shown(rules, "pdf", "other"), section_removed(rules)) == (["pdf"], False)


def test_tables_of_several_files_are_laid_over_one_another(workspace: Workspace) -> None:
    workspace.write(
        "home/.config/opencode/opencode.json",
        '{"permission": {"skill": {"a": "deny", "*": "ask"}}}',
    )
    rules = opencode(workspace, {"permission": {"skill": {"b": "deny", "a": "allow"}}})
    # `a` keeps its first place, before `*`; `b` is new and comes last.
    assert [rule.text for rule in rules.written] == [
        "*: allow",
        "skill.a: allow",
        "skill.*: ask",
        "skill.b: deny",
    ]
    assert [action(rules, name) for name in "abc"] == ["ask", "deny", "ask"]


def test_an_action_replaces_a_table_and_a_table_an_action(workspace: Workspace) -> None:
    workspace.write("home/.config/opencode/opencode.json", '{"permission": {"skill": "deny"}}')
    assert shown(opencode(workspace, {"permission": {"skill": {"a": "ask"}}}), "a", "b") == [
        "a",
        "b",
    ]
    workspace.write(
        "home/.config/opencode/opencode.json", '{"permission": {"skill": {"a": "ask"}}}'
    )
    assert shown(opencode(workspace, {"permission": {"skill": "deny"}}), "a", "b") == []


def test_rules_may_stand_in_an_environment_variable(workspace: Workspace) -> None:
    config = {"permission": {"skill": "deny"}}
    env = {"OPENCODE_PERMISSION": '{"skill": {"pdf": "allow"}}'}
    rules = opencode(workspace, config, env=env)
    assert shown(rules, "pdf", "other") == ["pdf", "other"]
    assert str(rules.written[-1]) == "`skill.pdf: allow` in $OPENCODE_PERMISSION"
    for wrong in ("{", '{"skill": "maybe"}', "[" * 100_000, "\udcff"):
        with pytest.raises(SwitchError, match=r"OPENCODE_PERMISSION.*allow, ask or deny"):
            opencode(workspace, config, env={"OPENCODE_PERMISSION": wrong})


def test_patterns_like_paths_know_home_and_windows(workspace: Workspace) -> None:
    skill = {"~/x": "deny", "$HOME/y": "deny", "~": "deny", "~z": "deny", "Deploy": "deny"}
    home = str(workspace.home)
    on_linux = opencode(workspace, {"permission": {"skill": skill}})
    assert shown(on_linux, f"{home}/x", f"{home}/y", home, "~z", "deploy", "Deploy") == ["deploy"]
    given = parse_given({"skill": {"Deploy": "deny"}})
    on_windows = gather_rules(
        Settings(), load_profile(OPENCODE).permissions, make_facts(platform="win32"), given=given
    )
    assert shown(on_windows, "deploy", "DEPLOY", "other") == ["other"]


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (
            {"permission": {"skill": "maybe"}},
            "`permission.skill` must be one of allow, ask, deny; got “maybe”.",
        ),
        (
            {"permission": {"skill": {"a": 1}}},
            "`permission.skill.a` must be one of allow, ask, deny.",
        ),
        ({"permission": {"skill": ["a"]}}, "`permission.skill` must be one of allow, ask, deny."),
        ({"permission": 3}, "`permission` must be one of allow, ask, deny, or a table of them."),
        ({"tools": {"skill": "no"}}, "`tools.skill` must be true or false."),
        (
            {"agent": {"plan": {"permission": {"skill": {"x": "yes"}}}}},
            "`agent.plan.permission.skill.x` must be one of allow, ask, deny; got “yes”.",
        ),
    ],
)
def test_a_table_that_is_no_rule_is_reported_with_its_place(
    workspace: Workspace, config: dict[str, Any], problem: str
) -> None:
    file = workspace.write(OPENCODE_FILE, json.dumps(config))
    assert find_ignored(workspace, OPENCODE) == f"{file}:1: {problem}"


def test_rules_for_other_tools_are_no_concern_of_ours(workspace: Workspace) -> None:
    config = {"permission": {"webfetch": {"rm *": 7}, "edit": ["x"]}, "tools": {"write": "no"}}
    assert [rule.text for rule in opencode(workspace, config).written] == ["*: allow"]


# Lists, as in Claude Code


@pytest.mark.parametrize(
    ("rule", "covered"),
    [
        ("Skill", ["deploy", "deploy-all", "tools:deploy", "review"]),
        ("Skill(*)", ["deploy", "deploy-all", "tools:deploy", "review"]),
        ("Skill(deploy)", ["deploy", "tools:deploy"]),
        ("Skill(/deploy)", ["deploy", "tools:deploy"]),
        (" Skill(deploy *) ", ["deploy", "tools:deploy"]),
        ("Skill(deploy:*)", ["deploy", "deploy-all", "tools:deploy"]),
        ("Skill(tools:*)", ["tools:deploy"]),
        ("Skill(tools:deploy)", ["tools:deploy"]),
        ("Bash(deploy)", []),
        ("Skillet(deploy)", []),
        ("SkillOther", []),
        ("mcp__x__Skill", []),
    ],
)
def test_the_forms_of_a_rule_text(workspace: Workspace, rule: str, covered: list[str]) -> None:
    rules = claude(workspace, deny=[rule])
    names = ["deploy", "deploy-all", "tools:deploy", "review"]
    assert [name for name in names if action(rules, name) == "deny"] == covered


def test_deny_comes_before_ask_before_allow_whatever_the_order(workspace: Workspace) -> None:
    rules = claude(
        workspace,
        allow=["Skill(a)", "Skill(b)", "Skill(c)"],
        deny=["Skill(a *)"],
        ask=["Skill(a)", "Skill(b)"],
    )
    assert [action(rules, name) for name in "abcd"] == ["deny", "ask", "allow", "allow"]


def test_rules_of_all_files_hold_together(workspace: Workspace) -> None:
    workspace.write("home/.claude/settings.json", '{"permissions": {"deny": ["Skill(a)"]}}')
    workspace.write("managed/managed-settings.json", '{"permissions": {"deny": ["Skill(b)"]}}')
    workspace.write(
        "project/.claude/settings.local.json", '{"permissions": {"deny": ["Skill(c)"]}}'
    )
    rules = claude(workspace, allow=["Skill"])
    assert [action(rules, name) for name in "abcd"] == ["deny", "deny", "deny", "allow"]


def test_claude_code_lists_what_it_denies_unless_it_denies_everything(workspace: Workspace) -> None:
    one = claude(workspace, deny=["Skill(deploy)"])
    assert (shown(one, "deploy", "pdf"), section_removed(one)) == (["deploy", "pdf"], False)
    everything = claude(workspace, deny=["Skill"], allow=["Skill(pdf)"])
    assert (shown(everything, "deploy", "pdf"), section_removed(everything)) == ([], True)


def test_a_denial_of_one_name_denies_all_names_and_an_allowance_does_not(
    workspace: Workspace,
) -> None:
    manifest = Manifest(aliases=("review",), allowed_tools=("Bash",))
    assert action(claude(workspace, deny=["Skill(review)"]), "code-review", manifest) == "deny"
    assert action(claude(workspace, allow=["Skill(review)"]), "code-review", manifest) == "ask"


def test_a_skill_that_brings_tools_or_hooks_is_asked_for_unless_a_rule_speaks(
    workspace: Workspace,
) -> None:
    plain, tools, hooks = (
        Manifest(),
        Manifest(allowed_tools=("Bash",)),
        Manifest(hooks={"Stop": []}),
    )
    rules = rules_of(workspace, CLAUDE)
    assert [action(rules, "x", manifest) for manifest in (plain, tools, hooks)] == [
        "allow",
        "ask",
        "ask",
    ]
    assert (
        decide(request_skill("x"), rules, tools).reason
        == "its header has `allowed-tools`, which requires approval"
    )
    assert action(claude(workspace, allow=["Skill(x)"]), "x", tools) == "allow"


@pytest.mark.parametrize(
    "rule", ["Skill(", "Skill()", "Skill( )", "Skill(a", "Skill a", "Skill(a)b", "Skill:a"]
)
def test_a_text_that_is_no_rule_is_reported_with_what_is_allowed(
    workspace: Workspace, rule: str
) -> None:
    assert claude(workspace, allow=["Bash", rule]).written == ()
    assert find_ignored(workspace, CLAUDE) == (
        f"{workspace.path(CLAUDE_FILE)}:5: `permissions.allow.1` must be "
        f"`Skill`, `Skill(name)`, `Skill(name *)` or `Skill(name:*)`; got “{rule}”."
    )


def test_a_list_of_rules_holds_texts(workspace: Workspace) -> None:
    workspace.write(CLAUDE_FILE, '{"permissions": {"deny": [3]}}')
    assert "`permissions.deny.0` must be a string; got 3" in find_ignored(workspace, CLAUDE)


# Prowess's own file


OWN = "home/.config/prowess/prowess.toml"


def own(workspace: Workspace, user: str, project: str = "", **options: Any) -> AgentRules:
    workspace.write(OWN, user)
    workspace.write("project/prowess.toml", project)
    return rules_of(workspace, "prowess", **options)


def test_a_project_can_deny_more_but_never_allow_what_its_user_denied(workspace: Workspace) -> None:
    rules = own(
        workspace,
        '[permissions.skill]\n"*" = "ask"\npdf = "allow"\ndeploy = "deny"\n',
        '[permissions.skill]\ndeploy = "allow"\nmail = "allow"\npdf = "deny"\n',
    )
    names = ("deploy", "mail", "pdf", "other")
    assert [action(rules, name) for name in names] == ["deny", "ask", "deny", "ask"]


def test_within_one_file_the_last_rule_wins_and_an_agents_rules_come_last(
    workspace: Workspace,
) -> None:
    text = '[permissions]\nskill = "deny"\n[agents.plan.permissions.skill]\nfew = "allow"\n'
    assert shown(own(workspace, text), "few", "other") == []
    assert section_removed(own(workspace, text)) is True
    plan = own(workspace, text, agent="plan")
    assert (shown(plan, "few", "other"), section_removed(plan)) == (["few"], False)


def test_everything_is_denied_where_one_file_denies_everything(workspace: Workspace) -> None:
    rules = own(
        workspace, '[permissions.skill]\npdf = "allow"\n', '[permissions]\nskill = "deny"\n'
    )
    assert (shown(rules, "pdf"), section_removed(rules)) == ([], True)


def test_rules_of_the_request_itself_decide(workspace: Workspace) -> None:
    user = '[permissions]\nskill = "deny"\n'
    rules = own(workspace, user, table={"skill": {"pdf": "allow"}})
    assert (shown(rules, "pdf", "other"), section_removed(rules)) == (["pdf"], False)
    assert section_removed(own(workspace, "", deny=["Skill"])) is True
    assert section_removed(own(workspace, "", deny=["Skill(pdf)"])) is False
    assert section_removed(own(workspace, user, deny=["Skill(pdf)"])) is True
    assert (
        section_removed(own(workspace, user, table={"skill": {"pdf": "allow", "*": "deny"}}))
        is True
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '[permissions]\nskill = "off"\n',
            ":2: `permissions.skill` must be one of allow, ask, deny; got “off”.",
        ),
        ("[permissions]\nbash = 1\n", ":2: `permissions.bash` must be one of allow, ask, deny."),
        (
            '[agents.plan]\nmodel = "x"\n',
            ":2: `agents.plan.model` is not a known setting; the known ones are `permissions`.",
        ),
        (
            'approvals = "cloud"\n',
            ":1: `approvals` must be one of memory, disk; got the string “cloud”.",
        ),
        ("usage = 1\n", ":1: `usage` must be true or false; got 1."),
    ],
)
def test_a_wrong_setting_of_our_own_is_an_error_with_its_place(
    workspace: Workspace, text: str, problem: str
) -> None:
    with pytest.raises(SettingError) as error:
        own(workspace, text)
    assert str(error.value) == workspace.path(OWN) + problem


def test_our_own_file_says_where_approvals_are_kept_and_whether_use_is_counted(
    workspace: Workspace,
) -> None:
    workspace.write(OWN, 'approvals = "disk"\nusage = false\n')
    settings = workspace.open("prowess").settings()
    assert (settings.approvals, settings.usage) == ("disk", False)
    assert (Settings().approvals, Settings().usage) == (None, None)


def test_a_project_can_switch_counting_off_and_never_on_again(workspace: Workspace) -> None:
    def usage(user: str, project: str) -> bool | None:
        workspace.write(OWN, user)
        workspace.write("project/prowess.toml", project)
        return workspace.open("prowess").settings().usage

    assert usage("usage = false", "usage = true") is False
    assert usage("usage = true", "usage = false") is False
    assert usage("", "usage = true") is True


# Rules without a file


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"table": "no"}, "A permission rule must be one of allow, ask, deny; got “no”."),
        (
            {"table": {"skill": {"a": 1}}},
            "The permission rule `skill.a` must be one of allow, ask, deny.",
        ),
        (
            {"deny": ["Edit"]},
            "A permission rule is “Edit”, which is not about skills; write it as `Skill(name)`.",
        ),
        (
            {"ask": ["Skill()"]},
            "A permission rule must be `Skill`, `Skill(name)`, `Skill(name *)` or "
            "`Skill(name:*)`; got “Skill()”.",
        ),
    ],
)
def test_a_given_rule_that_cannot_be_read_is_an_error_that_says_what_is_allowed(
    given: dict[str, Any], problem: str
) -> None:
    with pytest.raises(UsageError) as error:
        parse_given(**given)
    assert str(error.value) == problem


@pytest.mark.seed("O-40")
def test_the_request_for_a_skill_has_its_name_as_pattern_and_as_what_always_covers() -> None:
    request = request_skill("pdf")
    assert request == ApprovalRequest(
        permission="skill", patterns=("pdf",), always=("pdf",), metadata={}
    )


def test_of_several_patterns_the_strictest_answer_holds(workspace: Workspace) -> None:
    rules = opencode(workspace, {"permission": {"skill": {"a": "ask", "b": "deny"}}})
    request = ApprovalRequest(patterns=("x", "a", "b"), always=())
    assert decide(request, rules).action is Action.DENY


@pytest.mark.parametrize("host", ["openclaw", "omp", "codex", "spec"])
def test_a_host_without_rules_allows_everything(host: str) -> None:
    rules = gather_rules(Settings(), load_profile(host).permissions, make_facts())
    assert (rules.can_deny, section_removed(rules), action(rules, "pdf")) == (False, False, "allow")


def test_every_rule_is_shown_with_its_place(workspace: Workspace) -> None:
    from prowess.settings.describe import describe_settings

    file = str(
        workspace.write(
            OWN, '[permissions.skill]\npdf = "ask"\n[agents.plan.permissions]\nskill = "deny"\n'
        )
    )
    skills = workspace.open("prowess")
    described = describe_settings(skills.settings(), skills.profile)
    assert [one for one in described if one[0].endswith("permissions")] == [
        ("permissions", "skill.pdf: ask", Origin(file, 2)),
        ("agents.plan.permissions", "skill: deny", Origin(file, 4)),
    ]
