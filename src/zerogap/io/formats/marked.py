"""YAML and TOML as plain values together with the line of every key and entry, so that errors can say where.

YAML is read with fewer surprises than usual: what is not a number is text (`no` and `2024-01-01` too), a key may not come twice, and there
are no aliases and no tags, so nothing is executed and nothing expands. TOML's parser tells no lines: they are found again in the
text, which is known to be well-formed by then.
"""

from __future__ import annotations

import bisect
import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from zerogap.errors import FormatError
from zerogap.io.formats.lines import read_lines

KeyPath = tuple[str | int, ...]
Lines = dict[KeyPath, int]

TEXT, INTEGER, FLOAT, NULL = (f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "null"))
IS_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
IS_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z|[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")
IS_NULL = re.compile(r"(~|null|Null|NULL|)\Z")
SIMPLE = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*\Z")  # needs no quotes, unless YAML reads it otherwise


class Loader(yaml.SafeLoader):
    """Numbers, text and nothing: the implicit types of YAML 1.2's core schema without true and false, and without aliases."""

    yaml_implicit_resolvers = {}  # noqa: RUF012  # PyYAML keeps them in the class

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, f"the alias *{event.anchor} is not read here: write it out", event.start_mark)
        return super().compose_node(parent, index)


for pattern, tag, first in (
    (IS_INTEGER, INTEGER, "-+0123456789"),
    (IS_FLOAT, FLOAT, "-+.0123456789"),
    (IS_NULL, NULL, ["~", "n", "N", ""]),
):
    Loader.add_implicit_resolver(tag, pattern, list(first))


def read_text(path: str | os.PathLike[str]) -> str:
    return "".join(text for _, text in read_lines(path)).removeprefix("\ufeff")


def read_yaml(path: str | os.PathLike[str]) -> tuple[Any, Lines]:
    text = read_text(path)
    lines: Lines = {}
    try:
        loader = Loader(text)
        node = loader.get_single_node()
        return (None if node is None else plain(node, (), lines, os.fspath(path))), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(part for part in (error.context, error.problem) if part)
        hint = "; YAML indents with blanks, not tabs" if "'\\t'" in problem else ""
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise FormatError(f"{path}{where}: not YAML ({problem}{hint}).") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise FormatError(f"{path}, line {line}: not YAML (the character U+{ord(text[error.position]):04X} is not allowed).") from None
    except RecursionError:
        raise FormatError(f"{path} is nested too deeply to read.") from None


def plain(node: yaml.Node, path: KeyPath, lines: Lines, name: str) -> Any:
    """The value of a node; fills the lines of what is below."""
    line = node.start_mark.line + 1
    lines[path] = line
    if isinstance(node, yaml.SequenceNode) and node.tag == "tag:yaml.org,2002:seq":
        return [plain(part, (*path, i), lines, name) for i, part in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode) and node.tag == "tag:yaml.org,2002:map":
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key_line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode) or key_node.tag != TEXT:
                raise FormatError(f"{name}, line {key_line}: a key is not text: expected a name.")
            key = key_node.value
            if key in found:
                raise FormatError(
                    f"{name}, line {key_line}: the key {key!r} is there already, in line {lines[*path, key]}: expected it once."
                )
            found[key] = plain(value_node, (*path, key), lines, name)
            lines[*path, key] = key_line
        return found
    if isinstance(node, yaml.ScalarNode) and node.tag in SCALARS:
        try:
            return SCALARS[node.tag](node.value)
        except ValueError:
            raise FormatError(f"{name}, line {line}: the number {node.value[:20]}... is too long to read.") from None
    tag = node.tag.replace("tag:yaml.org,2002:", "!!")
    raise FormatError(f"{name}, line {line}: the tag {tag!r} is not read: expected text, numbers, lists and keys.")


def yaml_float(text: str) -> float:
    return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))


SCALARS: dict[str, Callable[[str], Any]] = {TEXT: str, INTEGER: int, FLOAT: yaml_float, NULL: lambda text: None}


def yaml_value(value: Any) -> str:
    """A value on one line of YAML."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {yaml_value(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(yaml_value, value)) + "]"
    if not isinstance(value, str):
        return repr(value)
    if SIMPLE.match(value) and yaml.safe_load(value) == value:
        return value
    return yaml.safe_dump(value, default_style='"', allow_unicode=True, width=10**9).removesuffix("\n")


def toml_value(value: Any) -> str:
    """A value on one line of TOML."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {toml_value(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f") if isinstance(value, str) else repr(value)


def read_toml(path: str | os.PathLike[str]) -> tuple[Any, Lines]:
    text = read_text(path).replace("\r\n", "\n")
    try:
        value = tomllib.loads(text)
        check_integers(value)
        lines = Scanner(text).lines
    except tomllib.TOMLDecodeError as error:
        found = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", str(error), flags=re.DOTALL)
        problem, line, column = found.groups() if found else (str(error), None, None)
        where = f"line {line}, column {column}" if line else f"line {text.count(chr(10)) + 1}"
        raise FormatError(f"{path}, {where}: not TOML ({problem[:1].lower()}{problem[1:]}).") from None
    except RecursionError:
        raise FormatError(f"{path} is nested too deeply to read.") from None
    except ValueError as error:  # an integer of thousands of digits, a date that does not exist
        raise FormatError(f"{path} holds a value that cannot be read: {error}.") from None
    return value or None, lines


def check_integers(value: Any) -> None:
    """Raises ValueError if there is an integer beyond TOML's 64 bits: hexadecimal ones may be so long that they cannot even be shown."""
    if isinstance(value, dict | list):
        for entry in value.values() if isinstance(value, dict) else value:
            check_integers(entry)
    elif isinstance(value, int) and value.bit_length() > 64:
        raise ValueError("an integer of more than 64 bits")


class Scanner:
    """Walks through well-formed TOML and notes the line of every key, table and entry in `lines`."""

    KEY = re.compile(r"""[ \t]*(?:([A-Za-z0-9_-]+)|"((?:[^"\\]|\\.)*)"|'([^']*)')[ \t]*""")
    STRING = re.compile(
        r'"""(?:[^\\]|\\.)*?"{3,5}'  # the quotes that end it may follow one or two that belong to it
        r"|'''.*?'{3,5}"
        r'|"(?:[^"\\]|\\.)*"'
        r"|'[^']*'",
        re.DOTALL,
    )
    SPACE = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
    ATOM = re.compile(r"[^,\]}\n#]*")

    def __init__(self, text: str) -> None:
        self.text, self.position = text, 0
        self.ends = [match.start() for match in re.finditer("\n", text)]
        self.lines: Lines = {(): 1}
        self.entries: dict[KeyPath, int] = {}  # arrays of tables and how many they have
        table: KeyPath = ()
        while self.skip_space() < len(text):
            if text.startswith("[[", self.position):
                table = self.header(2)
            elif text[self.position] == "[":
                table = self.header(1)
            else:
                self.pair(table)

    def skip_space(self) -> int:
        self.position = self.SPACE.match(self.text, self.position).end()  # type: ignore[union-attr]  # matches the empty text
        return self.position

    @property
    def line(self) -> int:
        return bisect.bisect_left(self.ends, self.position) + 1

    def note(self, path: KeyPath, line: int) -> None:
        """A table may be opened by its first key; then the first line counts."""
        self.lines.setdefault(path, line)

    def keys(self) -> list[str]:
        """A key with dots."""
        found = []
        while match := self.KEY.match(self.text, self.position):
            bare, basic, literal = match.groups()
            found.append(bare if bare is not None else literal if literal is not None else unescaped(basic))
            self.position = match.end()
            if not self.text.startswith(".", self.position):
                break
            self.position += 1
        return found

    def header(self, brackets: int) -> KeyPath:
        line = self.line
        self.position += brackets
        keys = self.keys()
        self.position += brackets
        path: KeyPath = ()
        for i, key in enumerate(keys):
            path = (*path, key)
            self.note(path, line)
            last = i == len(keys) - 1
            if last and brackets == 2:
                self.entries[path] = self.entries.get(path, 0) + 1
            if path in self.entries:
                path = (*path, self.entries[path] - 1)
                self.note(path, line)
        return path

    def pair(self, table: KeyPath) -> None:
        line = self.line
        path = table
        for key in self.keys():
            path = (*path, key)
            self.note(path, line)
        self.position += 1  # the equals sign
        self.value(path)

    def value(self, path: KeyPath) -> None:
        self.skip_space()
        opening = self.text[self.position]
        if opening == "[":
            self.position += 1
            i = 0
            while self.text[self.skip_space()] != "]":
                self.note((*path, i), self.line)
                self.value((*path, i))
                i += 1
                if self.text[self.skip_space()] == ",":
                    self.position += 1
            self.position += 1
        elif opening == "{":
            self.position += 1
            while self.text[self.skip_space()] != "}":
                self.pair(path)
                if self.text[self.skip_space()] == ",":
                    self.position += 1
            self.position += 1
        elif opening in "\"'":
            self.position = self.STRING.match(self.text, self.position).end()  # type: ignore[union-attr]  # the text is well-formed
        else:
            self.position = self.ATOM.match(self.text, self.position).end()  # type: ignore[union-attr]  # matches the empty text


def unescaped(basic: str) -> str:
    return str(tomllib.loads(f'key = "{basic}"')["key"])
