"""Cron expressions: what is one, when it is due, and how often it was."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from prowess.agent.jobs.cron import check_cron, count_times, find_next, split_cron
from prowess.errors import UsageError
from prowess.machine.time_zone import find_time_zone

NOON = datetime(2026, 11, 15, 12, 0, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("cron", "seconds"),
    [
        ("*/10 * * * *", 600),
        ("* * * * * *", 1),
        ("30 * * * * *", 30),
        ("@hourly", 3600),
        ("0 13 * * 0", 3600),
    ],
)
def test_the_next_time_comes_after_a_moment(cron: str, seconds: int) -> None:
    assert find_next(cron, "UTC", NOON) == NOON + seconds


def test_times_are_those_of_the_zone_also_when_clocks_change() -> None:
    before = datetime(2026, 10, 24, 12, 0, tzinfo=UTC).timestamp()
    zone = ZoneInfo("Europe/Berlin")
    first = find_next("0 9 * * *", "Europe/Berlin", before)
    second = find_next("0 9 * * *", "Europe/Berlin", first)
    shown = [f"{datetime.fromtimestamp(one, zone):%d %H:%M}" for one in (first, second)]
    assert shown == ["25 09:00", "26 09:00"]
    assert first == datetime(2026, 10, 25, 8, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("cron", ["", "soon", "* * * *", "61 * * * *", "* * * * * * *", "@often"])
def test_what_is_no_cron_expression_is_refused_with_an_example(cron: str) -> None:
    with pytest.raises(UsageError, match=r"is not a cron expression; `\*/10"):
        check_cron(cron)


def test_a_time_that_never_comes_is_refused() -> None:
    with pytest.raises(UsageError, match="“0 0 31 2 \\*” never matches a date"):
        find_next("0 0 31 2 *", "UTC", NOON)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("*/5 * * * * check the build", ("*/5 * * * *", "check the build")),
        ("0 */5 * * * *  check\nit", ("0 */5 * * * *", "check\nit")),
        ("@daily tidy up", ("@daily", "tidy up")),
        ("@daily", ("@daily", "")),
        ("*/5 * * * *", ("*/5 * * * *", "")),
        ("0 9 * * 1 2 files are missing", ("0 9 * * 1", "2 files are missing")),
        ('"0 0 9 * * 1" check', ("0 0 9 * * 1", "check")),
        ("'@daily' check", ("@daily", "check")),
    ],
)
def test_an_expression_is_told_from_the_prompt_after_it(text: str, parts: tuple[str, str]) -> None:
    assert split_cron(text) == parts


def test_times_are_counted_up_to_a_bound() -> None:
    assert count_times("0 * * * *", "UTC", NOON, NOON + 10) == 1
    assert count_times("0 * * * *", "UTC", NOON, NOON + 3600 * 5) == 6
    assert count_times("* * * * * *", "UTC", NOON, NOON + 3600 * 5) == 1000


def test_the_zone_of_the_machine_is_that_of_its_environment() -> None:
    assert find_time_zone({"TZ": "Europe/Berlin"}) == "Europe/Berlin"
    assert find_time_zone({"TZ": ":Asia/Tokyo"}) == "Asia/Tokyo"
    # A path or nonsense is passed over.
    assert find_time_zone({"TZ": "../../etc/passwd"}) == find_time_zone({})
