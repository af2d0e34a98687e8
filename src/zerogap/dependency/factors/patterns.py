"""A text language for subtrees that a person writes down: words and tags, how they lie, and the arcs among them (Qian & Liu 2013, fig. 3).

    # name, weight if it is known, words in the order of the sentence; arcs
    rather-than 0.5: a[upos=ADP, lower=$w] ... r[lower=rather] t[lower=than] b[lower=$w]; a -> t, t -> r, t -> b
    brackets: o[form="("] ... h[upos!=PUNCT] ...8 c[form=")"];
        h -> o, h -> c                                         a pattern goes on in lines that begin with a space

    pattern = name [ weight ] ":" chain { "," chain } ";" arc { "," arc }
    chain   = node { [ "..." [ most words between ] ] node }   without "...", the next word
    node    = id [ "[" test { "," test } "]" ]                 without tests, any word; one that was there before is meant again
    test    = attribute ( "=" | "!=" ) value { "|" value }
    value   = word | word with * at its ends | "text in quotes" | $variable
    arc     = id "->" id | id "-" relation { "|" relation } "->" id

Attributes are those of `features.labels.templates`: columns such as form, lemma, upos, xpos, feats, and functions of columns such as lower,
suffix3(form) or feats:Case. Nodes of different chains may come in any order. `root` is the token above the tree. The same
variable stands for the same value at all its places. A relation asks for the label of an arc: such patterns are for problems with labels.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from zerogap.errors import FormatError
from zerogap.features.labels.templates import Attribute, TemplateError, parse_attribute

ROOT = "root"
MOST_NODES = 12
NAME = re.compile(r"[^\W\d_][\w-]*")
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
WORD = re.compile(r"[^\s,;|\]\"$=]+")
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
BETWEEN = re.compile(r"\.\.\.\s*(\d+)?")
ARROW = re.compile(r"->|-\s*(?P<labels>[^\s|>]+(\s*\|\s*[^\s|>]+)*?)\s*->")


class PatternError(FormatError):
    """A pattern that does not parse, or means nothing; `line` and `column` count from 1."""

    def __init__(self, message: str, where: str, line: int, column: int, text: str) -> None:
        self.line, self.column = line, column
        super().__init__(f"{where}, line {line}, column {column}: {message}\n  {text}\n  {' ' * (column - 1)}^")


@dataclass(frozen=True, slots=True)
class Condition:
    """Whether an attribute of a token is one of some values; with `wanted` False, none of them. `*` at the ends stands for anything."""

    attribute: Attribute
    values: tuple[str, ...]
    wanted: bool = True

    @property
    def is_plain(self) -> bool:
        return self.wanted and not any(is_open(value) for value in self.values)

    def holds(self, given: str) -> bool:
        return any(matches(value, given) for value in self.values) == self.wanted


@dataclass(frozen=True, slots=True)
class Same:
    """Whether two attributes of two nodes are the same; with `wanted` False, whether they differ."""

    one: int
    attribute: Attribute
    other: int
    of_other: Attribute
    wanted: bool


@dataclass(frozen=True, slots=True)
class Order:
    """Node `one` comes before `other`, with at most so many words between them."""

    one: int
    other: int
    most: float  # 0: the next word; inf: any


@dataclass(frozen=True, slots=True)
class PatternArc:
    head: int  # a node, -1 the root
    modifier: int
    relations: tuple[str, ...]  # none: any


@dataclass(frozen=True, slots=True)
class Pattern:
    name: str
    weight: float | None
    text: str
    nodes: tuple[str, ...]
    tests: tuple[tuple[Condition, ...], ...]  # of each node
    orders: tuple[Order, ...]
    same: tuple[Same, ...]
    arcs: tuple[PatternArc, ...]

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        found = [test.attribute for tests in self.tests for test in tests]
        return tuple(dict.fromkeys([*found, *(a for same in self.same for a in (same.attribute, same.of_other))]))


Nodes = dict[str, tuple[Condition, ...]]
Variables = dict[str, list[tuple[int, Attribute, bool, int]]]  # of each place: node, attribute, whether it is equal, where it stands


def is_open(value: str) -> bool:
    """Whether it stands for more than itself; a value that was in quotes begins with one here."""
    return not value.startswith('"') and (value.startswith("*") or value.endswith("*"))


def literal(value: str) -> str:
    return value[1:] if value.startswith('"') else value


def matches(value: str, given: str) -> bool:
    if not is_open(value):
        return given == literal(value)
    inside = value.strip("*")
    if value.startswith("*"):
        return inside in given if value.endswith("*") else given.endswith(inside)
    return given.startswith(inside)


def parse_patterns(text: str, where: str = "patterns") -> tuple[Pattern, ...]:
    """The patterns of a text; PatternError says where it is wrong.

    >>> parse_patterns("of-the: o[lower=of] ...2 n[upos=NOUN]; n -> o")[0].arcs
    (PatternArc(head=1, modifier=0, relations=()),)
    """
    found: list[Pattern] = []
    begin: dict[str, int] = {}
    for lines in logical_lines(text):
        reader = Reader(where, lines)
        pattern = read_pattern(reader)
        if pattern.name in begin:
            raise reader.refused(0, f"the name {pattern.name!r} is also in line {begin[pattern.name]}: expected another one")
        begin[pattern.name] = lines[0][0]
        found.append(pattern)
    if not found:
        raise FormatError(f"{where} has no patterns: expected one or more, such as 'of-the: o[lower=of] ... n[upos=NOUN]; n -> o'.")
    return tuple(found)


def load_patterns(path: str | Path) -> tuple[Pattern, ...]:
    """The patterns in a file of UTF-8 text."""
    try:
        text = Path(path).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not UTF-8 text: {error.reason}.") from None
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror or error}.") from None
    return parse_patterns(text, str(path))


def logical_lines(text: str) -> Iterable[list[tuple[int, str]]]:
    """Lines with their numbers, those that begin with a space together with the one before; without comments."""
    current: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        bare = without_comment(line)
        if not bare.strip():
            continue
        if current and not line[:1].isspace():
            yield current
            current = []
        current.append((number, bare))
    if current:
        yield current


def without_comment(line: str) -> str:
    """What comes before # , unless it is in quotes."""
    quoted = False
    for at, sign in enumerate(line):
        if sign == '"' and line[at - 1 : at] != "\\":
            quoted = not quoted
        if sign == "#" and not quoted:
            return line[:at].rstrip()
    return line.rstrip()


@dataclass(slots=True, eq=False)
class Reader:
    """A pattern that is being read; places count characters of its lines, one after the other."""

    where: str
    lines: list[tuple[int, str]]
    at: int = 0

    @property
    def text(self) -> str:
        return "\n".join(line for _, line in self.lines)

    def refused(self, at: int, message: str) -> PatternError:
        for number, line in self.lines:
            if at <= len(line):
                return PatternError(message, self.where, number, at + 1, line)
            at -= len(line) + 1
        number, line = self.lines[-1]
        return PatternError(message, self.where, number, len(line) + 1, line)

    def space(self) -> int:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.at

    def take(self, what: re.Pattern[str]) -> re.Match[str] | None:
        found = what.match(self.text, self.space())
        if found:
            self.at = found.end()
        return found

    def sign(self, sign: str) -> bool:
        if self.text.startswith(sign, self.space()):
            self.at += len(sign)
            return True
        return False

    def expect(self, sign: str, wanted: str) -> None:
        if not self.sign(sign):
            raise self.refused(self.at, f"expected {wanted}")


def read_pattern(reader: Reader) -> Pattern:
    name = reader.take(NAME)
    if not name:
        raise reader.refused(reader.at, "expected the name of a pattern, and ':'")
    weight = None
    if number := reader.take(NUMBER):
        weight = float(number[0])
        if not math.isfinite(weight):
            raise reader.refused(number.start(), f"the weight is {number[0]}: expected a finite number")
    reader.expect(":", "':' after the name, or a weight and ':'")
    nodes: Nodes = {}
    variables: Variables = {}
    orders: list[Order] = []
    while True:
        read_chain(reader, nodes, variables, orders)
        if not reader.sign(","):
            break
    reader.expect(";", "another node, ',' and another chain, or ';' and arcs")
    names = tuple(nodes)
    arcs = [read_arc(reader, names)]
    while reader.sign(","):
        arcs.append(read_arc(reader, names))
    if reader.space() < len(reader.text):
        raise reader.refused(reader.at, "expected ',' and another arc, or the end")
    check_arcs(reader, names, arcs)
    check_orders(reader, names, orders)
    text = " ".join(reader.text.split())
    return Pattern(name[0], weight, text, names, tuple(nodes.values()), tuple(orders), tuple(pairs_of(reader, variables)), tuple(arcs))


def read_chain(reader: Reader, nodes: Nodes, variables: Variables, orders: list[Order]) -> None:
    before = read_node(reader, nodes, variables)
    while True:
        gap = reader.take(BETWEEN)
        most = 0.0 if gap is None else math.inf if gap[1] is None else float(gap[1])
        if gap is None and reader.text[reader.space() : reader.at + 1] in (",", ";", ""):
            return
        spot = reader.space()
        node = read_node(reader, nodes, variables)
        if node == before:
            raise reader.refused(spot, f"{list(nodes)[node]} follows itself: expected another node")
        orders.append(Order(before, node, most))
        before = node


def read_node(reader: Reader, nodes: Nodes, variables: Variables) -> int:
    found = reader.take(NAME)
    if not found:
        raise reader.refused(reader.at, "expected a node such as a[upos=NOUN]")
    name = found[0]
    if name == ROOT:
        raise reader.refused(found.start(), f"{ROOT} is not a word: it can only be the head of an arc")
    if reader.text[reader.at : reader.at + 1] != "[":
        if name not in nodes:
            nodes[name] = ()
            check_count(reader, found.start(), nodes)
        return list(nodes).index(name)
    if name in nodes:
        raise reader.refused(found.start(), f"the node {name} was there before: expected no tests, or another name")
    reader.at += 1
    tests: list[Condition] = []
    nodes[name] = ()
    check_count(reader, found.start(), nodes)
    while not reader.sign("]"):
        read_test(reader, len(nodes) - 1, tests, variables)
        if not reader.sign(","):
            reader.expect("]", "',' and another test, or ']'")
            break
    nodes[name] = tuple(tests)
    return len(nodes) - 1


def check_count(reader: Reader, at: int, nodes: Nodes) -> None:
    if len(nodes) > MOST_NODES:
        raise reader.refused(at, f"the pattern has more than {MOST_NODES} nodes: expected fewer")


def read_test(reader: Reader, node: int, tests: list[Condition], variables: Variables) -> None:
    spot = reader.space()
    try:
        attribute, reader.at = parse_attribute(reader.text, spot)
    except TemplateError as error:
        raise reader.refused(error.position, str(error).split(" (position")[0]) from None
    if not attribute.column:
        raise reader.refused(spot, "a position was given: expected a column or a function of one")
    wanted = not reader.sign("!")
    reader.expect("=", "'=' or '!=' and a value")
    values: list[str] = []
    while True:
        at = reader.space()
        if reader.sign("$"):
            name = reader.take(NAME)
            if not name or values:
                raise reader.refused(at, "expected a variable such as $x alone, without '|'")
            variables.setdefault(name[0], []).append((node, attribute, wanted, at))
            return
        if quoted := reader.take(QUOTED):
            values.append('"' + re.sub(r"\\(.)", r"\1", quoted[1]))
        elif word := reader.take(WORD):
            if "*" in word[0].strip("*"):
                raise reader.refused(at, f"the value {word[0]} has * within: expected it at the ends, or quotes around the value")
            values.append(word[0])
        else:
            raise reader.refused(at, 'expected a value: a word, "text in quotes", or $variable')
        if not reader.sign("|"):
            break
    tests.append(Condition(attribute, tuple(values), wanted))


def read_arc(reader: Reader, names: tuple[str, ...]) -> PatternArc:
    ends = []
    relations: tuple[str, ...] = ()
    for which in range(2):
        found = reader.take(NAME)
        known = (ROOT, *names) if which == 0 else names
        if not found or found[0] not in known:
            given = found[0] if found else ""
            close = difflib.get_close_matches(given, known, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            at = found.start() if found else reader.at
            raise reader.refused(at, f"{f'{given!r} is not a node.' if given else 'expected an arc.'}{hint} Nodes: {', '.join(known)}")
        ends.append(found[0])
        if which == 0:
            arrow = reader.take(ARROW)
            if not arrow:
                raise reader.refused(reader.at, "expected '->' or '-relation->'")
            relations = tuple(label.strip() for label in arrow["labels"].split("|")) if arrow["labels"] else ()
    return PatternArc(-1 if ends[0] == ROOT else names.index(ends[0]), names.index(ends[1]), relations)


def check_arcs(reader: Reader, names: tuple[str, ...], arcs: list[PatternArc]) -> None:
    head = {}
    for arc in arcs:
        if arc.modifier in head:
            raise reader.refused(len(reader.text), f"the node {names[arc.modifier]} has two heads: expected one")
        head[arc.modifier] = arc.head
    for node in head:
        above, steps = node, 0
        while above in head and steps <= len(head):
            above, steps = head[above], steps + 1
        if steps > len(head):
            raise reader.refused(len(reader.text), f"the node {names[node]} is above itself: expected arcs of a tree")


def check_orders(reader: Reader, names: tuple[str, ...], orders: list[Order]) -> None:
    for node in range(len(names)):
        seen, open_ = set[int](), [node]
        while open_:
            here = open_.pop()
            for order in orders:
                if order.one == here and order.other not in seen:
                    seen.add(order.other)
                    open_.append(order.other)
        if node in seen:
            raise reader.refused(len(reader.text), f"the node {names[node]} stands before itself: expected chains that can hold together")


def pairs_of(reader: Reader, variables: Variables) -> Iterable[Same]:
    for name, places in variables.items():
        if len(places) < 2:
            raise reader.refused(places[0][3], f"the variable ${name} is there once: expected it at two or more places")
        bound = next((place for place in places if place[2]), None)
        if bound is None:
            raise reader.refused(places[0][3], f"the variable ${name} is never equal to anything: expected '=' at one of its places")
        for place in places:
            if place is not bound:
                yield Same(bound[0], bound[1], place[0], place[1], place[2])
