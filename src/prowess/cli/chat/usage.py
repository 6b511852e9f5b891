"""What a session has used so far, and the line that shows it."""

from __future__ import annotations

import msgspec
from rich.cells import cell_len, set_cell_size

from prowess.agent.events import Compacted, Event, RequestFinished, SkillLoaded
from prowess.agent.session_file import SavedSession
from prowess.text.display import escape_line


class SessionUsage(msgspec.Struct):
    """Tokens, price and skills of a session. `window` is what the last request held."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    window: int = 0
    skills: list[str] = []

    def note(self, event: Event) -> None:
        """Count what an event says."""
        match event:
            case RequestFinished(agent=""):
                self.window = event.input_tokens + event.output_tokens
                self._add(event.input_tokens, event.output_tokens, event.cost)
            case RequestFinished():
                self._add(event.input_tokens, event.output_tokens, event.cost)
            case SkillLoaded(agent="", name=name) if name not in self.skills:
                self.skills.append(name)
            case Compacted():
                self.window = event.tokens_after
                self.skills = [name for name in self.skills if name not in event.dropped]

    def add_saved(self, saved: SavedSession) -> None:
        """Count what the turns of a session took that was kept."""
        for turn in saved.turns:
            if turn.end is not None:
                self._add(turn.end.input_tokens, turn.end.output_tokens, turn.end.cost)

    def _add(self, input_tokens: int, output_tokens: int, cost: float | None) -> None:
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost


def render_status(usage: SessionUsage, model: str | None, *, width: int) -> str:
    """One line: the model, tokens, price and skills. What does not fit is cut off."""
    parts = [
        name_model(model),
        f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out",
    ]
    if usage.cost is not None:
        parts.append(f"${usage.cost:.4f}")
    if usage.skills:
        word = "skill" if len(usage.skills) == 1 else "skills"
        parts.append(f"{word}: {escape_line(', '.join(usage.skills))}")
    return cut_line(" · ".join(parts), width)


def name_model(model: str | None) -> str:
    """A model as people call it; of a script, only the name of its file."""
    if model is None:
        return "no model"
    provider, _, name = model.partition(":")
    if provider == "script":
        file = name.rpartition("/")[2]
        return escape_line(f"script:{file}")
    return escape_line(model)


def cut_line(line: str, width: int) -> str:
    """A line that fits a width; wide characters count twice."""
    if cell_len(line) <= width:
        return line
    return set_cell_size(line, max(width - 1, 0)).rstrip() + "…"
