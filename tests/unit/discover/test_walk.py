"""Walking a root: depths, leaves, hidden folders, links, ignored folders, limits and order."""

from __future__ import annotations

import itertools
import posixpath
import subprocess
import time
from typing import Any

import msgspec
import pytest

from prowess.discover.folders import FolderSource
from prowess.machine.files import LocalFiles
from prowess.model.settings import Settings
from prowess.model.skill import LoadedFrom, Root, Scope, Source
from prowess.ports import Discovered, Search
from prowess.profiles.places import Places
from prowess.profiles.schema.roots import ScanLimits
from prowess.testing import MemoryFiles
from tests.effort import soon
from tests.workspace import Workspace

ROOT = "/p/skills"


def make_root(path: str = ROOT, **rules: Any) -> Root:
    source = Source("folder", "project", path, LoadedFrom.SKILLS, "folder:project")
    return Root(path=path, scope=Scope.PROJECT, source=source, order=0, **rules)


def find(
    files: MemoryFiles,
    *roots: Root,
    limits: ScanLimits | None = None,
    repository: str | None = "/p",
    settings: Settings | None = None,
    clock: Any = lambda: 0.0,
    thorough: bool = False,
) -> Discovered:
    places = Places(cwd="/p", home="/home/me", platform="linux", repository=repository)
    source = FolderSource(
        roots or (make_root(),),
        places=places,
        limits=limits or ScanLimits(),
        clock=clock,
        thorough=thorough,
    )
    return source.find(Search(cwd="/p", settings=settings or Settings(), files=files))


def names(found: Discovered) -> list[str]:
    return [
        one.location.removeprefix(f"{ROOT}/") for one in found.candidates if one.skipped is None
    ]


def skipped(found: Discovered) -> dict[str, str]:
    return {
        one.location.removeprefix(f"{ROOT}/"): one.skipped
        for one in found.candidates
        if one.skipped is not None
    }


def codes(found: Discovered) -> list[tuple[str, str | None]]:
    return [(diagnostic.code, diagnostic.file) for diagnostic in found.diagnostics]


DEEP = MemoryFiles(
    {
        f"{ROOT}/SKILL.md": "",
        f"{ROOT}/one/SKILL.md": "",
        f"{ROOT}/one/inner/SKILL.md": "",
        f"{ROOT}/group/two/SKILL.md": "",
        f"{ROOT}/group/sub/three/SKILL.md": "",
        f"{ROOT}/.hidden/SKILL.md": "",
        f"{ROOT}/node_modules/SKILL.md": "",
        f"{ROOT}/flat.md": "",
    }
)


def test_a_thorough_search_finds_what_is_inside_skills_and_too_deep():
    inside = "it is inside another skill, one; this host does not search there"
    root = "it is in the root itself; this host searches only the folders below it"
    two = "it is 2 folders below the root; this host searches 1 deep"
    three = "it is 3 folders below the root; this host searches 1 deep"
    hidden = "its folder begins with a dot; this host skips those"
    usual = {"SKILL.md": root, "group/two/SKILL.md": two, ".hidden/SKILL.md": hidden}
    assert skipped(find(DEEP)) == usual
    found = find(DEEP, thorough=True)
    assert skipped(found) == usual | {
        "one/inner/SKILL.md": inside,
        "group/sub/three/SKILL.md": three,
    }
    findings = {one.code for candidate in found.candidates for one in candidate.diagnostics}
    assert findings == {"inside-skill", "too-deep"}


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({}, ["node_modules/SKILL.md", "one/SKILL.md"]),
        ({"hidden": True}, [".hidden/SKILL.md", "node_modules/SKILL.md", "one/SKILL.md"]),
        ({"skip_names": ("node_modules",)}, ["one/SKILL.md"]),
        ({"max_depth": 2}, ["group/two/SKILL.md", "node_modules/SKILL.md", "one/SKILL.md"]),
        (
            {"max_depth": 2, "leaf": False},
            ["group/two/SKILL.md", "node_modules/SKILL.md", "one/SKILL.md", "one/inner/SKILL.md"],
        ),
        ({"min_depth": 0}, ["SKILL.md"]),
        (
            {"min_depth": 0, "max_depth": 9, "leaf": False},
            [
                "SKILL.md",
                "group/sub/three/SKILL.md",
                "group/two/SKILL.md",
                "node_modules/SKILL.md",
                "one/SKILL.md",
                "one/inner/SKILL.md",
            ],
        ),
    ],
)
def test_depths_leaves_and_names_decide_which_folders_are_searched(
    rules: dict[str, Any], expected: list[str]
) -> None:
    assert names(find(DEEP, make_root(**rules))) == expected


IN_ROOT = "it is in the root itself; this host searches only the folders below it"
DOTTED = "its folder begins with a dot; this host skips those"


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (
            {"skip_names": ("node_modules",)},
            {
                "SKILL.md": IN_ROOT,
                ".hidden/SKILL.md": DOTTED,
                "node_modules/SKILL.md": "this host skips folders named node_modules",
                "group/two/SKILL.md": "it is 2 folders below the root; this host searches 1 deep",
            },
        ),
        (
            {"max_depth": 2, "hidden": True},
            {
                "SKILL.md": IN_ROOT,
                "group/sub/three/SKILL.md": "it is 3 folders below the root; this host searches 2 deep",
            },
        ),
        ({"min_depth": 0, "max_depth": 9, "leaf": False}, {".hidden/SKILL.md": DOTTED}),
        ({"min_depth": 0}, {}),
    ],
)
def test_what_a_host_does_not_look_at_is_kept_with_the_reason(
    rules: dict[str, Any], expected: dict[str, str]
) -> None:
    assert skipped(find(DEEP, make_root(**rules))) == expected


def test_looking_at_what_is_passed_over_is_bounded() -> None:
    files = MemoryFiles({f"{ROOT}/group/s{number}/SKILL.md": "" for number in range(1_200)})
    found = find(files)
    assert len(skipped(found)) == 999
    assert codes(found) == [("limit-reached", ROOT)]


def test_a_link_to_a_folder_that_was_entered_adds_nothing_that_is_passed_over() -> None:
    files = MemoryFiles(
        {f"{ROOT}/group/x/SKILL.md": ""}, {f"{ROOT}/z-one": "group", f"{ROOT}/z-two": "group"}
    )
    reason = "it is 2 folders below the root; this host searches 1 deep"
    assert skipped(find(files)) == {"group/x/SKILL.md": reason, "z-one/x/SKILL.md": reason}


def test_commands_are_named_by_their_path() -> None:
    files = MemoryFiles(
        {
            f"{ROOT}/{name}": ""
            for name in ("a.md", "sub/b.md", "sub/c.MD", "d/SKILL.md", "x.txt", ".h/e.md")
        }
    )
    found = find(files, make_root(layout="commands"))
    assert [
        (one.default_name, one.location.removeprefix(f"{ROOT}/")) for one in found.candidates
    ] == [
        ("a", "a.md"),
        ("d", "d/SKILL.md"),
        ("sub:b", "sub/b.md"),
    ]


def test_a_skill_among_commands_names_its_folder_and_hides_the_files_beside_it() -> None:
    paths = ("SKILL.md", "one.md", "low/skill.md", "low/w.md", "low/deep/z.md", ".h/e.md")
    files = MemoryFiles({f"{ROOT}/{path}": "" for path in paths})
    found = find(files, make_root(layout="commands", hidden=True))
    states = {
        one.default_name: one.skipped_by
        for one in sorted(found.candidates, key=lambda one: one.location)
    }
    own = ROOT.rpartition("/")[2]
    assert states == {
        ".h:e": None,
        own: None,
        "low:deep:z": None,
        "low": None,
        "low:w": "layout",
        "one": "layout",
    }


def test_a_file_that_only_looks_like_a_skill_is_noted() -> None:
    found = find(
        MemoryFiles(
            {f"{ROOT}/lower/skill.md": "", f"{ROOT}/both/SKILL.md": "", f"{ROOT}/both/skill.md": ""}
        )
    )
    assert names(found) == ["both/SKILL.md"]
    assert codes(found) == [("wrong-file-name", f"{ROOT}/lower/skill.md")]


@pytest.mark.parametrize(
    ("files", "must_exist", "expected"),
    [
        ({ROOT: "a file"}, False, [("root-not-a-folder", ROOT)]),
        ({}, True, [("root-missing", ROOT)]),
        ({}, False, []),
    ],
)
def test_a_root_that_is_no_folder_is_noted_where_it_matters(
    files: dict[str, str], must_exist: bool, expected: list[tuple[str, str]]
) -> None:
    assert codes(find(MemoryFiles(files), make_root(must_exist=must_exist))) == expected


def test_limits_cut_a_sorted_list_and_what_is_cut_is_kept_as_skipped() -> None:
    files = MemoryFiles({f"{ROOT}/s{number}/SKILL.md": "" for number in range(5)})
    found = find(files, limits=ScanLimits(skills_per_root=2))
    assert [(one.default_name, one.skipped) for one in found.candidates] == [
        ("s0", None),
        ("s1", None),
        *((f"s{n}", "the limit of 2 skills in one root was reached") for n in (2, 3, 4)),
    ]
    narrow = find(files, limits=ScanLimits(items_per_folder=3))
    assert {one.default_name: one.skipped is not None for one in narrow.candidates} == {
        "s0": False,
        "s1": False,
        "s2": False,
        "s3": True,
        "s4": True,
    }
    cut = find(files, limits=ScanLimits(folders_per_root=3))
    assert names(cut) == ["s0/SKILL.md", "s1/SKILL.md"]
    assert skipped(cut) == {
        f"s{n}/SKILL.md": "the search for skills stopped after 3 folders" for n in (2, 3, 4)
    }
    assert codes(cut) == [("limit-reached", ROOT)]


@pytest.mark.parametrize(
    ("files", "rules", "limits", "rule"),
    [
        (("a", "b"), {}, {"skills_per_root": 1}, "limits.skills_per_root"),
        (("a", "b"), {}, {"items_per_folder": 1}, "limits.items_per_folder"),
        (("a", "b"), {}, {"folders_per_root": 2}, "limits.folders_per_root"),
        (("a", "g/b"), {"max_depth": 1}, {}, "max_depth"),
        (("a", ""), {}, {}, "min_depth"),
        (("a", ".b"), {}, {}, "hidden"),
        (("a", "b"), {"skip_names": ("b",)}, {}, "skip_names"),
    ],
)
def test_what_is_skipped_names_the_very_limit_that_skipped_it(
    files: tuple[str, ...], rules: dict[str, Any], limits: dict[str, int], rule: str
) -> None:
    made = MemoryFiles({f"{ROOT}/{name}/SKILL.md".replace("//", "/"): "" for name in files})
    found = find(made, make_root(**rules), limits=ScanLimits(**limits))
    assert {one.skipped_by for one in found.candidates} == {None, rule}


def test_a_walk_stops_when_its_time_is_up() -> None:
    files = MemoryFiles({f"{ROOT}/s{number:03d}/SKILL.md": "" for number in range(200)})
    ticks = iter(range(1_000))
    found = find(files, limits=ScanLimits(seconds_per_root=1.5), clock=lambda: float(next(ticks)))
    assert codes(found) == [("limit-reached", ROOT)]
    assert 0 < len(names(found)) < 200
    assert {one.skipped_by for one in found.candidates} == {None, "limits.seconds_per_root"}
    assert len(skipped(found)) == 100


def test_a_limit_on_skills_leaves_the_rest_as_skipped() -> None:
    files = MemoryFiles({f"{ROOT}/s{number}/SKILL.md": "" for number in range(3)})
    found = find(files, limits=ScanLimits(skills_per_root=1))
    assert [one.skipped is None for one in found.candidates] == [True, False, False]
    assert [(one.code, one.file, one.message) for one in found.diagnostics] == [
        ("limit-reached", ROOT, "The folder has 3 skills; only the first 1 is read.")
    ]
    assert find(files, limits=ScanLimits(skills_per_root=3)).diagnostics == ()


def test_all_roots_share_one_budget_and_the_users_own_come_first() -> None:
    def many(root: str) -> dict[str, str]:
        return {f"{root}/s{number:03}/SKILL.md": "" for number in range(100)}

    files = MemoryFiles(many("/clone/a") | many("/clone/b") | many("/home/me/skills"))
    named = [make_root("/clone/a", max_depth=3), make_root("/clone/b", max_depth=3)]
    own = msgspec.structs.replace(make_root("/home/me/skills", max_depth=3), scope=Scope.USER)
    roots = (*named, own)
    found = find(files, *roots, limits=ScanLimits(folders_per_scan=150))
    kept = [one.root.path for one in found.candidates if one.skipped is None]
    # 101 folders of the user, then 49 of the first root of the project, then none of the second.
    assert [kept.count(root.path) for root in roots] == [48, 0, 100]
    assert kept[-1] == "/home/me/skills", "candidates keep the host's order"
    stopped = "The search for skills stopped after 150 folders in all roots; the rest was"
    assert [(one.file, one.message) for one in found.diagnostics] == [
        (root.path, f"{stopped} not searched.") for root in named
    ]
    assert {one.skipped_by for one in found.candidates} == {None, "limits.folders_per_scan"}


def test_all_roots_share_one_time_limit() -> None:
    files = MemoryFiles({f"/clone/{n}/s{i:03}/SKILL.md": "" for n in "abc" for i in range(200)})
    ticks = itertools.count()
    found = find(
        files,
        *(make_root(f"/clone/{name}", max_depth=3) for name in "abc"),
        limits=ScanLimits(seconds_per_scan=6),
        clock=lambda: float(next(ticks)),
    )
    kept = [one for one in found.candidates if one.skipped is None]
    assert 0 < len(kept) < 600
    assert [one.message for one in found.diagnostics][-1] == (
        "The search for skills stopped after 6 seconds in all roots; the rest was not searched."
    )


def test_the_bound_on_folders_can_follow_from_the_bound_on_what_lies_in_one() -> None:
    limits = ScanLimits(items_per_folder=300, folders_per_item=6)
    assert limits.change({}).folders_per_root == 1_800
    assert limits.change({"items_per_folder": 5_000}).folders_per_root == 30_000
    assert ScanLimits(folders_per_root=7).change({}).folders_per_root == 7


LINKED = {
    f"{ROOT}/real/SKILL.md": "",
    "/p/elsewhere/inside/SKILL.md": "",
    "/outside/far/SKILL.md": "",
}
LINKS = {
    f"{ROOT}/to-inside": "/p/elsewhere/inside",
    f"{ROOT}/to-far": "/outside/far",
    f"{ROOT}/to-real": "real",
    f"{ROOT}/nowhere": "/gone",
}


@pytest.mark.parametrize(
    ("links", "allowed"),
    [
        ("follow", ["real", "to-far", "to-inside", "to-real"]),
        ("known", ["real", "to-inside", "to-real"]),
        ("inside-root", ["real", "to-real"]),
        ("never", ["real"]),
    ],
)
def test_each_rule_for_links_says_which_may_be_followed(links: str, allowed: list[str]) -> None:
    found = find(MemoryFiles(LINKED, LINKS), make_root(links=links))
    assert [one.default_name for one in found.candidates if not one.diagnostics] == allowed
    refused = [one for one in found.candidates if one.diagnostics]
    assert {d.code for one in refused for d in one.diagnostics} <= {"link-escapes"}
    assert len(found.candidates) == 4


def test_a_folder_linked_freely_is_reported_by_its_real_path() -> None:
    found = find(MemoryFiles(LINKED, LINKS), make_root(links="real-folder"))
    assert [one.location for one in found.candidates] == [
        f"{ROOT}/real/SKILL.md",
        "/outside/far/SKILL.md",
        "/p/elsewhere/inside/SKILL.md",
        f"{ROOT}/real/SKILL.md",
    ]


def test_a_trusted_folder_may_be_linked_to() -> None:
    found = find(
        MemoryFiles(LINKED, LINKS),
        make_root(links="inside-root"),
        settings=Settings(trusted_links=("/outside",)),
    )
    assert [one.default_name for one in found.candidates if not one.diagnostics] == [
        "real",
        "to-far",
        "to-real",
    ]


def test_ignored_folders_are_skipped_and_their_skills_kept_with_the_pattern() -> None:
    files = MemoryFiles(
        {
            "/p/.gitignore": "tmp-*/\n!tmp-keep/\n",
            f"{ROOT}/.gitignore": "drafts\n",
            f"{ROOT}/drafts/SKILL.md": "",
            f"{ROOT}/tmp-one/SKILL.md": "",
            f"{ROOT}/tmp-keep/SKILL.md": "",
            f"{ROOT}/good/SKILL.md": "",
            f"{ROOT}/tmp-empty/notes": "",
        }
    )
    found = find(files, make_root(gitignore=True))
    assert names(found) == ["good/SKILL.md", "tmp-keep/SKILL.md"]
    assert skipped(found) == {
        "drafts/SKILL.md": f"git ignores its folder (`drafts`, {ROOT}/.gitignore:1)",
        "tmp-one/SKILL.md": "git ignores its folder (`tmp-*/`, /p/.gitignore:1)",
    }
    assert {found.code for one in found.candidates for found in one.diagnostics} == {
        "folder-ignored"
    }
    assert [one.skipped for one in find(files, make_root(gitignore=False)).candidates] == [None] * 4


def test_skills_one_folder_deeper_in_an_ignored_folder_are_kept_too() -> None:
    files = MemoryFiles(
        {"/p/.gitignore": "drafts\n", f"{ROOT}/drafts/x/SKILL.md": "", f"{ROOT}/good/SKILL.md": ""}
    )
    found = find(files, make_root(gitignore=True, max_depth=6))
    assert names(found) == ["good/SKILL.md"]
    assert skipped(found) == {
        "drafts/x/SKILL.md": "git ignores its folder (`drafts`, /p/.gitignore:1)"
    }


def test_an_ignore_file_further_in_takes_a_folder_in_again() -> None:
    files = MemoryFiles(
        {
            "/p/.gitignore": "build\n",
            f"{ROOT}/.gitignore": "!build\n",
            f"{ROOT}/build/SKILL.md": "",
            f"{ROOT}/group/build/SKILL.md": "",
        }
    )
    found = find(files, make_root(gitignore=True, max_depth=6))
    assert (names(found), skipped(found)) == (["build/SKILL.md", "group/build/SKILL.md"], {})


def test_a_line_that_is_no_pattern_costs_only_itself() -> None:
    files = MemoryFiles(
        {
            "/p/.gitignore": "foo\\\ntmp\n!\n\\\n# note\n\n",
            f"{ROOT}/foo/SKILL.md": "",
            f"{ROOT}/tmp/SKILL.md": "",
        }
    )
    found = find(files, make_root(gitignore=True), make_root("/p/more", gitignore=True))
    assert names(found) == ["foo/SKILL.md"]
    assert list(skipped(found)) == ["tmp/SKILL.md"]
    assert [(one.code, one.file, one.line) for one in found.diagnostics] == [
        ("ignore-pattern", "/p/.gitignore", line) for line in (1, 3, 4)
    ]


def test_no_ignore_file_makes_a_walk_slow() -> None:
    lines = "\n".join("*a" * count + "c" for count in range(1, 40))
    files = MemoryFiles({"/p/.gitignore": lines, f"{ROOT}/{'a' * 250}/SKILL.md": ""})
    assert len(names(soon(lambda: find(files, make_root(gitignore=True))))) == 1


def test_a_root_that_git_ignores_as_a_whole_is_still_searched() -> None:
    files = MemoryFiles({"/p/.gitignore": "skills/\n", f"{ROOT}/good/SKILL.md": ""})
    assert [one.skipped for one in find(files, make_root(gitignore=True)).candidates] == [None]


IGNORED = {
    "/p/.gitignore": "# Mine\n**/d/SKILL.md\nskills/e/**\n*.log\n/skills/f/*\n!/skills/f/SKILL.md\n",
    f"{ROOT}/inner/.gitignore": "SKILL.md\n",
    **{f"{ROOT}/{name}/SKILL.md": "" for name in ("d", "e", "f", "good", "inner", "group/d")},
}


def test_a_file_that_git_ignores_is_skipped_with_the_pattern_and_its_line() -> None:
    found = find(MemoryFiles(IGNORED), make_root(gitignore=True, max_depth=6))
    assert names(found) == ["f/SKILL.md", "good/SKILL.md"]
    assert skipped(found) == {
        "d/SKILL.md": "git ignores the file (`**/d/SKILL.md`, /p/.gitignore:2)",
        "e/SKILL.md": "git ignores the file (`skills/e/**`, /p/.gitignore:3)",
        "group/d/SKILL.md": "git ignores the file (`**/d/SKILL.md`, /p/.gitignore:2)",
        "inner/SKILL.md": f"git ignores the file (`SKILL.md`, {ROOT}/inner/.gitignore:1)",
    }
    left_out = [one for one in found.candidates if one.skipped]
    assert {one.skipped_by for one in left_out} == {"gitignore"}
    assert {found.code for one in left_out for found in one.diagnostics} == {"file-ignored"}
    assert left_out[0].diagnostics[0].hint == "Remove the pattern in line 2 of /p/.gitignore."


def test_what_is_ignored_is_what_git_ignores(workspace: Workspace) -> None:
    project = workspace.root / "project"
    subprocess.run(["git", "init", "-q", project], check=True)
    for path, content in IGNORED.items():
        workspace.write(f"project/{path.removeprefix('/p/')}", content)
    (project / ".git/info").mkdir(exist_ok=True)
    (project / ".git/info/exclude").write_text("good\n!f\n")
    root = f"{project}/skills"
    places = Places(
        cwd=str(project), home=str(workspace.home), platform="linux", repository=str(project)
    )
    roots = (make_root(root, gitignore=True, max_depth=6),)
    source = FolderSource(roots, places=places, limits=ScanLimits(), clock=time.monotonic)
    found = source.find(Search(cwd=str(project), settings=Settings(), files=LocalFiles()))
    paths = [one.location for one in found.candidates]
    asked = subprocess.run(
        ["git", "-C", project, "check-ignore", "--stdin"],
        input="\n".join(paths),
        capture_output=True,
        text=True,
    )
    assert sorted(
        one.location for one in found.candidates if one.skipped_by == "gitignore"
    ) == sorted(asked.stdout.splitlines())
    assert len(paths) == 6


@pytest.mark.parametrize(
    ("files", "exclude"),
    [
        ({}, "/p/.git/info/exclude"),
        ({"/p/.git": "gitdir: /main/.git/modules/p\n"}, "/main/.git/modules/p/info/exclude"),
        (
            {
                "/p/.git": "gitdir: ../main/.git/worktrees/p\n",
                "/p/../main/.git/worktrees/p/commondir": "../..\n",
            },
            "/main/.git/info/exclude",
        ),
        ({"/p/.git": "what?"}, None),
    ],
)
def test_what_git_ignores_here_alone_is_ignored_too(
    files: dict[str, str], exclude: str | None
) -> None:
    made = {posixpath.normpath(path): content for path, content in files.items()}
    made |= {f"{ROOT}/{name}/SKILL.md": "" for name in ("kept", "mine")}
    made |= {"/p/.gitignore": "!kept\n"} | ({exclude: "mine\nkept\n"} if exclude else {})
    found = find(MemoryFiles(made), make_root(gitignore=True))
    said = (
        {}
        if exclude is None
        else {"mine/SKILL.md": f"git ignores its folder (`mine`, {exclude}:1)"}
    )
    assert skipped(found) == said


def test_commands_that_git_ignores_are_skipped_where_the_root_says_so() -> None:
    files = MemoryFiles(
        {
            "/p/.gitignore": "draft.md\nold/\n",
            **{f"{ROOT}/{name}.md": "" for name in ("draft", "good", "old/x")},
        }
    )
    found = find(files, make_root(gitignore=True, layout="commands"))
    assert names(found) == ["good.md"]
    assert {place: one.partition(",")[0] for place, one in skipped(found).items()} == {
        "draft.md": "git ignores the file (`draft.md`",
        "old/x.md": "git ignores its folder (`old/`",
    }


def test_skills_in_a_folder_that_is_passed_over_for_its_name_are_kept_with_the_reason() -> None:
    inside = [f"node_modules/{name}/SKILL.md" for name in ("", "nm", "nm/deeper", ".bin", "other")]
    files = MemoryFiles(
        {f"{ROOT}/{name}".replace("//", "/"): "" for name in (*inside[1:], ".hidden/x/SKILL.md")}
    )
    found = find(files, make_root(skip_names=("node_modules",), max_depth=6))
    reason = "this host skips folders named node_modules"
    assert skipped(found) == {
        ".hidden/x/SKILL.md": DOTTED,
        "node_modules/nm/SKILL.md": reason,
        "node_modules/other/SKILL.md": reason,
    }
    assert (names(found), found.diagnostics) == ([], ())


def test_a_large_folder_that_is_passed_over_is_looked_into_only_a_little() -> None:
    files = MemoryFiles({f"{ROOT}/node_modules/p{n:03d}/SKILL.md": "" for n in range(500)})
    found = find(files, make_root(skip_names=("node_modules",), max_depth=6))
    assert (len(skipped(found)), found.diagnostics) == (200, ())
    assert files.listed == [ROOT, f"{ROOT}/node_modules"]


def test_one_root_that_cannot_be_listed_costs_its_neighbour_nothing() -> None:
    class Locked(MemoryFiles):
        def list_folder(self, path: str) -> Any:
            if path == "/q":
                raise PermissionError(13, "Permission denied", path)
            return super().list_folder(path)

    files = Locked({"/q/x/SKILL.md": "", f"{ROOT}/good/SKILL.md": ""})
    found = find(files, make_root("/q"), make_root())
    assert names(found) == ["good/SKILL.md"]
    assert codes(found) == [("root-unreadable", "/q")]
