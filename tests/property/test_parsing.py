"""Laws of parsing: nothing raises, nothing takes long, nothing is lost in silence, a fix changes no
meaning.
"""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.diagnostics import Severity
from prowess.model.skill import Candidate, LoadedFrom, Root, Scope, Source
from prowess.parse.candidates import CandidateReader, Parsed
from prowess.parse.header.fast import HeaderReading, read_header
from prowess.parse.header.fences import split_body
from prowess.parse.lint.checks import lint_skill
from prowess.parse.manifest.names import understand
from prowess.parse.repair.loop import fix_header
from prowess.profiles.load import load_profile
from prowess.profiles.schema.roots import ScanLimits
from prowess.state.cache import ScanCache
from prowess.testing import MemoryFiles
from tests.effort import soon
from tests.unit.parse.rules import EVERY_HOST, PROWESS, SPEC

LIMITS = ScanLimits()
SPEC_AS_WRITTEN = msgspec.structs.replace(SPEC, values="written")
FIELDS = {host: load_profile(host).fields for host in EVERY_HOST}

PIECES = [
    *"name description metadata k x 1 true null é 名 😀 - | > # @ ` % * & ! ? ~ [ ] { } , \" ' \\".split(),
    *(
        ": ",
        ":",
        "：",
        ":\t",
        " ",
        "    ",
        "\t",
        "\n",
        "\n",
        "\n",
        "\n  ",
        "\n- ",
        " # ",
        "|- ",
        ">+\n",
        "\\n",
        "\\d",
    ),
    *(
        "*a",
        "&a ",
        "!t ",
        "? ",
        "---",
        "...",
        "<<",
        "2024-01-01",
        "1:30",
        "0x1F",
        "1" * 24,
        "\r\n",
        "\r",
        "\0",
        "\x85",
    ),
    *(
        "\u2028",
        "\ufeff",
        "\u00a0",
        "[a] [b]",
        '"a": 1',
        "text text",
        "<!-- x -->",
        "```",
        '"\\ud800"',
        "hooks:",
    ),
    *(
        "name: x\n",
        "description: Use when: y\n",
        "metadata:\n  a: b\n",
        "allowed-tools: Read, Bash(git add *)\n",
    ),
    *(
        "os: 5\n",
        "effort: x\n",
        "allowed_tools: x\n",
        "metadata: {openclaw: {oss: 1, os: [x]}}\n",
        "hide: maybe\n",
    ),
    *(
        "os: [linux]\n",
        "requires:\n  bins: [x]\n",
        "install: [{kind: brew}]\n",
        'metadata: \'{"a":"\\ud800"}\'\n',
    ),
]
headers = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
closings = st.sampled_from(["\n---\nBody\n", "---\n", "\r\n---\r\nBody", ""])
openings = st.sampled_from(["---\n"] * 6 + ["---yaml\n", "---js\n", "--- JSON \r\n", "---toml\r"])
files = st.builds(
    lambda opening, header, closing: f"{opening}{header}{closing}", openings, headers, closings
)
anything = st.one_of(
    st.binary(max_size=400), files.map(str.encode), st.binary().map(lambda data: b"---\n" + data)
)


def errors_in(*findings):
    return [finding for finding in findings if finding.severity is Severity.ERROR]


@pytest.mark.parametrize("host", EVERY_HOST)
@given(data=anything)
def test_any_bytes_are_read_or_reported(host, data):
    reading = soon(lambda: read_header(data, rules=EVERY_HOST[host], limits=LIMITS))
    understood = soon(
        lambda: understand(
            reading, default_name="x", required=("description",), fields=FIELDS[host]
        )
    )
    assert all(type(key) is str for key in reading.frontmatter)
    assert reading.valid or errors_in(*reading.diagnostics)
    assert understood.valid or errors_in(*reading.diagnostics, *understood.diagnostics)
    assert all(
        finding.file is None and finding.message.endswith(".") for finding in reading.diagnostics
    )


@pytest.mark.parametrize("host", EVERY_HOST)
@given(data=anything)
def test_a_reading_comes_back_from_a_cache_as_it_was(host, data):
    reading = read_header(data, rules=EVERY_HOST[host], limits=LIMITS)
    kept = msgspec.msgpack.decode(msgspec.msgpack.encode(reading), type=HeaderReading)
    assert repr(kept) == repr(reading)
    understood = understand(reading, default_name="x", required=(), fields=FIELDS[host])
    msgspec.msgpack.encode(understood)


@given(text=files)
def test_a_fix_changes_no_meaning_and_leaves_nothing_to_fix(text):
    lenient = read_header(text.encode(), rules=PROWESS, limits=LIMITS)
    fixed, diagnostics = fix_header(text, rules=PROWESS)
    if fixed != text:
        strict = read_header(fixed.encode(), rules=SPEC_AS_WRITTEN, limits=LIMITS)
        assert repr((strict.frontmatter, strict.lead)) == repr((lenient.frontmatter, lenient.lead))
        assert split_body(fixed, rules=PROWESS) == split_body(text, rules=PROWESS)
    else:
        assert diagnostics == ()
    assert fix_header(fixed, rules=PROWESS) == (fixed, ())


@given(text=files)
def test_an_author_is_told_something_about_every_file_that_needs_it(text):
    findings = lint_skill(text, folder_name="x", files=(), rules=PROWESS, fields=FIELDS["spec"])
    fixed, _ = fix_header(text, rules=PROWESS)
    assert findings or fixed == text
    assert [finding.line or 0 for finding in findings] == sorted(
        finding.line or 0 for finding in findings
    )


@given(text=files)
def test_an_author_is_told_of_every_field_that_a_reader_finds_fault_with(text):
    reading = read_header(text.encode(), rules=PROWESS, limits=LIMITS)
    understood = understand(reading, default_name="x", required=(), fields=FIELDS["prowess"])
    told = lint_skill(text, folder_name="x", files=(), rules=PROWESS, fields=FIELDS["spec"])
    refused = {finding.field for finding in errors_in(*told)}
    known = {(finding.code, finding.field) for finding in told}
    if reading.valid and not any(finding.code.startswith("header-") for finding in told):
        unsaid = [one for one in understood.diagnostics if (one.code, one.field) not in known]
        assert [one for one in unsaid if one.field not in refused] == []


@given(name=st.text(), description=st.text(), body=st.text())
def test_what_is_written_properly_is_read_back(name, description, body):
    header = msgspec.json.encode({"name": name, "description": description}).decode()
    clean = header.isprintable() and "---" not in header
    text = f"---\n{header}\n---\n{body}"
    reading = read_header(text.encode(errors="replace"), rules=SPEC, limits=LIMITS)
    if clean and "\r" not in header:
        assert reading.frontmatter == {"name": name, "description": description}
        assert split_body(text, rules=SPEC) == body


WORDS = st.text(
    st.characters(categories=["L", "N", "P", "S", "Zs"], exclude_characters="#"), max_size=80
)


@given(text=WORDS.map(str.strip))
def test_a_sentence_with_colons_is_read_word_for_word(text):
    value = f"Use when: {text}".strip()
    reading = read_header(
        f"---\nname: x\ndescription: {value}\n---\n".encode(), rules=PROWESS, limits=LIMITS
    )
    assert reading.frontmatter == {"name": "x", "description": value}


ROOT = Root(
    path="/s",
    scope=Scope.USER,
    source=Source("claude", "user", "/s", LoadedFrom.SKILLS, "claude:user"),
    order=0,
)
CANDIDATE = Candidate("/s/x/SKILL.md", "/s/x", "x", ROOT, "/s/x/SKILL.md")


@pytest.mark.parametrize("host", EVERY_HOST)
@given(data=anything)
def test_whatever_a_file_holds_every_part_of_its_skill_can_be_asked_for(host, data):
    profile = load_profile(host)
    files = MemoryFiles({CANDIDATE.location: data})
    cache = ScanCache(files, None, key="", reading_type=Parsed)
    reader = CandidateReader(
        files=files,
        plain_files=files,
        readings=cache,
        header=profile.header,
        fields=profile.fields,
        limits=profile.limits,
    )
    read = reader.read_file(CANDIDATE)
    assert (read.skill is None) is bool(read.notes)
    if read.skill is not None:
        skill = read.skill
        assert repr(skill.frontmatter) == repr(
            read_header(data, rules=profile.header, limits=LIMITS).frontmatter
        )
        assert skill.manifest == skill.manifest or "nan" in repr(skill.manifest)
        assert (type(skill.content), len(skill.digest)) == (str, 71)
