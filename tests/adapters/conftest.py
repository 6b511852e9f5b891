"""What the tests of every adapter stand on."""

from __future__ import annotations

import importlib
import os
from types import ModuleType

import pytest

from tests.adapters.shelf import Play, Shelf
from tests.workspace import Workspace

ADAPTERS: tuple[str, ...] = ("anthropic", "langchain", "openai_agents", "pydantic_ai")
if os.environ.get("PROWESS_FRAMEWORKS"):
    # Heavy libraries have an environment of their own: `make test-frameworks`.
    ADAPTERS = ("agent_framework", "google_adk", "strands")
else:
    collect_ignore = ["test_frameworks.py"]


@pytest.fixture
def shelf(workspace: Workspace) -> Shelf:
    """A project with skills."""
    return Shelf(workspace)


@pytest.fixture(params=ADAPTERS)
def name(request: pytest.FixtureRequest) -> str:
    """The name of each adapter in turn."""
    return str(request.param)


@pytest.fixture
def adapter(name: str) -> ModuleType:
    """An adapter."""
    return importlib.import_module(f"prowess.adapters.{name}")


@pytest.fixture
def play(name: str) -> Play:
    """A run of its library."""
    found: Play = importlib.import_module(f"tests.adapters.play_{name}").play
    return found
