"""A text language for features: one template per line, each a conjunction of attributes of nearby tokens.

    bias                        always there
    form[0]                     a column of the token itself
    pos[-1]+pos[0]              two columns of neighbouring tokens, as one feature
    lower[1]                    a function of the form of the next token
    suffix3(lemma)[0]           a function of another column
    suffix3(plain)[0]           functions nest: the end of the word without its punctuation
    place[0]+kind[0]            where in the sequence the token stands, and what it looks like
    feats:Case[0]               one of the features of a column such as Case=Nom|Number=Sing

    template  = "bias" | term { "+" term }
    term      = attribute "[" offset "]"
    attribute = column | column ":" feature | function | function "(" attribute ")" | position

A function without an argument reads the column `form`. Names of functions are reserved; a column of the same name is read as
`column(lower)[0]`. Empty lines and what follows `#` are ignored.
"""

from __future__ import annotations

import difflib
import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from zerogap.errors import InputError

FEATURE = ":"  # between a column and a feature in it
PLACES = 10  # `place` is the tenth of the sequence in which a token stands
MOST_OFFSET = 100
PUNCTUATION = string.punctuation + "“”„‘’«»–—…·•¿¡"


class TemplateError(InputError):
    """A template that does not parse, or names what does not exist; `position` counts characters from 0."""

    def __init__(self, message: str, template: str, position: int) -> None:
        self.template, self.position = template, position
        super().__init__(f"{message} (position {position})\n  {template}\n  {' ' * position}^")


def plain(value: str) -> str:
    """Lower case, without punctuation at the ends; punctuation alone stays."""
    lower = value.lower()
    return lower.strip(PUNCTUATION) or lower


def class_of(character: str) -> str:
    if character.isdigit():
        return "9"
    if character.isalpha():
        return "X" if character.isupper() else "x"
    return character


def shape(value: str) -> str:
    """Letters as X and x, digits as 9; every run counts once: `McDonald's` is XxXx'x."""
    collapsed: list[str] = []
    for character in map(class_of, value):
        if not collapsed or collapsed[-1] != character:
            collapsed.append(character)
    return "".join(collapsed)


def digits(value: str) -> str:
    """Every digit as 9, runs of letters as one x: `12(3):45-67,` is 99(9):99-99,."""
    return re.sub(r"[^\W\d_]+", "x", re.sub(r"\d", "9", value))


KINDS = (
    ("year", r"\W*(1[5-9]|20)\d\d[a-z]?\W*"),
    ("number", r"\W*\d+\W*"),
    ("range", r"\W*\d+\s?[-–—]+\s?\d+\W*"),
    ("numbers", r"[\W\d]*\d[\W\d]*"),
    ("address", r".*(://|www\.|@|\bdoi\b).*"),
    ("initials", r"\W*([^\W\d_a-z]\.[-–]?)+\W*"),
    ("letter", r"\W*[^\W\d_]\W*"),
    ("punctuation", r"\W+"),
    ("with digits", r".*\d.*"),
)
PATTERNS = tuple((name, re.compile(pattern)) for name, pattern in KINDS)


def kind(value: str) -> str:
    """What a token looks like: year, number, range, initials, capitals, capitalised, lower case, ..."""
    for name, pattern in PATTERNS:
        if pattern.fullmatch(value):
            return name
    word = value.strip(PUNCTUATION)
    if word.isupper():
        return "capitals"
    if word[:1].isupper():
        return "capitalised"
    return "lower" if word.islower() else "mixed"


def ending(value: str) -> str:
    """The last character if it is punctuation, else nothing."""
    return value[-1:] if value[-1:] and not value[-1:].isalnum() else ""


def opening(value: str) -> str:
    """The first character if it is punctuation, else nothing."""
    return value[:1] if value[:1] and not value[:1].isalnum() else ""


def feature_in(value: str, name: str) -> str:
    """The value of a feature in Case=Nom|Number=Sing, '_' if it is not there."""
    for feature in value.split("|"):
        key, found, inside = feature.partition("=")
        if found and key == name:
            return inside
    return "_"


def prefix(length: int, value: str) -> str:
    return value[:length]


def suffix(length: int, value: str) -> str:
    return value[-length:]


FUNCTIONS: dict[str, Callable[[str], str]] = {
    "column": str,
    "lower": str.lower,
    "plain": plain,
    "shape": shape,
    "digits": digits,
    "kind": kind,
    "ending": ending,
    "opening": opening,
    **{f"prefix{k}": partial(prefix, k) for k in range(1, 10)},
    **{f"suffix{k}": partial(suffix, k) for k in range(1, 10)},
}
POSITIONS: dict[str, Callable[[int, int], int]] = {
    "place": lambda t, n: PLACES * t // n,
    "index": lambda t, n: min(t, PLACES - 1),
    "rest": lambda t, n: min(n - 1 - t, PLACES - 1),
}


@dataclass(frozen=True, slots=True)
class Attribute:
    """Functions, the innermost first, of a column; or, without a column, a position."""

    column: str
    functions: tuple[str, ...]

    def of(self, value: str) -> str:
        for name in self.functions:
            value = feature_in(value, name[1:]) if name.startswith(FEATURE) else FUNCTIONS[name](value)
        return value


@dataclass(frozen=True, slots=True)
class Template:
    text: str
    terms: tuple[tuple[Attribute, int], ...]  # none: the feature that is always there


TOKEN = re.compile(r"\s*(?:(?P<name>[^\W\d][\w.:-]*)|(?P<number>[-+]?\d+)|(?P<sign>[][()+]))")


def parse_template(text: str) -> Template:
    """The terms of a template; TemplateError says where it is wrong."""
    if not isinstance(text, str):
        raise InputError(f"a template is {text!r}: expected text such as 'pos[-1]+pos[0]'.")
    if text.strip() == "bias":
        return Template("bias", ())
    terms: list[tuple[Attribute, int]] = []
    at = 0
    while True:
        attribute, at = parse_attribute(text, at)
        at = expect_sign(text, at, "[", "an offset such as [0] or [-1]")
        found = TOKEN.match(text, at)
        if not found or not found["number"]:
            raise TemplateError("expected an offset, an integer", text, skip_space(text, at))
        offset = int(found["number"])
        if abs(offset) > MOST_OFFSET:
            raise TemplateError(f"the offset is {offset}: expected -{MOST_OFFSET} to {MOST_OFFSET}", text, found.start("number"))
        at = expect_sign(text, found.end(), "]", "']' after the offset")
        terms.append((attribute, offset))
        if skip_space(text, at) == len(text):
            return Template(text.strip(), tuple(terms))
        at = expect_sign(text, at, "+", "'+' and another term, or the end")


def parse_attribute(text: str, at: int) -> tuple[Attribute, int]:
    found = TOKEN.match(text, at)
    if not found or not found["name"]:
        raise TemplateError("expected the name of a column or function", text, skip_space(text, at))
    name, spot, at = found["name"], found.start("name"), found.end()
    if not text.startswith("(", skip_space(text, at)):
        if name in POSITIONS:
            return Attribute("", (name,)), at
        column, feature, inside = name.partition(FEATURE)
        if feature and column and inside:
            return Attribute(column, (FEATURE + inside,)), at
        return (Attribute("form", (name,)) if name in FUNCTIONS else Attribute(name, ())), at
    if name not in FUNCTIONS:
        raise TemplateError(f"{unknown('function', name, FUNCTIONS)}", text, spot)
    if name == "column":  # what is in the brackets is a column, whatever functions there are
        inner = TOKEN.match(text, skip_space(text, at) + 1)
        if not inner or not inner["name"]:
            raise TemplateError("expected the name of a column", text, skip_space(text, at) + 1)
        return Attribute(inner["name"], ()), expect_sign(text, inner.end(), ")", "')'")
    below, at = parse_attribute(text, skip_space(text, at) + 1)
    if not below.column:
        raise TemplateError(f"{name} was given a position: expected a column or a function of one", text, spot)
    return Attribute(below.column, (*below.functions, name)), expect_sign(text, at, ")", "')'")


def skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def expect_sign(text: str, at: int, sign: str, wanted: str) -> int:
    at = skip_space(text, at)
    if not text.startswith(sign, at):
        raise TemplateError(f"expected {wanted}", text, at)
    return at + 1


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"{what} {name!r} is not known.{hint} Known: {', '.join(names)}"


def parse_templates(templates: str | Sequence[str]) -> tuple[Template, ...]:
    """Templates from the lines of a text, or from one text each."""
    lines = templates.splitlines() if isinstance(templates, str) else list(templates)
    texts = [line.split("#")[0] if isinstance(line, str) else line for line in lines]
    parsed = [parse_template(text) for text in texts if not isinstance(text, str) or text.strip()]
    if not parsed:
        raise InputError("templates is empty: expected one or more, such as 'bias' or 'form[0]'.")
    for i, template in enumerate(parsed):
        if template in parsed[:i]:
            raise InputError(f"template {template.text!r} is given twice: expected every one once.")
    return tuple(parsed)


def check_columns(templates: Iterable[Template], columns: Mapping[str, Sequence[str]], where: str) -> None:
    """Raises InputError unless there is every column that the templates read."""
    for template in templates:
        for attribute, _ in template.terms:
            if attribute.column and attribute.column not in columns:
                spot = max(template.text.find(attribute.column), 0)
                functions = [name for name in (*FUNCTIONS, *POSITIONS) if name != "column"]
                message = unknown("column", attribute.column, [*columns, *functions])
                raise TemplateError(f"{where} does not have what a template reads: {message}", template.text, spot)
