"""What a text on the command line means as a source."""

from __future__ import annotations

import pytest

from prowess.errors.install import InvalidSource
from prowess.supply.install.source import InstallSource, parse_source, restore_source

HUB = "https://github.com/o/r.git"
DIGEST = "a" * 64


def parse(text: str) -> InstallSource:
    return parse_source(text, cwd="/work/here", home="/home/me")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("./skills", ("folder", "/work/here/skills", "./skills", "", "", "")),
        (".", ("folder", "/work/here", "./", "", "", "")),
        ("..", ("folder", "/work", "/work", "", "", "")),
        ("~/my", ("folder", "/home/me/my", "/home/me/my", "", "", "")),
        ("/a/b@c#d", ("folder", "/a/b@c#d", "/a/b@c#d", "", "", "")),
        ("x.skill", ("archive", "/work/here/x.skill", "./x.skill", "", "", "")),
        ("/a/x.tar.gz", ("archive", "/a/x.tar.gz", "/a/x.tar.gz", "", "", "")),
        ("o/r", ("git", HUB, "o/r", "", "", "")),
        ("o/r/a/b", ("git", HUB, "o/r", "a/b", "", "")),
        ("o/r@pdf", ("git", HUB, "o/r", "", "pdf", "")),
        ("o/r/a@pdf#v1.2", ("git", HUB, "o/r", "a", "pdf", "v1.2")),
        ("o/r#main@pdf", ("git", HUB, "o/r", "", "pdf", "main")),
        ("github:o/r#x/y", ("git", HUB, "o/r", "", "", "x/y")),
        ("gitlab:o/r", ("git", "https://gitlab.com/o/r.git", "gitlab:o/r", "", "", "")),
        ("https://github.com/o/r", ("git", HUB, "o/r", "", "", "")),
        ("https://github.com/o/r.git#v1", ("git", HUB, "o/r", "", "", "v1")),
        ("https://github.com/o/r/tree/main/skills/x", ("git", HUB, "o/r", "skills/x", "", "main")),
        (
            "https://g.example/o/r.git@pdf#v1",
            ("git", "https://g.example/o/r.git", "https://g.example/o/r.git", "", "pdf", "v1"),
        ),
        (
            "git+https://example.com/r",
            ("git", "https://example.com/r", "git+https://example.com/r", "", "", ""),
        ),
        (
            "git@h.example:o/r.git#v1",
            ("git", "git@h.example:o/r.git", "git@h.example:o/r.git", "", "", "v1"),
        ),
        ("ssh://git@h/o/r", ("git", "ssh://git@h/o/r", "ssh://git@h/o/r", "", "", "")),
        ("file:///srv/r.git", ("git", "/srv/r.git", "file:///srv/r.git", "", "", "")),
        ("../r.git@a#v1", ("git", "/work/r.git", "/work/r.git", "", "a", "v1")),
        (
            "https://e.example/a.zip",
            ("archive", "https://e.example/a.zip", "https://e.example/a.zip", "", "", ""),
        ),
    ],
)
def test_a_text_becomes_a_source(text: str, expected: tuple[str, ...]) -> None:
    found = parse(text)
    assert (found.kind, found.location, found.text, found.path, found.skill, found.ref) == expected


@pytest.mark.parametrize("text", ["./x.zip", "https://e.example/x.zip"])
def test_an_archive_can_have_its_digest(text: str) -> None:
    assert parse(f"{text}#sha256={DIGEST}").digest == DIGEST


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "-x",
        "--upload-pack=touch /tmp/x",
        "ext::sh -c touch% x",
        "ext::sh://x/y.git",
        "name",
        "o/r#-x",
        "o/r#a..b",
        "o/r#+refs/heads/*:refs/heads/*",
        "o/r/../x",
        "git://example.com/r.git",
        "https://me:secret@example.com/r.git",
        "https://token@example.com/r.git",
        "ssh://-oProxyCommand=x/r",
        "o/r\n--x",
        "https://example.com/some/page",
        "http://[::1/x.git",
    ],
)
def test_what_is_no_source_is_refused(text: str) -> None:
    with pytest.raises(InvalidSource):
        parse(text)


@pytest.mark.parametrize(
    "text",
    ["o/r/p#v1", "git+https://example.com/r#v1", "file:///srv/r.git#v1", "../r.git#v1", "./x.zip"],
)
def test_what_a_lock_file_keeps_leads_to_the_same_place(text: str) -> None:
    one = parse(text)
    again = restore_source(
        kind=one.kind,
        text=one.text,
        ref=one.ref,
        path=one.path,
        base="/work/here",
        home="/home/me",
    )
    assert again == one


@pytest.mark.parametrize(
    ("text", "protocols"),
    [
        ("o/r", ("https",)),
        ("git@h:o/r.git", ("ssh",)),
        ("file:///r.git", ("file",)),
        ("/r.git", ("file",)),
        ("http://h/r.git", ("http", "https")),
    ],
)
def test_git_may_use_only_the_protocol_of_the_address(
    text: str, protocols: tuple[str, ...]
) -> None:
    assert parse(text).protocols == protocols
