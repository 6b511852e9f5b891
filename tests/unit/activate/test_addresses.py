"""`skill://` addresses taken apart: names, paths, dots in every spelling, and ranges of lines."""

from __future__ import annotations

import pytest

from prowess.activate.resources.addresses import Address, Dots, parse_address
from prowess.activate.resources.line_ranges import Lines, select_lines
from prowess.errors.activation import AddressError


def refuse(url: str, *, dots: Dots = "refuse", with_lines: bool = False) -> AddressError:
    with pytest.raises(AddressError) as caught:
        parse_address(url, dots=dots, with_lines=with_lines)
    return caught.value


@pytest.mark.seed("P-50", "P-51", "P-53")
@pytest.mark.parametrize(
    ("url", "name", "path"),
    [
        ("skill://pdf", "pdf", ""),
        ("skill://pdf/references/tables.md", "pdf", "references/tables.md"),
        ("SKILL://pdf/a", "pdf", "a"),
        ("skill://Case%20Name/with%20space.md", "Case Name", "with space.md"),
        ("skill://Case Name/with space.md", "Case Name", "with space.md"),
        ("skill://天气/%E5%A4%A9.md", "天气", "天.md"),
        ("skill://a%2Fb/c%2Fd.md", "a/b", "c/d.md"),
        ("skill://x:y", "x:y", ""),
        ("skill://pdf/a%252fb.md", "pdf", "a%2fb.md"),
        ("skill://pdf/%252e%252e/x", "pdf", "%2e%2e/x"),
        ("skill://pdf/..dots.md", "pdf", "..dots.md"),
        ("skill://pdf/a..b/...", "pdf", "a..b/..."),
        ("skill://pdf/a+b.md", "pdf", "a+b.md"),
        ("skill://pdf/./a/./b", "pdf", "a/b"),
        ("skill://pdf/.", "pdf", ""),
        ("skill://pdf?x=1", "pdf", ""),
        ("skill://pdf/a.md#part", "pdf", "a.md"),
        ("skill://pdf/a%23b%3Fc", "pdf", "a#b?c"),
        (" skill://pdf/a \n", "pdf", "a"),
    ],
)
def test_an_address_is_a_name_and_a_path_each_decoded_once(url: str, name: str, path: str) -> None:
    assert parse_address(url) == Address(url=url, name=name, path=path)


def test_a_slash_at_the_end_asks_for_a_folder() -> None:
    assert parse_address("skill://pdf/a/") == Address(
        url="skill://pdf/a/", name="pdf", path="a", is_folder=True
    )


@pytest.mark.seed("P-54")
@pytest.mark.parametrize(
    "url",
    [
        "skill://pdf//etc/passwd",
        "skill://pdf/%2fetc/passwd",
        "skill://pdf/%2Fetc%2Fpasswd",
        "skill://pdf/./%2fetc",
        "skill://pdf/\\etc",
        "skill://pdf/%5Cserver%5Cshare",
        "skill://pdf/C:/Windows",
        "skill://pdf/c:%5CWindows",
        "skill://pdf/C:",
    ],
)
@pytest.mark.parametrize("dots", ["refuse", "fold"])
def test_an_absolute_path_is_refused(url: str, dots: Dots) -> None:
    assert refuse(url, dots=dots).kind == "absolute"


OUT = [
    "skill://pdf/..",
    "skill://pdf/../x",
    "skill://pdf/a/../../x",
    "skill://pdf/%2e%2e/x",
    "skill://pdf/%2E./x",
    "skill://pdf/.%2e/x",
    "skill://pdf/..%2fx",
    "skill://pdf/%2E%2E%2Fx",
    "skill://pdf/a/..%2f..%2fx",
    "skill://pdf/..\\x",
    "skill://pdf/a\\..\\..\\x",
    "skill://pdf/%5c..%5cx",
    "skill://pdf/a%2f..",
    "skill://pdf/..?x",
]


@pytest.mark.seed("P-55", "P-56")
@pytest.mark.parametrize("url", OUT)
@pytest.mark.parametrize("dots", ["refuse", "fold"])
def test_two_dots_that_could_lead_out_are_refused_in_every_spelling(url: str, dots: Dots) -> None:
    assert refuse(url, dots=dots).kind == "outside"


@pytest.mark.seed("P-55")
@pytest.mark.parametrize(
    "url", ["skill://pdf/a/../b", "skill://pdf/a/%2e%2E/b", "skill://pdf/./a/.././b"]
)
def test_two_dots_inside_are_refused_by_the_document_and_folded_by_the_release(url: str) -> None:
    assert refuse(url).kind == "outside"
    assert parse_address(url, dots="fold") == Address(url=url, name="pdf", path="b")


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("skill://", "no-name"),
        ("skill:///pdf", "no-name"),
        ("skill:pdf", "no-name"),
        ("skill://?x", "no-name"),
        ("pdf", "malformed"),
        ("http://pdf", "malformed"),
        ("", "malformed"),
        ("skill://pdf/%zz", "malformed"),
        ("skill://pdf/50%", "malformed"),
        ("skill://pdf/%ff", "malformed"),
        ("skill://%zz", "malformed"),
        ("skill://pdf/%00", "malformed"),
        ("skill://pdf/a\0b", "malformed"),
    ],
)
def test_what_is_no_address_is_refused_with_a_reason(url: str, kind: str) -> None:
    error = refuse(url)
    assert (error.kind, error.address) == (kind, url)
    assert str(error).startswith(f"{url}: ")


# Lines


@pytest.mark.parametrize(
    ("ending", "lines"),
    [
        (":50-52", Lines(((50, 52),))),
        (":50+3", Lines(((50, 52),))),
        (":50", Lines(((50, None),))),
        (":5-6,90-91", Lines(((5, 6), (90, 91)))),
        (":raw:50-52", Lines(((50, 52),), raw=True)),
        (":raw", Lines(raw=True)),
    ],
)
def test_lines_stand_at_the_end_of_a_path(ending: str, lines: Lines) -> None:
    url = f"skill://pdf/long.md{ending}"
    assert parse_address(url, with_lines=True) == Address(
        url=url, name="pdf", path="long.md", lines=lines, literal=f"long.md{ending}"
    )
    assert parse_address(url) == Address(url=url, name="pdf", path=f"long.md{ending}")


@pytest.mark.parametrize(
    "url",
    [
        "skill://pdf/a:b",
        "skill://pdf/a:-5",
        "skill://pdf/a%3A5",
        "skill://pdf/a:5-",
        "skill://pdf:5",
    ],
)
def test_what_is_no_range_belongs_to_the_name(url: str) -> None:
    assert parse_address(url, with_lines=True) == parse_address(url)


@pytest.mark.parametrize("ending", [":0", ":9-8", ":5+0", ":0-3", ":1-2,9-8"])
def test_a_range_without_a_line_is_refused(ending: str) -> None:
    assert refuse(f"skill://pdf/a{ending}", with_lines=True).kind == "malformed"


HUNDRED = "".join(f"line {n}\n" for n in range(1, 101))


def select(ending: str, content: str = HUNDRED) -> str:
    address = parse_address(f"skill://pdf/long.md{ending}", with_lines=True)
    assert address.lines is not None
    return select_lines(content, address.lines, url=address.url, before=1, after=3)


def numbered(*pieces: tuple[int, int]) -> str:
    return "\n…\n".join(
        "\n".join(f"line {n}" for n in range(first, last + 1)) for first, last in pieces
    )


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        (":50-52", numbered((49, 55)) + "\n\n[45 more lines; read on with :56]"),
        (":50+3", numbered((49, 55)) + "\n\n[45 more lines; read on with :56]"),
        (":56", numbered((56, 100))),
        (":1-2", numbered((1, 5)) + "\n\n[95 more lines; read on with :6]"),
        (":95-96", numbered((94, 99)) + "\n\n[1 more line; read on with :100]"),
        (":99-200", numbered((98, 100))),
        (":raw:50-52", numbered((50, 52))),
        (":raw", HUNDRED),
        (":5-6,90-91", numbered((4, 9), (89, 94)) + "\n\n[6 more lines; read on with :95]"),
        (":5-6,10-11", numbered((4, 14)) + "\n\n[86 more lines; read on with :15]"),
        (":90-91,5-6", numbered((4, 9), (89, 94)) + "\n\n[6 more lines; read on with :95]"),
        (":raw:5-6,7", numbered((5, 100))),
        (":raw:1-90,5-6", numbered((1, 90))),
    ],
)
def test_the_lines_that_are_asked_for_come_with_some_around_them(ending: str, text: str) -> None:
    assert select(ending) == text


@pytest.mark.parametrize(
    ("content", "count"), [(HUNDRED, "100 lines"), ("one", "1 line"), ("", "0 lines")]
)
def test_a_line_beyond_the_end_is_refused_with_the_number_of_lines(
    content: str, count: str
) -> None:
    with pytest.raises(AddressError) as caught:
        select(":200", content)
    assert caught.value.kind == "no-such-line"
    assert (
        str(caught.value) == f"skill://pdf/long.md:200: there is no line 200; the file has {count}."
    )
