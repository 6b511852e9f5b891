"""Files checked strictly: what is found, which fixes there are, and when they are written."""

from __future__ import annotations

import pytest

from prowess.errors import UsageError
from prowess.machine.files import LocalFiles
from prowess.profiles.load import load_profile
from prowess.reports.lint_report import CheckedFile, Fix, FixMode, LintReport, check_file
from prowess.reports.skill_paths import Target, TargetSearch
from prowess.testing import MemoryFiles, make_facts

GOOD = "---\nname: good\ndescription: Use when needed.\n---\nDo it.\n"
COLON = "---\nname: good\ndescription: Use when: needed\n---\nDo it.\n"
FIXED = COLON.replace("Use when: needed", '"Use when: needed"')
FILE = "/p/good/SKILL.md"


def check(text: str | bytes | None, mode: FixMode = FixMode.OFF, *hosts: str) -> CheckedFile:
    profiles = [load_profile(host) for host in hosts]
    return check_file(Target(FILE, "/p/good"), MemoryFiles({FILE: text}), profiles, mode)


def codes(checked: CheckedFile) -> list[str]:
    return [one.code for one in checked.diagnostics]


def test_a_good_file_has_nothing_to_report():
    assert check(GOOD) == CheckedFile(FILE, ())


def test_a_fix_is_offered_then_shown():
    offered, shown = check(COLON), check(COLON, FixMode.SHOW)
    assert (len(offered.diagnostics), offered.fix, offered.is_fixable) == (1, None, True)
    assert (shown.diagnostics, shown.is_fixable) == ((), False)
    assert shown.fix is not None
    assert (shown.fix.before, shown.fix.after) == (COLON, FIXED)
    assert [(one.file, one.line) for one in shown.fix.changes] == [(FILE, 3)]


def test_only_the_mode_that_writes_writes(tmp_path):
    file = tmp_path / "good/SKILL.md"
    file.parent.mkdir()
    file.write_text(COLON)
    target = Target(str(file), str(file.parent))
    for mode in (FixMode.OFF, FixMode.SHOW):
        check_file(target, LocalFiles(), (), mode)
        assert file.read_text() == COLON
    assert check_file(target, LocalFiles(), (), FixMode.WRITE).diagnostics == ()
    assert file.read_text() == FIXED


def test_text_with_replaced_bytes_is_never_fixed():
    checked = check(COLON.encode() + b"\xff", FixMode.SHOW)
    assert (checked.fix, checked.is_fixable) == (None, False)
    assert "not-utf8" in codes(checked)


@pytest.mark.parametrize(
    ("text", "code"), [(None, "file-unreadable"), ("x" * 11_000_000, "file-too-large")]
)
def test_a_file_that_cannot_be_read_is_one_diagnostic(text, code):
    assert codes(check(text)) == [code]


def test_a_host_that_would_not_load_the_file_says_why_once():
    text = "---\nname: good\ndescription: [\n---\nx\n"
    found = check(text, FixMode.OFF, "opencode").diagnostics
    refusals = [one for one in found if one.code == "host-refuses"]
    assert [one.message.partition(": ")[0] for one in refusals] == [
        "opencode would not load the skill"
    ]


def test_files_that_a_body_refers_to_are_looked_up_in_the_folder():
    text = GOOD + "[a](a.md) [b](b.md) [c](c.md)\n"
    files = MemoryFiles(
        {FILE: text, "/p/good/a.md": "", "/p/c.md": ""}, links={"/p/good/c.md": "../c.md"}
    )
    found = check_file(Target(FILE, "/p/good"), files).diagnostics
    assert [(one.code, one.severity.value) for one in found] == [
        ("file-reference-missing", "warning"),
        ("file-reference-outside", "warning"),
    ]


def test_a_diff_keeps_line_ends_and_tells_where_one_is_missing():
    fix = Fix((), "a\r\nb\x0bc", "a\r\nd")
    assert fix.render_diff("x\\y.md") == (
        "--- a/x/y.md\n+++ b/x/y.md\n@@ -1,2 +1,2 @@\n a\r\n"
        "-b\x0bc\n\\ No newline at end of file\n+d\n\\ No newline at end of file\n"
    )


def test_a_report_counts_and_shapes_what_was_found():
    files = (check(GOOD), check(COLON, FixMode.SHOW), check(COLON))
    report = LintReport(files, (), FixMode.SHOW, "/p", "/p", not_checked=2)
    shape = report.shape()
    assert (shape["counts"], shape["not_checked"]) == ({"error": 1, "warning": 0, "info": 0}, 2)
    assert [(one["mendable"], "mended" in one) for one in shape["files"]] == [
        (False, False),
        (False, True),
        (True, False),
    ]
    fix = shape["files"][1]["mended"]
    assert (fix["written"], fix["diff"].splitlines()[0]) == (False, "--- a/good/SKILL.md")


# Paths


def find(*paths: str, files: dict[str, str]) -> list[str]:
    search = TargetSearch("/p", make_facts(), MemoryFiles(files))
    return [target.location for target in search.find(paths).targets]


def test_a_file_a_folder_and_the_working_folder_are_searched_each_file_once():
    files = {FILE: GOOD, "/p/.hidden/skills/x/SKILL.md": GOOD}
    assert find("good", "./good/SKILL.md", "/p/good", files=files) == [FILE]
    assert find(files=files) == ["/p/.hidden/skills/x/SKILL.md", FILE]


def test_a_file_of_another_name_is_checked_with_a_warning():
    search = TargetSearch("/p", make_facts(), MemoryFiles({"/p/a.md": GOOD}))
    (target,) = search.find(["a.md"]).targets
    assert (target.folder, [one.code for one in target.problems]) == ("/p", ["wrong-file-name"])


def test_a_folder_that_git_ignores_is_searched_only_if_it_is_named():
    files = {"/p/.git/HEAD": "", "/p/.gitignore": "out/\n", "/p/out/x/SKILL.md": GOOD, FILE: GOOD}
    assert find(files=files) == [FILE]
    assert find("out", files=files) == ["/p/out/x/SKILL.md"]


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        (["nope", "good", ""], "No such file or folder: “nope”, “”"),
        (["empty"], "No SKILL.md found in “empty”."),
    ],
)
def test_paths_without_a_skill_are_an_error(paths, message):
    with pytest.raises(UsageError) as raised:
        find(*paths, files={FILE: GOOD, "/p/empty/a.txt": ""})
    assert str(raised.value) == message
