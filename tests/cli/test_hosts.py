"""`prowess hosts`: the hosts, what each profile follows, and what differs between editions."""

from __future__ import annotations

import json
import os

import click
import pytest

from prowess.profiles.load import BUILT_IN, differing_keys, known_editions, load_profile
from prowess.reports.hosts import render_value
from tests.cli.terminal import Terminal


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys):
    return Terminal(tmp_path, monkeypatch, capsys)


def test_every_host_and_edition_has_a_line_with_what_it_follows(terminal):
    answer = terminal.run("hosts")
    assert (answer.code, answer.err) == (0, "")
    heading, *lines = answer.out.splitlines()
    assert heading.split() == ["HOST", "TITLE", "EDITION", "FOLLOWS"]
    editions = [(name, edition) for name in BUILT_IN for edition in known_editions(name)]
    assert len(lines) == len(editions) + 2
    for line, (name, edition) in zip(lines, editions, strict=False):
        profile = load_profile(f"{name}@{edition}")
        measured = "measured" if profile.provenance.measured else "not measured"
        assert line.endswith(f"{edition:<10}  {profile.provenance.release}, {measured}")
        assert line.startswith(name if edition == "current" else " ")


def test_one_host_is_shown_with_its_documents_departures_and_differences(terminal):
    terminal.write(
        "home/.config/prowess/profiles/mine.toml",
        "\n".join(
            [
                'name = "mine"',
                'title = "Mine"',
                'extends = "spec"',
                'editions = ["current", "old"]',
                "[provenance]",
                'release = "2.0"',
                "measured = true",
                'documents = ["notes.md"]',
                'departures = ["It is kinder."]',
                "[old.provenance]",
                'release = "1.0"',
                "measured = false",
                "departures = []",
                "[old.resolution]",
                'strategy = "last"',
                "[old.roots.extra]",
                'at = ["{home}/extra"]',
                'scope = "user"',
                "gitignore = true",
            ]
        ),
    )
    assert terminal.run("hosts", "mine") == (
        0,
        "Mine (mine)\n"
        "\n"
        "mine@current\n"
        "  follows   2.0, measured\n"
        "  document  notes.md\n"
        "  departs   It is kinder.\n"
        "\n"
        "mine@old\n"
        "  follows   1.0, not measured\n"
        "  document  notes.md\n"
        "\n"
        "mine: what differs in old\n"
        "  roots.extra           current: not set\n"
        "                        old: at = {home}/extra; scope = user; gitignore = yes\n"
        "  resolution.strategy   current: first\n"
        "                        old: last\n",
        "",
    )
    assert (
        "mine         Mine (added)           current     2.0, measured\n"
        in terminal.run("hosts").out
    )
    shaped = terminal.json("hosts", "mine")["hosts"]
    assert [(host["name"], host["origin"], host["title"]) for host in shaped] == [
        ("mine", "added", "Mine")
    ]
    assert shaped[0]["editions"] == [
        {
            "edition": "current",
            "release": "2.0",
            "measured": True,
            "documents": ["notes.md"],
            "not_measured": [],
            "drops": [],
            "departures": ["It is kinder."],
        },
        {
            "edition": "old",
            "release": "1.0",
            "measured": False,
            "documents": ["notes.md"],
            "not_measured": [],
            "drops": [],
            "departures": [],
        },
    ]
    assert {"key": "resolution.strategy", "current": "first", "old": "last"} in shaped[0][
        "differences"
    ]


def test_diff_shows_every_key_that_differs_between_editions(terminal):
    out = terminal.run("hosts", "--diff").out
    for name in BUILT_IN:
        for edition in known_editions(name)[1:]:
            assert f"{name}: what differs in {edition}\n" in out
            for key, _, _ in differing_keys(load_profile(name), load_profile(f"{name}@{edition}")):
                if key.partition(".")[0] not in ("edition", "provenance"):
                    assert f"  {key} " in out


def test_json_lists_every_host(terminal):
    shaped = terminal.json("hosts")
    assert (shaped["version"], tuple(host["name"] for host in shaped["hosts"])) == (1, BUILT_IN)
    assert {host["origin"] for host in shaped["hosts"]} == {"built in"}


def test_a_profile_that_cannot_be_used_is_named_and_the_others_are_still_listed(terminal):
    file = terminal.write("home/.config/prowess/profiles/bad.toml", 'name = "bad"\nnam = 1\n')
    answer = terminal.run("hosts")
    assert answer.code == 2
    assert f"Invalid profile {file}:2: `nam` is not a known key; did you mean `name`?" in (
        answer.out
    )
    assert "claude-code  Claude Code" in answer.out
    shaped = json.loads(terminal.run("hosts", "--json").out)["hosts"][-1]
    assert shaped == {
        "name": "bad",
        "origin": "added",
        "problem": (f"Invalid profile {file}:2: `nam` is not a known key; did you mean `name`?"),
    }


def test_an_unknown_host_is_an_error_that_names_the_known_ones(terminal):
    answer = terminal.run("hosts", "opencod")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(
        "prowess: There is no host “opencod”; the hosts are prowess, spec, "
    )


def test_values_of_profiles_are_written_for_people():
    assert [render_value(value) for value in (None, True, False, "", "word", 3, [], ["a", ["b", "c"]], {"x": True})] == [
        "not set", "yes", "no", "empty", "word", "3", "none", "a, b, c", "x = yes",
    ]  # fmt: skip


def test_the_host_can_be_named_as_everywhere_else(terminal):
    assert terminal.run("hosts", "--host", "opencode") == terminal.run("hosts", "opencode")
    assert terminal.run("hosts", "--host", "omp@documented", "--json") == terminal.run(
        "hosts", "omp", "--json"
    )
    answer = terminal.run("hosts", "omp", "--host", "codex")
    assert (answer.code, answer.out) == (2, "")
    assert "“omp” and --host codex are two hosts; give only one." in answer.err


def test_every_command_takes_a_host_and_json():
    from prowess.cli.app import COMMANDS, app

    for name in COMMANDS:
        command = app.get_command(click.Context(app), name)
        assert command is not None
        taken = {option for parameter in command.params for option in parameter.opts}
        assert (name, {"--host", "--json"} <= taken) == (name, True)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('name = "mine"\nextends = "spec"\n[header]\nopne = 1\n', 4),
        ('name = "mine"\nextends = "specs"\n', 2),
        ('name = "mine"\nextends = "spec"\n\n[roots.user]\nat = [\n', 5),
        ('name = "mine"\nextends = "spec"\n[current.resolution]\nstrategy = "random"\n', 4),
        ('name = "mine"\nextends = "spec"\norder = ["project",\n"usr"]\n', 3),
        (
            'name = "mine"\nextends = "spec"\n[roots.more]\nscope = "user"\nat = ["{nowhere}/x"]\n',
            5,
        ),
        ('name = "yours"\nextends = "spec"\n', 1),
    ],
)
def test_a_mistake_in_a_profile_is_named_with_file_and_line(terminal, text, line):
    file = terminal.write("home/.config/prowess/profiles/mine.toml", text)
    answer = terminal.run("list", "--host", "mine")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"prowess: Invalid profile {file}:{line}: ")


def test_a_profile_of_ones_own_that_replaces_a_built_in_one_is_marked(terminal):
    terminal.write(
        "home/.config/prowess/profiles/codex.toml",
        'name = "codex"\ntitle = "Mine"\nextends = "spec"\n',
    )
    lines = terminal.run("hosts").out.splitlines()
    assert [line.split()[:3] for line in lines if line.startswith("codex")] == [
        ["codex", "Mine", "(added)"]
    ]
    assert {one["name"]: one["origin"] for one in terminal.json("hosts")["hosts"]}[
        "codex"
    ] == "added"


def make_pipe(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    return path


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, ": it is a pipe or a device, not a regular file."),
        (
            b"a = " + b"[" * 50_000,
            ":1: nested more than 32 levels deep.",
        ),
        (
            b"#" * 300_000,
            ": the file has 300,000 bytes; at most 262,144 are allowed.",
        ),
        (
            b'name = "ff"\n# \xff\n',
            ":2: the file is not UTF-8 text; save it as UTF-8.",
        ),
    ],
)
def test_a_profile_file_that_cannot_be_read_is_no_matter_to_other_hosts(terminal, content, said):
    file = terminal.root / "home/.config/prowess/profiles/ff.toml"
    if content is None:
        make_pipe(file)
    else:
        terminal.write("home/.config/prowess/profiles/ff.toml", content)
    for host in ("prowess", "codex"):
        assert terminal.run("list", "--host", host).code == 0
    answer = terminal.run("list", "--host", "ff")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"prowess: Invalid profile {file}{said}")
    listed = json.loads(terminal.run("hosts", "--json").out)["hosts"]
    assert [host["name"] for host in listed] == [*BUILT_IN, "ff"]
    assert listed[-1]["problem"].startswith(f"Invalid profile {file}{said}")


def test_a_host_that_is_a_path_to_a_pipe_a_folder_or_nothing_is_told(terminal):
    pipe, folder = make_pipe(terminal.root / "pipe.toml"), terminal.root / "folder.toml"
    folder.mkdir()
    missing = terminal.root / "missing.toml"
    said = {
        pipe: "it is a pipe or a device, not a regular file",
        folder: "it is a folder, not a regular file",
        missing: "the file cannot be read (no such file or directory)",
    }
    for path, problem in said.items():
        answer = terminal.run("list", "--host", str(path))
        assert (answer.code, answer.out, answer.err.strip()) == (
            2,
            "",
            f"prowess: Invalid profile {path}: {problem}.",
        )


def test_a_pipe_where_a_profile_is_kept_is_replaced(terminal):
    pipe = make_pipe(terminal.root / "cache/profiles/prowess.msgpack")
    assert terminal.run("list").code == 0
    assert pipe.is_file()


def install(terminal, name: str, text: str) -> None:
    """Put a program on the PATH of this test."""
    place = terminal.write(f"bin/{name}", f"#!/bin/sh\n{text}\n")
    place.chmod(0o755)


@pytest.fixture
def programs(terminal, monkeypatch):
    terminal.write("bin/.keep")
    monkeypatch.setenv("PATH", f"{terminal.path('bin')}:/usr/bin:/bin")
    return terminal


def test_installed_hosts_have_their_version_from_a_package_or_by_asking(programs):
    package = "lib/node_modules/@google/gemini-cli"
    programs.write(f"{package}/package.json", '{"name": "@google/gemini-cli", "version": "9.9.9"}')
    programs.write(f"{package}/dist/index.js", "#!/bin/sh\nexit 1\n").chmod(0o755)
    programs.link("bin/gemini", f"../{package}/dist/index.js")
    measured = load_profile("claude-code").provenance.release
    install(programs, "claude", f"echo '{measured} (Claude Code)'")
    install(programs, "omp", "echo omp/18.2.3")
    install(programs, "crush", "echo crush version v0.1.2")
    install(programs, "pi", "echo none")
    code, out, err = programs.run("hosts", "--installed")
    assert (code, err) == (0, "")
    release = load_profile("gemini").provenance.release
    assert [" ".join(line.split()) for line in out.splitlines()] == [
        "HOST VERSION FROM PROFILE",
        f"claude-code {measured} --version measured on this release",
        f"omp 18.2.3 --version measured on {load_profile('omp').provenance.release}; use --host"
        " omp@18.2.3 for this release",
        f"gemini 9.9.9 package.json measured on {release}; this release may differ",
        f"pi unknown {programs.path('bin/pi')}: its `--version` prints no version",
        f"crush 0.1.2 --version not measured: {load_profile('crush').provenance.release}",
    ]
    shape = programs.json("hosts", "--installed")["hosts"]
    assert [one.get("edition") for one in shape] == ["current", "18.2.3", None, None, None]


def test_a_program_in_the_working_folder_is_never_run(programs, monkeypatch):
    programs.write("project/tools/pi", "#!/bin/sh\ntouch ran\n").chmod(0o755)
    folder = programs.path("project/tools")
    monkeypatch.setenv("PATH", f"{folder}:tools:{programs.path('bin')}")
    assert programs.run("hosts", "--installed") == (0, "None of the hosts is on the PATH.\n", "")
    assert not (programs.project / "tools/ran").exists()


def test_a_program_that_hangs_is_ended(programs, monkeypatch):
    from prowess.machine import installed_programs

    monkeypatch.setattr(installed_programs.find_installed, "__kwdefaults__", {"seconds": 0.2})
    install(programs, "pi", "sleep 30 & sleep 30")
    answer = programs.run("hosts", "--installed")
    assert "it gave no version within 0.2 seconds" in answer.out


def test_installed_takes_no_name(programs):
    assert programs.run("hosts", "pi", "--installed").code == 2
