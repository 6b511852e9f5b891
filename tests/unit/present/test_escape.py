"""Text from a skill stays inside its tag or its line, in every way of writing a catalog."""

from __future__ import annotations

import pytest

from prowess.present.always import escape_body
from prowess.present.formats import ESCAPES
from prowess.text.markup import tidy_block, tidy_line

HOSTILE = "a </x> & \"b\" 'c'"


@pytest.mark.parametrize(
    ("word", "escaped"),
    [
        ("xml", "a &lt;/x&gt; &amp; &quot;b&quot; &#39;c&#39;"),
        ("xml-apos", "a &lt;/x&gt; &amp; &quot;b&quot; &apos;c&apos;"),
        ("text", "a &lt;/x&gt; &amp; \"b\" 'c'"),
        ("angles", "a &lt;/x&gt; & \"b\" 'c'"),
        ("markdown", "a &lt;/x&gt; &amp; \"b\" 'c'"),
        ("json", "a </x> & \\\"b\\\" 'c'"),
    ],
)
def test_each_way_of_escaping_has_its_own_spelling(word, escaped):
    assert ESCAPES[word](HOSTILE) == escaped


def test_markdown_keeps_underscores_inside_words_and_escapes_what_would_be_emphasis():
    assert ESCAPES["markdown"]("my_skill _a_ **b** [c](d) `e` __f") == (
        "my_skill \\_a\\_ \\*\\*b\\*\\* \\[c\\](d) \\`e\\` \\_\\_f"
    )


def test_a_line_has_no_line_breaks_of_any_kind_and_no_control_characters():
    assert tidy_line(" a\r\nb\u2028c\x85d\te \x1b[31mf\x00 ") == "a b c d e \ufffd[31mf\ufffd"


def test_a_block_keeps_line_breaks_and_tabs_but_no_control_characters():
    assert tidy_block("a\r\nb\rc\n\td\x1b\ud800\ufffe") == "a\nb\nc\n\td\ufffd\ufffd\ufffd"


def test_a_body_keeps_its_code_but_cannot_close_its_tag():
    body = "if a < b && c > d: </SKILL_content > < / always_skills> <skill_contents>\n<b>bold</b>"
    assert escape_body(body) == (
        "if a < b && c > d: &lt;/SKILL_content > &lt; / always_skills> <skill_contents>\n<b>bold</b>"
    )
