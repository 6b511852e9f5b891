"""Documents that an agent writes for its user, such as plans and reviews, in Prowess's own folders.

Nobody has to approve them: each is a new file that replaces nothing, in a folder for nothing else.
A rule can still deny them, and a read-only session writes none.
"""

from __future__ import annotations

import time

from prowess.agent.tools.plan import Access, IsCancelled, Plan
from prowess.errors import UsageError
from prowess.machine.atomic_write import write_aside
from prowess.model.permission import Action
from prowess.runtime import Skills
from prowess.state.own_documents import choose_document_path
from prowess.text.differences import render_difference

_MOST_CHARACTERS = 100_000


def plan_document(skills: Skills, folder: str, title: str, lines: list[str]) -> Plan:
    """Write a document with this title to a folder below the home folder."""
    heading = " ".join(title.split())
    if not heading:
        raise UsageError("The title is empty.")
    day = time.strftime("%Y-%m-%d")
    text = "\n".join((f"# {heading}", "", f"{day}, {skills.cwd}", "", *lines)).rstrip() + "\n"
    if len(text) > _MOST_CHARACTERS:
        raise UsageError(f"The document has more than {_MOST_CHARACTERS:,} characters; shorten it.")
    path = choose_document_path(skills.facts, folder, f"{day} {heading}", default=day)
    short = f"~{path.removeprefix(skills.facts.home.rstrip('/'))}"

    def run(is_cancelled: IsCancelled) -> str:
        # For the user alone: a review quotes code that others on the machine may not see.
        write_aside(path, text.encode(), mode=0o600, folder_mode=0o700)
        return f"Saved in {path}."

    return Plan(
        title=f"Save {short}",
        permissions=("edit",),
        accesses=(Access(names=(path, short)),),
        default=Action.ALLOW,
        run=run,
        diff=render_difference(path, "", text),
        touched=path,
        is_write=True,
    )
