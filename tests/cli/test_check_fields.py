"""`prowess check`: where a field stands that something is said of, and fields that are misspelt."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.terminal import Terminal


def check(
    terminal: Terminal, text: str, *arguments: str, place: str = ".agents/skills/x/SKILL.md"
) -> list[tuple[Any, ...]]:
    terminal.write(f"project/{place}", text)
    findings = json.loads(terminal.run("check", "--json", *arguments).out)["diagnostics"]
    return [(one["code"], one.get("field"), one.get("line")) for one in findings]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("---\ndescription: d\nname: y\n---\n", [("name-mismatch", "name", 3)]),
        ("---\ndescription: d\n# a name\n'name': X\n---\n", [("name-invalid", "name", 4), ("name-mismatch", "name", 4)]),
        ("---\nname: x\n---\nBody\n", [("description-from-body", "description", 1)]),
        ("---\nname: x\ndescription:\n---\nBody\n", [("description-from-body", "description", 3)]),
        ("---\nname: x\n---\n", [("description-missing", "description", 1)]),
        ("\n\n---\nname: x\n---\nB\n", [("description-from-body", "description", 3), ("header-malformed-fence", None, 1)]),
        ("---\r\nname: x\r\ndescription: d\r\nshell: fish\r\n---\r\n", [("field-value", "shell", 4)]),
        ("---\rname: x\rdescription: d\rshell: fish\r---\r", [("field-value", "shell", 4)]),
        ("---\nname: x\ndescription: |\n  shell: zsh\n\n  more\nshell: fish\n---\n", [("field-value", "shell", 7)]),
        ("---\nname: x\ndescription: d\nmetadata: 5\n---\n", [("metadata-unreadable", "metadata", 4)]),
        ('---\n{"name": "x", "description": "d",\n "shell": "fish"}\n---\n', [("field-value", "shell", 3)]),
        (
            "---\nname: x\ndescription: d\nmetadata:\n  requires: 1\n  openclaw:\n    os: [linux]\n    requires:\n      bins: 5\n---\n",
            [("field-type", "metadata.openclaw.requires.bins", 9)],
        ),
        (
            "---\nname: x\ndescription: d\ninstall:\n  - kind: brew\n  - kind: apt\n---\n",
            [("field-value", "install[1].kind", 6)],
        ),
    ],
)  # fmt: skip
def test_a_finding_about_a_field_has_its_line(terminal, text, found):
    assert sorted(check(terminal, text)) == sorted(found)


def test_the_line_stays_when_the_scan_is_warm(terminal):
    text = "---\nname: x\ndescription: d\nshell: fish\n---\n"
    assert check(terminal, text) == [("field-value", "shell", 4)]
    findings = json.loads(terminal.run("check", "--json").out)["diagnostics"]
    assert [one["line"] for one in findings] == [4]


def test_a_header_longer_than_the_first_bytes_has_lines_too(terminal):
    text = (
        "---\nname: x\ndescription: d\nlicense: "
        + "x" * 60_000
        + "\nshell: fish\n---\n"
        + "y" * 300_000
    )
    assert check(terminal, text) == [("field-value", "shell", 5)]


@pytest.mark.parametrize("before", ["", "<!-- one\ntwo -->"])
def test_no_line_is_better_than_a_wrong_one(terminal, before):
    text = f"{before}---\nname: x\ndescription: d\nshell: fish\n---\nbody <!-- c\nd -->\n"
    line = None if before else 4
    found = check(terminal, text, "--host", "omp", place=".omp/skills/x/SKILL.md")
    assert found == [("field-value", "shell", line)]


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("descripton", "description"),
        ("desciption", "description"),
        ("Description", "description"),
        ("allowed_tools", "allowed-tools"),
        ("allowed-tool", "allowed-tools"),
        ("allowedTools", "allowed-tools"),
        ("user_invocable", "user-invocable"),
        ("user-invokable", "user-invocable"),
        ("disable_model_invocation", "disable-model-invocation"),
        ("when-to-use", "when_to_use"),
        ("argument_hint", "argument-hint"),
        ("licence", "license"),
        ("path", "paths"),
        ("nmae", "name"),
        ("NAME", "name"),
        ("always_apply", "alwaysApply"),
        ("metdata", "metadata"),
    ],
)
def test_a_misspelt_field_is_a_warning_that_names_the_right_one(terminal, key, near):
    terminal.write(
        "project/.agents/skills/x/SKILL.md", f"---\nname: x\ndescription: d\n{key}: x\n---\n"
    )
    (finding,) = json.loads(terminal.run("check", "--json").out)["diagnostics"]
    del finding["file"]
    assert finding == {
        "code": "field-unknown",
        "severity": "warning",
        "message": f"Unknown field `{key}`; did you mean `{near}`?",
        "field": key,
        "line": 4,
        "hint": "Check its spelling.",
    }


OTHERS = """author authors tags tag category categories triggers trigger tools tool mode modes models agents title type date
created updated language languages domain role scope priority dependencies keywords keyword examples example input inputs
output outputs output-format icon color colour status source repository repo id slug level command commands hint skills skill
mcp-servers mcp-server related-skills displayName display_name short-description maintainer owner lang permissions private
args env environment group section invocable verification framework risk procedure content contents required optional
disabled label labels summary notes note body text file files folder image default next docs documentation support test
tests steps step rules rule prompt prompts system user users plugin plugins uses used-by see-also last-updated since api
target targets format kind tier stage phase parent children sources reference references resources assets scripts
template templates workflow workflows persona audience difficulty duration estimated-time github_stars data schema
website url homepage side hidden visible hides names globals shelf shells even effect effects contest contexts
installed installer installs background-color modal node nodes share license-file versioned event events""".split()


def test_fields_that_somebody_made_up_are_nobodys_business(terminal):
    lines = "".join(f"{key}: x\n" for key in OTHERS)
    assert check(terminal, f"---\nname: x\ndescription: d\n{lines}---\n") == []


def test_a_field_that_the_host_reads_in_another_spelling_is_not_misspelt(terminal):
    text = "---\nname: x\ndescription: d\ndisableModelInvocation: false\n---\n"
    assert check(terminal, text, "--host", "omp", place=".omp/skills/x/SKILL.md") == []


def test_thousands_of_misspelt_fields_are_counted_not_listed(terminal):
    lines = "".join(f"descriptio{number:x}: x\n" for number in range(3000))
    found = check(terminal, f"---\nname: x\ndescription: d\n{lines}---\n")
    assert {code for code, _, _ in found} <= {"field-unknown"}
    assert len(found) <= 51
