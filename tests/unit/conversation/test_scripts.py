"""Scripts of a skill: found inside its folder, run without a shell, under the rules for commands."""

from __future__ import annotations

import os
import stat

import pytest

from prowess.conversation.conversation import Conversation
from prowess.errors import UnknownSkill
from prowess.errors.activation import (
    AddressError,
    ApprovalNeeded,
    NotPermitted,
    ScriptRefused,
    Unavailable,
)
from prowess.machine import processes
from prowess.model.command import Command, Finished
from prowess.model.sandbox import SandboxSupport
from prowess.shell.scripts import INTERPRETERS, find_interpreter
from tests.halted_clock import HaltedClock
from tests.unit.conversation.ports import ONCE, REJECT, Person, Recorder, trust
from tests.workspace import Workspace

ROOT = "home/.prowess/skills"
USER_FILE = "home/.config/prowess/prowess.toml"
ECHO = "import sys\nprint(sys.argv[1:])\n"
# Whatever a shell would make of one of these, a script gets it as it is.
HOSTILE = (
    "$(touch made)",
    "; touch made",
    "`touch made`",
    "-x",
    "--",
    "",
    "a b\n'\"\\",
    "*",
    "ü🙂",
)


def write_script(workspace: Workspace, script: str, content: str, **fields: str) -> None:
    workspace.skill(f"{ROOT}/pdf", **fields)
    workspace.write(f"{ROOT}/pdf/{script}", content)


def talk(workspace: Workspace, **options) -> Conversation:
    env = {"PATH": os.environ["PATH"], "HOME": str(workspace.home)}
    return workspace.open(env=env, bins=("bash", "python3")).conversation(**options)


# Running


def test_a_script_gets_its_arguments_as_they_are(workspace: Workspace) -> None:
    write_script(workspace, "scripts/echo.py", ECHO)
    result = talk(workspace).run_script("pdf", "scripts/echo.py", HOSTILE, by="user")
    assert result.output == f"{list(HOSTILE)}\n"
    assert (result.code, result.succeeded, result.is_cut) == (0, True, False)
    assert (result.skill, result.script) == ("pdf", "scripts/echo.py")
    assert result.seconds > 0
    assert os.listdir(workspace.project) == []


def test_a_script_runs_in_the_working_folder_and_knows_its_skill(workspace: Workspace) -> None:
    write_script(workspace, "where.sh", 'pwd; echo "$PROWESS_SKILL_DIR"; echo "${AWS_KEY:-none}"\n')
    result = talk(workspace).run_script("pdf", "where.sh", by="user")
    folder = workspace.path(f"{ROOT}/pdf")
    assert result.output == f"{workspace.project}\n{folder}\nnone\n"


def test_a_failure_is_a_result_and_says_how_it_ended(workspace: Workspace) -> None:
    write_script(workspace, "fail.sh", "echo half; echo wrong >&2; exit 3\n")
    result = talk(workspace).run_script("pdf", "fail.sh", by="user")
    assert (result.code, result.output) == (3, "half\nwrong\n")
    assert result.text == "half\nwrong\n[exit code 3]"


def test_a_script_is_stopped_at_its_time_limit(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_script(workspace, "slow.sh", "echo begun; touch begun; sleep 600\n")
    monkeypatch.setattr(processes, "time", HaltedClock((workspace.project / "begun").exists))
    result = talk(workspace).run_script("pdf", "slow.sh", by="user", seconds=2)
    assert (result.code, result.output) == (None, "begun\n")
    assert result.text == "begun\n[stopped at its time limit of 2 seconds]"


def test_of_much_output_the_rest_is_counted_and_the_end_of_a_failure_is_shown(
    workspace: Workspace,
) -> None:
    write_script(
        workspace, "much.py", "print('x' * 100_000)\nprint('the end')\nraise SystemExit(1)\n"
    )
    result = talk(workspace).run_script("pdf", "much.py", by="user")
    assert (result.is_cut, result.left_out) == (True, 70_009)
    assert len(result.output) <= 30_000
    assert "[70,009 more bytes of output left out]" in result.text
    assert result.text.endswith("the end\n[exit code 1]")


def test_a_script_is_confined(workspace: Workspace) -> None:
    write_script(workspace, "out.sh", "echo in > made && echo out > ../made\n")
    result = talk(workspace).run_script("pdf", "out.sh", by="user")
    assert result.code != 0
    assert "The command ran in a sandbox" in result.text
    assert (workspace.project / "made").exists()
    assert not (workspace.root / "made").exists()


# Which program


@pytest.mark.parametrize(
    ("script", "head", "interpreter"),
    [
        ("a.py", b"print()", ("python3",)),
        ("a.SH", b"", ("bash",)),
        ("a.mjs", b"", ("node",)),
        ("scripts/run", b"#!/bin/sh\nexit", ("/bin/sh",)),
        ("a.py", b"#!/usr/bin/env -S uv run --script\r\n", ("/usr/bin/env", "-S uv run --script")),
        ("a.rb", b"#! /usr/bin/env  ruby \n", ("/usr/bin/env", "ruby")),
        ("a.sh", b"#!/bin/bash\t-e\n", ("/bin/bash", "-e")),
        ("a.sh", b"#!/usr/bin/env bash\t-e\n", ("/usr/bin/env", "bash\t-e")),
        ("a.py", b"#!\nprint()", ("python3",)),
    ],
)
def test_the_first_line_or_the_ending_says_what_runs_a_script(
    script: str, head: bytes, interpreter: tuple[str, ...]
) -> None:
    assert find_interpreter(script, head) == interpreter


def test_windows_goes_by_the_ending_alone() -> None:
    assert find_interpreter("a.py", b"#!/usr/bin/env python3\n", with_shebang=False) == ("python3",)


@pytest.mark.parametrize("script", ["a", "a.txt", "a.md", ".py/a", "a.exe", "py"])
def test_what_nothing_runs_is_refused_with_the_endings_that_are_known(script: str) -> None:
    with pytest.raises(ScriptRefused) as caught:
        find_interpreter(script, b"\x7fELF")
    assert all(f".{ending}" in caught.value.why for ending in INTERPRETERS)


def test_a_script_needs_no_execute_bit(workspace: Workspace) -> None:
    write_script(workspace, "run", "#!/bin/bash\necho ran\n")
    file = workspace.root / ROOT / "pdf" / "run"
    file.chmod(stat.S_IRUSR)
    assert talk(workspace).run_script("pdf", "run", by="user").output == "ran\n"


# Only inside the skill


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ("../doc/run.sh", "outside"),
        ("scripts/../../doc/run.sh", "outside"),
        ("/bin/ls", "absolute"),
        ("link.sh", "outside"),
        ("folder/run.sh", "outside"),
        ("missing.sh", "missing"),
        ("%2e%2e/doc/run.sh", "missing"),
        ("scripts", "not-a-file"),
        ("", "missing"),
        ("a\0b", "malformed"),
        ("pipe.sh", "not-a-file"),
    ],
)
def test_nothing_outside_the_skill_is_run(workspace: Workspace, script: str, kind: str) -> None:
    write_script(workspace, "scripts/run.sh", "echo ran\n")
    workspace.skill(f"{ROOT}/doc")
    outside = workspace.write(f"{ROOT}/doc/run.sh", "echo ran\n")
    workspace.link(f"{ROOT}/pdf/link.sh", str(outside))
    workspace.link(f"{ROOT}/pdf/folder", str(outside.parent))
    os.mkfifo(workspace.root / ROOT / "pdf" / "pipe.sh")
    runner = Recorder()
    with pytest.raises(AddressError) as caught:
        talk(workspace, runner=runner).run_script("pdf", script, by="user")
    assert (caught.value.kind, runner.ran) == (kind, [])


def test_a_name_with_a_percent_sign_is_a_name(workspace: Workspace) -> None:
    write_script(workspace, "a%20b?.sh", "echo ran\n")
    assert talk(workspace).run_script("pdf", "a%20b?.sh", by="user").output == "ran\n"


def test_a_link_inside_the_skill_is_followed(workspace: Workspace) -> None:
    write_script(workspace, "scripts/run.sh", "echo ran\n")
    workspace.link(f"{ROOT}/pdf/run.sh", "scripts/run.sh")
    assert talk(workspace).run_script("pdf", "run.sh", by="user").output == "ran\n"


def test_arguments_that_no_program_can_be_given_are_refused(workspace: Workspace) -> None:
    write_script(workspace, "run.sh", "echo ran\n")
    for bad in ("a\0b", "x" * 200_000, "\ud800"):
        with pytest.raises(ScriptRefused):
            talk(workspace).run_script("pdf", "run.sh", [bad], by="user")


def test_a_script_that_became_a_link_is_not_run_even_if_it_was_approved(
    workspace: Workspace,
) -> None:
    write_script(workspace, "run.sh", "echo ran\n")
    outside = workspace.write("elsewhere/run.sh", "echo ran\n")
    runner = Recorder()
    chat = talk(workspace, runner=runner)
    with pytest.raises(ApprovalNeeded) as caught:
        chat.run_script("pdf", "run.sh", ["x"], answers={})
    script = workspace.root / ROOT / "pdf" / "run.sh"
    script.unlink()
    script.symlink_to(outside)
    with pytest.raises(AddressError) as refused:
        chat.run_script("pdf", "run.sh", ["x"], answers={caught.value.key: ONCE})
    assert (refused.value.kind, runner.ran) == ("outside", [])


# Permission


def test_a_script_of_an_untrusted_project_does_not_run(workspace: Workspace) -> None:
    workspace.git()
    workspace.skill("project/.prowess/skills/pdf")
    workspace.write("project/.prowess/skills/pdf/run.sh", "echo ran\n")
    runner = Recorder()
    with pytest.raises(ScriptRefused) as caught:
        talk(workspace, runner=runner).run_script("pdf", "run.sh", by="user")
    assert (caught.value.why, runner.ran) == ("its project is not trusted", [])
    trust(workspace.open())
    assert talk(workspace).run_script("pdf", "run.sh", by="user").output == "ran\n"


def test_scripts_are_turned_off_with_commands(workspace: Workspace) -> None:
    workspace.write(USER_FILE, "shell_commands = false\n")
    write_script(workspace, "run.sh", "echo ran\n")
    with pytest.raises(ScriptRefused):
        talk(workspace).run_script("pdf", "run.sh", by="user")


def test_the_arguments_of_a_model_are_shown_and_need_approval(workspace: Workspace) -> None:
    write_script(workspace, "run.sh", 'echo "$1"\n')
    person = Person(ONCE)
    result = talk(workspace, approver=person).run_script("pdf", "run.sh", ["a b"])
    assert result.output == "a b\n"
    (request,) = person.asked
    script = workspace.path(f"{ROOT}/pdf/run.sh")
    assert request.permission == "bash"
    assert request.metadata["commands"] == [f"bash {script} 'a b'"]
    assert request.note == "A model chose the arguments."
    with pytest.raises(NotPermitted):
        talk(workspace).run_script("pdf", "run.sh", ["a b"])
    with pytest.raises(NotPermitted):
        talk(workspace, approver=Person(REJECT)).run_script("pdf", "run.sh", ["a b"])


def test_without_arguments_a_model_chose_nothing(workspace: Workspace) -> None:
    write_script(workspace, "run.sh", "echo ran\n")
    assert talk(workspace).run_script("pdf", "run.sh").output == "ran\n"


def test_a_rule_allows_or_denies_a_script_by_its_command(workspace: Workspace) -> None:
    write_script(workspace, "run.sh", 'echo "ran $1"\n')
    workspace.write(USER_FILE, f'[permissions.bash]\n"bash {workspace.path(ROOT)}/*" = "allow"\n')
    assert talk(workspace).run_script("pdf", "run.sh", ["x"]).output == "ran x\n"
    workspace.write(USER_FILE, '[permissions.bash]\n"bash *" = "deny"\n')
    for argv in ((), ("x",)):
        with pytest.raises(NotPermitted):
            talk(workspace).run_script("pdf", "run.sh", argv, by="user")


def test_an_answer_covers_these_arguments_and_this_content(workspace: Workspace) -> None:
    write_script(workspace, "run.sh", 'echo "$1"\n')
    chat = talk(workspace)
    with pytest.raises(ApprovalNeeded) as caught:
        chat.run_script("pdf", "run.sh", ["x"], answers={})
    answers = {caught.value.key: ONCE}
    assert chat.run_script("pdf", "run.sh", ["x"], answers=answers).output == "x\n"
    with pytest.raises(ApprovalNeeded):
        chat.run_script("pdf", "run.sh", ["y"], answers=answers)
    workspace.write(f"{ROOT}/pdf/run.sh", "echo changed\n")
    with pytest.raises(ApprovalNeeded):
        chat.run_script("pdf", "run.sh", ["x"], answers=answers)


def test_a_model_needs_the_permission_to_load_the_skill(workspace: Workspace) -> None:
    workspace.write(USER_FILE, '[permissions.skill]\n"pdf" = "ask"\n"off" = "deny"\n')
    write_script(workspace, "run.sh", "echo ran\n")
    workspace.skill(f"{ROOT}/mine", disable_model_invocation="true")
    workspace.write(f"{ROOT}/mine/run.sh", "echo ran\n")
    workspace.skill(f"{ROOT}/waits", paths="'*.py'")
    workspace.write(f"{ROOT}/waits/run.sh", "echo ran\n")
    workspace.skill(f"{ROOT}/off")
    chat = talk(workspace)
    with pytest.raises(NotPermitted):
        chat.run_script("pdf", "run.sh")
    for name in ("mine", "waits"):
        with pytest.raises(Unavailable):
            chat.run_script(name, "run.sh")
        assert chat.run_script(name, "run.sh", by="user").output == "ran\n"
    for name in ("off", "nothing"):
        with pytest.raises(UnknownSkill):
            chat.run_script(name, "run.sh")
    chat.activate("pdf")
    assert chat.run_script("pdf", "run.sh").output == "ran\n"


def test_a_header_that_changed_since_the_scan_counts(workspace: Workspace) -> None:
    write_script(workspace, "run.sh", "echo ran\n")
    chat = talk(workspace)
    assert chat.run_script("pdf", "run.sh").output == "ran\n"
    workspace.skill(f"{ROOT}/pdf", disable_model_invocation="true")
    for use in (lambda: chat.run_script("pdf", "run.sh"), lambda: chat.read("skill://pdf/run.sh")):
        with pytest.raises(Unavailable):
            use()


def test_without_a_sandbox_a_script_is_asked_about(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_sandbox = SandboxSupport(engine=None, reason="sandlock: not installed")
    monkeypatch.setattr("prowess.conversation.confinement.find_support", lambda: no_sandbox)
    write_script(workspace, "run.sh", "echo ran\n")
    with pytest.raises(NotPermitted):
        talk(workspace).run_script("pdf", "run.sh", by="user")
    person = Person(ONCE)
    assert talk(workspace, approver=person).run_script("pdf", "run.sh", by="user").output == "ran\n"
    assert len(person.asked) == 1


def test_secrets_of_the_skill_are_masked(workspace: Workspace) -> None:
    workspace.write(USER_FILE, '[skills.pdf]\napi_key = "s3cret-token-value"\n')
    write_script(workspace, "run.sh", "", metadata='{"openclaw": {"primaryEnv": "WX_KEY"}}')

    def answer(command: Command) -> Finished:
        return Finished(code=1, output=f"bad key {command.env['WX_KEY']}\n")

    result = talk(workspace, runner=Recorder(answer)).run_script("pdf", "run.sh", by="user")
    assert "s3cret" not in result.text + result.output


# Media


def test_an_image_is_known_by_its_content(workspace: Workspace) -> None:
    png = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
    write_script(workspace, "a.txt", "text")
    workspace.write(f"{ROOT}/pdf/logo.dat", png)
    workspace.write(f"{ROOT}/pdf/form.pdf", b"%PDF-1.7\n")
    workspace.write(f"{ROOT}/pdf/fake.png", "no image")
    chat = talk(workspace)
    logo = chat.read("skill://pdf/logo.dat")
    assert (logo.media_type, logo.data) == ("image/png", png)
    assert chat.read("skill://pdf/form.pdf").media_type == "application/pdf"
    for name in ("a.txt", "fake.png"):
        read = chat.read(f"skill://pdf/{name}")
        assert (read.media_type, read.data) == ("", b"")
