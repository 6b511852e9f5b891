"""oh-my-pi as its seed describes it: layout, fields, providers and their order, toggles,
collisions, context files.
"""

from __future__ import annotations

import json
import shutil
from typing import Any

import msgspec
import pytest

from prowess.diagnostics import diagnose
from prowess.discover.context import ContextFile, ContextFiles
from prowess.discover.roots import plan_roots
from prowess.model.outcome import State
from prowess.model.skill import LoadedFrom, Manifest, Scope, Source
from prowess.model.snapshot import Snapshot
from prowess.parse.lint.checks import lint_skill
from prowess.ports import Event
from prowess.profiles.load import load_profile
from prowess.resolve.strategies import later_wins
from prowess.runtime import Skills
from prowess.testing import MemoryFiles, make_facts
from tests.workspace import Workspace, skill_text

HOST = "omp@documented"
RULES, STANDARD = load_profile("prowess").header, load_profile("spec").fields
TOGGLES = [
    "enableCodexUser",
    "enableClaudeUser",
    "enableClaudeProject",
    "enablePiUser",
    "enablePiProject",
]

# Every provider's roots as the seed ranks them, strongest first, seen from `project/a` in the
# repository `project`.
RANKED = [
    ("native:project", "project/a/.omp/skills"),
    ("native:project", "project/.omp/skills"),
    ("native:user", "home/.omp/agent/skills"),
    ("omp-plugins:user", "extension/skills"),
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
    ("custom:user", "custom"),
]


def configure(workspace: Workspace, **settings: Any) -> None:
    """Write omp's settings: `skills` is its table of that name, the rest stands at the top. JSON is
    YAML.
    """
    workspace.write("home/.omp/agent/config.yml", json.dumps(settings))


def scan_all(workspace: Workspace) -> Snapshot:
    """One scan from `project/a` with an extension package and a Claude plugin installed."""
    places = {"claude_plugins": workspace.path("plugin")}
    skills = workspace.open(HOST, cwd="project/a", places=places)
    settings = skills.settings()
    extended = msgspec.structs.replace(
        skills.find_places(), plugin=(workspace.path("extension"),), custom=settings.custom_folders
    )
    roots = plan_roots(
        skills.profile,
        extended,
        settings,
        skills.facts,
        later_wins=later_wins(skills.profile.resolution),
    )
    return workspace.scan(HOST, cwd="project/a", places=places, roots=roots)


def labels(snapshot: Snapshot) -> dict[str, str]:
    """The source of each listed skill, in the host's own words."""
    return {outcome.name: outcome.candidate.root.source.label for outcome in snapshot.shown}


# Model


@pytest.mark.seed("P-01")
def test_all_skills_are_discovered_at_start_up_and_a_later_one_waits_for_the_next(
    workspace: Workspace,
):
    workspace.git()
    workspace.skill("project/.omp/skills/one")
    workspace.skill("home/.claude/skills/two")
    skills = workspace.open(HOST)
    assert workspace.listed(skills.snapshot) == {
        "one": "project/.omp/skills/one/SKILL.md",
        "two": "home/.claude/skills/two/SKILL.md",
    }
    workspace.skill("project/.omp/skills/late")
    assert [skill.name for skill in skills] == ["one", "two"]
    assert [skill.name for skill in skills.reload().skills] == ["late", "one", "two"]


@pytest.mark.seed("P-03")
def test_a_skill_has_name_description_file_folder_and_source(workspace: Workspace):
    workspace.git()
    workspace.skill("project/.omp/skills/folder", name="pdf", description="Reads PDF")
    [skill] = workspace.scan(HOST).skills
    root = workspace.path("project/.omp/skills")
    assert (skill.name, skill.description) == ("pdf", "Reads PDF")
    assert (skill.location, skill.folder) == (f"{root}/folder/SKILL.md", f"{root}/folder")
    assert skill.source == Source("native", "project", root, LoadedFrom.SKILLS, "native:project")
    assert skill.scope is Scope.PROJECT


@pytest.mark.seed("P-04", "P-14", "P-11")
@pytest.mark.parametrize(
    "text", ["Only instructions\n", "---\n---\nBody\n", "---\nlicense: MIT\n---\nBody\n"]
)
def test_a_name_from_the_folder_and_a_path_are_enough_to_be_valid(workspace: Workspace, text: str):
    workspace.git()
    file = workspace.write("project/.claude/skills/pdf/SKILL.md", text)
    [skill] = workspace.scan(HOST).skills
    assert (skill.name, skill.description, skill.location) == ("pdf", "", str(file))


# Layout


@pytest.mark.seed("P-05", "P-06")
@pytest.mark.parametrize("root", [root for _, root in RANKED[:-1]])
def test_every_provider_finds_skills_exactly_one_level_below_its_root(
    workspace: Workspace, root: str
):
    workspace.git()
    workspace.skill(f"{root}/postgres")
    workspace.skill(f"{root}/team/internal")
    workspace.skill(f"{root}/postgres/inside")
    workspace.skill(root, name="itself")
    workspace.write(f"{root}/flat.md", skill_text("flat"))
    snapshot = scan_all(workspace)
    assert workspace.listed(snapshot) == {"postgres": f"{root}/postgres/SKILL.md"}
    assert workspace.ends(snapshot) == {
        f"{root}/postgres/SKILL.md": "ready",
        f"{root}/team/internal/SKILL.md": "skipped",
        f"{root}/SKILL.md": "skipped",
    }


@pytest.mark.seed("P-07", "P-08")
def test_custom_folders_are_one_level_too_and_may_name_a_nested_parent(workspace: Workspace):
    workspace.git()
    workspace.skill("shelf/flat")
    workspace.skill("shelf/team/internal")
    workspace.skill("shelf", name="itself")
    configure(workspace, skills={"customDirectories": [workspace.path("shelf")]})
    assert workspace.listed(workspace.scan(HOST)) == {"flat": "shelf/flat/SKILL.md"}
    configure(workspace, skills={"customDirectories": [workspace.path("shelf/team")]})
    assert workspace.listed(workspace.scan(HOST)) == {"internal": "shelf/team/internal/SKILL.md"}


# Frontmatter


@pytest.mark.seed("P-09", "P-10")
def test_the_known_fields_are_understood_and_every_other_key_is_kept(workspace: Workspace):
    workspace.git()
    workspace.write(
        "project/.omp/skills/x/SKILL.md",
        "---\nname: pdf\ndescription: Reads PDF\nglobs: ['*.pdf', 'docs/**']\nalwaysApply: true\nhide: true\n"
        "enabled: false\ndisable-model-invocation: true\ncolour: [red, 7]\n---\nBody\n",
    )
    [outcome] = workspace.scan(HOST).shown
    assert outcome.skill is not None
    assert outcome.skill.manifest == Manifest(
        name="pdf",
        description="Reads PDF",
        globs=("*.pdf", "docs/**"),
        always_apply=True,
        hide=True,
        enabled=False,
        disable_model_invocation=True,
    )
    assert outcome.skill.frontmatter == {
        "name": "pdf",
        "description": "Reads PDF",
        "globs": ["*.pdf", "docs/**"],
        "alwaysApply": True,
        "hide": True,
        "enabled": False,
        "disable-model-invocation": True,
        "colour": ["red", 7],
    }
    assert (outcome.state, outcome.rule, outcome.notes) == (State.HIDDEN, "hide", ())


@pytest.mark.seed("P-09")
@pytest.mark.parametrize(
    "fields",
    [
        "globs: ['*.py']",
        "alwaysApply: true",
        "alwaysApply: false",
        "globs: '*.py'",
        "hide: false",
        "hide: 'true'",
    ],
)
def test_no_other_known_field_changes_what_becomes_of_a_skill(workspace: Workspace, fields: str):
    workspace.git()
    workspace.write("project/.omp/skills/x/SKILL.md", f"---\ndescription: d\n{fields}\n---\nBody\n")
    [outcome] = workspace.scan(HOST).outcomes
    assert (outcome.name, outcome.state, outcome.notes) == ("x", State.READY, ())


NAMES = {
    "missing": ("description: d", "folder"),
    "blank": ("name: '  '\ndescription: d", "folder"),
    "empty": ("name:\ndescription: d", "folder"),
    "a number": ("name: 7\ndescription: d", "folder"),
    "given": ("name: pdf\ndescription: d", "pdf"),
    "padded": ("name: '  pdf  '\ndescription: d", "pdf"),
    "not fit for a folder": ("name: ../Évil: x\ndescription: d", "../Évil: x"),
}


@pytest.mark.seed("P-11")
@pytest.mark.parametrize(("header", "name"), NAMES.values(), ids=NAMES)
def test_the_name_is_the_folders_where_the_header_gives_none(
    workspace: Workspace, header: str, name: str
):
    workspace.git()
    workspace.write("project/.omp/skills/folder/SKILL.md", f"---\n{header}\n---\nBody\n")
    assert workspace.listed(workspace.scan(HOST)) == {name: "project/.omp/skills/folder/SKILL.md"}


def needs_description(label: str) -> bool:
    return label.partition(":")[0] in ("native", "custom")


@pytest.mark.seed("P-12", "P-13", "P-14")
@pytest.mark.parametrize(("label", "root"), RANKED)
@pytest.mark.parametrize(
    "header", ["name: bare", "name: bare\ndescription:", "name: bare\ndescription: ''"]
)
def test_a_description_is_required_of_native_and_custom_skills_only(
    workspace: Workspace, label: str, root: str, header: str
):
    workspace.git()
    configure(workspace, skills={"customDirectories": [workspace.path("custom")]})
    file = workspace.write(f"{root}/bare/SKILL.md", f"---\n{header}\n---\nBody\n")
    snapshot = scan_all(workspace)
    [outcome] = snapshot.outcomes
    assert outcome.candidate.root.source.label == label
    if needs_description(label):
        missing = diagnose(
            "description-missing",
            "`description` is missing; this host requires one.",
            file=str(file),
            line=3 if "description" in header else 1,
            field="description",
        )
        assert (outcome.state, outcome.diagnostics) == (State.INVALID, (missing,))
    else:
        assert outcome.skill is not None
        assert (outcome.state, outcome.skill.description) == (State.READY, "")


# Pipeline and precedence


@pytest.mark.seed("P-15", "P-33")
def test_custom_folders_are_read_after_every_provider(workspace: Workspace):
    workspace.git()
    configure(workspace, skills={"customDirectories": [workspace.path("custom"), "~/second"]})
    searched = [
        (root.source.label, workspace.relative(root.path)) for root in scan_all(workspace).roots
    ]
    assert searched == [*RANKED, ("custom:user", "home/second")]


@pytest.mark.seed("P-16")
def test_with_skills_switched_off_none_is_returned(workspace: Workspace):
    workspace.git()
    for _, root in RANKED:
        workspace.skill(f"{root}/{root.replace('/', '-')}")
    directories = [workspace.path("custom")]
    configure(workspace, skills={"enabled": False, "customDirectories": directories})
    snapshot = scan_all(workspace)
    assert (snapshot.shown, snapshot.counts()) == ((), {State.DISABLED: len(RANKED)})
    assert {outcome.rule for outcome in snapshot.outcomes} == {"enabled"}
    configure(workspace, skills={"enabled": True, "customDirectories": directories})
    assert scan_all(workspace).counts() == {State.READY: len(RANKED)}


@pytest.mark.seed("P-17", "P-18", "P-19", "P-21", "P-22", "P-23", "P-24")
def test_of_one_name_the_provider_of_the_highest_priority_wins_then_the_one_registered_first(
    workspace: Workspace,
):
    workspace.git()
    configure(workspace, skills={"customDirectories": [workspace.path("custom")]})
    for label, root in RANKED:
        workspace.skill(f"{root}/{root.replace('/', '-')}", name="same", description=label)
    winners = []
    for _, root in RANKED:
        [skill] = scan_all(workspace).skills
        winners.append((skill.source.label, workspace.relative(skill.source.path)))
        shutil.rmtree(workspace.root / root)
    assert winners == RANKED


@pytest.mark.seed("P-17", "P-18", "P-19", "P-21", "P-22", "P-23")
def test_the_providers_have_the_priorities_and_the_order_of_registration_that_the_seed_lists(
    workspace: Workspace,
):
    workspace.git()
    providers: dict[str, int] = {}
    for root in scan_all(workspace).roots:
        providers.setdefault(root.source.provider, root.priority)
    assert list(providers.items()) == [
        ("native", 100),
        ("omp-plugins", 90),
        ("claude", 80),
        ("claude-plugins", 70),
        ("agents", 70),
        ("codex", 70),
        ("opencode", 55),
    ]


@pytest.mark.seed("P-18")
def test_the_native_provider_covers_the_skills_of_user_and_project(workspace: Workspace):
    workspace.git()
    workspace.skill("home/.omp/agent/skills/mine")
    workspace.skill("project/.omp/skills/ours")
    assert labels(workspace.scan(HOST)) == {"mine": "native:user", "ours": "native:project"}


@pytest.mark.seed("P-24")
def test_the_name_alone_decides_what_is_a_duplicate(workspace: Workspace):
    workspace.git()
    workspace.skill("project/.omp/skills/one", name="pdf", description="first")
    workspace.skill("project/.claude/skills/other", name="pdf", description="quite another")
    workspace.skill("project/.claude/skills/one", name="not-pdf", description="first")
    workspace.skill("project/.codex/skills/one", name="PDF", description="first")
    assert workspace.ends(workspace.scan(HOST)) == {
        "project/.omp/skills/one/SKILL.md": "ready",
        "project/.claude/skills/other/SKILL.md": "shadowed",
        "project/.claude/skills/one/SKILL.md": "ready",
        "project/.codex/skills/one/SKILL.md": "ready",
    }


# Toggles and filters

TOGGLED = {
    "enableCodexUser": {"codex:user"},
    "enableClaudeUser": {"claude:user"},
    "enableClaudeProject": {"claude:project"},
    "enablePiUser": {"native:user"},
    "enablePiProject": {"native:project"},
}
WITHOUT_TOGGLE = {
    "omp-plugins:user",
    "claude-plugins:user",
    "agents:project",
    "agents:user",
    "codex:project",
    "opencode:user",
    "opencode:project",
}


def write_one_each(workspace: Workspace) -> None:
    workspace.git()
    for _, root in RANKED[:-1]:
        workspace.skill(f"{root}/{root.replace('/', '-')}")


def switched_off(snapshot: Snapshot) -> dict[str, str | None]:
    off = {
        o.candidate.root.source.label: o.rule
        for o in snapshot.outcomes
        if o.state is State.DISABLED
    }
    on = {o.candidate.root.source.label for o in snapshot.shown}
    assert on | off.keys() == {label for label, _ in RANKED[:-1]}
    assert not on & off.keys()
    return off


@pytest.mark.seed("P-25")
def test_there_are_five_toggles_and_all_are_on(workspace: Workspace):
    assert workspace.open(HOST).settings().toggles == dict.fromkeys(TOGGLES, True)
    write_one_each(workspace)
    assert switched_off(scan_all(workspace)) == {}


@pytest.mark.seed("P-25")
@pytest.mark.parametrize("toggle", TOGGLES)
def test_a_toggle_turns_off_its_own_source_and_no_other(workspace: Workspace, toggle: str):
    write_one_each(workspace)
    configure(workspace, skills={toggle: False})
    assert switched_off(scan_all(workspace)) == dict.fromkeys(TOGGLED[toggle], toggle)


@pytest.mark.seed("P-30")
@pytest.mark.parametrize("toggle", TOGGLES)
def test_other_providers_count_as_enabled_while_one_of_the_five_toggles_is_on(
    workspace: Workspace, toggle: str
):
    write_one_each(workspace)
    configure(workspace, skills=dict.fromkeys(TOGGLES, False) | {toggle: True})
    others = {
        source: name for name, sources in TOGGLED.items() if name != toggle for source in sources
    }
    assert switched_off(scan_all(workspace)) == others


@pytest.mark.seed("P-30")
def test_with_all_five_toggles_off_no_provider_is_enabled_but_custom_folders_are(
    workspace: Workspace,
):
    write_one_each(workspace)
    workspace.skill("custom/mine")
    off = dict.fromkeys(TOGGLES, False)
    configure(
        workspace,
        skills={**off, "customDirectories": [workspace.path("custom")], "enableAgentsUser": True},
    )
    snapshot = scan_all(workspace)
    assert workspace.listed(snapshot) == {"mine": "custom/mine/SKILL.md"}
    rules = {
        o.candidate.root.source.label: o.rule
        for o in snapshot.outcomes
        if o.state is State.DISABLED
    }
    own = {source: name for name, sources in TOGGLED.items() for source in sources}
    assert rules == own | dict.fromkeys(WITHOUT_TOGGLE, "every source toggle is off")


@pytest.mark.seed("P-26")
def test_an_extension_entry_disables_the_skill_of_exactly_that_name(workspace: Workspace):
    workspace.git()
    for name in ("alpha", "alpha-two", "beta", "gamma"):
        workspace.skill(f"project/.omp/skills/{name}")
    configure(workspace, disabledExtensions=["skill:alpha", "beta", "skill:gam*"])
    snapshot = workspace.scan(HOST)
    assert {outcome.name: outcome.state.value for outcome in snapshot.outcomes} == {
        "alpha": "disabled",
        "alpha-two": "ready",
        "beta": "ready",
        "gamma": "ready",
    }
    outcome = workspace.outcome(snapshot, "project/.omp/skills/alpha/SKILL.md")
    assert (outcome.rule, outcome.reason) == (
        "disabled_extensions",
        "it is listed as `skill:alpha`",
    )


@pytest.mark.seed("P-27")
def test_ignored_skills_are_left_out(workspace: Workspace):
    workspace.git()
    for name in ("alpha", "alpha-two", "beta"):
        workspace.skill(f"project/.omp/skills/{name}")
    configure(workspace, skills={"ignoredSkills": ["alpha*"]})
    snapshot = workspace.scan(HOST)
    assert {outcome.name: (outcome.state, outcome.rule) for outcome in snapshot.outcomes} == {
        "alpha": (State.DISABLED, "ignored"),
        "alpha-two": (State.DISABLED, "ignored"),
        "beta": (State.READY, None),
    }


@pytest.mark.seed("P-28")
@pytest.mark.parametrize(
    ("included", "names"),
    [
        (["alpha*"], ["alpha", "alpha-two"]),
        (["beta", "alpha"], ["alpha", "beta"]),
        ([], ["alpha", "alpha-two", "beta"]),
    ],
)
def test_an_include_list_lets_in_what_it_names_and_an_empty_one_all(
    workspace: Workspace, included: list[str], names: list[str]
):
    workspace.git()
    for name in ("alpha", "alpha-two", "beta"):
        workspace.skill(f"project/.omp/skills/{name}")
    configure(workspace, skills={"includeSkills": included})
    snapshot = workspace.scan(HOST)
    assert [skill.name for skill in snapshot.skills] == names
    left_out = {outcome.rule for outcome in snapshot.outcomes if outcome.state is State.DISABLED}
    assert left_out == ({"included"} if len(names) < 3 else set())


@pytest.mark.seed("P-29")
def test_the_filters_apply_in_their_order(workspace: Workspace):
    workspace.git()
    workspace.skill("project/.omp/skills/pdf")
    settings: dict[str, Any] = {
        "disabledExtensions": ["skill:pdf"],
        "skills": {"enablePiProject": False, "ignoredSkills": ["p*"], "includeSkills": ["other"]},
    }
    deciding = []
    for key in (
        "disabledExtensions",
        "enablePiProject",
        "ignoredSkills",
        "includeSkills",
        "nothing",
    ):
        configure(workspace, **settings)
        [outcome] = workspace.scan(HOST).outcomes
        deciding.append((outcome.state, outcome.rule))
        settings.pop(key, None)
        settings["skills"].pop(key, None)
    assert deciding == [
        (State.DISABLED, "disabled_extensions"),
        (State.DISABLED, "enablePiProject"),
        (State.DISABLED, "ignored"),
        (State.DISABLED, "included"),
        (State.READY, None),
    ]


# Collisions


@pytest.mark.seed("P-31")
def test_one_file_that_is_reached_by_two_paths_is_kept_once(workspace: Workspace):
    workspace.git()
    workspace.skill("store/pdf", name="")
    workspace.link("project/.omp/skills/first", "../../../store/pdf")
    workspace.link("project/.omp/skills/second", "../../../store/pdf")
    workspace.link("project/.claude/skills/third/SKILL.md", "../../../../store/pdf/SKILL.md")
    workspace.link("project/.codex/skills", "../.omp/skills")
    snapshot = workspace.scan(HOST)
    assert workspace.listed(snapshot) == {"first": "project/.omp/skills/first/SKILL.md"}
    assert snapshot.counts() == {State.DUPLICATE: 4, State.READY: 1}
    kept = workspace.path("project/.omp/skills/first/SKILL.md")
    assert {o.by for o in snapshot.outcomes if o.state is State.DUPLICATE} == {kept}


@pytest.mark.seed("P-32", "P-33")
def test_a_later_skill_whose_name_is_taken_gives_a_collision_warning(workspace: Workspace):
    workspace.git()
    configure(workspace, skills={"customDirectories": [workspace.path("custom")]})
    kept = str(workspace.skill("project/.omp/skills/pdf"))
    losers = [str(workspace.skill(f"{root}/pdf")) for root in ("project/.claude/skills", "custom")]
    events: list[Event] = []
    snapshot = workspace.scan(HOST, on_event=events.append)
    message = f"The name “pdf” is claimed twice; {kept} has it."
    assert events == [Event("duplicate", lost, message, kept) for lost in losers]
    assert list(snapshot.all_diagnostics()) == [
        diagnose(
            "name-collision",
            f"The name “pdf” is taken by {kept}.",
            file=lost,
            field="name",
            related=(kept,),
        )
        for lost in sorted(losers, key=[o.candidate.location for o in snapshot.outcomes].index)
    ]


@pytest.mark.seed("P-33")
def test_a_providers_skill_wins_over_a_custom_one_and_the_first_custom_folder_over_the_second(
    workspace: Workspace,
):
    workspace.git()
    configure(
        workspace, skills={"customDirectories": [workspace.path("one"), workspace.path("two")]}
    )
    for root in ("project/.opencode/skills", "one", "two"):
        workspace.skill(f"{root}/pdf")
    for root in ("one", "two"):
        workspace.skill(f"{root}/xls")
    assert workspace.listed(workspace.scan(HOST)) == {
        "pdf": "project/.opencode/skills/pdf/SKILL.md",
        "xls": "one/xls/SKILL.md",
    }


@pytest.mark.seed("P-34")
def test_one_folder_can_be_read_through_the_very_same_scan(workspace: Workspace):
    workspace.git()
    workspace.skill("shelf/pdf", description="Reads PDF")
    workspace.skill("shelf/bare", description=None)
    workspace.skill("shelf/team/nested")
    workspace.write("shelf/broken/SKILL.md", "")
    skills = Skills.from_folder(
        workspace.path("shelf"),
        source="mine:project",
        host=HOST,
        facts=workspace.facts(),
        cache=False,
    )
    [skill] = skills
    assert (skill.name, skill.description) == ("pdf", "Reads PDF")
    shelf = workspace.path("shelf")
    assert skill.source == Source("mine", "project", shelf, LoadedFrom.SKILLS, "mine:project")
    configure(workspace, skills={"customDirectories": [shelf]})
    found = {
        path: state
        for path, state in workspace.ends(workspace.scan(HOST)).items()
        if path.startswith("shelf")
    }
    assert workspace.ends(skills.snapshot) == found
    assert found == {
        "shelf/bare/SKILL.md": "invalid",
        "shelf/broken/SKILL.md": "invalid",
        "shelf/pdf/SKILL.md": "ready",
        "shelf/team/nested/SKILL.md": "skipped",
    }


# Beside skills


def find_context(host: str, cwd: str, *texts: str, home: str = "/home/me") -> list[str]:
    """The context files found from a folder, where one lies at each of the given paths, in order."""
    files = MemoryFiles({path: f"At {path}\n" for path in texts})
    found = Skills(cwd, host=host, facts=make_facts(home), files=files).context_files()
    return [file.path for file in found.files]


def chain(*names: str) -> list[str]:
    """An AGENTS.md in every folder from `/` down the names, farthest first."""
    folders = ["", *(f"/{'/'.join(names[: end + 1])}" for end in range(len(names)))]
    return [f"{folder}/AGENTS.md" for folder in folders]


@pytest.mark.seed("P-60")
def test_agents_md_is_found_from_the_working_folder_upwards_to_a_depth_of_twenty():
    names = [f"d{number:02}" for number in range(25)]
    files = chain(*names)
    assert len(files) == 26
    assert find_context(HOST, f"/{'/'.join(names)}", *files) == files[-20:]


@pytest.mark.seed("P-60")
def test_the_walk_for_agents_md_ends_neither_at_the_repository_nor_at_home(workspace: Workspace):
    (workspace.home / "repo" / ".git").mkdir(parents=True)
    names = ["AGENTS.md", "home/AGENTS.md", "home/repo/AGENTS.md", "home/repo/sub/AGENTS.md"]
    written = [str(workspace.write(name, name)) for name in names]
    workspace.write("home/repo/other/AGENTS.md", "beside")
    workspace.write("home/repo/sub/below/AGENTS.md", "below")
    found = workspace.open(HOST, cwd="home/repo/sub").context_files()
    assert [file.path for file in found.files][-4:] == written


@pytest.mark.seed("P-61")
def test_agents_md_is_left_out_where_any_folder_of_its_path_is_hidden():
    files = chain("w", ".config", "tool", "deep")
    assert find_context(HOST, "/w/.config/tool/deep", *files) == ["/AGENTS.md", "/w/AGENTS.md"]


@pytest.mark.seed("P-62")
def test_context_files_are_always_loaded_and_merged_by_depth_while_a_skill_waits_to_be_asked_for():
    files = MemoryFiles(
        {
            "/w/AGENTS.md": "Far.\n",
            "/w/a/b/AGENTS.md": "\nNear.\n",
            "/w/a/AGENTS.md": "  \n",
            "/w/a/b/.omp/skills/pdf/SKILL.md": skill_text("pdf", body="Ask for me.\n"),
        }
    )
    skills = Skills("/w/a/b", host=HOST, facts=make_facts("/home/me"), files=files)
    context = skills.context_files()
    assert context == ContextFiles(
        (ContextFile("/w/AGENTS.md", "Far.\n", 2), ContextFile("/w/a/b/AGENTS.md", "\nNear.\n", 0)),
        looked_in=("/w/a/b", "/w/a", "/w", "/"),
    )
    assert context.text == "Far.\n\nNear."
    assert "/w/a/b/.omp/skills/pdf/SKILL.md" not in files.read
    assert skills.get("pdf").content == "Ask for me.\n"


@pytest.mark.seed("P-64")
def test_authors_are_told_to_write_name_and_description_though_the_host_accepts_less(
    workspace: Workspace,
):
    workspace.git()
    text = "---\nlicense: MIT\n---\nBody\n"
    workspace.write("project/.claude/skills/pdf/SKILL.md", text)
    assert workspace.ends(workspace.scan(HOST)) == {"project/.claude/skills/pdf/SKILL.md": "ready"}
    told = lint_skill(text, folder_name="pdf", files=(), rules=RULES, fields=STANDARD)
    assert [(finding.code, finding.severity.value, finding.hint) for finding in told] == [
        ("name-missing", "error", "Add `name:` to the header."),
        ("description-missing", "error", "Add `description:` to the header."),
    ]


@pytest.mark.seed("P-65")
def test_authors_are_told_to_keep_files_inside_the_skills_own_folder():
    header = "---\nname: pdf\ndescription: Use when a PDF is to be read.\n---\n"
    files = ("references/tables.md", "scripts/read.py")
    inside = "See [tables](references/tables.md), skill://pdf/references/tables.md, and run `scripts/read.py`.\n"
    outside = "See [shared](../shared/tables.md) and [more](references/gone.md).\n"
    assert (
        lint_skill(header + inside, folder_name="pdf", files=files, rules=RULES, fields=STANDARD)
        == ()
    )
    assert lint_skill(
        header + outside, folder_name="pdf", files=files, rules=RULES, fields=STANDARD
    ) == (
        diagnose(
            "file-reference-outside",
            "`../shared/tables.md` is outside the skill's folder.",
            line=5,
        ),
        diagnose(
            "file-reference-missing",
            "`references/gone.md` is referenced but does not exist.",
            line=5,
        ),
    )


# What the release changed: the answers of both editions side by side

CURRENT = "omp"


def both(workspace: Workspace, **options: Any) -> dict[str, dict[str, str]]:
    return {host: workspace.listed(workspace.scan(host, **options)) for host in (HOST, CURRENT)}


@pytest.mark.seed("P-25")
def test_skills_of_other_agents_at_home_are_read_here_and_have_to_be_asked_for_in_the_release(
    workspace: Workspace,
):
    workspace.git()
    roots = {
        "claude": "home/.claude/skills",
        "codex": "home/.codex/skills",
        "opencode": "home/.config/opencode/skills",
    }
    for name, root in roots.items():
        workspace.skill(f"{root}/{name}")
    workspace.skill("home/.agents/skills/agents")
    everyone = {name: f"{root}/{name}/SKILL.md" for name, root in roots.items()}
    agents = {"agents": "home/.agents/skills/agents/SKILL.md"}
    assert both(workspace) == {HOST: everyone | agents, CURRENT: agents}


@pytest.mark.seed("P-30")
def test_with_the_five_toggles_off_other_providers_end_here_and_go_on_in_the_release(
    workspace: Workspace,
):
    workspace.git()
    configure(workspace, skills=dict.fromkeys(TOGGLES, False))
    for root in (
        "project/.agents/skills",
        "home/.agents/skills",
        "project/.codex/skills",
        "project/.opencode/skills",
    ):
        workspace.skill(f"{root}/{root.replace('/', '-')}")
    assert both(workspace) == {
        HOST: {},
        CURRENT: {
            "home-.agents-skills": "home/.agents/skills/home-.agents-skills/SKILL.md",
            "project-.agents-skills": "project/.agents/skills/project-.agents-skills/SKILL.md",
            "project-.codex-skills": "project/.codex/skills/project-.codex-skills/SKILL.md",
            "project-.opencode-skills": "project/.opencode/skills/project-.opencode-skills/SKILL.md",
        },
    }


@pytest.mark.seed("P-33")
def test_a_custom_skill_loses_to_a_providers_here_and_replaces_it_in_the_release(
    workspace: Workspace,
):
    workspace.git()
    configure(workspace, skills={"customDirectories": [workspace.path("custom")]})
    workspace.skill("project/.omp/skills/pdf")
    workspace.skill("custom/pdf")
    assert both(workspace) == {
        HOST: {"pdf": "project/.omp/skills/pdf/SKILL.md"},
        CURRENT: {"pdf": "custom/pdf/SKILL.md"},
    }


@pytest.mark.seed("P-32")
def test_a_collision_of_providers_is_published_here_and_not_in_the_release(workspace: Workspace):
    workspace.git()
    kept = str(workspace.skill("project/.omp/skills/pdf"))
    lost = str(workspace.skill("project/.claude/skills/pdf"))
    told: dict[str, list[Event]] = {HOST: [], CURRENT: []}
    for host, events in told.items():
        snapshot = workspace.scan(host, on_event=events.append)
        assert [finding.code for finding in snapshot.all_diagnostics()] == ["name-collision"]
    message = f"The name “pdf” is claimed twice; {kept} has it."
    assert told == {HOST: [Event("duplicate", lost, message, kept)], CURRENT: []}


@pytest.mark.seed("P-60")
def test_the_walk_for_agents_md_is_twenty_deep_here_and_unbounded_in_the_release():
    names = [f"d{number:02}" for number in range(25)]
    files = chain(*names)
    found = {host: find_context(host, f"/{'/'.join(names)}", *files) for host in (HOST, CURRENT)}
    assert found == {HOST: files[-20:], CURRENT: files}


@pytest.mark.seed("P-61")
def test_a_hidden_folder_anywhere_above_counts_here_and_only_the_files_own_in_the_release():
    files = chain("w", ".config", "tool")
    found = {host: find_context(host, "/w/.config/tool", *files) for host in (HOST, CURRENT)}
    assert found == {HOST: files[:2], CURRENT: [files[0], files[1], files[3]]}


def test_the_release_has_providers_that_the_seed_does_not_know(workspace: Workspace):
    workspace.git()
    workspace.skill("project/.github/skills/hub")
    workspace.skill("home/.omp/agent/managed-skills/learnt")
    assert both(workspace) == {
        HOST: {},
        CURRENT: {
            "hub": "project/.github/skills/hub/SKILL.md",
            "learnt": "home/.omp/agent/managed-skills/learnt/SKILL.md",
        },
    }


def test_the_release_has_toggles_for_the_folders_of_all_agents_that_the_seed_does_not_know():
    toggles = {host: list(load_profile(host).toggles) for host in (HOST, CURRENT)}
    assert toggles == {
        HOST: TOGGLES,
        CURRENT: [*TOGGLES, "enableAgentsUser", "enableAgentsProject"],
    }


@pytest.mark.seed("P-10")
@pytest.mark.parametrize(
    ("field", "state"),
    [("disable-model-invocation: true", "hidden"), ("enabled: false", "disabled")],
)
def test_fields_that_the_release_obeys_are_unknown_metadata_here(
    workspace: Workspace, field: str, state: str
):
    workspace.git()
    workspace.write("project/.omp/skills/x/SKILL.md", f"---\ndescription: d\n{field}\n---\nBody\n")
    file = "project/.omp/skills/x/SKILL.md"
    ends = {host: workspace.ends(workspace.scan(host)) for host in (HOST, CURRENT)}
    assert ends == {HOST: {file: "ready"}, CURRENT: {file: state}}
