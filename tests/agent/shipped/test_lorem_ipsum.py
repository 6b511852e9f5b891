"""`/lorem-ipsum`: text of a number of tokens, made without a model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.agent.shipped.lorem_ipsum import make_text
from prowess.present.tokens import ESTIMATE, get_counter


@pytest.mark.seed("C-110")
@given(st.integers(min_value=1, max_value=3_000))
def test_the_text_has_exactly_the_tokens_that_were_asked_for(wanted):
    exact = get_counter("o200k_base")
    assert exact.count(make_text(wanted, exact)) == wanted
    assert abs(ESTIMATE.count(make_text(wanted, ESTIMATE)) - wanted) <= 1


def test_the_command_prints_the_text_without_a_model(terminal):
    answer = terminal.run("run", "/lorem-ipsum 300")
    assert (answer.code, answer.err) == (0, "")
    assert get_counter("o200k_base").count(answer.out.removesuffix("\n")) == 300


@pytest.mark.parametrize("typed", ["x", "0", "-3", "1e9", "200001", "٣"])
def test_a_number_that_is_none_is_refused_with_what_is_allowed(terminal, typed):
    answer = terminal.run("run", f"/lorem-ipsum {typed}")
    assert (answer.code != 0, answer.out) == (True, "")
    assert "give one from 1 to 200,000" in answer.err
