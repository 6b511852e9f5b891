"""Where Prowess keeps its cache and its state, by the conventions of each platform."""

from __future__ import annotations

import os

from prowess.model.facts import Facts


def cache_folder(facts: Facts) -> str:
    """The folder for what can be deleted at any time; `PROWESS_CACHE_DIR` moves it."""
    return _folder(facts, "PROWESS_CACHE_DIR", "XDG_CACHE_HOME", ".cache", "user_cache_dir")


def state_folder(facts: Facts) -> str:
    """The folder for trust, approvals and usage counts; `PROWESS_STATE_DIR` moves it."""
    default = os.path.join(".local", "state")
    return _folder(facts, "PROWESS_STATE_DIR", "XDG_STATE_HOME", default, "user_state_dir")


def data_folder(facts: Facts) -> str:
    """The folder for installed skills, which other folders link to; `PROWESS_DATA_DIR` moves it."""
    default = os.path.join(".local", "share")
    return _folder(facts, "PROWESS_DATA_DIR", "XDG_DATA_HOME", default, "user_data_dir")


def store_folder(facts: Facts) -> str:
    """The folder with the one copy of every installed skill."""
    return os.path.join(data_folder(facts), "store")


def _folder(facts: Facts, own: str, variable: str, default: str, elsewhere: str) -> str:
    if facts.env.get(own):
        return facts.env[own]
    if facts.platform == "linux":
        # As platformdirs does; importing it takes longer than reading the cache.
        base = facts.env.get(variable) or os.path.join(facts.home, default)
        return os.path.join(base, "prowess")
    import platformdirs

    return str(getattr(platformdirs, elsewhere)("prowess"))
