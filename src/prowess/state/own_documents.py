"""Where documents go that an agent writes for its user: each a new file, named after its title."""

from __future__ import annotations

import os
import re
from itertools import count

from prowess.model.facts import Facts

PLANS = ".prowess/plans"
REVIEWS = ".prowess/reviews"

_MOST_NAME = 50


def choose_document_path(facts: Facts, folder: str, title: str, *, default: str) -> str:
    """A path below the home folder that does not exist yet; `default` names one without words."""
    place = os.path.join(facts.home, *folder.split("/"))
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:_MOST_NAME].rstrip("-")
    name = words or default
    names = (name if number == 1 else f"{name}-{number}" for number in count(1))
    paths = (os.path.join(place, f"{one}.md") for one in names)
    return next(path for path in paths if not os.path.lexists(path))
