"""Skills that wait for a file, and folders of skills that are found beside one."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
import pytest

from prowess.activate.dormant.conditions import (
    Condition,
    ConditionIndex,
    WatchState,
    Woken,
    find_conditions,
    find_names_below,
    wake,
)
from prowess.activate.dormant.nested_roots import NestedRoot, NestedRoots, find_nested_roots
from prowess.activate.dormant.patterns import expand_braces
from prowess.model.files import Head
from prowess.model.skill import Skill
from prowess.profiles.load import load_profile
from prowess.testing import MemoryFiles
from tests.unit.activate.skills import make_outcome

CLAUDE = load_profile("claude-code@documented")


def waiting(name: str, *patterns: str) -> Condition:
    return Condition(name, f"/skills/{name}/SKILL.md", patterns)


def meets(patterns: list[str], path: str) -> bool:
    return bool(ConditionIndex([waiting("one", *patterns)]).find_met(path.split("/")))


# What wakes a skill


@pytest.mark.seed("C-87")
@pytest.mark.parametrize(
    ("patterns", "met", "not_met"),
    [
        (["*.md"], ["a.md", "docs/deep/a.md", ".md"], ["a.mdx", "md"]),
        (["docs"], ["docs/a", "x/docs/a/b", "docs"], ["docs2/a"]),
        (["docs/"], ["docs/a", "x/docs/a/b"], ["docs"]),
        (
            ["src/components/**/*.tsx"],
            ["src/components/A.tsx", "src/components/a/b/A.tsx"],
            ["src/A.tsx", "a/src/components/A.tsx"],
        ),
        (["src/**/*.{ts,tsx}"], ["src/a.ts", "src/b/a.tsx"], ["src/a.js", "src/a.{ts,tsx}"]),
        (
            ["{src,lib}/*.py", "!lib/skip.py"],
            ["src/a.py", "lib/a.py", "src/skip.py"],
            ["lib/skip.py", "app/a.py"],
        ),
        (["*.md", "!README.md"], ["a.md"], ["README.md", "docs/README.md"]),
        (["!README.md", "*.md"], ["README.md"], []),
        (["src/**", "!src/a/**"], ["src/x", "src/a/x"], ["a/x"]),
        (["src/*", "!src/a"], ["src/x/y"], ["src/a"]),
        (["*", "!a"], ["b/c", "a/b"], ["a"]),
        (["[ab].py", "x[", "*.go"], ["a.py", "m.go"], ["x[", "c.py"]),
        (["/a.py"], ["a.py"], ["b/a.py"]),
        (["**/a/**"], ["a/b", "x/a/b/c"], ["a", "b/a"]),
    ],
)
def test_a_skill_waits_until_a_file_that_its_patterns_mean_is_touched(
    patterns: list[str], met: list[str], not_met: list[str]
) -> None:
    assert [path for path in met if not meets(patterns, path)] == []
    assert [path for path in not_met if meets(patterns, path)] == []


@pytest.mark.seed("C-88")
def test_one_file_may_wake_several_skills_in_their_order() -> None:
    conditions = ConditionIndex(
        [
            waiting("b", "*.py"),
            waiting("x", "*.go"),
            waiting("a", "src/**"),
            waiting("c", "*.{py,ts}"),
        ]
    )
    woken = wake(WatchState(), conditions, "/p/src/m.py", cwd="/p")
    assert [one.name for one in woken.conditions] == ["b", "a", "c"]
    assert woken.watch.awake == {f"/skills/{name}/SKILL.md" for name in "abc"}


@pytest.mark.seed("C-89")
def test_a_woken_skill_stays_awake_and_wakes_only_once() -> None:
    conditions = ConditionIndex([waiting("py", "*.py"), waiting("go", "*.go")])
    first = wake(WatchState(), conditions, "/p/a.py", cwd="/p")
    again = wake(first.watch, conditions, "/p/b.py", cwd="/p")
    other = wake(first.watch, conditions, "/p/a.go", cwd="/p")
    assert [one.name for one in first.conditions] == ["py"]
    assert again == Woken(first.watch)
    assert [one.name for one in other.conditions] == ["go"]
    assert other.watch.awake == {"/skills/py/SKILL.md", "/skills/go/SKILL.md"}
    assert wake(other.watch, conditions, "/p/readme", cwd="/p").watch == other.watch


def test_a_watch_can_be_saved_and_goes_on_where_it_stopped() -> None:
    conditions = ConditionIndex([waiting("py", "*.py")])
    watch = wake(WatchState(), conditions, "a.py", cwd="/p").watch
    restored = msgspec.json.decode(msgspec.json.encode(watch), type=WatchState)
    assert restored == watch
    assert wake(restored, conditions, "b.py", cwd="/p") == Woken(restored)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/p/src/a.py", ["src", "a.py"]),
        ("src/a.py", ["src", "a.py"]),
        ("/p/src/../b.py", ["b.py"]),
        ("/p/./x//y", ["x", "y"]),
        ("/elsewhere/a.py", None),
        ("/p-other/a.py", None),
        ("../a.py", None),
        ("/p", None),
    ],
)
def test_patterns_begin_at_the_working_folder(path: str, names: list[str] | None) -> None:
    assert find_names_below(path, "/p") == names
    assert find_names_below(path.replace("/p/", "/"), "/") != []


def test_windows_paths_are_taken_apart_by_their_own_rules() -> None:
    assert find_names_below("C:\\p\\src\\a.py", "C:\\p", platform="win32") == ["src", "a.py"]
    assert find_names_below("C:/p/a.py", "C:\\p", platform="win32") == ["a.py"]
    assert find_names_below("D:\\p\\a.py", "C:\\p", platform="win32") is None


def make_skill(name: str, **fields: Any) -> Skill:
    skill = make_outcome(name, **fields).skill
    assert skill is not None
    return skill


def test_conditions_come_from_the_fields_that_make_a_skill_wait() -> None:
    skills = [
        make_skill("both", paths=("*.py",), globs=("*.ts",)),
        make_skill("none"),
        make_skill("every", paths=("docs", "**")),
    ]
    both = "/skills/both/SKILL.md"
    expected = [
        Condition("both", both, ("*.py",), "paths"),
        Condition("both", both, ("*.ts",), "globs"),
    ]
    assert find_conditions(skills, load_profile("prowess").gate.dormant_by) == expected
    assert find_conditions(skills, CLAUDE.gate.dormant_by) == expected[:1]
    woken = wake(WatchState(), ConditionIndex(expected), "a.ts", cwd="/p")
    assert [one.field for one in woken.conditions] == ["globs"]


# Patterns that mean nothing


def test_a_pattern_that_means_nothing_disables_only_itself_and_is_told() -> None:
    bomb = "{a,b}" * 12
    conditions = ConditionIndex([waiting("one", "x[", bomb, "*.py"), waiting("two", "*.go")])
    assert [one.name for one in conditions.find_met(["a.py"])] == ["one"]
    assert [one.name for one in conditions.find_met(["a.go"])] == ["two"]
    assert [
        (found.code, found.file, found.field, found.message) for found in conditions.diagnostics
    ] == [
        (
            "pattern-invalid",
            "/skills/one/SKILL.md",
            "paths",
            "The pattern “x[” is ignored: it cannot match any file.",
        ),
        (
            "pattern-invalid",
            "/skills/one/SKILL.md",
            "paths",
            f"The pattern “{bomb}” is ignored: its braces expand to too many patterns; the limit is 1,000.",
        ),
    ]


@pytest.mark.parametrize(
    ("text", "spellings"),
    [
        ("a", ["a"]),
        ("*.{ts,tsx}", ["*.ts", "*.tsx"]),
        ("{a,b}{c,d}", ["ac", "ad", "bc", "bd"]),
        ("a{b,c{d,e}}f", ["abf", "acdf", "acef"]),
        ("{a,}b", ["ab", "b"]),
        ("{a}", ["{a}"]),
        ("{}", ["{}"]),
        ("{a,b", ["{a,b"]),
        ("a,b}", ["a,b}"]),
        ("\\{a,b}", ["\\{a,b}"]),
        ("[{]{a,b}", ["[{]a", "[{]b"]),
        ("{a{b,c}}", ["{ab}", "{ac}"]),
        ("!{a,b}", ["!a", "!b"]),
    ],
)
def test_braces_stand_for_each_of_their_choices(text: str, spellings: list[str]) -> None:
    assert list(expand_braces(text)) == spellings


# Folders of skills below the working folder

RULES = {id: CLAUDE.roots[id] for id in CLAUDE.conditions.below}


def below(
    path: str, *, template: str = "{ancestor}/.claude/skills", rule: str = "project"
) -> NestedRoot:
    """The folder of skills at a path that is relative to the working folder."""
    return NestedRoot(
        f"/p/{path}/{template.removeprefix('{ancestor}/')}", rule, template, f"/p/{path}", path
    )


def look(
    path: str, files: MemoryFiles, watch: WatchState | None = None, **options: Any
) -> NestedRoots:
    options = {"rules": RULES, "repository": "/p"} | options
    return find_nested_roots(
        path, options.pop("cwd", "/p"), watch=watch or WatchState(), files=files, **options
    )


def tree(*holders: str, **others: str) -> MemoryFiles:
    return MemoryFiles(
        {f"/p/{holder}/.claude/skills/x/SKILL.md": "" for holder in holders}
        | {"/p/file": ""}
        | others
    )


@pytest.mark.seed("C-84")
def test_folders_between_a_touched_file_and_the_working_folder_are_found_nearest_first() -> None:
    files = tree("a/b/c", "a", "other", ".")
    assert look("/p/a/b/c/d/file.py", files) == NestedRoots(
        WatchState(searched=frozenset({"/p/a", "/p/a/b", "/p/a/b/c", "/p/a/b/c/d"})),
        (below("a/b/c"), below("a")),
    )
    assert look("/p/file.py", files) == NestedRoots(WatchState())
    assert look("/elsewhere/file.py", files) == NestedRoots(WatchState())


@pytest.mark.seed("C-85")
def test_folders_that_git_ignores_are_passed_over_with_all_that_is_in_them() -> None:
    files = tree(
        "build",
        "build/in",
        "src/gen",
        "src",
        "kept",
        **{"/p/.gitignore": "build/\n", "/p/src/.gitignore": "gen\n"},
    )
    assert look("/p/build/in/x", files).roots == ()
    assert look("/p/src/gen/x", files).roots == (below("src"),)
    assert look("/p/kept/x", files).roots == (below("kept"),)


def test_what_git_ignores_is_passed_over_on_windows_too() -> None:
    class WindowsFiles(MemoryFiles):
        def find_kind(self, path: str) -> str | None:
            return super().find_kind(path.replace("\\", "/"))

        def read_head(self, path: str, limit: int) -> Head:
            return super().read_head(path.replace("\\", "/"), limit)

    skill = ".claude/skills/x/SKILL.md"
    folders = ("work/a", "work/build", "work/a/gen")
    rules = {"C:/p/.gitignore": "build/\nwork/\n", "C:/p/work/a/.gitignore": "gen\n"}
    files = WindowsFiles({f"C:/p/{folder}/{skill}": "" for folder in folders} | rules)

    def qualify(path: str) -> list[str]:
        found = look(path, files, cwd="C:\\p\\work", repository="C:\\p", platform="win32")
        return [root.qualifier for root in found.roots]

    assert qualify("C:\\p\\work\\a\\x.py") == ["a"]
    assert qualify("C:\\p\\work\\build\\x.py") == []
    assert qualify("C:\\p\\work\\a\\gen\\x.py") == ["a"]


def test_a_folder_of_modules_that_git_does_not_ignore_is_looked_into() -> None:
    assert look("/p/node_modules/m/x", tree("node_modules/m")).roots == (below("node_modules/m"),)


def test_folders_that_are_passed_over_by_name_are_so_with_all_that_is_in_them() -> None:
    files = tree("a", "a/node_modules", "a/node_modules/m", ".git", ".git/m")
    assert look("/p/a/node_modules/m/x", files, skip_names=("node_modules",)) == NestedRoots(
        WatchState(searched=frozenset({"/p/a"})), (below("a"),)
    )
    assert look("/p/.git/m/x", files) == NestedRoots(WatchState())
    assert look(
        "/p/node_modules/m/x", tree("m"), cwd="/p/node_modules", skip_names=("node_modules",)
    ) == NestedRoots(WatchState(searched=frozenset({"/p/node_modules/m"})))


def test_rules_above_the_working_folder_hold_but_not_those_that_ignore_it() -> None:
    files = MemoryFiles(
        {
            "/p/.gitignore": "work/\ntmp/\n",
            "/p/work/a/.claude/skills/x/SKILL.md": "",
            "/p/work/tmp/.claude/skills/x/SKILL.md": "",
        }
    )
    assert [one.qualifier for one in look("/p/work/a/x", files, cwd="/p/work").roots] == ["a"]
    assert look("/p/work/tmp/x", files, cwd="/p/work").roots == ()


def test_a_folder_of_skills_that_is_itself_ignored_is_still_found() -> None:
    assert look("/p/a/x", tree("a", **{"/p/.gitignore": ".claude/\n"})).roots == (below("a"),)


@pytest.mark.seed("C-86")
def test_each_folder_is_looked_into_once() -> None:
    class Counting(MemoryFiles):
        asked: ClassVar[list[str]] = []

        def find_kind(self, path: str) -> str | None:
            self.asked.append(path)
            return super().find_kind(path)

    files = Counting({"/p/a/.claude/skills/x/SKILL.md": "", "/p/a/b/file": ""})
    first = look("/p/a/b/file", files)
    assert first.roots == (below("a"),)
    files.asked.clear()
    assert look("/p/a/b/other", files, first.watch) == NestedRoots(first.watch)
    assert files.asked == []
    assert look("/p/a/c/file", files, first.watch).watch.searched == first.watch.searched | {
        "/p/a/c"
    }
    assert [path for path in files.asked if path.endswith("skills")] == ["/p/a/c/.claude/skills"]


def test_prowess_looks_for_the_folders_of_every_host_in_its_order() -> None:
    profile = load_profile("prowess")
    rules = {id: profile.roots[id] for id in profile.conditions.below}
    files = MemoryFiles(
        {f"/p/a/{folder}/skills/x/SKILL.md": "" for folder in (".claude", ".agents", ".omp")}
    )
    found = look("/p/a/x", files, rules=rules)
    templates = [f"{{ancestor}}/{folder}/skills" for folder in (".agents", ".claude", ".omp")]
    assert found.roots == tuple(below("a", template=template) for template in templates)


@pytest.mark.parametrize("host", ["opencode", "omp", "openclaw"])
def test_hosts_that_do_not_look_below_have_no_rules_for_it(host: str) -> None:
    assert load_profile(host).conditions.below == ()


def test_below_works_without_a_repository() -> None:
    files = tree("a", "b", **{"/p/.gitignore": "b\n"})
    assert look("/p/a/x", files, repository=None).roots == (below("a"),)
    assert look("/p/b/x", files, repository=None).roots == ()
