"""What the program leaves out while it starts, and that nothing is missing because of it."""

from __future__ import annotations

import gettext
import inspect
import platform
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.cli.lean_imports import Gettext, Inspect, Platform, import_lean

LEFT_OUT = {
    "gettext",
    "inspect",
    "locale",
    "msgspec.inspect",
    "platform",
    "textwrap",
    "typing_extensions",
}


def run(program: str, *arguments: str) -> str:
    """What a program prints that imports nothing of its own before."""
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def test_a_list_is_made_without_the_modules_that_are_rarely_needed(terminal):
    terminal.skill("project/.agents/skills/one")
    program = (
        "import sys; from prowess.cli import main; code = main()\n"
        f"print(code, sorted({LEFT_OUT!r} & set(sys.modules)))"
    )
    *listed, last = run(program, "list", "--json").splitlines()
    assert any('"one"' in line for line in listed)
    assert last == "0 []"


@pytest.mark.parametrize("name", sorted(LEFT_OUT - {"typing_extensions"}))
def test_a_module_that_was_left_out_can_be_imported_afterwards(name):
    program = (
        "import sys; from prowess.cli.lean_imports import import_lean; import_lean()\n"
        f"import {name}; module = sys.modules[{name!r}]\n"
        "print(type(module).__name__, module.__spec__.name)"
    )
    assert run(program) == f"module {name}\n"


def test_the_libraries_still_have_what_they_did_not_import():
    program = (
        "from prowess.cli.lean_imports import import_lean; import_lean()\n"
        "import msgspec, click\n"
        "class Point(msgspec.Struct):\n"
        "    '''A point.\n\n    In a plane.\n    '''\n    x: int\n"
        "print(msgspec.inspect.type_info(int).__class__.__name__)\n"
        "print(msgspec.json.schema(Point)['$defs']['Point']['description'].split())\n"
        "@click.command()\n"
        "@click.option('--much', help='One.\\n    Two.')\n"
        "def command(much):\n"
        "    '''First.\n\n    Second.\n    '''\n"
        "print(command.get_help(click.Context(command)))\n"
    )
    schema_type, description, *shown = run(program).splitlines()
    assert (schema_type, description) == ("IntType", "['A', 'point.', 'In', 'a', 'plane.']")
    assert [line.strip() for line in shown if line.strip()][1:] == [
        "First.",
        "Second.",
        "Options:",
        "--much TEXT  One. Two.",
        "--help       Show this message and exit.",
    ]


def test_a_process_that_has_the_modules_keeps_them():
    before = {name: sys.modules.get(name) for name in ("inspect", "gettext", "platform")}
    import_lean()
    assert {name: sys.modules.get(name) for name in before} == before
    assert None not in before.values()


@given(st.text(st.sampled_from("ab \t\n\r\x0b\x0c\u00a0")) | st.text())
def test_a_text_is_cleaned_as_the_module_does_it(text):
    assert Inspect("inspect").cleandoc(text) == inspect.cleandoc(text)


@given(st.integers(), st.text(), st.text())
def test_a_message_is_the_one_without_translations(number, singular, plural):
    messages = Gettext("gettext")
    nothing = gettext.NullTranslations()
    assert messages.gettext(singular) == nothing.gettext(singular)
    expected = nothing.ngettext(singular, plural, number)
    assert messages.ngettext(singular, plural, number) == expected


@pytest.mark.skipif(sys.platform == "win32", reason="uuid does not ask for it on Windows")
def test_the_name_of_the_system_is_the_one_that_the_module_says():
    assert Platform("platform").system() == platform.system()
