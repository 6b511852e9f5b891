"""`[jobs]`: where jobs are kept, how many run at once, how batches end, and what else is a job."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from prowess.settings.formats.document import SettingValue
from prowess.settings.formats.key_spans import Path


def _read_database(value: SettingValue) -> str:
    # The address may have a password in it, so no message shows it.
    address = value.data if isinstance(value.data, str) else ""
    if not address.startswith(("postgresql://", "postgres://")):
        raise value.wrong("an address such as postgresql://user@host/name", is_secret=True)
    return address


def _read_concurrency(value: SettingValue) -> int:
    # In Python, true and false are numbers.
    is_whole = isinstance(value.data, int) and not isinstance(value.data, bool)
    is_enough = is_whole and value.data >= 1
    if not is_enough:
        raise value.wrong("a whole number, 1 or more")
    return int(value.data)


def _read_pull_requests(value: SettingValue) -> str:
    if value.data not in ("one", "each"):
        raise value.wrong("one of one, each")
    return str(value.data)


_KEYS: dict[str, Callable[[SettingValue], Any]] = {
    "database": _read_database,
    "concurrency": _read_concurrency,
    "pull_requests": _read_pull_requests,
    "background": SettingValue.as_bool,
}


def read_jobs(name: str, value: SettingValue) -> Iterator[tuple[Path, Any, SettingValue]]:
    """One key of `[jobs]`."""
    value.check_known(name, _KEYS, table="jobs")
    yield ("jobs", name), _KEYS[name](value), value
