"""Documents written in every style a format has, with the line on which each key was written."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

from hypothesis import strategies as st

Path = tuple[str, ...]

_LETTERS = "ab-_. #:'\"[]{},=é\\&*!|>?%@`~/1"
KEYS = st.sampled_from(["a", "b", "c-d", "e_f", "1", "a.b", "x y", "", "#", "k:", "é"]) | st.text(
    _LETTERS, max_size=4
)
TEXTS = st.sampled_from(
    ["plain", "two words", "a: b", "# no", "}", "]", "x = 1", "[a]", "- a", '"', "'"]
)
LEAVES = st.booleans() | st.integers(-99, 99) | TEXTS | st.text(_LETTERS, max_size=6)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, max_size=4)


def _children(value: Any) -> list[tuple[Any, Any]]:
    return list(value.items()) if isinstance(value, dict) else list(enumerate(value))


class Writer:
    """Text that grows, and the line of every key and item in it."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.text = ""
        self.lines: dict[Path, int] = {}

    def chance(self, share: float = 0.5) -> bool:
        return self.random.random() < share

    def put(self, text: str) -> None:
        self.text += text

    def mark(self, path: Path, *, again: bool = False) -> None:
        if again or path not in self.lines:
            self.lines[path] = self.text.count("\n") + 1


class TomlWriter(Writer):
    def write(self, data: dict[str, Any]) -> None:
        self.table(data, (), "")

    def key(self, name: str) -> str:
        bare = re.fullmatch(r"[A-Za-z0-9_-]+", name)
        if bare and self.chance(0.8):
            return name
        return f"'{name}'" if "'" not in name and self.chance() else json.dumps(name)

    def leaf(self, value: Any) -> str:
        if isinstance(value, str):
            if self.chance(0.2) and '"' not in value and "\\" not in value:
                return f'"""\n{value}"""'
            return f"'{value}'" if "'" not in value and self.chance() else json.dumps(value)
        return json.dumps(value)

    def noise(self) -> None:
        self.put(self.random.choice(["", "", "\n", "# [a] = { \n", "  # x\n\n"]))

    def table(self, data: dict[str, Any], path: Path, header: str) -> None:
        later = []
        for name, value in data.items():
            as_table = isinstance(value, dict) and self.chance(0.6)
            as_array = (
                isinstance(value, list)
                and value
                and all(isinstance(x, dict) for x in value)
                and self.chance()
            )
            if as_table or as_array:
                later.append((name, value))
                continue
            self.noise()
            self.statement([name], value, path)
            self.put(self.random.choice(["\n", " # c = 1\n"]))
        for name, value in later:
            self.headed(
                name,
                value,
                (*path, name),
                f"{header}.{self.key(name)}" if header else self.key(name),
            )

    def statement(self, names: list[str], value: Any, path: Path) -> None:
        if isinstance(value, dict) and len(value) == 1 and self.chance():
            [(name, inner)] = value.items()
            self.statement([*names, name], inner, path)
            return
        for count, name in enumerate(names, 1):
            self.mark((*path, *names[:count]))
            self.put(("." if count > 1 else "") + self.key(name))
        self.put(self.random.choice(["=", " = "]))
        self.inline(value, (*path, *names))

    def headed(self, name: str, value: Any, path: Path, header: str) -> None:
        self.noise()
        if isinstance(value, dict):
            self.mark(path)
            self.put(f"[{header}]\n" if self.chance() else f"  [ {header} ] # h\n")
            self.table(value, path, header)
            return
        for index, item in enumerate(value):
            self.mark(path)
            self.mark((*path, str(index)))
            self.put(f"[[{header}]]\n")
            self.table(item, (*path, str(index)), header)

    def inline(self, value: Any, path: Path) -> None:
        if isinstance(value, list):
            self.put("[")
            for index, item in enumerate(value):
                self.put(self.random.choice(["", " ", "\n  ", " # ], \n"]))
                self.mark((*path, str(index)))
                self.inline(item, (*path, str(index)))
                self.put("," if index + 1 < len(value) or self.chance() else "")
            self.put(self.random.choice(["", "\n"]) + "]")
        elif isinstance(value, dict):
            self.put("{ ")
            for index, (name, item) in enumerate(value.items()):
                self.put(", " if index else "")
                self.statement([name], item, path)
            self.put(" }")
        else:
            self.put(self.leaf(value))


class Json5Writer(Writer):
    def write(self, data: dict[str, Any]) -> None:
        self.gap()
        self.value(data, ())
        self.gap()

    def gap(self) -> None:
        self.put(self.random.choice(["", " ", "\n", "\n\t", "// { a: [ \n", "/* \n ] : */ "]))

    def text_of(self, text: str, *, is_key: bool = False) -> str:
        if is_key and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text) and self.chance():
            return text
        if "'" not in text and self.chance():
            return "'" + json.dumps(text)[1:-1].replace('\\"', '"') + "'"
        return json.dumps(text)

    def value(self, value: Any, path: Path) -> None:
        if not isinstance(value, (dict, list)):
            self.put(self.text_of(value) if isinstance(value, str) else json.dumps(value))
            return
        is_map = isinstance(value, dict)
        children = _children(value)
        self.put("{" if is_map else "[")
        for index, (name, child) in enumerate(children):
            self.gap()
            self.mark((*path, str(name)))
            if is_map:
                self.put(self.text_of(name, is_key=True))
                self.gap()
                self.put(":")
                self.gap()
            self.value(child, (*path, str(name)))
            self.gap()
            self.put("," if index + 1 < len(children) or self.chance(0.3) else "")
        self.gap()
        self.put("}" if is_map else "]")


class YamlWriter(Writer):
    def write(self, data: dict[str, Any]) -> None:
        self.put(self.random.choice(["", "# a: 1\n", "---\n", "%YAML 1.2\n--- # x\n"]))
        if data:
            self.block(data, (), 0)
        else:
            self.put("{}\n")

    def text_of(self, text: str) -> str:
        if re.fullmatch(r"[a-z][a-z_-]*( [a-z]+)*", text) and self.chance(0.7):
            return text
        return (
            "'" + text.replace("'", "''") + "'"
            if self.chance()
            else json.dumps(text, ensure_ascii=False)
        )

    def leaf(self, value: Any) -> str:
        return self.text_of(value) if isinstance(value, str) else json.dumps(value)

    def noise(self, indent: int) -> None:
        self.put(self.random.choice(["", "", "", "\n", f"{' ' * indent}# b: 1\n", "# c:\n", " \n"]))

    def end(self) -> None:
        self.put(self.random.choice(["\n", "\n", " # d: [\n", "  \n"]))

    def block(self, value: Any, path: Path, indent: int, *, started: bool = False) -> None:
        """The lines of a mapping or sequence at an indentation; `started` where its first line has
        begun.
        """
        is_map = isinstance(value, dict)
        for name, child in _children(value):
            if not started:
                self.noise(indent)
                self.put(" " * indent)
            started = False
            here = (*path, str(name))
            self.mark(here)
            self.put(f"{self.text_of(name)}:" if is_map else "-")
            self.child(child, here, indent, in_map=is_map)

    def child(self, value: Any, path: Path, indent: int, *, in_map: bool) -> None:
        if isinstance(value, (dict, list)) and value and self.chance(0.7):
            if not in_map and self.chance(0.7):
                self.put("   ")
                self.block(value, path, indent + 4, started=True)
                return
            self.put(
                self.random.choice(["", " &x", " !!map" if isinstance(value, dict) else " !!seq"])
            )
            self.end()
            same = in_map and isinstance(value, list) and self.chance()
            self.block(value, path, indent if same else indent + self.random.choice([1, 2, 4]))
            return
        if (
            isinstance(value, str)
            and re.fullmatch(r"[a-z: =]*[a-z]", value)
            and value[0].isalpha()
            and self.chance()
        ):
            self.put(
                self.random.choice([" |-", " >-", " |2-"]) + f"\n{' ' * (indent + 2)}{value}\n\n"
            )
            return
        self.put(" ")
        self.flow(value, path, indent)
        self.end()

    def flow(self, value: Any, path: Path, indent: int) -> None:
        if not isinstance(value, (dict, list)):
            self.put(self.leaf(value))
            return
        is_map = isinstance(value, dict)
        self.put("{" if is_map else "[")
        for index, (name, child) in enumerate(_children(value)):
            self.put(", " if index else "")
            self.put(
                self.random.choice(
                    ["", "", f"\n{' ' * (indent + 3)}", f" # }}\n{' ' * (indent + 3)}"]
                )
            )
            self.mark((*path, str(name)))
            if is_map:
                self.put(f"{self.text_of(name)}: ")
            self.flow(child, (*path, str(name)), indent)
        self.put("}" if is_map else "]")
