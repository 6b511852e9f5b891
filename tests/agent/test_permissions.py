"""What no project, no wildcard and no earlier “always” lets through."""

from __future__ import annotations

import pytest

from prowess.model.permission import ApprovalChoice
from tests.agent.studio import Asked, call, say

GRANTS = [
    ("prowess", "prowess.toml", '[permissions]\nbash = "allow"\nwrite = "allow"\nedit = "allow"\n'),
    ("prowess", "prowess.toml", '[permissions]\n"*" = "allow"\n'),
    ("opencode", "opencode.json", '{"permission": {"bash": "allow", "edit": "allow"}}'),
    ("opencode", "opencode.json", '{"permission": "allow"}'),
    ("opencode", "opencode.json", '{"tools": {"bash": true, "write": true, "edit": true}}'),
    ("claude-code", ".claude/settings.json", '{"permissions": {"allow": ["Bash", "Write"]}}'),
    ("claude-code", ".claude/settings.local.json", '{"permissions": {"allow": ["Bash"]}}'),
]


@pytest.mark.parametrize("is_trusted", [False, True])
@pytest.mark.parametrize(("host", "file", "text"), GRANTS)
def test_a_project_grants_itself_nothing(studio, host, file, text, is_trusted):
    studio.host = host
    studio.write(file, text)
    if is_trusted:
        studio.trust()
    assert studio.use("Bash", command="touch x").outcome == "refused"
    assert studio.use("Write", file_path="x", content="x").outcome == "refused"
    assert not (studio.project / "x").exists()


def test_a_project_opens_nothing_outside(studio):
    outside = studio.workspace.write("outside/a.txt", "SECRET\n")
    studio.write("prowess.toml", f'[permissions.read]\n"{outside.parent}/*" = "allow"\n')
    done = studio.use("Read", file_path=str(outside))
    assert (done.outcome, "SECRET" in done.output) == ("refused", False)


def test_a_project_still_denies_and_asks(studio):
    studio.write("prowess.toml", '[permissions.bash]\n"touch *" = "deny"\n"echo *" = "ask"\n')
    studio.workspace.write("home/.config/prowess/prowess.toml", '[permissions]\nbash = "allow"\n')
    assert studio.use("Bash", command="true").outcome == "done"
    assert studio.use("Bash", command="touch x").outcome == "refused"
    assert studio.use("Bash", command="echo x").outcome == "refused"


def test_a_dropped_grant_does_not_take_a_denial_of_the_user_along(studio):
    studio.host = "opencode"
    users = '{"permission": {"bash": {"*": "allow", "rm *": "deny"}}}'
    studio.workspace.write("home/.config/opencode/opencode.json", users)
    studio.write("opencode.json", '{"permission": {"bash": {"rm *": "allow"}}}')
    studio.write("x", "x")
    assert studio.use("Bash", command="true").outcome == "done"
    assert studio.use("Bash", command="rm x").outcome == "refused"
    assert studio.read("x") == "x"


def test_a_project_can_ask_about_more_but_not_about_what_the_user_denies(studio):
    studio.host = "opencode"
    users = '{"permission": {"bash": {"*": "allow", "rm *": "deny"}}}'
    studio.workspace.write("home/.config/opencode/opencode.json", users)
    studio.write("x", "x")
    for projects in ('{"bash": "ask"}', '{"bash": {"rm *": "ask"}}', '{"*": "ask"}'):
        studio.write("opencode.json", f'{{"permission": {projects}}}')
        asked = Asked()
        options = {"approver": asked}
        assert studio.use("Bash", options=options, command="rm x").outcome == "refused"
        assert asked.requests == []
    assert studio.use("Bash", options=options, command="true").outcome == "done"
    assert [one.patterns for one in asked.requests] == [("true",)]


@pytest.mark.parametrize(
    "command",
    [
        "cat <<E\n$(rm x)\nE",
        "cat <<E\n`rm x`\nE",
        "cat <<-E\n\ta\n\t$(rm x)\n\tE",
        "cat <<E\n'$(rm x)'\nE",
        'cat <<E\n"${y:-$(rm x)}\nE',
        "cat <<E\n$(cat <<F\n$(rm x)\nF\n)\nE",
        "cat <<A <<E\n$(rm x)\nA\nE",
        "cat <<E\n'$(rm x)'\n",
        "echo $(cat <<E\n'$(rm x)'\nE\n)",
        "echo " + "$(" * 41 + "rm x" + ")" * 41,
        "(" * 41 + "rm x" + ")" * 41,
        "cat <<E\n" + "$(" * 41 + "rm x" + ")" * 41 + "\nE",
    ],
)
def test_a_denied_program_is_seen_wherever_bash_would_start_it(studio, command):
    studio.write("x", "x")
    rules = {"allow": ["Bash"], "deny": ["Bash(rm *)"]}
    assert studio.use("Bash", rules=rules, command=command).outcome in ("refused", "failed")
    assert studio.read("x") == "x"


def test_text_in_a_here_document_is_no_program(studio):
    rules = {"allow": ["Bash"], "deny": ["Bash(rm *)"]}
    for command in ("cat <<'E'\n$(rm x)\nE", "cat <<E\nrm x\n\\$(rm x)\nE"):
        assert studio.use("Bash", rules=rules, command=command).outcome == "done"


def test_the_question_about_the_folder_of_git_says_why_it_is_asked(studio):
    asked = Asked()
    studio.use(
        "Write",
        rules={"allow": ["Write"]},
        options={"approver": asked},
        file_path=".git/hooks/pre-commit",
        content="x",
    )
    (request,) = asked.requests
    assert request.note == "Asked because only a rule with `.git/` in its pattern allows it."
    # No two changes are the same, so that “always” would count once.
    assert request.always == ()


def test_a_question_that_is_always_asked_needs_no_reason(studio):
    asked = Asked()
    studio.use("Write", options={"approver": asked}, file_path="a.txt", content="x")
    assert [one.note for one in asked.requests] == [None]


DEEP = "(" * 41 + "git status; touch x" + ")" * 41


@pytest.mark.parametrize(
    "command",
    [
        "./git status",
        "PATH=$PWD:$PATH git status",
        "env -C . ./git status",
        "git log <<END\n$(touch x)\nEND",
        DEEP,
        "git status > x",
        "git status 2>x",
        "git status >/dev/null/../x",
        "git log <(touch x)",
        'git log "$(touch x)"',
        "git log `touch x`",
        "git $X",
        "git pu[s]h",
        "git {status,x}",
        "git status & git log",
        "(git status)",
        "git() { touch x; }",
        "git status\\\n#\\\n> x",
        '"git status" x',
        "! git status",
        "~/git status",
    ],
)
def test_a_wildcard_covers_only_plain_commands(studio, command):
    studio.write("git", "#!/bin/sh\ntouch x\n").chmod(0o755)
    rules = {"allow": ["Bash(git *)", "Bash(env *)"]}
    assert studio.use("Bash", rules=rules, command=command).outcome == "refused"
    assert not (studio.project / "x").exists()


@pytest.mark.parametrize(
    "command",
    [
        "echo a",
        "echo 'a $b' \"c;d\" e\\ f HEAD~1 a#b",
        "echo a && echo b || echo c; echo d | echo e\necho f",
        "echo a 2>&1 >/dev/null; echo b 2> /dev/null; echo c >&2",
        "echo a \\\n  b",
    ],
)
def test_a_wildcard_covers_plain_commands(studio, command):
    rules = {"allow": ["Bash(echo *)"]}
    assert studio.use("Bash", rules=rules, command=command).outcome == "done"


def test_the_exact_text_and_all_commands_can_be_allowed(studio):
    command = "echo a > x"
    for rule in (f"Bash({command})", "Bash(*)", "Bash"):
        assert studio.use("Bash", rules={"allow": [rule]}, command=command).outcome == "done"
    denied = {"allow": ["Bash"], "deny": ["Bash(rm *)"]}
    for command in ("/bin/rm x > y", "A=1 rm x", "env rm x"):
        assert studio.use("Bash", rules=denied, command=command).outcome == "refused"
    assert studio.read("x") == "a\n"


def test_always_covers_the_exact_command_and_the_exact_change(studio):
    asked = Asked(ApprovalChoice.ALWAYS)
    long = "line\n" * 1_000
    answers = [
        call("Bash", command="echo a"),
        call("Bash", command="echo a > x"),
        call("Bash", command="echo a > y"),
        call("Bash", command="echo a"),
        call("Write", file_path="a.txt", content="a\n"),
        call("Write", file_path="a.txt", content="b\n"),
        call("Write", file_path="b.txt", content=f"{long}a\n"),
        call("Write", file_path="b.txt", content=f"{long}b\n"),
    ]
    studio.run(*answers, say("Done."), approver=asked)
    assert [request.patterns[0] for request in asked.requests] == [
        "echo a",
        "echo a > x",
        "echo a > y",
        "a.txt",
        "a.txt",
        "b.txt",
        "b.txt",
    ]
