"""oh-my-pi as its current release behaves, where no recorded case says it."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from prowess.model.outcome import State
from prowess.model.snapshot import Snapshot
from prowess.ports import Event
from prowess.profiles.load import load_profile
from prowess.runtime import Skills
from prowess.testing import MemoryFiles, make_facts
from tests.workspace import Workspace, skill_text

HOST = "omp"

# Every root, strongest first, seen from `project/a` in the repository `project`, and the source it
# is.
RANKED = [
    ("custom:user", "custom"),
    ("custom:user", "home/more"),
    ("native:project", "project/a/.omp/skills"),
    ("native:project", "project/.omp/skills"),
    ("native:user", "home/.omp/agent/skills"),
    ("claude:user", "home/.claude/skills"),
    ("claude:project", "project/a/.claude/skills"),
    ("claude:project", "project/.claude/skills"),
    ("claude-plugins:user", "plugin/skills"),
    ("agents:project", "project/a/.agent/skills"),
    ("agents:project", "project/a/.agents/skills"),
    ("agents:project", "project/.agent/skills"),
    ("agents:project", "project/.agents/skills"),
    ("agents:user", "home/.agent/skills"),
    ("agents:user", "home/.agents/skills"),
    ("codex:user", "home/.codex/skills"),
    ("codex:project", "project/a/.codex/skills"),
    ("opencode:user", "home/.config/opencode/skills"),
    ("opencode:project", "project/a/.opencode/skills"),
    ("github:project", "project/a/.github/skills"),
    ("omp-managed:user", "home/.omp/agent/managed-skills"),
]
ASKED_FOR = {"claude:user", "claude-plugins:user", "codex:user", "opencode:user"}


def configure(workspace: Workspace, **settings: Any) -> None:
    """Write omp's settings: `skills` is its table of that name, the rest stands at the top. JSON is
    YAML.
    """
    workspace.write("home/.omp/agent/config.yml", json.dumps(settings))


def scan(workspace: Workspace, **options: Any) -> Snapshot:
    """One scan from `project/a` with a Claude plugin installed."""
    return workspace.scan(
        HOST, cwd="project/a", places={"claude_plugins": workspace.path("plugin")}, **options
    )


def sources(snapshot: Snapshot) -> dict[str, str]:
    """The source of each listed skill, in the host's own words."""
    return {outcome.name: outcome.candidate.root.source.label for outcome in snapshot.shown}


@pytest.fixture
def one_each(workspace: Workspace) -> Workspace:
    """A skill in every root, named after its root."""
    workspace.git()
    for _, root in RANKED:
        workspace.skill(f"{root}/{root.strip('.').replace('/', '-').replace('.', '')}")
    return workspace


def switched_off(one_each: Workspace, **options: Any) -> dict[str, str | None]:
    """The sources that are off, and what each says turned it off; every other must be listed whole."""
    snapshot = scan(one_each, **options)
    off = {
        o.candidate.root.source.label: o.rule
        for o in snapshot.outcomes
        if o.state is State.DISABLED
    }
    listed = [
        (o.candidate.root.source.label, one_each.relative(o.candidate.root.path))
        for o in snapshot.shown
    ]
    is_there = {root.source.label for root in snapshot.roots}
    assert sorted(listed) == sorted(one for one in RANKED if one[0] in is_there - off.keys())
    return off


NOT_ASKED_FOR = {
    "claude:user": "enableClaudeUser",
    "claude-plugins:user": "claude-plugins is not in enabledProviders",
    "codex:user": "enableCodexUser",
    "opencode:user": "opencode is not in enabledProviders",
}


# Providers, roots, order


def test_of_one_name_each_root_wins_over_all_that_are_ranked_below_it(workspace: Workspace):
    workspace.git()
    configure(
        workspace,
        skills={"customDirectories": [workspace.path("custom"), "~/more"]},
        enabledProviders=["*"],
    )
    for _, root in RANKED:
        workspace.skill(f"{root}/same")
    winners = []
    for _, root in RANKED:
        [skill] = scan(workspace).skills
        winners.append((skill.source.label, workspace.relative(skill.source.path)))
        shutil.rmtree(workspace.root / root)
    assert winners == RANKED


def test_the_providers_have_the_priorities_of_the_release():
    priorities = {rule.provider: rule.priority for rule in load_profile(HOST).roots.values()}
    del priorities["custom"]
    expected = {
        "native": 100,
        "omp-plugins": 90,
        "claude": 80,
        "claude-plugins": 70,
        "agents": 70,
        "codex": 70,
        "opencode": 55,
        "github": 30,
        "omp-managed": 5,
    }
    assert {provider: priorities[provider] for provider in expected} == expected


@pytest.mark.parametrize(
    "root",
    [
        "home/.omp/skills",
        "home/.opencode/skills",
        "home/.copilot/skills",
        "home/.gemini/skills",
        "home/.github/skills",
        "project/skills",
        "project/a/skills",
        "project/a/.pi/skills",
        "project/a/.cursor/skills",
        "project/.codex/skills",
        "project/.opencode/skills",
        "project/.github/skills",
        ".omp/skills",
        ".agents/skills",
    ],
)
def test_what_is_no_root_is_not_looked_at(workspace: Workspace, root: str):
    workspace.git()
    configure(workspace, enabledProviders=["*"])
    workspace.skill(f"{root}/pdf")
    assert scan(workspace).outcomes == ()


def test_a_git_file_marks_the_repository_as_well(workspace: Workspace):
    workspace.write("project/.git", "gitdir: /elsewhere\n")
    for place in ("", "project/", "project/a/"):
        workspace.skill(f"{place}.omp/skills/at-{place.count('/')}")
    assert workspace.listed(scan(workspace)) == {
        "at-1": "project/.omp/skills/at-1/SKILL.md",
        "at-2": "project/a/.omp/skills/at-2/SKILL.md",
    }


def test_the_nearest_repository_bounds_the_walk(workspace: Workspace):
    workspace.git()
    workspace.git("project/a")
    workspace.skill("project/.omp/skills/outer")
    workspace.skill("project/a/.omp/skills/inner")
    assert workspace.listed(scan(workspace)) == {"inner": "project/a/.omp/skills/inner/SKILL.md"}


def memory_scan(cwd: str, *skills: str) -> dict[str, str]:
    """Names and sources of what is listed from a folder without a repository; home is /home/me."""
    files = MemoryFiles(
        {f"{folder}/SKILL.md": skill_text(folder.rpartition("/")[2]) for folder in skills}
    )
    return sources(Skills(cwd, host=HOST, facts=make_facts("/home/me"), files=files).snapshot)


def test_without_a_repository_below_home_the_walk_ends_at_home_whose_own_folder_counts_as_project():
    found = memory_scan(
        "/home/me/work/deep",
        "/home/.omp/skills/above-home",
        "/home/me/.omp/skills/at-home",
        "/home/me/.omp/agent/skills/user",
        "/home/me/work/.omp/skills/middle",
        "/home/me/work/deep/.omp/skills/here",
    )
    assert found == {
        "at-home": "native:project",
        "here": "native:project",
        "middle": "native:project",
        "user": "native:user",
    }


def test_without_a_repository_outside_home_the_walk_goes_to_the_top():
    found = memory_scan(
        "/srv/app", "/.omp/skills/top", "/srv/.claude/skills/middle", "/srv/app/.agents/skills/here"
    )
    assert found == {"here": "agents:project", "middle": "claude:project", "top": "native:project"}


def test_the_walk_of_claude_and_agents_passes_over_home():
    found = memory_scan(
        "/home/me/work",
        "/home/me/.claude/skills/claude-home",
        "/home/me/.agent/skills/agent-home",
        "/home/me/.agents/skills/agents-home",
        "/home/me/work/.claude/skills/claude-work",
        "/home/me/work/.agents/skills/agents-work",
    )
    assert found == {
        "agent-home": "agents:user",
        "agents-home": "agents:user",
        "agents-work": "agents:project",
        "claude-work": "claude:project",
    }


def test_in_home_itself_the_codex_folder_counts_as_project_and_needs_no_asking():
    found = memory_scan(
        "/home/me",
        "/home/me/.codex/skills/codex",
        "/home/me/.opencode/skills/opencode",
        "/home/me/.github/skills/github",
        "/home/me/.claude/skills/claude",
        "/home/me/.config/opencode/skills/config",
    )
    assert found == {
        "codex": "codex:project",
        "github": "github:project",
        "opencode": "opencode:project",
    }


def test_the_folder_of_the_agent_can_be_moved_with_its_settings_and_managed_skills(
    workspace: Workspace,
):
    workspace.git()
    workspace.skill("home/.omp/agent/skills/left")
    workspace.skill("home/.omp/agent/managed-skills/left-too")
    workspace.skill("moved/skills/user")
    workspace.skill("moved/skills/ignored")
    workspace.skill("moved/managed-skills/learnt")
    workspace.write("moved/config.yml", "skills:\n  ignoredSkills: [ignored]\n")
    env = {"PI_CODING_AGENT_DIR": workspace.path("moved")}
    assert sources(workspace.scan(HOST, env=env)) == {
        "learnt": "omp-managed:user",
        "user": "native:user",
    }


def test_names_that_differ_in_case_are_two_and_one_name_in_one_root_goes_to_the_first_folder(
    workspace: Workspace,
):
    workspace.git()
    workspace.skill("project/.omp/skills/a", name="dup")
    workspace.skill("project/.omp/skills/b", name="DUP")
    workspace.skill("project/.omp/skills/c", name="dup")
    assert workspace.listed(workspace.scan(HOST)) == {
        "DUP": "project/.omp/skills/b/SKILL.md",
        "dup": "project/.omp/skills/a/SKILL.md",
    }


# Opt-in


def test_user_skills_of_other_agents_are_off_until_they_are_asked_for(one_each: Workspace):
    assert switched_off(one_each) == NOT_ASKED_FOR


@pytest.mark.parametrize("word", ["*", "all"])
def test_all_providers_can_be_asked_for_at_once(one_each: Workspace, word: str):
    configure(one_each, enabledProviders=[word])
    assert switched_off(one_each) == {}


@pytest.mark.parametrize("provider", ["claude", "claude-plugins", "codex", "opencode"])
def test_one_provider_can_be_asked_for_alone(one_each: Workspace, provider: str):
    configure(one_each, enabledProviders=[provider, "gemini"])
    others = {label: why for label, why in NOT_ASKED_FOR.items() if label != f"{provider}:user"}
    assert switched_off(one_each) == others


@pytest.mark.parametrize(
    ("toggle", "label"), [("enableClaudeUser", "claude:user"), ("enableCodexUser", "codex:user")]
)
def test_a_toggle_that_is_off_by_itself_asks_as_well(one_each: Workspace, toggle: str, label: str):
    configure(one_each, skills={toggle: True})
    assert switched_off(one_each) == {
        other: why for other, why in NOT_ASKED_FOR.items() if other != label
    }


def test_a_toggle_that_is_set_to_false_does_not_undo_what_was_asked_for(one_each: Workspace):
    configure(
        one_each,
        skills={"enableClaudeUser": False, "enableCodexUser": False},
        enabledProviders=["all"],
    )
    assert switched_off(one_each) == {}


def test_a_configured_folder_of_claude_is_read_instead_of_the_default_and_needs_no_asking(
    workspace: Workspace,
):
    workspace.git()
    workspace.skill("home/.claude/skills/default")
    workspace.skill("moved/skills/moved")
    env = {"CLAUDE_CONFIG_DIR": workspace.path("moved")}
    assert sources(workspace.scan(HOST, env=env)) == {"moved": "claude:user"}
    assert sources(workspace.scan(HOST, env={"CLAUDE_CONFIG_DIR": ""})) == {}


# Toggles and disabled providers

TOGGLED = {
    "enableClaudeProject": "claude:project",
    "enablePiUser": "native:user",
    "enablePiProject": "native:project",
    "enableAgentsUser": "agents:user",
    "enableAgentsProject": "agents:project",
}


@pytest.mark.parametrize(("toggle", "label"), TOGGLED.items())
def test_a_toggle_turns_off_its_own_source_and_no_other(
    one_each: Workspace, toggle: str, label: str
):
    configure(one_each, skills={toggle: False})
    assert switched_off(one_each) == NOT_ASKED_FOR | {label: toggle}


def test_with_every_toggle_off_projects_without_one_and_managed_skills_go_on(one_each: Workspace):
    off = dict.fromkeys([*TOGGLED, "enableClaudeUser", "enableCodexUser"], False)
    configure(one_each, skills=off)
    assert switched_off(one_each) == NOT_ASKED_FOR | {
        label: toggle for toggle, label in TOGGLED.items()
    }
    listed = set(sources(scan(one_each)).values())
    assert listed == {"codex:project", "opencode:project", "github:project", "omp-managed:user"}


@pytest.mark.parametrize(
    "provider",
    ["native", "claude", "claude-plugins", "agents", "codex", "opencode", "github", "omp-managed"],
)
def test_a_disabled_provider_is_off_at_every_level_whatever_was_asked_for(
    one_each: Workspace, provider: str
):
    configure(one_each, enabledProviders=["*"], disabledProviders=[provider])
    of_provider = {label for label, _ in RANKED if label.partition(":")[0] == provider}
    assert switched_off(one_each) == dict.fromkeys(of_provider, "disabled_providers")


def test_with_skills_switched_off_nothing_is_listed_not_even_custom_ones(one_each: Workspace):
    directories = [one_each.path("custom"), "~/more"]
    configure(
        one_each,
        skills={"enabled": False, "customDirectories": directories},
        enabledProviders=["*"],
    )
    snapshot = scan(one_each)
    assert (snapshot.shown, snapshot.counts()) == ((), {State.DISABLED: len(RANKED)})
    assert {outcome.rule for outcome in snapshot.outcomes} == {"enabled"}


# The order of filters

HIDES = {
    "a toggle": {"skills": {"enablePiProject": False}},
    "a disabled provider": {"disabledProviders": ["native"]},
}


@pytest.mark.parametrize("settings", HIDES.values(), ids=HIDES)
def test_a_skill_that_is_filtered_out_no_longer_hides_a_weaker_one(
    workspace: Workspace, settings: dict[str, Any]
):
    workspace.git()
    workspace.skill("project/.omp/skills/pdf")
    workspace.skill("project/.claude/skills/pdf")
    assert workspace.ends(workspace.scan(HOST)) == {
        "project/.omp/skills/pdf/SKILL.md": "ready",
        "project/.claude/skills/pdf/SKILL.md": "shadowed",
    }
    configure(workspace, **settings)
    assert workspace.ends(workspace.scan(HOST)) == {
        "project/.omp/skills/pdf/SKILL.md": "disabled",
        "project/.claude/skills/pdf/SKILL.md": "ready",
    }


def test_a_skill_that_says_it_is_not_enabled_no_longer_hides_a_weaker_one(workspace: Workspace):
    workspace.git()
    workspace.skill("project/.omp/skills/pdf", enabled="false")
    workspace.skill("project/.claude/skills/pdf")
    assert workspace.listed(workspace.scan(HOST)) == {"pdf": "project/.claude/skills/pdf/SKILL.md"}


def test_a_name_that_is_disabled_ignored_or_not_included_is_gone_from_every_source(
    workspace: Workspace,
):
    workspace.git()
    for root in (
        "custom",
        "project/.omp/skills",
        "project/.claude/skills",
        "home/.omp/agent/managed-skills",
    ):
        for name in ("disabled", "ignored", "left-out", "kept"):
            workspace.skill(f"{root}/{name}")
    skills = {
        "customDirectories": [workspace.path("custom")],
        "ignoredSkills": ["ignored"],
        "includeSkills": ["kept", "ignored", "disabled"],
    }
    configure(workspace, skills=skills, disabledExtensions=["skill:disabled"])
    snapshot = workspace.scan(HOST)
    assert workspace.listed(snapshot) == {"kept": "custom/kept/SKILL.md"}
    rules = {
        (outcome.name, outcome.rule)
        for outcome in snapshot.outcomes
        if outcome.state is State.DISABLED
    }
    assert rules == {
        ("disabled", "disabled_extensions"),
        ("ignored", "ignored"),
        ("left-out", "included"),
    }


# Patterns over names

NAMES = ["alpha", "alpha-two", "Alpha", "beta", "team/x", "team/y/z", ".dot", "a[b]", "x:y", "日本"]
MATCHES = {
    "alpha": ["alpha"],
    "ALPHA": [],
    "alph": [],
    "alpha*": ["alpha", "alpha-two"],
    "*": ["alpha", "alpha-two", "Alpha", "beta", ".dot", "a[b]", "x:y", "日本"],
    "**": NAMES,
    "*/*": ["team/x"],
    "team/*": ["team/x"],
    "team/**": ["team/x", "team/y/z"],
    "?eta": ["beta"],
    "team?x": [],
    "????": ["beta", ".dot", "a[b]"],
    "[a-c]*": ["alpha", "alpha-two", "beta", "a[b]"],
    "[!a]*": ["Alpha", "beta", ".dot", "x:y", "日本"],
    "[^a]*": ["Alpha", "beta", ".dot", "x:y", "日本"],
    "{alpha,beta}": ["alpha", "beta"],
    "{alpha,b*}": ["alpha", "beta"],
    "alpha{,-two}": ["alpha", "alpha-two"],
    "a\\[b\\]": ["a[b]"],
    "alpha\\*": [],
    ".*": [".dot"],
    "!alpha": ["alpha-two", "Alpha", "beta", "team/x", "team/y/z", ".dot", "a[b]", "x:y", "日本"],
    "!alpha*": ["Alpha", "beta", "team/x", "team/y/z", ".dot", "a[b]", "x:y", "日本"],
    "x:?": ["x:y"],
    "日?": ["日本"],
    "": [],
}


@pytest.fixture
def named(workspace: Workspace) -> Workspace:
    workspace.git()
    for number, name in enumerate(NAMES):
        workspace.skill(f"project/.omp/skills/s{number}", name=json.dumps(name))
    return workspace


@pytest.mark.parametrize(("pattern", "matched"), MATCHES.items())
def test_patterns_of_ignored_and_included_skills_follow_the_hosts_globs(
    named: Workspace, pattern: str, matched: list[str]
):
    configure(named, skills={"includeSkills": [pattern]})
    included = {skill.name for skill in named.scan(HOST).skills}
    configure(named, skills={"ignoredSkills": [pattern]})
    left = {skill.name for skill in named.scan(HOST).skills}
    assert (included, left) == (set(matched), set(NAMES) - set(matched))


def test_being_ignored_beats_being_included_and_one_pattern_of_several_is_enough(named: Workspace):
    configure(
        named, skills={"includeSkills": ["beta", "alpha*"], "ignoredSkills": ["nobody", "*-two"]}
    )
    assert [skill.name for skill in named.scan(HOST).skills] == ["alpha", "beta"]


@pytest.mark.parametrize(
    "entry", ["skill:alpha*", "alpha", "skill: alpha", "SKILL:alpha", "skill:Alph"]
)
def test_a_disabled_extension_is_no_pattern(named: Workspace, entry: str):
    configure(named, disabledExtensions=[entry])
    assert {skill.name for skill in named.scan(HOST).skills} == set(NAMES)


# Managed skills


def test_a_managed_skill_loses_to_every_other_of_its_name(workspace: Workspace):
    workspace.git()
    workspace.skill("home/.omp/agent/managed-skills/pdf")
    for root in ("project/.github/skills", "project/.omp/skills", "home/.agents/skills", "custom"):
        configure(workspace, skills={"customDirectories": [workspace.path("custom")]})
        workspace.skill(f"{root}/pdf")
        assert workspace.listed(workspace.scan(HOST)) == {"pdf": f"{root}/pdf/SKILL.md"}
        shutil.rmtree(workspace.root / root)
    assert workspace.listed(workspace.scan(HOST)) == {
        "pdf": "home/.omp/agent/managed-skills/pdf/SKILL.md"
    }


def test_a_managed_skill_shows_where_its_only_twin_is_switched_off(workspace: Workspace):
    workspace.git()
    workspace.skill("home/.omp/agent/managed-skills/pdf")
    workspace.skill("project/.omp/skills/pdf")
    configure(workspace, skills={"enablePiProject": False})
    assert workspace.ends(workspace.scan(HOST)) == {
        "home/.omp/agent/managed-skills/pdf/SKILL.md": "ready",
        "project/.omp/skills/pdf/SKILL.md": "disabled",
    }


# Custom folders


def test_a_custom_skill_replaces_every_providers_without_a_word_and_two_custom_ones_collide(
    workspace: Workspace,
):
    workspace.git()
    configure(workspace, skills={"customDirectories": [workspace.path("one"), "~/two", "three"]})
    kept = str(workspace.skill("one/pdf"))
    lost = [str(workspace.skill(f"{root}/pdf")) for root in ("home/two", "project/three")]
    workspace.skill("project/.omp/skills/pdf")
    workspace.skill("project/.claude/skills/pdf")
    events: list[Event] = []
    snapshot = workspace.scan(HOST, on_event=events.append)
    assert workspace.listed(snapshot) == {"pdf": "one/pdf/SKILL.md"}
    message = f"The name “pdf” is claimed twice; {kept} has it."
    assert events == [Event("duplicate", file, message, kept) for file in lost]


def test_a_custom_folder_that_is_missing_or_a_file_is_noticed(workspace: Workspace):
    workspace.git()
    workspace.write("file", "text")
    configure(
        workspace, skills={"customDirectories": [workspace.path("gone"), workspace.path("file")]}
    )
    snapshot = workspace.scan(HOST)
    assert [(found.code, found.severity.value, found.file) for found in snapshot.diagnostics] == [
        ("root-missing", "warning", workspace.path("gone")),
        ("root-not-a-folder", "warning", workspace.path("file")),
    ]


# What the list shows


def test_the_list_is_in_the_order_of_names_without_regard_to_case(workspace: Workspace):
    workspace.git()
    for number, name in enumerate(("beta", "Alpha", "alpha", "Zeta", "eta")):
        workspace.skill(f"project/.omp/skills/s{number}", name=name)
    assert [skill.name for skill in workspace.scan(HOST).skills] == [
        "Alpha",
        "alpha",
        "beta",
        "eta",
        "Zeta",
    ]


@pytest.mark.parametrize(
    ("field", "state"),
    [
        ("hide: true", State.HIDDEN),
        ("disable-model-invocation: true", State.HIDDEN),
        ("disableModelInvocation: true", State.HIDDEN),
        ("hide: 'true'", State.READY),
        ("hide: yes", State.READY),
        ("disable-model-invocation: 'true'", State.READY),
        ("enabled: false", State.DISABLED),
        ("enabled: 'false'", State.READY),
        ("alwaysApply: true", State.READY),
        ("globs: ['*.py']", State.READY),
        ("user-invocable: false", State.READY),
    ],
)
def test_flags_have_to_be_truth_values(workspace: Workspace, field: str, state: State):
    workspace.git()
    workspace.write("project/.omp/skills/x/SKILL.md", f"---\ndescription: d\n{field}\n---\nBody\n")
    [outcome] = workspace.scan(HOST).outcomes
    assert outcome.state is state


# Context files


def find_context(cwd: str, *folders: str, home: str = "/home/me") -> list[str]:
    """The folders whose AGENTS.md is found from a folder without a repository, farthest first."""
    files = MemoryFiles({f"{folder}/AGENTS.md": f"At {folder}\n" for folder in folders})
    found = Skills(cwd, host=HOST, facts=make_facts(home), files=files).context_files()
    return [file.path.removesuffix("/AGENTS.md") for file in found.files]


def test_without_a_repository_below_home_context_files_end_with_homes_own():
    folders = ["", "/home", "/home/me", "/home/me/work", "/home/me/work/deep"]
    assert find_context("/home/me/work/deep", *folders) == folders[2:]


def test_without_a_repository_outside_home_context_files_are_found_up_to_the_top():
    folders = ["", "/srv", "/srv/app", "/srv/app/deep"]
    assert find_context("/srv/app/deep", *folders) == folders


def test_a_repository_outside_home_bounds_the_walk_for_context_files(workspace: Workspace):
    workspace.git()
    for folder in ("", "project/", "project/a/"):
        workspace.write(f"{folder}AGENTS.md", "text")
    found = workspace.open(HOST, cwd="project/a").context_files()
    assert [workspace.relative(file.path) for file in found.files] == [
        "project/AGENTS.md",
        "project/a/AGENTS.md",
    ]


def test_a_context_file_must_have_the_exact_name_and_some_text(workspace: Workspace):
    workspace.git()
    workspace.write("project/AGENTS.md", " \n\n")
    workspace.write("project/a/agents.md", "text")
    workspace.write("project/a/CLAUDE.md", "text")
    workspace.write("project/a/b/AGENTS.md", "text")
    found = workspace.open(HOST, cwd="project/a/b").context_files()
    assert [(workspace.relative(file.path), file.text, file.depth) for file in found.files] == [
        ("project/a/b/AGENTS.md", "text", 0)
    ]


def test_a_context_file_is_left_out_only_where_its_own_folder_is_hidden():
    folders = ["/w", "/w/.tools", "/w/.tools/x", "/w/.tools/x/.y"]
    assert find_context("/w/.tools/x/.y", *folders) == ["/w", "/w/.tools/x"]


def test_a_managed_skill_needs_a_plain_name(workspace):
    workspace.skill("home/.omp/agent/managed-skills/ok")
    workspace.skill("home/.omp/agent/managed-skills/bad", name="Bad Name")
    workspace.skill("home/.omp/agent/skills/free", name="Free Name")
    snapshot = workspace.scan("omp")
    assert workspace.ends(snapshot) == {
        "home/.omp/agent/managed-skills/ok/SKILL.md": "ready",
        "home/.omp/agent/managed-skills/bad/SKILL.md": "invalid",
        "home/.omp/agent/skills/free/SKILL.md": "ready",
    }
