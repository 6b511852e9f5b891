"""Cron expressions: five fields, or six with seconds first, in a time zone."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from croniter import CroniterBadDateError, CroniterError, croniter

from prowess.errors import UsageError

_FIELDS, _MOST_FIELDS = 5, 6
_QUOTES = ('"', "'")
# Counted one by one, and a person does not need to know more.
_MOST_COUNTED = 1000


def check_cron(expression: str) -> str:
    """The expression with single spaces. Raises `UsageError` for one that cannot be read."""
    cron = " ".join(expression.split())
    is_alias = cron.startswith("@")
    has_fields = _FIELDS <= len(cron.split()) <= _MOST_FIELDS
    if not (is_alias or has_fields) or not croniter.is_valid(cron, second_at_beginning=True):
        raise UsageError(
            f"“{cron}” is not a cron expression; `*/10 * * * *` is every ten minutes, and"
            " `0 9 * * 1-5` at nine on weekdays."
        )
    return cron


def split_cron(text: str) -> tuple[str, str]:
    """A cron expression, and the text after it, "" if there is none. Raises `UsageError`.

    An expression in quotes can be any. Without, a sixth field counts only if it has a star: a
    prompt may well begin with a number.
    """
    text = text.strip()
    if text[:1] in _QUOTES:
        cron, _, rest = text[1:].partition(text[0])
        return check_cron(cron), rest.strip()
    words = text.split(maxsplit=_MOST_FIELDS)
    count = 1 if text.startswith("@") else _FIELDS
    if count == _FIELDS and "*" in "".join(words[_FIELDS:_MOST_FIELDS]):
        count = _MOST_FIELDS
    parts = text.split(maxsplit=count)
    return check_cron(" ".join(parts[:count])), "".join(parts[count:])


def find_next(cron: str, zone: str, after: float) -> float:
    """The first time after a moment. Raises `UsageError` where there is none."""
    moment = datetime.fromtimestamp(after, ZoneInfo(zone))
    try:
        found: datetime = croniter(cron, moment, second_at_beginning=True).get_next(datetime)
    except CroniterBadDateError:
        raise UsageError(f"“{cron}” never matches a date.") from None
    except CroniterError as error:
        raise UsageError(f"“{cron}” is not a cron expression: {error}.") from None
    return found.timestamp()


def count_times(cron: str, zone: str, first: float, last: float) -> int:
    """How many times there are from the first, which is one, to a moment; 1000 are enough."""
    count, moment = 1, find_next(cron, zone, first)
    while moment <= last and count < _MOST_COUNTED:
        count, moment = count + 1, find_next(cron, zone, moment)
    return count
