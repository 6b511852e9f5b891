"""What `skill://` addresses stand for: files, folders, refusals."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from prowess.activate.resources.addresses import parse_address
from prowess.activate.resources.lookup import Resource, resolve
from prowess.errors import UnknownSkill
from prowess.errors.activation import AddressError
from prowess.machine.files import LocalFiles
from prowess.model.files import Head
from prowess.model.skill import Skill
from prowess.profiles.load import load_profile
from prowess.testing import MemoryFiles
from tests.unit.activate.skills import make_outcome

SKILL = "/skills/pdf"
TREE = {
    f"{SKILL}/SKILL.md": "---\nname: pdf\n---\nBody\n",
    f"{SKILL}/references/tables.md": "T",
    f"{SKILL}/references/.hidden": "",
    f"{SKILL}/references/B.txt": "",
    f"{SKILL}/references/a.txt": "",
    f"{SKILL}/references/zoo/x": "",
    f"{SKILL}/notes.MD": "N",
    f"{SKILL}/page.mdx": "M",
    f"{SKILL}/data.json": "{}",
    f"{SKILL}/script.py": "print(1)\nprint(2)\n",
    f"{SKILL}/odd:1-2": "literal",
    f"{SKILL}/bom.txt": b"\xef\xbb\xbfhi",
    f"{SKILL}/wide.txt": "hé".encode("utf-16"),
    f"{SKILL}/cut.txt": b"\xff\xfe\x00",
    f"{SKILL}/latin.txt": b"h\xe9",
    f"{SKILL}/wide-be.txt": b"\xfe\xff" + "hé".encode("utf-16-be"),
    f"{SKILL}/wide-odd.txt": b"\xff\xfe" + "hé".encode("utf-16-le") + b"x",
    f"{SKILL}/wide-half.txt": b"\xff\xfe\x00\xd8" + "a".encode("utf-16-le"),
    f"{SKILL}/notes.v2.md": "N",
    f"{SKILL}/md": "N",
    f"{SKILL}/fifo": None,
    "/skills/pdf-evil/f.txt": "EVIL",
    "/secret": "SECRET",
    "/skills/hid/SKILL.md": "H",
}


def skills(*names: str) -> dict[str, Skill]:
    return {name: skill for name in names if (skill := make_outcome(name).skill) is not None}


def read(
    url: str, *, host: str = "omp@documented", files: MemoryFiles | None = None, **options: Any
) -> Resource:
    rules = load_profile(host).resources
    address = parse_address(url, dots=rules.dots, with_lines=options.pop("with_lines", False))
    known = options.pop("known", skills("pdf", "hid"))
    return resolve(address, known, files or MemoryFiles(TREE), rules=rules, **options)


def refuse(url: str, **options: Any) -> AddressError:
    with pytest.raises(AddressError) as caught:
        read(url, **options)
    return caught.value


@pytest.mark.seed("P-50")
def test_a_name_alone_is_the_skills_own_file_header_and_all() -> None:
    whole = Resource(
        url="skill://pdf",
        content="---\nname: pdf\n---\nBody\n",
        content_type="text/markdown",
        path=f"{SKILL}/SKILL.md",
        size=23,
    )
    assert read("skill://pdf") == whole
    for url in ("skill://pdf/", "skill://pdf/SKILL.md", "skill://pdf/."):
        assert (read(url).path, read(url).content) == (whole.path, whole.content)


@pytest.mark.seed("P-51")
def test_a_path_is_a_file_of_the_skill() -> None:
    url = "skill://pdf/references/tables.md"
    path = f"{SKILL}/references/tables.md"
    assert read(url) == Resource(
        url=url, content="T", content_type="text/markdown", path=path, size=1
    )


@pytest.mark.seed("P-52")
def test_a_name_must_match_exactly_and_the_nearest_is_shown() -> None:
    for name in ("PDF", "pd", "pdf2", "%20pdf"):
        with pytest.raises(UnknownSkill) as caught:
            read(f"skill://{name}")
        assert caught.value.nearest == ("pdf",)


def test_only_names_that_may_be_told_are_shown() -> None:
    with pytest.raises(UnknownSkill) as caught:
        read("skill://pdg", told=["hid"])
    assert (caught.value.known, caught.value.nearest) == (("hid",), ())


@pytest.mark.seed("P-37")
def test_a_hidden_skill_can_be_read() -> None:
    assert read("skill://hid").content == "H"


@pytest.mark.seed("P-57", "P-59")
def test_what_is_missing_is_told_as_it_was_asked_for_and_looked_for_nowhere_else() -> None:
    files = MemoryFiles(
        TREE | {"/project/references/gone.md": "elsewhere", "/skills/gone.md": "beside"}
    )
    error = refuse("skill://pdf/references/gone.md", files=files)
    assert (error.kind, error.path) == ("missing", "references/gone.md")
    assert (
        str(error) == "skill://pdf/references/gone.md: the skill has no file “references/gone.md”."
    )
    assert files.read == files.listed == []


@pytest.mark.seed("P-58")
@pytest.mark.parametrize(
    ("path", "documented", "released", "own"),
    [
        ("SKILL.md", "text/markdown", "text/markdown", "text/markdown"),
        ("notes.MD", "text/markdown", "text/markdown", "text/markdown"),
        ("page.mdx", "text/plain", "text/markdown", "text/markdown"),
        ("data.json", "text/plain", "text/plain", "application/json"),
        ("script.py", "text/plain", "text/plain", "text/plain"),
        ("references/.hidden", "text/plain", "text/plain", "text/plain"),
        ("notes.v2.md", "text/markdown", "text/markdown", "text/markdown"),
        ("md", "text/plain", "text/plain", "text/plain"),
    ],
)
def test_the_content_type_is_by_the_end_of_the_name(
    path: str, documented: str, released: str, own: str
) -> None:
    found = [
        read(f"skill://pdf/{path}", host=host).content_type
        for host in ("omp@documented", "omp", "prowess")
    ]
    assert found == [documented, released, own]


def test_a_folder_is_a_list_of_names_folders_first() -> None:
    url = "skill://pdf/references"
    content = "zoo/\n.hidden\na.txt\nB.txt\ntables.md"
    expected = Resource(
        url=url,
        content=content,
        content_type="text/plain",
        path=f"{SKILL}/references",
        size=len(content),
        is_folder=True,
    )
    assert read(url) == expected
    assert read(f"{url}/").content == content


def test_a_file_is_no_folder() -> None:
    assert refuse("skill://pdf/script.py/").kind == "missing"
    assert refuse("skill://pdf/script.py/x").kind == "missing"


def test_a_long_list_is_cut_and_counted() -> None:
    files = MemoryFiles({f"{SKILL}/many/{n:04}": "" for n in range(1_003)})
    content = read("skill://pdf/many", files=files).content
    assert (content.count("\n"), content[-21:]) == (1_000, "998\n0999\n(and 3 more)")


def test_names_in_a_list_stay_on_their_lines() -> None:
    files = MemoryFiles({f"{SKILL}/odd/a\nb\x1b": ""})
    assert read("skill://pdf/odd", files=files).content == "a\ufffdb\ufffd"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("bom.txt", "hi"),
        ("wide.txt", "hé"),
        ("wide-be.txt", "hé"),
        ("wide-odd.txt", "hé"),
        ("wide-half.txt", "\ufffda"),
        ("cut.txt", ""),
        ("latin.txt", "h\ufffd"),
    ],
)
def test_whatever_a_file_holds_is_given_as_text(path: str, content: str) -> None:
    found = read(f"skill://pdf/{path}")
    assert (found.content, found.size) == (content, len(content.encode()))


def test_lines_can_be_asked_for() -> None:
    found = read("skill://pdf/script.py:raw:2", with_lines=True)
    assert (found.content, found.size, found.path) == ("print(2)", 8, f"{SKILL}/script.py")
    assert read("skill://pdf/SKILL.md:raw:4-4", with_lines=True).content == "Body"
    assert refuse("skill://pdf/script.py:9", with_lines=True).kind == "no-such-line"


def test_a_file_whose_name_looks_like_a_range_goes_before() -> None:
    assert read("skill://pdf/odd:1-2", with_lines=True).content == "literal"


@pytest.mark.seed("P-56")
@pytest.mark.parametrize(
    ("links", "url"),
    [
        ({f"{SKILL}/link": "/secret"}, "skill://pdf/link"),
        ({f"{SKILL}/link": "../pdf-evil"}, "skill://pdf/link"),
        ({f"{SKILL}/link": "../pdf-evil"}, "skill://pdf/link/f.txt"),
        ({f"{SKILL}/link": ".."}, "skill://pdf/link/pdf-evil/f.txt"),
        ({f"{SKILL}/a": "b", f"{SKILL}/b": "/secret"}, "skill://pdf/a"),
    ],
)
def test_a_link_that_leads_out_is_refused_whatever_it_leads_to(
    links: dict[str, str], url: str
) -> None:
    files = MemoryFiles(TREE, links)
    assert refuse(url, files=files).kind == "outside"
    assert files.read == files.listed == []


def test_a_link_inside_the_skill_is_followed_and_so_is_the_skills_own_folder() -> None:
    files = MemoryFiles(TREE, {f"{SKILL}/link": "references/tables.md", "/skills/alias": "pdf"})
    assert read("skill://pdf/link", files=files).content == "T"
    assert (
        read("skill://alias/references/tables.md", files=files, known=skills("alias")).content
        == "T"
    )


def test_what_is_no_file_is_refused_without_opening_it() -> None:
    files = MemoryFiles(TREE)
    assert refuse("skill://pdf/fifo", files=files).kind == "not-a-file"
    assert files.read == []


def test_a_file_that_is_too_large_is_refused_with_both_sizes() -> None:
    files = MemoryFiles({f"{SKILL}/big": b"x" * 10_000_001})
    error = refuse("skill://pdf/big", files=files)
    assert error.kind == "too-large"
    assert str(error) == "skill://pdf/big: “big” has 10,000,001 bytes; the limit is 10,000,000."


def test_a_skill_without_a_folder_has_no_files() -> None:
    remote = {
        name: msgspec.structs.replace(skill, folder="") for name, skill in skills("pdf").items()
    }
    assert refuse("skill://pdf/etc/passwd", known=remote).kind == "missing"


def test_a_skill_without_a_folder_cannot_reach_the_files_of_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text("SECRET")
    # A real file system takes an empty folder for the working folder, and here that is the root.
    monkeypatch.chdir("/")
    remote = {"pdf": msgspec.structs.replace(skills("pdf")["pdf"], folder="", file=None)}
    error = refuse(f"skill://pdf{tmp_path}/secret", known=remote, files=LocalFiles())
    assert error.kind == "missing"


def as_scanned(real: str = f"{SKILL}/SKILL.md") -> dict[str, Skill]:
    """A skill whose file was found by a scan, at this real path."""
    skill = skills("pdf")["pdf"]
    return {"pdf": msgspec.structs.replace(skill, file=skill.location, real=real)}


def test_a_skill_whose_own_file_is_gone_names_what_was_asked_for() -> None:
    files = MemoryFiles(
        {path: text for path, text in TREE.items() if not path.endswith("SKILL.md")}
    )
    found = [
        refuse(url, known=as_scanned(), files=files)
        for url in ("skill://pdf", "skill://pdf/references/tables.md")
    ]
    assert [(error.kind, error.path, error.problem) for error in found] == [
        ("missing", "SKILL.md", "the skill has no file “SKILL.md”"),
        ("missing", "references/tables.md", "the skill has no file “references/tables.md”"),
    ]


def test_a_skill_whose_own_file_leads_elsewhere_since_the_scan_is_refused() -> None:
    error = refuse("skill://pdf/references/tables.md", known=as_scanned("/elsewhere/SKILL.md"))
    assert (error.kind, error.path) == ("outside", "SKILL.md")
    assert read("skill://pdf/references/tables.md", known=as_scanned()).content == "T"


@pytest.mark.parametrize(
    ("url", "shown"),
    [("skill://pdf", "SKILL.md"), ("skill://pdf/references/tables.md", "references/tables.md")],
)
def test_a_refusal_shows_the_path_as_it_was_asked_for_or_else_the_name_of_the_file(
    url: str, shown: str
) -> None:
    big = MemoryFiles(dict.fromkeys(TREE, b"x" * 10000001))
    assert refuse(url, files=big).path == shown

    class Locked(MemoryFiles):
        def read_real_head(self, path: str, limit: int) -> Head:
            raise PermissionError(13, "Permission denied", path)

    error = refuse(url, files=Locked(TREE))
    assert (error.kind, error.path) == ("unreadable", shown)
    assert str(error) == f"{url}: “{shown}” cannot be read: Permission denied."


class RealPaths(MemoryFiles):
    """Files whose real paths are these, as on another system."""

    def __init__(self, real: dict[str, str]) -> None:
        super().__init__({**TREE, **dict.fromkeys(real.values(), "R")})
        self._real = real

    def find_real_path(self, path: str) -> str | None:
        return self._real.get(path)

    def find_kind(self, path: str) -> str | None:
        return "file" if path in self._real.values() else super().find_kind(path)

    def read_real_head(self, path: str, limit: int) -> Head:
        assert path in self._real.values()
        return Head(b"R", 1, 1, (0, 0, 0, 0))


@pytest.mark.parametrize(
    ("base", "real", "is_inside"),
    [
        (r"C:\skills\pdf", r"C:\skills\pdf\x.md", True),
        (r"C:\skills\pdf", r"C:\skills\pdf-evil\x.md", False),
        (r"C:\skills\pdf", r"C:\skills\pdf/x.md", False),
        (r"/skills/a\b", r"/skills/a\b/x.md", True),
        (r"/skills/a\b", r"/skills/a\b\x.md", False),
        ("/skills/pdf", "/skills/pdf/x.md", True),
        ("/skills/pdf", r"/skills/pdf\x.md", False),
    ],
)
def test_what_is_inside_a_folder_is_told_by_the_separator_of_its_system(
    base: str, real: str, *, is_inside: bool
) -> None:
    files = RealPaths({SKILL: base, f"{SKILL}/x.md": real})
    if is_inside:
        assert read("skill://pdf/x.md", files=files).content == "R"
    else:
        assert refuse("skill://pdf/x.md", files=files).kind == "outside"


@pytest.mark.parametrize("host", ["omp", "omp@documented", "prowess"])
def test_no_refusal_tells_where_on_the_machine_a_skill_lies(host: str) -> None:
    files = MemoryFiles(TREE, {f"{SKILL}/link": "/secret", f"{SKILL}/gone": "/nowhere"})
    for path in ("x", "link", "gone", "fifo", "script.py/x", "../x", "//x", "%00", "%zz", "C:/x"):
        error = refuse(f"skill://pdf/{path}", host=host, files=files)
        assert re.search("/skills|/secret|/nowhere", f"{error} {error.path} {error.args}") is None
