"""OpenClaw as its two documents describe it: the chapter on skills and the text on its
architecture.
"""

from __future__ import annotations

import os
import subprocess
from typing import Any

import msgspec
import pytest

from prowess.discover.roots import plan_roots
from prowess.gate.eligibility import judge
from prowess.model.outcome import Outcome, State
from prowess.model.settings import Settings
from prowess.model.skill import LoadedFrom, Manifest, Requires, Root, Scope
from prowess.model.snapshot import Snapshot
from prowess.resolve.strategies import later_wins
from prowess.runtime import Skills
from prowess.testing import MemoryFiles, make_facts
from tests.workspace import Workspace, skill_text

HOST = "openclaw@documented"

# The chapter's sample, with the indentation that its source lost.
WEATHER = """---
name: weather
description: >
  Get current weather and forecasts via wttr.in or Open-Meteo.
  Use when user asks about weather, temperature, or forecasts.
  NOT for: historical data, severe alerts.
always: false
skillKey: weather
primaryEnv: OPENWEATHER_KEY
emoji: 🌤
homepage: https://clawhub.com/skills/weather
os: [darwin, linux]
requires:
  bins: [curl]
  anyBins: [wget, curl]
  env: [OPENWEATHER_KEY]
  config: [weather.apiKey]
install:
  - kind: brew
    formula: wttr
    bins: [wttr]
  - kind: node
    package: weather-cli
    bins: [weather]
---
# Weather Skill
"""
WEATHER_DESCRIPTION = (
    "Get current weather and forecasts via wttr.in or Open-Meteo. "
    "Use when user asks about weather, temperature, or forecasts. "
    "NOT for: historical data, severe alerts."
)

# The architecture text's sample: a comment after every value, JSON on a line of its own.
DISPATCHED = """---
name: my-skill
description: Do something useful
command-dispatch: tool # optional: straight to a tool
command-tool: sessions_send # optional: which tool
command-arg-mode: raw # optional: how arguments are passed
disable-model-invocation: false # optional: hidden from the prompt
user-invocable: true # optional: whether users may call it
metadata: # optional: gates loading
  { "openclaw": { "requires": { "bins": ["uv"], "env": ["API_KEY"] } } }
---
Instructions
"""


def only(snapshot: Snapshot) -> Outcome:
    """The one candidate of a scan."""
    [outcome] = snapshot.outcomes
    return outcome


def read_manifest(workspace: Workspace, header: str) -> Manifest:
    """The manifest of a skill whose header has these lines below its name and description."""
    path = "project/skills/it/SKILL.md"
    workspace.write(path, f"---\nname: it\ndescription: d\n{header}---\nBody\n")
    outcome = workspace.outcome(workspace.scan(HOST), path)
    assert outcome.skill is not None
    assert outcome.diagnostics == ()
    return outcome.skill.manifest


def plan(workspace: Workspace) -> tuple[Root, ...]:
    """The roots of the documented edition, with `bundled` and the folder of a plugin that its SDK
    registered.
    """
    skills = workspace.open(HOST, env={"OPENCLAW_BUNDLED_SKILLS_DIR": workspace.path("bundled")})
    places = msgspec.structs.replace(skills.find_places(), plugin=(workspace.path("plugin"),))
    return plan_roots(
        skills.profile,
        places,
        Settings(),
        skills.facts,
        later_wins=later_wins(skills.profile.resolution),
    )


def write_config(workspace: Workspace, text: str) -> None:
    workspace.write("home/.openclaw/openclaw.json", text)


@pytest.mark.seed("W-01")
def test_finding_and_reading_a_skill_runs_nothing(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
):
    marker = workspace.root / "ran"
    text = f"""---
name: loud
description: !!python/object/apply:os.system ["touch {marker}"]
install: [{{kind: brew, formula: "$(touch {marker})"}}]
---
!`touch {marker}`

```!
touch {marker}
```
"""
    workspace.write("project/skills/loud/SKILL.md", text)
    workspace.write("project/skills/loud/scripts/setup.sh", f"#!/bin/sh\ntouch {marker}\n").chmod(
        0o755
    )
    workspace.write("project/skills/loud/__init__.py", f"open({str(marker)!r}, 'w')\n")

    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError(f"a process was started: {arguments}")

    for name in ("system", "fork", "execv", "execve", "posix_spawn", "popen"):
        monkeypatch.setattr(os, name, refuse)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    snapshot = workspace.scan(HOST)
    contents = [outcome.skill.content for outcome in snapshot.outcomes if outcome.skill is not None]
    assert workspace.ends(snapshot) == {"project/skills/loud/SKILL.md": "ready"}
    assert contents == [text.partition("\n---\n")[2]]
    assert not marker.exists()


@pytest.mark.seed("W-04")
def test_a_skill_folder_needs_skill_md_and_nothing_else(workspace: Workspace):
    workspace.skill("project/skills/bare")
    workspace.skill("project/skills/full")
    workspace.write("project/skills/full/assets/logo.svg", "<svg/>")
    workspace.write("project/skills/full/scripts/run.sh", "#!/bin/sh\n")
    workspace.write("project/skills/none/assets/logo.svg", "<svg/>")
    workspace.write("project/skills/none/scripts/run.sh", "#!/bin/sh\n")
    skills = workspace.open(HOST)
    assert workspace.ends(skills.snapshot) == {
        "project/skills/bare/SKILL.md": "ready",
        "project/skills/full/SKILL.md": "ready",
    }
    assert skills.folders() == (
        workspace.path("project/skills/bare"),
        workspace.path("project/skills/full"),
    )


@pytest.mark.seed("W-05", "W-06", "W-07", "W-09", "W-10", "W-11", "W-12")
def test_the_sample_of_the_chapter_is_read_whole(workspace: Workspace):
    workspace.write("project/skills/weather/SKILL.md", WEATHER)
    outcome = only(workspace.scan(HOST))
    assert outcome.skill is not None
    assert outcome.diagnostics == ()
    assert (outcome.name, outcome.skill.description) == ("weather", WEATHER_DESCRIPTION)
    assert msgspec.structs.replace(outcome.skill.manifest, description=None) == Manifest(
        name="weather",
        always=False,
        skill_key="weather",
        primary_env="OPENWEATHER_KEY",
        emoji="🌤",
        homepage="https://clawhub.com/skills/weather",
        os=("darwin", "linux"),
        requires=Requires(
            bins=("curl",),
            any_bins=("wget", "curl"),
            env=("OPENWEATHER_KEY",),
            config=("weather.apiKey",),
        ),
        install=(
            {"kind": "brew", "formula": "wttr", "bins": ["wttr"]},
            {"kind": "node", "package": "weather-cli", "bins": ["weather"]},
        ),
    )


@pytest.mark.seed("W-06")
def test_none_of_the_eight_fields_is_needed(workspace: Workspace):
    assert read_manifest(workspace, "") == Manifest(name="it", description="d")


@pytest.mark.seed("W-05", "W-06", "W-09", "W-11", "W-12")
@pytest.mark.parametrize(
    ("header", "field"),
    [
        ("always: true\n", {"always": True}),
        ("skillKey: key\n", {"skill_key": "key"}),
        ("primaryEnv: API_KEY\n", {"primary_env": "API_KEY"}),
        ("emoji: 🦞\n", {"emoji": "🦞"}),
        ("homepage: https://example.com\n", {"homepage": "https://example.com"}),
        ("os: [win32]\n", {"os": ("win32",)}),
        ("os:\n  - darwin\n  - linux\n", {"os": ("darwin", "linux")}),
        ("requires: {bins: [a, b]}\n", {"requires": Requires(bins=("a", "b"))}),
        ("requires: {anyBins: [a, b]}\n", {"requires": Requires(any_bins=("a", "b"))}),
        ("requires: {env: [A_KEY]}\n", {"requires": Requires(env=("A_KEY",))}),
        ("requires: {config: [a.b]}\n", {"requires": Requires(config=("a.b",))}),
        ("install: [{kind: uv, package: x}]\n", {"install": ({"kind": "uv", "package": "x"},)}),
        (
            "install:\n  - kind: brew\n    formula: x\n  - kind: download\n    url: https://example.com/x\n",
            {
                "install": (
                    {"kind": "brew", "formula": "x"},
                    {"kind": "download", "url": "https://example.com/x"},
                )
            },
        ),
    ],
)
def test_each_of_the_eight_fields_may_stand_alone_at_the_top(
    workspace: Workspace, header: str, field: dict[str, Any]
):
    assert read_manifest(workspace, header) == Manifest(name="it", description="d", **field)


@pytest.mark.seed("W-07")
@pytest.mark.parametrize("mark", [">", ">-", "|"])
def test_a_description_may_be_a_block_with_a_colon_in_it(workspace: Workspace, mark: str):
    text = f"---\nname: it\ndescription: {mark}\n  Use it.\n  NOT for: that.\n---\nBody\n"
    workspace.write("project/skills/it/SKILL.md", text)
    [skill] = workspace.scan(HOST).skills
    between = "\n" if mark == "|" else " "
    assert (skill.name, skill.description) == ("it", f"Use it.{between}NOT for: that.")


@pytest.mark.seed("W-10")
@pytest.mark.parametrize("platform", ["darwin", "linux", "win32"])
def test_os_names_the_platforms_a_skill_is_for(workspace: Workspace, platform: str):
    manifests = {
        word: read_manifest(workspace, f"os: [{word}]\n") for word in ("darwin", "linux", "win32")
    }
    rules = workspace.open(HOST).profile.gate
    facts = make_facts(platform=platform)
    missing = {
        word: judge(manifest, name="it", rules=rules, facts=facts, settings=Settings()).os
        for word, manifest in manifests.items()
    }
    assert missing == {
        word: () if word == platform else (word,) for word in ("darwin", "linux", "win32")
    }


@pytest.mark.seed("W-25")
def test_skills_come_bundled_from_the_workspace_from_plugins_and_from_afar(workspace: Workspace):
    workspace.skill("bundled/shipped")
    workspace.skill("project/skills/own")
    workspace.skill("plugin/skills/plugged")
    # What was fetched from a registry is copied into the workspace and has no place of its own.
    workspace.skill("project/skills/fetched")
    workspace.write("project/skills/fetched/.clawhub/origin.json", '{"version": 1}')
    workspace.write(
        "project/.clawhub/lock.json", '{"version": 1, "skills": {"fetched": {"version": "1.0.0"}}}'
    )
    snapshot = workspace.scan(HOST, roots=plan(workspace))
    assert {
        one.name: (one.scope, one.source.label, one.source.loaded_from) for one in snapshot.skills
    } == {
        "shipped": (Scope.BUNDLED, "openclaw-bundled", LoadedFrom.BUNDLED),
        "own": (Scope.PROJECT, "openclaw-workspace", LoadedFrom.SKILLS),
        "plugged": (Scope.PLUGIN, "openclaw-extra", LoadedFrom.PLUGIN),
        "fetched": (Scope.PROJECT, "openclaw-workspace", LoadedFrom.SKILLS),
    }


@pytest.mark.seed("W-27")
def test_workspace_skills_lie_one_level_below_skills(workspace: Workspace):
    workspace.skill("project/skills/near")
    workspace.skill("project/skills/group/deep")
    workspace.write("project/skills/SKILL.md", skill_text("root"))
    workspace.write("project/skills/flat.md", skill_text("flat"))
    assert workspace.ends(workspace.scan(HOST)) == {
        "project/skills/near/SKILL.md": "ready",
        "project/skills/group/deep/SKILL.md": "skipped",
        "project/skills/SKILL.md": "skipped",
    }


@pytest.mark.seed("W-27")
def test_the_workspace_is_the_working_folder_or_the_one_that_is_configured(workspace: Workspace):
    workspace.skill("project/skills/here")
    workspace.skill("home/.openclaw/workspace/skills/there")
    assert workspace.listed(workspace.scan(HOST)) == {"here": "project/skills/here/SKILL.md"}
    write_config(workspace, '{agents: {defaults: {workspace: "~/.openclaw/workspace"}}}')
    assert workspace.listed(workspace.scan(HOST)) == {
        "there": "home/.openclaw/workspace/skills/there/SKILL.md"
    }


# Weakest first: a folder of each layer, and the layer's name in the host's own words.
LAYERS = [
    ("plugin/skills", "openclaw-extra"),
    ("bundled", "openclaw-bundled"),
    ("home/.openclaw/skills", "openclaw-managed"),
    ("home/.agents/skills", "agents-skills-personal"),
    ("project/.agents/skills", "agents-skills-project"),
    ("project/skills", "openclaw-workspace"),
]


@pytest.mark.seed("A-13")
def test_six_layers_are_scanned_from_weakest_to_strongest(workspace: Workspace):
    workspace.skill("extra/x")
    write_config(workspace, f'{{skills: {{load: {{extraDirs: ["{workspace.path("extra")}"]}}}}}}')
    snapshot = workspace.scan(HOST, env={"OPENCLAW_BUNDLED_SKILLS_DIR": workspace.path("bundled")})
    assert [(root.source.label, workspace.relative(root.path)) for root in snapshot.roots] == [
        ("openclaw-extra", "extra"),
        ("openclaw-bundled", "bundled"),
        ("openclaw-managed", "home/.openclaw/skills"),
        ("agents-skills-personal", "home/.agents/skills"),
        ("agents-skills-project", "project/.agents/skills"),
        ("openclaw-workspace", "project/skills"),
    ]


@pytest.mark.seed("A-13", "A-15")
@pytest.mark.parametrize("rank", range(6))
def test_of_equal_names_the_stronger_layer_replaces_the_weaker(workspace: Workspace, rank: int):
    *weaker, strongest = LAYERS[: rank + 1]
    for number, (folder, _) in enumerate((*weaker, strongest)):
        workspace.skill(f"{folder}/s")
        workspace.skill(f"{folder}/only-{number}")
    snapshot = workspace.scan(HOST, roots=plan(workspace))
    winner = workspace.path(f"{strongest[0]}/s/SKILL.md")
    assert {
        (one.candidate.root.source.label, one.state, one.by) for one in snapshot.claims("s")
    } == {
        (strongest[1], State.READY, None),
        *((label, State.SHADOWED, winner) for _, label in weaker),
    }
    assert [one.name for one in snapshot.skills] == [
        *(f"only-{number}" for number in range(rank + 1)),
        "s",
    ]


@pytest.mark.seed("A-13", "W-27")
def test_no_layer_is_searched_deeper_than_one_level(workspace: Workspace):
    for folder, label in LAYERS:
        workspace.skill(f"{folder}/near", name=label)
        workspace.skill(f"{folder}/group/far", name=f"far {label}")
    snapshot = workspace.scan(HOST, roots=plan(workspace))
    assert {one.name: one.source.label for one in snapshot.skills} == {
        label: label for _, label in LAYERS
    }
    assert snapshot.counts() == {State.SKIPPED: len(LAYERS), State.READY: len(LAYERS)}


@pytest.mark.seed("A-14", "W-30")
def test_the_plugins_own_folders_are_the_weakest_layer(workspace: Workspace):
    workspace.skill("plugin/skills/s")
    workspace.skill("bundled/s")
    workspace.skill("bundled/t")
    workspace.skill("project/skills/t")
    snapshot = workspace.scan(HOST, roots=plan(workspace))
    # The chapter puts plugins above what is bundled; the plan follows the architecture text.
    assert workspace.ends(snapshot) == {
        "plugin/skills/s/SKILL.md": "shadowed",
        "bundled/s/SKILL.md": "ready",
        "bundled/t/SKILL.md": "shadowed",
        "project/skills/t/SKILL.md": "ready",
    }


@pytest.mark.seed("W-30")
def test_a_workspace_skill_beats_a_plugins_and_what_was_fetched_has_the_workspaces_rank(
    workspace: Workspace,
):
    workspace.skill("plugin/skills/s")
    workspace.skill("project/skills/s")
    workspace.write("project/skills/s/.clawhub/origin.json", '{"version": 1}')
    snapshot = workspace.scan(HOST, roots=plan(workspace))
    assert workspace.ends(snapshot) == {
        "plugin/skills/s/SKILL.md": "shadowed",
        "project/skills/s/SKILL.md": "ready",
    }


@pytest.mark.seed("W-31")
def test_a_user_changes_a_bundled_skill_by_one_of_its_name_in_the_workspace(workspace: Workspace):
    workspace.skill("bundled/weather", description="as shipped")
    env = {"OPENCLAW_BUNDLED_SKILLS_DIR": workspace.path("bundled")}
    [before] = workspace.scan(HOST, env=env).skills
    workspace.skill("project/skills/mine", name="weather", description="as I want it")
    [after] = workspace.scan(HOST, env=env).skills
    assert [(one.name, one.description, one.source.label) for one in (before, after)] == [
        ("weather", "as shipped", "openclaw-bundled"),
        ("weather", "as I want it", "openclaw-workspace"),
    ]


@pytest.mark.seed("A-04", "A-05", "A-06", "A-10", "A-11")
def test_the_sample_of_the_architecture_text_is_read_whole(workspace: Workspace):
    workspace.write("project/skills/my-skill/SKILL.md", DISPATCHED)
    outcome = only(workspace.scan(HOST, env={"API_KEY": "k"}, bins=["uv"]))
    assert outcome.skill is not None
    assert (outcome.state, outcome.diagnostics) == (State.READY, ())
    assert outcome.skill.manifest == Manifest(
        name="my-skill",
        description="Do something useful",
        command_dispatch="tool",
        command_tool="sessions_send",
        command_arg_mode="raw",
        disable_model_invocation=False,
        user_invocable=True,
        metadata={"openclaw": {"requires": {"bins": ["uv"], "env": ["API_KEY"]}}},
        requires=Requires(bins=("uv",), env=("API_KEY",)),
    )


@pytest.mark.seed("A-04", "A-06")
@pytest.mark.parametrize(
    ("header", "field"),
    [
        ("", {}),
        ("command-dispatch: tool\n", {"command_dispatch": "tool"}),
        ("command-dispatch: tool # straight to it\n", {"command_dispatch": "tool"}),
        ("command-arg-mode: raw\n", {"command_arg_mode": "raw"}),
        ("command-arg-mode: raw # as typed\n", {"command_arg_mode": "raw"}),
    ],
)
def test_each_command_field_is_optional_and_a_comment_is_no_part_of_it(
    workspace: Workspace, header: str, field: dict[str, Any]
):
    assert read_manifest(workspace, header) == Manifest(name="it", description="d", **field)


@pytest.mark.seed("A-05")
def test_a_command_tool_without_command_dispatch_asks_for_no_dispatch(workspace: Workspace):
    alone = read_manifest(workspace, "command-tool: sessions_send # on its own\n")
    together = read_manifest(workspace, "command-dispatch: tool\ncommand-tool: sessions_send\n")
    assert alone == Manifest(name="it", description="d", command_tool="sessions_send")
    assert together == Manifest(
        name="it", description="d", command_dispatch="tool", command_tool="sessions_send"
    )


@pytest.mark.seed("A-10", "A-11")
@pytest.mark.parametrize(
    "metadata",
    [
        'metadata:\n  { "openclaw": { "requires": { "bins": ["uv"], "env": ["API_KEY"] } } }\n',
        'metadata: { "openclaw": { "requires": { "bins": ["uv"], "env": ["API_KEY"] } } }\n',
        "metadata:\n  openclaw:\n    requires:\n      bins: [uv]\n      env: [API_KEY]\n",
    ],
)
def test_metadata_may_be_json_below_its_key(workspace: Workspace, metadata: str):
    workspace.write(
        "project/skills/it/SKILL.md", f"---\nname: it\ndescription: d\n{metadata}---\nBody\n"
    )
    outcome = only(workspace.scan(HOST))
    assert outcome.skill is not None
    assert outcome.skill.manifest == Manifest(
        name="it",
        description="d",
        metadata={"openclaw": {"requires": {"bins": ["uv"], "env": ["API_KEY"]}}},
        requires=Requires(bins=("uv",), env=("API_KEY",)),
    )
    assert outcome.reason == (
        "the program uv cannot be found; the environment variable API_KEY is not set"
    )


@pytest.mark.seed("A-11", "W-05")
def test_requirements_are_read_at_the_top_and_under_metadata(workspace: Workspace):
    workspace.skill("project/skills/top", requires="{bins: [nope]}")
    workspace.skill(
        "project/skills/below", metadata='{"openclaw": {"requires": {"bins": ["nope"]}}}'
    )
    workspace.skill("project/skills/free")
    assert workspace.ends(workspace.scan(HOST)) == {
        "project/skills/top/SKILL.md": "ineligible",
        "project/skills/below/SKILL.md": "ineligible",
        "project/skills/free/SKILL.md": "ready",
    }


@pytest.mark.seed("A-16")
def test_hidden_folders_are_no_candidates(workspace: Workspace):
    workspace.skill("project/skills/.hidden")
    workspace.skill("project/skills/shown")
    assert workspace.ends(workspace.scan(HOST)) == {
        "project/skills/shown/SKILL.md": "ready",
        "project/skills/.hidden/SKILL.md": "skipped",
    }


@pytest.mark.seed("A-17")
def test_a_candidate_is_a_folders_skill_md_and_no_other_file(workspace: Workspace):
    workspace.skill("project/skills/one")
    workspace.write("project/skills/two/skill.md", skill_text("two"))
    workspace.write("project/skills/three/README.md", skill_text("three"))
    workspace.write("project/skills/four/docs/SKILL.md", skill_text("four"))
    snapshot = workspace.scan(HOST)
    assert workspace.ends(snapshot) == {
        "project/skills/one/SKILL.md": "ready",
        "project/skills/four/docs/SKILL.md": "skipped",
    }
    assert [(one.code, workspace.relative(one.file)) for one in snapshot.diagnostics] == [
        ("wrong-file-name", "project/skills/two/skill.md")
    ]


@pytest.mark.seed("A-18")
def test_every_skill_is_read_parsed_and_given_its_policy_before_sources_are_merged(
    workspace: Workspace,
):
    workspace.skill(
        "home/.openclaw/skills/s", user_invocable="false", disable_model_invocation="true"
    )
    workspace.skill("project/skills/s")
    workspace.skill("home/.openclaw/skills/t")
    workspace.write(
        "project/skills/t/SKILL.md", "---\nname: t\n---\nThis host wants a description.\n"
    )
    snapshot = workspace.scan(HOST)
    assert workspace.ends(snapshot) == {
        "home/.openclaw/skills/s/SKILL.md": "shadowed",
        "project/skills/s/SKILL.md": "ready",
        # What cannot be loaded never takes part in the merge, so it replaces nothing.
        "home/.openclaw/skills/t/SKILL.md": "ready",
        "project/skills/t/SKILL.md": "invalid",
    }
    loser = workspace.outcome(snapshot, "home/.openclaw/skills/s/SKILL.md")
    assert loser.skill is not None
    assert loser.skill.manifest == Manifest(
        name="s", description="d", user_invocable=False, disable_model_invocation=True
    )


@pytest.mark.seed("A-18")
def test_each_candidate_is_read_once_whether_it_wins_or_not():
    weak, strong = "/home/me/.openclaw/skills/s/SKILL.md", "/w/skills/s/SKILL.md"
    files = MemoryFiles({weak: skill_text("s"), strong: skill_text("s")})
    snapshot = Skills("/w", host=HOST, facts=make_facts(), files=files).snapshot
    assert {one.candidate.location: one.state for one in snapshot.outcomes} == {
        weak: State.SHADOWED,
        strong: State.READY,
    }
    assert files.read == [weak, strong]


@pytest.mark.seed("A-04", "A-10", "A-11")
def test_the_sample_is_read_even_where_its_json_is_not_indented(workspace: Workspace) -> None:
    workspace.write(
        "project/skills/my-skill/SKILL.md",
        "---\nname: my-skill\ndescription: Does something\ncommand-dispatch: tool # straight to a tool\n"
        'metadata: # gates loading\n{ "openclaw": { "requires": { "bins": ["uv"], "env": ["API_KEY"] } } }\n---\nBody\n',
    )
    (outcome,) = workspace.scan("openclaw@documented", bins=("uv",)).outcomes
    assert outcome.skill is not None
    manifest = outcome.skill.manifest
    assert (manifest.command_dispatch, manifest.requires) == (
        "tool",
        Requires(bins=("uv",), env=("API_KEY",)),
    )
    assert outcome.reason == "the environment variable API_KEY is not set"
