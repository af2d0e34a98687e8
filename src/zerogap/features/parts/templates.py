"""A text language for features of parts of a tree: arcs, siblings, grandparents, ... One template per line, after the kind of part.

    arc: head.upos+mod.upos                  attributes of the tokens that play a role in the part
    arc: head.form+mod.upos[-1]              of their neighbours
    arc: head.upos+mod.upos+distance         how far apart they are; their direction is in every feature
    arc: head.upos+mod.upos+count(upos=VERB) how many of them lie between head and modifier: 0, 1, 2 or more
    arc: head.upos+between.upos+mod.upos     one feature for each value that occurs between them
    sibling: sib.lower+mod.upos              the modifier before this one on the same side of the head

    line      = kind ":" "bias" | kind ":" term { "+" term }
    term      = role "." attribute [ "[" offset "]" ] | relation
    relation  = "distance" | "count(" column "=" value ")"

Attributes are those of `templates`: columns, and functions of columns. A template has at most one relation. Roles of a kind are in
`EVERY_KIND`. The first role of `between` terms decides which tokens count as the same. Empty lines and what follows `#` are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from zerogap.errors import InputError
from zerogap.features.labels.templates import TOKEN, Attribute, TemplateError, expect_sign, parse_attribute, skip_space, unknown

MOST_OFFSET = 3
DIRECTION, DISTANCE, FIRST_COUNT = 0, 1, 2  # relations; counts follow in the order in which templates name them
ROLES = ("head", "mod", "sib", "grand", "between", "left", "right", "before", "after", "great", "third", "each")
KINDS: dict[str, tuple[str, ...]] = {
    "arc": ("head", "mod", "between"),
    "between": ("head", "mod", "between"),  # arcs whose features are many; templates say arc
    "sibling": ("head", "sib", "mod"),
    "stop": ("head", "sib"),  # sib is the last modifier on its side
    "grandparent": ("grand", "head", "mod"),
    "grandsibling": ("grand", "head", "sib", "mod"),
    # left and right: outermost modifiers of mod; before and after: its neighbours among the modifiers of head
    "label": ("head", "mod", "grand", "left", "right", "before", "after"),
    "outer": ("mod",),  # its head is a word outside a band on one side: see `oracles.vine.oracle`
}
# Sets of arcs that dynamic programs do not see together (Qian & Liu 2013, section 4.3); templates have them after the kinds above.
# Modifiers of a head come in the order of the sentence. Of a comb, sib is the first modifier, mod the last, and each all of them,
# as one feature of their sequence; of a pattern, head and mod are those of its first arc.
FACTOR_KINDS: dict[str, tuple[str, ...]] = {
    "anysibling": ("head", "sib", "mod"),
    "grandchild": ("grand", "head", "mod"),
    "greatgrand": ("great", "grand", "head", "mod"),
    "trisibling": ("head", "third", "sib", "mod"),
    "comb": ("head", "sib", "mod", "each"),
    "pattern": ("head", "mod"),
}
EVERY_KIND = {**KINDS, **FACTOR_KINDS}
WITH_DISTANCE = ("arc", "between", "sibling", "label", "anysibling", "grandchild", "comb")
RELATION = re.compile(r"\s*(?P<name>distance|count)(?![.\w])(?:\(\s*(?P<column>[\w-]+)\s*=\s*(?P<value>[^)]+?)\s*\))?")


@dataclass(frozen=True, slots=True)
class Count:
    """How many tokens between head and modifier have this value."""

    column: str
    value: str


@dataclass(frozen=True, slots=True)
class PartTemplate:
    text: str  # without the kind
    kind: str
    terms: tuple[tuple[str, Attribute, int], ...]  # role, attribute, offset
    relation: str | Count | None  # None: direction alone; "distance"


def parse_part_template(line: str) -> PartTemplate:
    """The kind and the terms of a template; TemplateError says where it is wrong."""
    if not isinstance(line, str):
        raise InputError(f"a template is {line!r}: expected text such as 'arc: head.upos+mod.upos'.")
    kind, colon, _ = line.partition(":")
    kind = kind.strip()
    known = [name for name in EVERY_KIND if name != "between"]
    if not colon or kind not in known:
        raise TemplateError(f"{unknown('kind of part', kind, known)}, as in 'arc: head.upos+mod.upos'", line, skip_space(line, 0))
    at = line.index(":") + 1
    text = line[at:].strip()
    terms: list[tuple[str, Attribute, int]] = []
    relation: str | Count | None = None
    while text != "bias":
        found = RELATION.match(line, at)
        if found:
            if relation is not None:
                raise TemplateError("a second relation: expected at most one", line, found.start("name"))
            relation, at = parse_relation(line, kind, found), found.end()
        else:
            term, at = parse_term(line, kind, at)
            terms.append(term)
        if skip_space(line, at) == len(line):
            break
        at = expect_sign(line, at, "+", "'+' and another term, or the end")
    if any(role == "between" for role, _, _ in terms):
        kind = "between"
    return PartTemplate(text, kind, tuple(terms), relation)


def parse_relation(line: str, kind: str, found: re.Match[str]) -> str | Count:
    if found["name"] == "distance":
        if kind not in WITH_DISTANCE:
            raise TemplateError(f"a {kind} has no distance: expected one of {', '.join(WITH_DISTANCE)}", line, found.start("name"))
        return "distance"
    if kind not in ("arc", "label") or found["column"] is None:
        raise TemplateError("expected count(column=value) in a template of an arc", line, found.start("name"))
    return Count(found["column"], found["value"])


def parse_term(line: str, kind: str, at: int) -> tuple[tuple[str, Attribute, int], int]:
    found = re.compile(r"\s*(?P<role>[^\W\d]\w*)\s*\.").match(line, at)
    if not found:
        raise TemplateError("expected a term such as head.upos, or a relation such as distance", line, skip_space(line, at))
    role = found["role"]
    if role not in EVERY_KIND[kind]:
        raise TemplateError(f"{unknown('role', role, EVERY_KIND[kind])} in a template of kind {kind}", line, found.start("role"))
    attribute, at = parse_attribute(line, found.end())
    if not attribute.column:
        raise TemplateError("a position was given: expected a column or a function of one", line, found.end())
    offset = 0
    if line.startswith("[", skip_space(line, at)):
        number = TOKEN.match(line, skip_space(line, at) + 1)
        if not number or not number["number"] or abs(int(number["number"])) > MOST_OFFSET:
            raise TemplateError(f"expected an offset from -{MOST_OFFSET} to {MOST_OFFSET}", line, skip_space(line, at) + 1)
        offset, at = int(number["number"]), expect_sign(line, number.end(), "]", "']' after the offset")
    if role == "between" and offset:
        raise TemplateError("what lies between has no neighbours here: expected no offset", line, found.start("role"))
    return (role, attribute, offset), at


def parse_part_templates(templates: str | Sequence[str]) -> tuple[PartTemplate, ...]:
    """Templates from the lines of a text, or from one text each."""
    lines = templates.splitlines() if isinstance(templates, str) else list(templates)
    texts = [line.split("#")[0].rstrip() if isinstance(line, str) else line for line in lines]
    parsed = [parse_part_template(text) for text in texts if not isinstance(text, str) or text.strip()]
    if not parsed:
        raise InputError("templates is empty: expected one or more, such as 'arc: head.upos+mod.upos'.")
    if len(parsed) > 255:
        raise InputError(f"there are {len(parsed)} templates: expected at most 255.")
    for i, template in enumerate(parsed):
        if template in parsed[:i]:
            raise InputError(f"template '{template.kind}: {template.text}' is given twice: expected every one once.")
    bare = [template for template in parsed if not template.terms and template.kind != "pattern"]  # patterns have codes of their own
    for i, template in enumerate(bare):  # keys would differ in a byte alone
        for other in bare[:i]:
            if other.relation == template.relation:
                both = " and ".join(f"'{some.kind}: {some.text}'" for some in (other, template))
                raise InputError(f"templates {both} have no terms: expected at most one such.")
    return tuple(parsed)
