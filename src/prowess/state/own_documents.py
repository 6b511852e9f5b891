"""Where documents go that an agent writes for its user: each a new file, named after its title."""

from __future__ import annotations

import os
import re

from prowess.model.facts import Facts

PLANS = ".prowess/plans"
REVIEWS = ".prowess/reviews"

_MOST_NAME = 50


def choose_document_path(facts: Facts, folder: str, title: str, *, default: str) -> str:
    """A path below the home folder that does not exist yet; `default` names one without words."""
    place = os.path.join(facts.home, *folder.split("/"))
    # The title is a model's: nothing but these characters gets into a path.
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:_MOST_NAME].rstrip("-")
    name = words or default
    path = os.path.join(place, f"{name}.md")
    number = 1
    # A broken link counts as there: writing to it would make its target.
    while os.path.lexists(path):
        number += 1
        path = os.path.join(place, f"{name}-{number}.md")
    return path
