"""Tokens: an estimate that is close, and exact counts for OpenAI's encodings."""

from __future__ import annotations

import sys

import pytest

from prowess.errors import MissingExtra, UnknownEncoding
from prowess.present.tokens import (
    ENCODINGS,
    ESTIMATE,
    estimate_tokens,
    find_encoding,
    get_counter,
    split_at_seams,
)

ENGLISH = (
    "Reads tables from spreadsheets and checks every row against a schema. Use when someone sends an .xlsx or .csv "
    "file and asks what is wrong with it.\n\n## Steps\n\n1. Open the file with `scripts/read.py --strict`.\n"
    "2. Report each problem with its row number (rows start at 2).\n"
)
CHINESE = (
    "从电子表格中读取数据，逐行检查格式是否正确。当用户发送表格文件并询问其中有什么问题时使用。\n\n## 步骤\n\n"
    "1. 用脚本打开文件，读取所有工作表的名称。\n2. 逐行报告问题，并写明行号。\n3. 最后给出一份简短的总结。\n"
)


@pytest.mark.parametrize(
    "text", [ENGLISH, CHINESE, ENGLISH + CHINESE, "def f(x):\n    return x * 2\n" * 20]
)
def test_the_estimate_is_close_to_the_count(text):
    exact = get_counter("o200k_base").count(text)
    assert abs(estimate_tokens(text) - exact) <= 0.15 * exact


def test_nothing_has_no_tokens_and_anything_has_one():
    assert [estimate_tokens(text) for text in ("", " ", "a", "\ud800")] == [0, 1, 1, 1]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_text_in_pieces_has_as_many_tokens_as_whole(encoding):
    count = get_counter(encoding).count
    text = (ENGLISH + CHINESE) * 20
    pieces = list(split_at_seams(text, 700))
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= 700
    assert sum(map(count, pieces)) == count(text)


def test_very_long_texts_and_the_encodings_own_marks_can_be_counted():
    count = get_counter("o200k_base").count
    assert count("word " * 300_000) == 300_001
    assert count("<|endoftext|>") > 1
    assert count("\ud800") > 0


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4o-mini", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-4.1", "o200k_base"),
        ("gpt-5.1-codex", "o200k_base"),
        ("openai/o3", "o200k_base"),
        ("claude-opus-4", None),
        ("gemini-3-pro", None),
        ("qwen3", None),
    ],
)
def test_only_models_of_openai_have_an_encoding(model, encoding):
    assert find_encoding(model) == encoding


def test_a_counter_says_whether_it_is_exact():
    assert get_counter() is ESTIMATE
    assert (ESTIMATE.method, ESTIMATE.exact) == ("estimate", False)
    exact = get_counter("cl100k_base")
    assert (exact.method, exact.exact) == ("cl100k_base", True)


def test_an_unknown_encoding_is_refused_with_the_ones_there_are():
    with pytest.raises(UnknownEncoding) as caught:
        get_counter("p50k")
    assert (
        str(caught.value)
        == "There is no encoding “p50k”; the encodings are o200k_base, cl100k_base."
    )


def test_without_the_extra_exact_counts_are_refused_with_the_command_that_mends_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    with pytest.raises(MissingExtra) as caught:
        get_counter("o200k_base")
    assert (
        str(caught.value)
        == "The extra “tokens”, which is needed to count tokens exactly, is not installed."
    )
    assert caught.value.hint == 'Run `pip install "prowess[tokens]"`.'
