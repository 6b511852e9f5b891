"""The commands that would mend what is missing: shown, checked, never run."""

from __future__ import annotations

from typing import Any

import pytest

from prowess.gate.eligibility import Verdict
from prowess.gate.remedies import Remedy, find_remedies
from prowess.model.skill import Manifest
from prowess.testing import make_facts


def remedies(
    *specs: dict[str, Any],
    verdict: Verdict | None = None,
    platform: str = "linux",
    bins: tuple[str, ...] = (),
) -> tuple[Remedy, ...]:
    manifest = Manifest(name="weather", install=specs)
    facts = make_facts("/home/me", platform=platform, bins=bins)
    return find_remedies(manifest, verdict or Verdict(bins=("jq",)), facts)


def line(**spec: Any) -> str:
    """The command for one way to have `jq`, as it is shown; or why there is none."""
    (remedy,) = remedies({"bins": ["jq"], **spec})
    return remedy.refused or remedy.render()


def test_a_remedy_has_what_is_shown_and_what_it_brings() -> None:
    spec = {"kind": "brew", "label": "Install\n jq", "formula": "jq", "bins": ["jq", "jqp"]}
    assert remedies(spec, bins=("brew",)) == (
        Remedy(
            kind="brew",
            label="Install jq",
            command=("brew", "install", "jq"),
            provides=("jq",),
            ready=True,
        ),
    )


TOOLS = "/home/me/.local/share/prowess/tools/weather"
CURL = "curl --fail --location --proto =https --create-dirs --output"


@pytest.mark.parametrize(
    ("spec", "command"),
    [
        ({"kind": "brew", "formula": "jq"}, "brew install jq"),
        ({"kind": "brew", "formula": "steipete/tap/gog"}, "brew install steipete/tap/gog"),
        ({"kind": "brew", "formula": "python@3.12"}, "brew install python@3.12"),
        (
            {"kind": "node", "package": "weather-cli"},
            "npm install --global --ignore-scripts weather-cli",
        ),
        (
            {"kind": "node", "package": "@a/b@^1.2.3"},
            "npm install --global --ignore-scripts '@a/b@^1.2.3'",
        ),
        ({"kind": "node", "module": "weather"}, "npm install --global --ignore-scripts weather"),
        (
            {"kind": "go", "module": "github.com/a/b/cmd/c"},
            "go install github.com/a/b/cmd/c@latest",
        ),
        ({"kind": "go", "package": "github.com/a/b@v1.2.0"}, "go install github.com/a/b@v1.2.0"),
        ({"kind": "uv", "package": "nano-pdf"}, "uv tool install nano-pdf"),
        ({"kind": "uv", "package": "a[b]==1.2"}, "uv tool install 'a[b]==1.2'"),
        (
            {"kind": "download", "url": "https://x.org/bin/jq"},
            f"{CURL} {TOOLS}/jq https://x.org/bin/jq && chmod +x {TOOLS}/jq",
        ),
        (
            {
                "kind": "download",
                "url": "https://x.org/a.tar.gz?v=1",
                "stripComponents": 1,
                "targetDir": "run/time",
            },
            f"{CURL} {TOOLS}/run/time/a.tar.gz 'https://x.org/a.tar.gz?v=1' && "
            f"tar -xf {TOOLS}/run/time/a.tar.gz -C {TOOLS}/run/time --strip-components=1",
        ),
        (
            {"kind": "download", "url": "https://x.org/a.zip"},
            f"{CURL} {TOOLS}/a.zip https://x.org/a.zip && unzip -o {TOOLS}/a.zip -d {TOOLS}",
        ),
        (
            {"kind": "download", "url": "https://x.org/a.zip", "extract": False},
            f"{CURL} {TOOLS}/a.zip https://x.org/a.zip && chmod +x {TOOLS}/a.zip",
        ),
    ],
)
def test_each_kind_has_its_command(spec: dict[str, Any], command: str) -> None:
    assert line(**spec) == command


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("brew", "formula"),
        ("node", "package"),
        ("go", "module"),
        ("uv", "package"),
        ("download", "url"),
    ],
)
@pytest.mark.parametrize(
    "value",
    [
        "--cask=evil",
        "-g",
        "jq; rm -rf /",
        "jq && id",
        "$(id)",
        "`id`",
        "jq|sh",
        "jq\nid",
        "jq id",
        "../../evil",
        "./evil",
        "/etc/evil",
        "a/../../b",
        "file:///etc/passwd",
        "git+ssh://x/y",
        "http://x.org/jq",
        "https://x.org/",
        "https://user:pass@x.org/jq",
        "https://x.org/../jq",
        "npm:jq@x/y",
        "~/jq",
        "jq'",
        'jq"',
        "ｊｑ",
        "jq\x00",
        "\u202ejq",
    ],
)
def test_a_value_that_looks_like_an_option_a_path_or_shell_is_refused(
    kind: str, key: str, value: str
) -> None:
    (remedy,) = remedies(
        {"kind": kind, key: value, "bins": ["jq"]}, bins=("brew", "npm", "go", "uv", "curl")
    )
    assert (remedy.command, remedy.then, remedy.ready) == ((), (), False)
    assert remedy.refused is not None
    assert remedy.refused.startswith(f"`{key}` is not ")


@pytest.mark.parametrize(
    ("kind", "key"),
    [("brew", "formula"), ("node", "package"), ("go", "module"), ("download", "url")],
)
def test_a_way_that_does_not_say_what_to_install_is_refused(kind: str, key: str) -> None:
    assert line(kind=kind) == f"`{key}` is missing"


@pytest.mark.parametrize("folder", ["../x", "/x", "~/x", "a/../b", "a b", "-x", "a//b"])
def test_a_target_outside_the_skills_own_folder_is_refused(folder: str) -> None:
    spec = {"kind": "download", "url": "https://x.org/jq", "targetDir": folder}
    assert line(**spec) == "`targetDir` is not a path inside the skill's folder"


def test_a_skill_with_an_odd_name_downloads_into_a_plain_folder() -> None:
    manifest = Manifest(name="../evil", install=({"kind": "download", "url": "https://x.org/jq"},))
    (remedy,) = find_remedies(manifest, Verdict(bins=("jq",)), make_facts("/home/me"))
    assert remedy.command[-2] == "/home/me/.local/share/prowess/tools/skill/jq"


@pytest.mark.parametrize(
    ("os", "platform", "offered"),
    [
        (["darwin"], "linux", False),
        (["darwin"], "darwin", True),
        (["macos", "Windows"], "win32", True),
        ("macOS, linux", "linux", True),
        ([], "linux", True),
        (None, "linux", True),
    ],
)
def test_a_way_for_another_platform_is_left_out(os: Any, platform: str, offered: bool) -> None:
    found = remedies({"kind": "brew", "formula": "jq", "os": os}, platform=platform)
    assert bool(found) is offered


def test_only_ways_that_bring_something_missing_are_offered() -> None:
    other = {"kind": "brew", "formula": "rg", "bins": ["rg"]}
    silent = {"kind": "brew", "formula": "tools"}
    assert [remedy.command[-1] for remedy in remedies(other, silent)] == ["tools"]
    assert remedies(other, silent, verdict=Verdict(env=("KEY",))) == ()
    assert remedies(silent, verdict=Verdict(bins=("jq",), os=("darwin",))) == ()
    one_of = remedies(other, verdict=Verdict(any_bins=("rg", "ag")))
    assert [remedy.provides for remedy in one_of] == [("rg",)]


def test_what_can_be_used_at_once_comes_first_and_what_is_refused_last() -> None:
    specs = (
        {"kind": "brew", "formula": "-x"},
        {"kind": "download", "url": "https://x.org/jq"},
        {"kind": "go", "module": "x.org/jq"},
        {"kind": "node", "package": "jq"},
        {"kind": "uv", "package": "jq"},
        {"kind": "brew", "formula": "jq"},
    )
    found = remedies(*specs, bins=("go", "pnpm"))
    assert [(remedy.kind, remedy.ready, bool(remedy.refused)) for remedy in found] == [
        ("node", True, False),
        ("go", True, False),
        ("brew", False, False),
        ("uv", False, False),
        ("download", False, False),
        ("brew", False, True),
    ]
    assert found[0].render() == "pnpm add --global --ignore-scripts jq"


def test_the_kinds_of_the_document_are_understood_from_a_header() -> None:
    specs = (
        {"kind": "brew", "formula": "wttr", "bins": ["wttr"]},
        {"kind": "node", "package": "weather-cli", "bins": ["weather"]},
    )
    found = remedies(*specs, verdict=Verdict(bins=("wttr", "weather")))
    assert [(remedy.label, remedy.provides) for remedy in found] == [
        ("Install wttr with brew", ("wttr",)),
        ("Install weather-cli with node", ("weather",)),
    ]


def test_an_unknown_kind_is_left_out() -> None:
    assert remedies({"kind": "curl-pipe-bash", "url": "https://x.org/jq"}) == ()
