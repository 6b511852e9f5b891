"""Laws of conditions: the quick answer is the plain one, and nothing that woke falls asleep."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prowess.activate.dormant.conditions import Condition, ConditionIndex, WatchState, wake
from prowess.activate.dormant.patterns import covers, expand_braces, parse_patterns

names = st.sampled_from(
    ["a", "b", "ab", "abc", "a.py", "b.py", "test_a.py", "src", "lib", "x-y-z", ".hid", "a]", "äö"]
)
paths = st.lists(names, min_size=1, max_size=5)
pieces = st.sampled_from(
    "a b ab src lib .py test_ * ** ? / [ab] [!a] [a-c] [[:alpha:]] {a,b} {src,lib} \\* ! . - x [ ] { } , /**/ **/ /**".split()
)
patterns = st.one_of(
    st.lists(pieces, min_size=1, max_size=6).map("".join),
    st.sampled_from(
        [
            "*.py",
            "src/**",
            "!src/a/**",
            "!*.py",
            "**/test_*",
            "src/",
            "/a",
            "{a,b}/*.py",
            "*a*",
            "*",
            "**",
        ]
    ),
)
skills = st.lists(st.lists(patterns, min_size=1, max_size=5), max_size=12)


def gather(written: list[list[str]]) -> list[Condition]:
    return [Condition(f"s{n}", f"/s{n}/SKILL.md", tuple(one)) for n, one in enumerate(written)]


@given(skills, st.lists(paths, min_size=1, max_size=4))
def test_one_index_answers_as_every_skill_alone_would(
    written: list[list[str]], asked: list[list[str]]
) -> None:
    conditions = gather(written)
    together = ConditionIndex(conditions)
    for path in asked:
        alone = [
            one for one in conditions if covers(parse_patterns(one.patterns, most=1_000)[0], path)
        ]
        assert together.find_met(path) == alone


@given(skills, st.lists(paths, max_size=6))
def test_what_is_awake_stays_awake_and_is_what_was_touched(
    written: list[list[str]], touched: list[list[str]]
) -> None:
    conditions = gather(written)
    together, watch = ConditionIndex(conditions), WatchState()
    for path in touched:
        woken = wake(watch, together, "/".join(path), cwd="/p")
        assert woken.watch.awake == watch.awake | {one.location for one in woken.conditions}
        assert watch.awake.isdisjoint(one.location for one in woken.conditions)
        watch = woken.watch
    plain = {
        one.location
        for path in touched
        for one in conditions
        if covers(parse_patterns(one.patterns, most=1_000)[0], path)
    }
    assert watch.awake == plain


@given(
    st.text(),
    st.lists(st.text(min_size=1).filter(lambda name: "/" not in name), min_size=1, max_size=4),
)
def test_any_text_may_be_a_pattern_and_any_name_a_file(pattern: str, path: list[str]) -> None:
    conditions = ConditionIndex([Condition("any", "/any/SKILL.md", (pattern,))])
    assert conditions.find_met(path) in ([], [Condition("any", "/any/SKILL.md", (pattern,))])


@given(st.text("ab{},\\[]", max_size=12))
def test_braces_never_lose_a_pattern(text: str) -> None:
    assert list(expand_braces(text))


@given(st.text("ab{},\\[]", max_size=14))
def test_the_number_of_spellings_is_known_beforehand(text: str) -> None:
    spellings = list(expand_braces(text))
    patterns, broken = parse_patterns([text], most=len(spellings))
    assert len(patterns) <= len(spellings)
    assert [why for _, why in broken if why.startswith("with its braces")] == []
    if len(spellings) > 1:
        assert len(parse_patterns([text], most=len(spellings) - 1)[1]) == 1
