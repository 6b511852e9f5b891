"""Laws of parsing: nothing raises, nothing takes long, nothing is lost in silence, a fix changes no
meaning.
"""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prowess.diagnostics import Severity
from prowess.model.skill import Candidate, LoadedFrom, Root, Scope, Source
from prowess.parse.candidates import CandidateReader, Parsed
from prowess.parse.header.fast import HeaderReading, read_header
from prowess.parse.header.fences import split_body
from prowess.parse.header.slow import read_any_header
from prowess.parse.lint.checks import lint_skill
from prowess.parse.manifest.names import understand
from prowess.parse.repair.loop import fix_header
from prowess.profiles.load import load_profile
from prowess.profiles.schema.roots import ScanLimits
from prowess.state.cache import ScanCache
from prowess.testing import MemoryFiles
from tests.effort import soon
from tests.unit.parse.rules import HOSTS

LIMITS = ScanLimits()
PROFILES = {host: load_profile(host) for host in HOSTS}
PROWESS, SPEC = PROFILES["prowess"].header, PROFILES["spec"].header
SPEC_AS_WRITTEN = msgspec.structs.replace(SPEC, values="written")
STANDARD = PROFILES["spec"].fields
# Every law is tested with every host, so a few dozen examples of each are many of a law.
of_every_host = settings(max_examples=40)

# Pieces that mean something to some parser, between words that do not.
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
    ),
    *("\\n", "\\d", "*a", "&a ", "!t ", "!!t ", "? ", "---", "\n ---", "...", "<<", "<<: 3\n"),
    *("2024-01-01", "1:30", "-1:30", "0x1F", "-012", "0b11", "1e400", ".nan", "1_0", "1" * 24),
    *("\r\n", "\r", "\0", "\x01", "\x7f", "\x85", "\u2028", "\ufeff", "\u00a0", "\ue000"),
    *(
        "k: |+\n\n",
        "\n\t\n",
        "[a] [b]",
        "[a]: b",
        '"a": 1',
        '"!k": 1',
        '{"!k": 1}',
        "{a: [1, 012]}",
        "text text",
    ),
    *("<!-- x -->", "<!--", "```", '"\\ud800"', '"\\ud83d\\ude00"', "hooks:", "[" * 40 + "]" * 40),
    *("name: x\n", "description: Use when: y\n", "metadata:\n  a: b\n", "name: x\nname: y\n"),
    *(
        "allowed-tools: Read, Bash(git add *)\n",
        "description: >-\n  a\n\n  b\n",
        "a: &a [1]\nb: *a\n",
    ),
    *("os: 5\n", "effort: x\n", "allowed_tools: x\n", "hide: maybe\n", "paths: [/x, ../y]\n"),
    *("metadata: {openclaw: {oss: 1, os: [x]}}\n", 'metadata: \'{"a":"\\ud800"}\'\n'),
    *("os: [linux]\n", "requires:\n  bins: [x]\n", "install: [{kind: brew}]\n"),
]
JSON = [
    '{"name": "x", "size": 1e400}',
    '{"a":' * 70 + "1" + "}" * 70,
    '{"a": "\\ud800"}',
    "[1]",
    "{",
]
headers = st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.sampled_from(JSON)
closings = st.sampled_from(
    ["\n---\nBody\n", "---\n", "\r\n---\r\nBody", "\n ---\nBody\n---\n", "\n----\n", "\n...\n", ""]
)
openings = st.sampled_from(
    ["---\n"] * 10
    + ["---yaml\n", "---js\n", "---json\n", "---json\n", "--- JSON \r\n", "---toml\r", "----\n"]
    + ["\ufeff---\n", "\ufeff\ufeff---\n", "\n---\n", " ---\n", "<!-- c -->---\n", "--- \n"]
)
files = st.builds(
    lambda opening, header, closing: f"{opening}{header}{closing}", openings, headers, closings
)
anything = st.one_of(
    st.binary(max_size=400), files.map(str.encode), st.binary().map(lambda data: b"---\n" + data)
)


def errors_in(*findings):
    return [finding for finding in findings if finding.severity is Severity.ERROR]


def read(host, data):
    profile = PROFILES[host]
    return read_header(data, rules=profile.header, limits=profile.limits)


def count_levels(value):
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(count_levels, value), default=0) if isinstance(value, list) else 0


def find_keys(value):
    """Every key of a value, however deep."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        yield from find_keys(item)


@pytest.mark.parametrize("host", HOSTS)
@of_every_host
@given(data=anything)
def test_any_bytes_are_read_or_reported(host, data):
    profile = PROFILES[host]
    reading = soon(lambda: read(host, data))
    understood = soon(
        lambda: understand(
            reading, default_name="x", required=("description",), fields=profile.fields
        )
    )
    assert all(type(key) is str for key in find_keys(reading.frontmatter))
    assert count_levels(reading.frontmatter) <= profile.limits.yaml_depth
    assert reading.valid is not bool(errors_in(*reading.diagnostics))
    assert understood.valid or errors_in(*reading.diagnostics, *understood.diagnostics)
    assert all(
        finding.file is None and finding.message.endswith(".") for finding in reading.diagnostics
    )


@pytest.mark.parametrize("host", HOSTS)
@of_every_host
@given(data=anything)
def test_the_short_way_and_the_long_way_lead_to_the_same_header(host, data):
    profile = PROFILES[host]
    reading = read(host, data)
    careful = read_any_header(data, profile.header, profile.limits)
    assert repr(reading.frontmatter) == repr(careful.frontmatter)
    assert (reading.valid, reading.lead) == (careful.valid, careful.lead)


@pytest.mark.parametrize("host", HOSTS)
@of_every_host
@given(data=anything)
def test_a_reading_comes_back_from_a_cache_as_it_was(host, data):
    reading = read(host, data)
    kept = msgspec.msgpack.decode(msgspec.msgpack.encode(reading), type=HeaderReading)
    assert repr(kept) == repr(reading)
    fields = PROFILES[host].fields
    msgspec.msgpack.encode(understand(reading, default_name="x", required=(), fields=fields))


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
    findings = lint_skill(text, folder_name="x", files=(), rules=PROWESS, fields=STANDARD)
    fixed, _ = fix_header(text, rules=PROWESS)
    assert findings or fixed == text
    assert [finding.line or 0 for finding in findings] == sorted(
        finding.line or 0 for finding in findings
    )


@given(text=files)
def test_an_author_is_told_of_every_field_that_a_reader_finds_fault_with(text):
    reading = read_header(text.encode(), rules=PROWESS, limits=LIMITS)
    understood = understand(
        reading, default_name="x", required=(), fields=PROFILES["prowess"].fields
    )
    told = lint_skill(text, folder_name="x", files=(), rules=PROWESS, fields=STANDARD)
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


@pytest.mark.parametrize("host", HOSTS)
@of_every_host
@given(data=anything)
def test_whatever_a_file_holds_every_part_of_its_skill_can_be_asked_for(host, data):
    profile = PROFILES[host]
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
    claim = reader.read_file(CANDIDATE)
    assert (claim.skill is None) is bool(claim.notes)
    if claim.skill is not None:
        skill = claim.skill
        assert repr(skill.frontmatter) == repr(read(host, data).frontmatter)
        assert skill.manifest == skill.manifest or "nan" in repr(skill.manifest)
        assert (type(skill.content), len(skill.digest)) == (str, 71)
