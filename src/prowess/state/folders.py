"""Where Prowess keeps its own things: cache and state, by the rules of each platform."""

from __future__ import annotations

import os

from prowess.model.facts import Facts


def cache_folder(facts: Facts) -> str:
    """The folder for what can be thrown away; `PROWESS_CACHE_DIR` moves it."""
    return _folder(facts, "PROWESS_CACHE_DIR", "XDG_CACHE_HOME", ".cache", "user_cache_dir")


def state_folder(facts: Facts) -> str:
    """The folder for what Prowess remembers: approvals and counts; `PROWESS_STATE_DIR` moves it."""
    return _folder(
        facts,
        "PROWESS_STATE_DIR",
        "XDG_STATE_HOME",
        os.path.join(".local", "state"),
        "user_state_dir",
    )


def _folder(facts: Facts, own: str, variable: str, default: str, elsewhere: str) -> str:
    if facts.env.get(own):
        return facts.env[own]
    if facts.platform == "linux":
        # The rule platformdirs applies too; importing it would cost every command more than reading
        # the cache.
        return os.path.join(facts.env.get(variable) or os.path.join(facts.home, default), "prowess")
    import platformdirs

    return str(getattr(platformdirs, elsewhere)("prowess"))
