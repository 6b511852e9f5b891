"""Import msgspec and click without the modules that they rarely need.

Those took a tenth of the time of a quick command. Only the program itself imports this way; in a
process that belongs to somebody else, no module is replaced.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType


def import_lean() -> None:
    """Import both libraries. What is left out is imported as soon as it is used."""
    with (
        # msgspec uses it if it is installed; on this version of Python it needs nothing from it.
        _replaced("typing_extensions", None),
        # Only for JSON schemas.
        _replaced("msgspec.inspect", _StandIn("msgspec.inspect")),
        _replaced("textwrap", _StandIn("textwrap")),
        _replaced("platform", Platform("platform")),
    ):
        import msgspec  # noqa: F401
    with _replaced("inspect", Inspect("inspect")), _replaced("gettext", Gettext("gettext")):
        import click  # noqa: F401


class _StandIn(ModuleType):
    """A few functions of a module. Any other name comes from the module itself."""

    def __getattr__(self, name: str) -> object:
        # An import looks for `__path__` on its own; that is no reason to import the module.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.import_module(), name)

    def import_module(self) -> ModuleType:
        """The module that this stands for."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return import_module(self.__name__)


class Platform(_StandIn):
    """What `uuid` calls when msgspec imports it."""

    def system(self) -> str:
        """The name of the operating system; `uuid` asks only where there is `uname`."""
        return os.uname().sysname


class Inspect(_StandIn):
    """What click calls for the help text of each option."""

    def cleandoc(self, text: str) -> str:
        """Remove the indentation of a docstring, which most texts do not have."""
        has_indentation = "\n" in text or "\t" in text or text[:1].isspace()
        if not has_indentation:
            return text
        return str(self.import_module().cleandoc(text))


class Gettext(_StandIn):
    """Messages in English: click would search for a translation of each, and there are none."""

    def gettext(self, message: str) -> str:
        """The message."""
        return message

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        """The message in the singular for one thing, in the plural for any other number."""
        return singular if number == 1 else plural


@contextmanager
def _replaced(name: str, module: ModuleType | None) -> Iterator[None]:
    """Replace a module, unless it is already imported."""
    if name in sys.modules:
        yield
        return
    # With None, importing the module fails as if it were not installed.
    sys.modules[name] = module  # type: ignore[assignment]
    try:
        yield
    finally:
        if name in sys.modules and sys.modules[name] is module:
            del sys.modules[name]
