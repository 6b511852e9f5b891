"""`prowess doctor NAME --install`: what a skill is missing is installed, as far as the user agrees.

brew, go, uv, pnpm, yarn and bun are stand-ins here, which note how they are called; npm is real.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shlex
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from prowess.machine.http_client import HttpSession
from prowess.supply.dependencies import download
from tests.cli.terminal import Terminal
from tests.remote_server import RemoteServer, send


class Machine:
    """A user whose PATH has one folder with the programs of the test, and the system's."""

    def __init__(self, terminal: Terminal, patch: pytest.MonkeyPatch) -> None:
        self.terminal = terminal
        self.programs = terminal.root / "programs"
        self.calls = terminal.root / "calls"
        self.programs.mkdir()
        self.tools = terminal.home / ".local" / "share" / "prowess" / "tools"
        patch.setenv("PATH", f"{self.programs}:{self.tools}/bin:/usr/bin:/bin")

    def add_installer(self, name: str, *, brings: str = "", code: int = 0, says: str = "") -> None:
        """A stand-in that notes its words and folder, and may make a program."""
        made = f"cp /bin/true {self.programs}/{brings}" if brings else ":"
        script = (
            f'#!/bin/sh\n{{ printf "%s\\n" "$0" "$PWD" "$@"; echo --; }} >> {self.calls}\n'
            f"env > {self.calls}.env\necho {shlex.quote(says)}\n{made}\nexit {code}\n"
        )
        path = self.programs / name
        path.write_text(script)
        path.chmod(0o755)

    def list_calls(self) -> list[list[str]]:
        """The words of every call, with the program by its name."""
        if not self.calls.exists():
            return []
        calls = [one.splitlines() for one in self.calls.read_text().split("--\n") if one.strip()]
        return [[os.path.basename(program), *words] for program, _, *words in calls]

    def skill(self, *specs: Mapping[str, Any], requires: Mapping[str, Any] | None = None) -> None:
        """A skill of the user, who trusts it."""
        self._write("home/.agents/skills/weather", specs, requires)

    def project_skill(self, *specs: Mapping[str, Any]) -> None:
        """A skill of a project that nobody trusts."""
        self._write("project/.agents/skills/weather", specs, None)

    def _write(
        self, folder: str, specs: tuple[Mapping[str, Any], ...], requires: Mapping[str, Any] | None
    ) -> None:
        fields = {"requires": requires or {"bins": ["wttr"]}, "install": specs}
        self.terminal.skill(folder, metadata=json.dumps({"openclaw": fields}))

    def install(self, *options: str) -> Any:
        return self.terminal.run("doctor", "weather", "--install", *options)


@pytest.fixture
def machine(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(terminal, monkeypatch)


ARGV = {
    "brew": ({"kind": "brew", "formula": "a/tap/wttr"}, ["brew", "install", "a/tap/wttr"]),
    "npm": (
        {"kind": "node", "package": "wttr-cli"},
        ["npm", "install", "--global", "--ignore-scripts", "wttr-cli"],
    ),
    "pnpm": (
        {"kind": "node", "package": "wttr-cli"},
        ["pnpm", "add", "--global", "--ignore-scripts", "wttr-cli"],
    ),
    "yarn": (
        {"kind": "node", "package": "wttr-cli"},
        ["yarn", "global", "add", "--ignore-scripts", "wttr-cli"],
    ),
    "bun": (
        {"kind": "node", "package": "wttr-cli"},
        ["bun", "add", "--global", "--ignore-scripts", "wttr-cli"],
    ),
    "go": ({"kind": "go", "package": "x.org/wttr"}, ["go", "install", "x.org/wttr@latest"]),
    "uv": ({"kind": "uv", "package": "wttr"}, ["uv", "tool", "install", "wttr"]),
}


@pytest.mark.seed("W-13", "W-17", "W-18")
@pytest.mark.parametrize("installer", ARGV)
def test_each_kind_is_run_with_exactly_its_words_and_then_checked_again(
    machine: Machine, installer: str
) -> None:
    spec, argv = ARGV[installer]
    machine.add_installer(installer, brings="wttr")
    machine.skill(spec)
    if spec["kind"] == "node":
        config = f'node_manager = "{installer}"\n'
        machine.terminal.write("home/.config/prowess/prowess.toml", config)
    answer = machine.install("--yes")
    assert (answer.code, answer.err) == (0, "")
    assert machine.list_calls() == [argv]
    assert answer.out.splitlines()[-1] == "“weather” can be used on this machine."
    assert f"$ {shlex.join(argv)}" in answer.out


def test_installers_run_in_a_folder_of_the_user_with_few_variables(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.add_installer("uv", brings="wttr")
    machine.skill({"kind": "uv", "package": "wttr"})
    for name, value in (("SECRET_TOKEN", "s"), ("UV_INDEX", "u"), ("https_proxy", "p")):
        monkeypatch.setenv(name, value)
    assert machine.install("--yes").code == 0
    assert machine.calls.read_text().splitlines()[1] == str(machine.tools)
    variables = dict(
        line.partition("=")[::2] for line in Path(f"{machine.calls}.env").read_text().splitlines()
    )
    assert (variables["UV_INDEX"], variables["https_proxy"]) == ("u", "p")
    assert "SECRET_TOKEN" not in variables


def test_the_best_kind_that_is_there_comes_first_and_the_next_one_follows_a_failure(
    machine: Machine,
) -> None:
    machine.add_installer("brew", code=1, says="Error: no such formula")
    machine.add_installer("go", brings="wttr")
    machine.skill(
        {"kind": "go", "module": "x.org/wttr"},
        {"kind": "uv", "package": "wttr", "label": "The one with uv"},
        {"kind": "brew", "formula": "wttr"},
    )
    answer = machine.install("--yes")
    assert (answer.code, [call[0] for call in machine.list_calls()]) == (0, ["brew", "go"])
    assert answer.out == (
        "Not used: The one with uv, because uv is not installed\n"
        "Install wttr with brew\n"
        "  $ brew install wttr\n"
        "  failed: brew exited with 1\n"
        "  │ Error: no such formula\n"
        "Install x.org/wttr with go\n"
        "  $ go install x.org/wttr@latest\n"
        "  done\n"
        "\n"
        "1 step done, 1 not.\n"
        "“weather” can be used on this machine.\n"
    )


def test_a_dry_run_shows_the_steps_and_runs_nothing(machine: Machine) -> None:
    machine.add_installer("brew", brings="wttr")
    machine.skill({"kind": "brew", "formula": "wttr"})
    answer = machine.install("--dry-run")
    assert (answer.code, answer.err, machine.list_calls()) == (0, "", [])
    assert "  $ brew install wttr\n" in answer.out
    shown = json.loads(machine.install("--dry-run", "--json").out)
    assert [(one["command"], one["state"]) for one in shown["steps"]] == [
        ("brew install wttr", "planned")
    ]
    assert shown["eligible"] is False


def test_json_has_each_step_with_what_came_of_it(machine: Machine) -> None:
    machine.add_installer("brew", code=3, says="no")
    machine.add_installer("uv", brings="wttr")
    machine.skill({"kind": "brew", "formula": "wttr"}, {"kind": "uv", "package": "wttr"})
    shown = machine.terminal.json("doctor", "weather", "--install", "--yes")
    assert [(one["state"], one.get("problem")) for one in shown["steps"]] == [
        ("failed", "brew exited with 3"),
        ("done", None),
    ]
    assert (shown["eligible"], shown["steps"][1]["argv"]) == (
        True,
        ["uv", "tool", "install", "wttr"],
    )


def test_without_a_terminal_nothing_is_installed(machine: Machine) -> None:
    machine.add_installer("brew", brings="wttr")
    machine.skill({"kind": "brew", "formula": "wttr"})
    answer = machine.install()
    assert (answer.code, machine.list_calls()) == (5, [])
    assert answer.err == (
        "Not a terminal, so nothing was installed; use `--yes` to skip the prompt.\n"
    )
    assert json.loads(machine.install("--json").out)["error"]["exit_code"] == 5


def test_each_step_is_asked_about_and_no_means_no(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.add_installer("brew")
    machine.add_installer("uv", brings="wttr")
    machine.skill({"kind": "brew", "formula": "wttr"}, {"kind": "uv", "package": "wttr"})
    answers = iter([False, True])
    where = "prowess.cli.terminal.dependency_install"
    monkeypatch.setattr(f"{where}.can_ask", lambda: True)
    monkeypatch.setattr(f"{where}.confirm", lambda question: next(answers))
    assert machine.install().code == 0
    assert [call[0] for call in machine.list_calls()] == ["uv"]


def test_an_untrusted_skill_needs_the_users_yes_to_exactly_its_words(machine: Machine) -> None:
    machine.add_installer("brew", brings="wttr")
    machine.project_skill({"kind": "brew", "formula": "wttr"})
    answer = machine.install("--yes")
    assert (answer.code, machine.list_calls()) == (5, [])
    assert "`--yes` does not cover what its author wrote" in answer.err
    other = machine.install("--command", "brew install other")
    assert (other.code, machine.list_calls()) == (5, [])
    assert other.err == "Not one of the steps you agreed to: brew install wttr\n"
    assert machine.install("--command", "brew install wttr").code == 0
    assert machine.list_calls() == [["brew", "install", "wttr"]]


def test_steps_that_nobody_agreed_to_do_not_follow_one_that_failed(machine: Machine) -> None:
    machine.add_installer("brew", code=1)
    machine.add_installer("uv", brings="wttr")
    machine.project_skill({"kind": "brew", "formula": "wttr"}, {"kind": "uv", "package": "wttr"})
    assert machine.install("--command", "brew install wttr").code == 1
    assert [call[0] for call in machine.list_calls()] == ["brew"]


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"kind": "brew", "formula": "--cask=evil"}, "`formula` is not the name of a formula"),
        ({"kind": "uv", "package": "x; rm -rf ~"}, "`package` is not the name of a package"),
        ({"kind": "node", "package": "x@../../y"}, "`package` is not the name of a package"),
        ({"kind": "node", "package": "x", "module": "-g"}, "`module` is not the name of a package"),
        ({"kind": "go", "module": "x.org/a@../b"}, "`module` is not the path of a Go module"),
        ({"kind": "download", "url": "http://x.org/wttr"}, "`url` is not an https URL"),
        (
            {"kind": "download", "url": "https://x.org/wttr", "targetDir": "../../bin"},
            "`targetDir` is not a path inside the skill's folder",
        ),
        (
            {"kind": "download", "url": "https://x.org/w.zip", "archive": "../w"},
            "`archive` is not a path inside the archive",
        ),
        (
            {"kind": "download", "url": "https://x.org/w.zip", "stripComponents": -1},
            "`stripComponents` is not a whole number from 0 to 99",
        ),
        (
            {"kind": "download", "url": "https://x.org/w.zip", "extract": "maybe"},
            "`extract` is not true or false",
        ),
        (
            {"kind": "download", "url": "https://x.org/w", "sha256": "abc"},
            "`sha256` is not 64 hexadecimal digits",
        ),
    ],
)
def test_unsafe_values_are_refused_with_the_reason(
    machine: Machine, spec: dict[str, Any], reason: str
) -> None:
    for name in ("brew", "uv", "go"):
        machine.add_installer(name, brings="wttr")
    machine.skill({**spec, "label": "Bad"})
    answer = machine.install("--yes")
    assert (answer.code, machine.list_calls()) == (1, [])
    assert answer.out.splitlines()[0] == f"Not used: Bad, because {reason}"


def test_an_unknown_kind_is_reported(machine: Machine) -> None:
    machine.skill({"kind": "apt", "package": "wttr"})
    answer = machine.terminal.run("doctor", "weather")
    assert "must be one of brew, node, go, uv, download; this item is ignored" in answer.out


@pytest.mark.seed("W-14", "W-15", "W-16")
def test_a_spec_has_a_label_its_programs_and_its_platforms(machine: Machine) -> None:
    machine.add_installer("uv", brings="wttr")
    machine.skill(
        {"kind": "uv", "package": "a", "bins": ["wttr"], "os": ["darwin"], "label": "For macOS"},
        {"kind": "uv", "package": "b", "bins": ["wttr"], "os": ["linux"], "label": "For Linux"},
        {"kind": "uv", "package": "c", "bins": ["something-else"]},
    )
    answer = machine.install("--yes")
    assert machine.list_calls() == [["uv", "tool", "install", "b"]]
    assert answer.out.splitlines()[0] == "For Linux"


@pytest.mark.seed("W-19")
def test_the_module_of_a_node_package_may_have_another_name(machine: Machine) -> None:
    machine.add_installer("npm", brings="wttr")
    machine.skill({"kind": "node", "package": "@weather/cli", "module": "wttr"})
    assert machine.install("--yes").code == 0
    assert machine.list_calls()[0][-1] == "@weather/cli"


def test_several_programs_and_a_choice_of_them_take_as_few_steps_as_needed(
    machine: Machine,
) -> None:
    machine.add_installer("uv")
    machine.add_installer("go")
    machine.skill(
        {"kind": "uv", "package": "both", "bins": ["a", "b"]},
        {"kind": "go", "module": "x.org/b", "bins": ["b"]},
        {"kind": "go", "module": "x.org/c", "bins": ["c"]},
        requires={"bins": ["a", "b"], "anyBins": ["c", "d"]},
    )
    shown = json.loads(machine.install("--dry-run", "--json").out)
    assert [one["command"] for one in shown["steps"]] == [
        "uv tool install both",
        "go install x.org/c@latest",
    ]


def test_usage(machine: Machine) -> None:
    machine.skill({"kind": "uv", "package": "wttr"})
    assert machine.terminal.run("doctor", "--install").code == 2
    assert machine.terminal.run("doctor", "weather", "--yes").code == 2


def test_a_skill_that_is_missing_nothing_needs_no_step(machine: Machine) -> None:
    machine.skill({"kind": "uv", "package": "sh"}, requires={"bins": ["sh"]})
    assert machine.install("--yes") == (0, "“weather” can be used on this machine.\n", "")


def test_without_a_name_every_skill_that_cannot_be_used_is_shown(machine: Machine) -> None:
    machine.add_installer("uv")
    machine.skill({"kind": "uv", "package": "wttr"})
    machine.terminal.skill(
        "home/.agents/skills/keyed", metadata='{"openclaw": {"requires": {"env": ["NO_SUCH_KEY"]}}}'
    )
    out = machine.terminal.run("doctor").out
    assert out.partition("\n\n2 skills")[2] == (
        " cannot be used on this machine:\n"
        "  keyed    the environment variable NO_SUCH_KEY is not set\n"
        "  weather  the program wttr cannot be found\n"
        "           $ uv tool install wttr\n"
        "`prowess doctor NAME --install` runs these, after asking.\n"
    )
    shown = machine.terminal.json("doctor")["ineligible"]
    assert [one["name"] for one in shown] == ["keyed", "weather"]
    assert shown[1]["steps"][0]["argv"] == ["uv", "tool", "install", "wttr"]


# Downloads


def tar(files: Mapping[str, bytes], *, link: str | None = None) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for path, data in files.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(data), 0o755 if "bin" in path else 0o644
            archive.addfile(member, io.BytesIO(data))
        if link is not None:
            member = tarfile.TarInfo("link")
            member.type, member.linkname = tarfile.SYMTYPE, link
            archive.addfile(member)
    return made.getvalue()


SCRIPT = b"#!/bin/sh\necho sunny\n"
TREE = {"wttr-1.0/bin/wttr": SCRIPT, "wttr-1.0/README": b"read", "wttr-1.0/share/a/b": b"deep"}


@pytest.fixture
def site(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A site whose https URLs lead to a server on this machine."""
    with RemoteServer() as server:

        class LoopbackSession(HttpSession):
            def get(self, url: str, **options: Any) -> Any:
                local = url.replace("https://get.example.org", server.url)
                return super().get(local, **options)

        def open_session(watch: Any) -> HttpSession:
            hosts = frozenset({"127.0.0.1"})
            return LoopbackSession(seconds=120, private_hosts=hosts, any_origin=True, watch=watch)

        monkeypatch.setattr(download, "open_session", open_session)
        yield server


def spec(name: str, **fields: Any) -> dict[str, Any]:
    return {
        "kind": "download",
        "url": f"https://get.example.org/{name}",
        "bins": ["wttr"],
        **fields,
    }


@pytest.mark.seed("W-20", "W-22")
def test_a_program_is_downloaded_checked_and_found(machine: Machine, site: RemoteServer) -> None:
    site.routes["/wttr-linux"] = SCRIPT
    digest = hashlib.sha256(SCRIPT).hexdigest()
    machine.skill(spec("wttr-linux", sha256=digest.upper(), extract=False))
    answer = machine.install("--yes")
    assert (answer.code, answer.err) == (0, "")
    program = machine.tools / "weather" / "wttr-linux"
    assert (program.read_bytes(), os.access(program, os.X_OK)) == (SCRIPT, True)
    assert os.readlink(machine.tools / "bin" / "wttr") == "../weather/wttr-linux"
    assert answer.out.splitlines()[-1] == "“weather” can be used on this machine."


@pytest.mark.seed("W-21", "W-22", "W-23", "W-24")
@pytest.mark.parametrize(
    ("fields", "files"),
    [
        ({}, {"wttr-1.0/bin/wttr", "wttr-1.0/README", "wttr-1.0/share/a/b"}),
        ({"stripComponents": 1}, {"bin/wttr", "README", "share/a/b"}),
        ({"stripComponents": 2}, {"wttr", "a/b"}),
        ({"archive": "wttr-1.0/bin"}, {"wttr-1.0/bin/wttr"}),
        ({"archive": "wttr-1.0/bin/wttr", "stripComponents": 2}, {"wttr"}),
        (
            {"archive": "tar.gz", "targetDir": "run/time", "stripComponents": 2},
            {"run/time/wttr", "run/time/a/b"},
        ),
    ],
)
def test_an_archive_is_unpacked_as_the_spec_says(
    machine: Machine, site: RemoteServer, fields: dict[str, Any], files: set[str]
) -> None:
    site.routes["/wttr.tar.gz"] = tar(TREE)
    machine.skill(spec("wttr.tar.gz", **fields))
    assert machine.install("--yes").code == 0
    top = machine.tools / "weather"
    found = {str(path.relative_to(top)) for path in top.rglob("*") if path.is_file()}
    assert found == files
    assert (machine.tools / "bin" / "wttr").read_bytes() == SCRIPT


def test_extract_unpacks_a_file_whose_name_does_not_say_that_it_is_an_archive(
    machine: Machine, site: RemoteServer
) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("wttr", SCRIPT)
    site.routes["/latest"] = made.getvalue()
    machine.skill(spec("latest", extract=True))
    assert machine.install("--yes").code == 0
    assert os.access(machine.tools / "bin" / "wttr", os.X_OK)


def test_a_download_leaves_the_other_files_of_the_skill(
    machine: Machine, site: RemoteServer
) -> None:
    machine.terminal.write("home/.local/share/prowess/tools/weather/kept", "old")
    site.routes["/wttr"] = SCRIPT
    machine.skill(spec("wttr"))
    assert machine.install("--yes").code == 0
    assert (machine.tools / "weather" / "kept").read_text() == "old"


@pytest.mark.parametrize(
    ("body", "fields", "problem"),
    [
        (SCRIPT, {"sha256": "0" * 64, "extract": False}, "its sha256 is "),
        (b"plain", {"extract": True}, "the archive is refused: it is neither"),
        (tar({"../../evil": b"x"}), {}, "the archive is refused: '../../evil'"),
        (tar({"/etc/evil": b"x"}), {}, "the archive is refused: '/etc/evil'"),
        (tar({"bin/wttr": b"x"}, link="/etc"), {}, "the archive is refused: 'link'"),
        (tar({"bin/other": b"x"}), {}, "the archive has no file named wttr"),
        (tar({"bin/wttr": b"x"}), {"archive": "lib"}, "the archive has no lib"),
        (tar({"bin/wttr": b"x"}), {"stripComponents": 5}, "nothing is left of the archive"),
        (tar({"bin/wttr": b"x"}), {"bins": ["../wttr"]}, "`bins` has '../wttr'"),
        (404, {}, "https://"),
    ],
    ids="digest format dots absolute link program part strip bins absent".split(),
)
def test_a_download_that_is_not_as_it_should_be_changes_nothing(
    machine: Machine, site: RemoteServer, body: bytes | int, fields: dict[str, Any], problem: str
) -> None:
    machine.terminal.write("home/.local/share/prowess/tools/weather/kept", "old")
    site.routes["/w.tar.gz"] = body
    requires = {"bins": fields.get("bins", ["wttr"])}
    machine.skill(spec("w.tar.gz", **fields), requires=requires)
    answer = machine.install("--yes", "--json")
    [step] = json.loads(answer.out)["steps"]
    assert (answer.code, step["state"]) == (1, "failed")
    assert step["problem"].replace(site.url, "https://").startswith(problem)
    assert sorted(path.name for path in machine.tools.rglob("*")) in (
        ["kept", "weather"],
        ["kept", "weather", "weather.lock"],
    )


def test_a_server_that_sends_too_much_is_stopped(
    machine: Machine, site: RemoteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "MOST_DOWNLOAD_BYTES", 1000)
    site.routes["/wttr"] = b"x" * 1001
    machine.skill(spec("wttr"))
    [step] = json.loads(machine.install("--yes", "--json").out)["steps"]
    assert "has more than 1,000 bytes" in step["problem"]


def test_a_release_may_redirect_to_another_server(machine: Machine, site: RemoteServer) -> None:
    with RemoteServer() as storage:
        storage.routes["/blob"] = SCRIPT
        target = {"Location": f"{storage.url}/blob"}
        site.routes["/wttr"] = lambda handler: send(handler, b"", status=302, headers=target)
        machine.skill(spec("wttr"))
        assert machine.install("--yes").code == 0


def test_a_program_that_is_not_on_path_is_said_to_be_elsewhere(
    machine: Machine, site: RemoteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    site.routes["/wttr"] = SCRIPT
    machine.skill(spec("wttr"))
    answer = machine.install("--yes")
    assert answer.code == 1
    assert answer.out.splitlines()[-1] == (
        "Downloaded programs are in ~/.local/share/prowess/tools/bin; add it to your PATH."
    )


@pytest.mark.slow
@pytest.mark.needs("npm")
def test_npm_itself_installs_a_package_without_running_its_scripts(machine: Machine) -> None:
    marker = machine.terminal.root / "ran"
    package = {
        "name": "wttr-cli",
        "version": "1.0.0",
        "bin": {"wttr": "cli.js"},
        "scripts": {"postinstall": f"touch {marker}"},
    }
    files = {"package/package.json": json.dumps(package).encode()}
    body = tar({**files, "package/cli.js": b"#!/usr/bin/env node\n"})
    with RemoteServer() as registry:
        url = f"{registry.url}/wttr-cli/-/wttr-cli-1.0.0.tgz"
        versions = {"1.0.0": {**package, "dist": {"tarball": url}}}
        listed = {"name": "wttr-cli", "dist-tags": {"latest": "1.0.0"}, "versions": versions}
        registry.routes["/wttr-cli"] = json.dumps(listed)
        registry.routes["/wttr-cli/-/wttr-cli-1.0.0.tgz"] = body
        prefix = machine.terminal.root / "npm"
        machine.terminal.write(
            "home/.npmrc", f"registry={registry.url}/\nprefix={prefix}\naudit=false\nfund=false\n"
        )
        os.symlink(prefix / "bin" / "wttr", machine.programs / "wttr")
        machine.skill({"kind": "node", "package": "wttr-cli", "bins": ["wttr"]})
        answer = machine.install("--yes")
    assert (answer.code, answer.err) == (0, ""), answer.out
    assert not marker.exists()
