"""The settings files of the hosts made into one `Settings`."""

from __future__ import annotations

import msgspec
import pytest

from prowess.model.settings import Origin, Override, Settings
from prowess.profiles.load import known_editions, known_hosts, load_profile
from prowess.profiles.places import name_places
from prowess.profiles.schema.profile import Profile
from prowess.settings.load import list_settings_places, load_settings
from prowess.testing import MemoryFiles, make_facts
from tests.unit.settings.hosts import (
    CLAUDE,
    CLAUDE_PROJECT,
    CLAUDE_USER,
    CWD,
    HOME,
    OMP,
    OMP_FILE,
    OPENCLAW,
    OPENCLAW_FILE,
    OPENCODE,
    OPENCODE_GLOBAL,
    REPOSITORY,
    load,
    places_of,
)


def test_without_any_file_the_defaults_hold():
    assert load(OMP, {}) == Settings(
        toggles={
            "enableCodexUser": False,
            "enableClaudeUser": False,
            "enableClaudeProject": False,
            "enablePiUser": True,
            "enablePiProject": True,
        }
    )


OMP_TEXT = """\
theme: dark
skills:
  enabled: false
  enableSkillCommands: true
  enableCodexUser: true
  enableClaudeUser: true
  enableClaudeProject: false
  enablePiUser: false
  enablePiProject: true
  customDirectories:
    - ~/skills
    - shared/skills
    - /opt/skills
  ignoredSkills: ["draft-*"]
  includeSkills: []
disabledExtensions:
- skill:pdf
- alpha
disabledProviders: [codex]
enabledProviders: ["*"]
"""


@pytest.mark.seed("P-16", "P-25", "P-26", "P-27", "P-28")
def test_the_settings_of_omp_are_read_with_their_lines():
    def line(number: int) -> Origin:
        return Origin(OMP_FILE, number)

    assert load(OMP, {OMP_FILE: OMP_TEXT}) == Settings(
        enabled=False,
        toggles={
            "enableCodexUser": True,
            "enableClaudeUser": True,
            "enableClaudeProject": False,
            "enablePiUser": False,
            "enablePiProject": True,
        },
        enabled_providers=("*",),
        disabled_providers=("codex",),
        disabled_extensions=("skill:pdf", "alpha"),
        ignored=("draft-*",),
        included=(),
        custom_folders=("/home/me/skills", f"{CWD}/shared/skills", "/opt/skills"),
        skill_commands=True,
        raw={
            "theme": "dark",
            "skills": {
                "enabled": False,
                "enableSkillCommands": True,
                "enableCodexUser": True,
                "enableClaudeUser": True,
                "enableClaudeProject": False,
                "enablePiUser": False,
                "enablePiProject": True,
                "customDirectories": ["~/skills", "shared/skills", "/opt/skills"],
                "ignoredSkills": ["draft-*"],
                "includeSkills": [],
            },
            "disabledExtensions": ["skill:pdf", "alpha"],
            "disabledProviders": ["codex"],
            "enabledProviders": ["*"],
        },
        origins={
            "enabled": line(3),
            "skill_commands": line(4),
            "toggles.enableCodexUser": line(5),
            "toggles.enableClaudeUser": line(6),
            "toggles.enableClaudeProject": line(7),
            "toggles.enablePiUser": line(8),
            "toggles.enablePiProject": line(9),
            "custom_folders": line(10),
            "ignored": line(14),
            "included": line(15),
            "disabled_extensions": line(16),
            "disabled_providers": line(19),
            "enabled_providers": line(20),
        },
        entries={
            "custom_folders": {
                "/home/me/skills": line(11),
                f"{CWD}/shared/skills": line(12),
                "/opt/skills": line(13),
            },
            "ignored": {"draft-*": line(14)},
            "included": {},
            "disabled_extensions": {"skill:pdf": line(17), "alpha": line(18)},
            "disabled_providers": {"codex": line(19)},
            "enabled_providers": {"*": line(20)},
        },
        files=(OMP_FILE,),
    )


@pytest.mark.parametrize(("value", "enabled"), [("[]", True), ("[x]", True), ("''", False)])
def test_omp_takes_any_value_for_true_or_false_as_javascript_does(value, enabled):
    profile = load_profile("omp")
    files = MemoryFiles({OMP_FILE: f"skills:\n  enabled: {value}\n"})
    settings = load_settings(profile, places_of(profile), make_facts(HOME), files)
    assert (settings.enabled, settings.diagnostics) == (enabled, ())
    assert settings.origin("enabled") == Origin(OMP_FILE, 2)


def test_a_place_named_by_the_environment_is_read_instead():
    settings = load(
        OMP,
        {"/pi/config.yml": "skills: {enabled: false}", OMP_FILE: ""},
        {"PI_CODING_AGENT_DIR": "/pi"},
    )
    assert (settings.enabled, settings.files) == (False, ("/pi/config.yml",))


def test_a_key_without_a_value_is_not_set():
    text = "skills:\n  enabled:\n  ignoredSkills: ~\ndisabledProviders:\n"
    settings = load(OMP, {OMP_FILE: text})
    assert (settings.enabled, settings.ignored, settings.origins) == (True, (), {})
    assert load(OMP, {OMP_FILE: "skills:\n"}).origins == {}


@pytest.mark.seed("O-20", "O-21", "O-22")
def test_opencode_declares_folders_in_its_file():
    text = """{
  // folders of the team
  "skills": {
    "paths": ["~/team", "tools/skills", "/opt/skills", "$HOME/no", "{env:EXTRA}/skills", "{env:UNSET}/x"],
    "urls": ["https://example.org/skills"],
  },
}"""
    settings = load(OPENCODE, {OPENCODE_GLOBAL: text}, {"EXTRA": "/extra"})
    assert settings.custom_folders == (
        "/home/me/team",
        f"{CWD}/tools/skills",
        "/opt/skills",
        f"{CWD}/$HOME/no",
        "/extra/skills",
        "/x",
    )
    assert settings.remote_urls == ("https://example.org/skills",)
    assert settings.origins == {
        "custom_folders": Origin(OPENCODE_GLOBAL, 4),
        "remote_urls": Origin(OPENCODE_GLOBAL, 5),
    }


def test_a_later_file_replaces_a_list_and_keeps_what_it_does_not_name():
    project = f"{REPOSITORY}/opencode.jsonc"
    settings = load(
        OPENCODE,
        {
            OPENCODE_GLOBAL: '{"skills": {"paths": ["/global"], "urls": ["https://a.example"]}, "permission": {"a": 1}}',
            project: '{"permission": {"b": [2]},\n"skills": {"paths": ["local"]}}',
        },
    )
    assert settings.custom_folders == (f"{CWD}/local",)
    assert settings.remote_urls == ("https://a.example",)
    assert settings.origin("custom_folders") == Origin(project, 2)
    assert settings.raw == {
        "skills": {"paths": ["local"], "urls": ["https://a.example"]},
        "permission": {"a": 1, "b": [2]},
    }
    assert settings.files == (OPENCODE_GLOBAL, project)


def test_the_nearest_file_of_a_walk_is_read_last():
    near, far = f"{CWD}/opencode.json", f"{REPOSITORY}/opencode.jsonc"
    profile = msgspec.convert(OPENCODE, Profile)
    assert [path for path, _ in list_settings_places(profile, places_of(profile))] == [
        "/home/me/.config/opencode/opencode.json",
        "/home/me/.config/opencode/opencode.jsonc",
        f"{REPOSITORY}/opencode.json",
        f"{REPOSITORY}/opencode.jsonc",
        f"{CWD}/opencode.json",
        f"{CWD}/opencode.jsonc",
    ]
    settings = load(
        OPENCODE, {far: "{skills: {paths: ['/far']}}", near: "{skills: {paths: ['/near']}}"}
    )
    assert (settings.custom_folders, settings.files) == (("/near",), (far, near))


def test_a_file_that_two_rules_name_is_read_once():
    twice = {**OPENCODE, "settings_order": ["project", "global", "project"]}
    path = f"{CWD}/opencode.json"
    assert load(twice, {path: "{}"}).files == (path,)


def test_a_variable_can_neither_end_a_text_nor_add_to_it():
    value = 'a", "b\'\n{env:OTHER} \\ é'
    settings = load(
        OPENCODE,
        {OPENCODE_GLOBAL: "{skills: {urls: ['{env:V}', \"{env:V}\"]},\n n: {env:N} }"},
        {"V": value, "N": "3", "OTHER": "no"},
    )
    assert settings.remote_urls == (value, value)
    assert settings.raw["n"] == 3


OPENCLAW_TEXT = """{
  agents: { defaults: { workspace: "~/clawd", skills: ["pdf", 'docs'] } },
  skills: {
    load: { extraDirs: ["~/extra", "more"], allowSymlinkTargets: ["~/shared"] },
    allowBundled: ["weather"],
    limits: { maxSkillsLoadedPerSource: 50 },
    install: { nodeManager: "pnpm" },
    entries: {
      pdf: { enabled: false, unknown: 1 },
      "my.skill": {
        env: { TOKEN: "t", MODE: "fast" },
        apiKey: "k",
        config: { flag: true, zero: 0, deep: { x: [1] } },
      },
      remote: { apiKey: { source: "env", provider: "default", id: "REMOTE_KEY" } },
    },
  },
  weather: { apiKey: "w" },
}
"""


def test_the_settings_of_openclaw_are_read_with_their_lines():
    settings = load(OPENCLAW, {OPENCLAW_FILE: OPENCLAW_TEXT})
    lines = {key: origin.line for key, origin in settings.origins.items()}
    assert msgspec.structs.replace(
        settings, raw={}, origins={}, entries={}, diagnostics=()
    ) == Settings(
        custom_folders=("/home/me/extra", f"{CWD}/more"),
        trusted_links=("/home/me/shared",),
        workspace="/home/me/clawd",
        allowed_bundled=("weather",),
        agent_skills=("pdf", "docs"),
        limits={"skills_per_root": 50},
        overrides={
            "pdf": Override(enabled=False),
            "my.skill": Override(
                env={"TOKEN": "t", "MODE": "fast"},
                api_key="k",
                config={"flag": True, "zero": 0, "deep": {"x": [1]}},
            ),
            "remote": Override(
                api_key_from={"source": "env", "provider": "default", "id": "REMOTE_KEY"}
            ),
        },
        files=(OPENCLAW_FILE,),
    )
    assert lines == {
        "custom_folders": 4,
        "trusted_links": 4,
        "allowed_bundled": 5,
        "overrides.pdf.enabled": 9,
        "overrides.my.skill.env.TOKEN": 11,
        "overrides.my.skill.env.MODE": 11,
        "overrides.my.skill.api_key": 12,
        "overrides.my.skill.config.flag": 13,
        "overrides.my.skill.config.zero": 13,
        "overrides.my.skill.config.deep": 13,
        "overrides.remote.api_key": 15,
        "limits.skills_per_root": 6,
        "agent_skills": 2,
        "workspace": 2,
    }
    assert settings.raw["weather"] == {"apiKey": "w"}


def test_no_allow_list_of_an_agent_is_not_an_empty_one():
    assert load(OPENCLAW, {}).agent_skills is None
    assert load(OPENCLAW, {OPENCLAW_FILE: "{agents: {defaults: {skills: []}}}"}).agent_skills == ()


def test_values_of_a_skill_may_lie_beside_other_keys():
    documented = msgspec.json.decode(msgspec.json.encode(OPENCLAW))
    documented["settings"]["main"]["keys"]["skills.*"] = "overrides"
    text = """{skills: {
      weather: {env: {API_KEY: "x"}},
      entries: {pdf: {enabled: false}}, load: {extraDirs: []}, version: 2, allowBundled: [],
    }}"""
    settings = load(documented, {OPENCLAW_FILE: text})
    assert settings.overrides == {
        "pdf": Override(enabled=False),
        "weather": Override(env={"API_KEY": "x"}),
    }
    assert settings.origin("overrides.weather.env.API_KEY") == Origin(OPENCLAW_FILE, 2)


def test_the_settings_of_claude_code_are_read_skill_by_skill():
    user = """{
  "disableBundledSkills": true,
  "permissions": {"deny": ["Skill(x)"]},
  "skillOverrides": {
    "a": "on", "b": "name-only",
    "c": "user-invocable-only", "d": "off"
  }
}"""
    project = '{"skillOverrides": {"a": "off"}, "permissions": {"allow": ["Skill(y)"]}}'
    settings = load(CLAUDE, {CLAUDE_USER: user, CLAUDE_PROJECT: project})
    assert settings == Settings(
        toggles={"disableBundledSkills": True},
        overrides={
            "a": Override(visibility="off"),
            "b": Override(visibility="name-only"),
            "c": Override(visibility="user-only"),
            "d": Override(visibility="off"),
        },
        raw={
            "disableBundledSkills": True,
            "permissions": {"deny": ["Skill(x)"], "allow": ["Skill(y)"]},
            "skillOverrides": {
                "a": "off",
                "b": "name-only",
                "c": "user-invocable-only",
                "d": "off",
            },
        },
        origins={
            "overrides.a.visibility": Origin(CLAUDE_PROJECT, 1),
            "overrides.b.visibility": Origin(CLAUDE_USER, 5),
            "overrides.c.visibility": Origin(CLAUDE_USER, 6),
            "overrides.d.visibility": Origin(CLAUDE_USER, 6),
            "toggles.disableBundledSkills": Origin(CLAUDE_USER, 2),
        },
        files=(CLAUDE_USER, CLAUDE_PROJECT),
        project_files=(CLAUDE_PROJECT,),
    )


@pytest.mark.parametrize(
    "host", [f"{name}@{edition}" for name in known_hosts() for edition in known_editions(name)]
)
def test_every_profile_maps_its_files_to_settings_that_exist(host):
    profile = load_profile(host)
    facts = make_facts(HOME)
    named = name_places(profile.places, cwd=CWD, facts=facts, repository=REPOSITORY, given={})
    files = MemoryFiles({path: "" for path, _ in list_settings_places(profile, named)})
    assert load_settings(profile, named, facts, files).origins == {}
