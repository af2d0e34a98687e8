"""From the tokens of a sentence to numbers whose sums are the keys of features of parts.

Every attribute of a token is a 64-bit hash of its text. A template multiplies the attributes of a role by odd numbers of its own and adds
them up: `partial[role][token, template]`. The key of a feature is then the sum over the roles of a part, plus a number for the
relation of its tokens: what costs time for every part is one addition per role and one look into the table. Nothing is remembered
of the words of the training data but the keys of features.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from zerogap.features.labels.templates import Attribute
from zerogap.features.parts.templates import (
    DIRECTION,
    DISTANCE,
    EVERY_KIND,
    FACTOR_KINDS,
    FIRST_COUNT,
    KINDS,
    MOST_OFFSET,
    ROLES,
    Count,
    PartTemplate,
)
from zerogap.features.parts.weight_table import Keys
from zerogap.kernels import inner, int64, kernel, readonly, record, writable

ROOT, BEFORE, AFTER, NONE = "<root>", "<before>", "<after>", "<none>"
SALT = b"zerogap"
PAD = MOST_OFFSET  # tokens beyond the ends of a sentence, and around no token at all
MOST_REMEMBERED = 1_000_000
BUCKETS = 8  # of distances
COUNTS = 3  # none, one, more
ALONE_HEAD, ALONE_MOD = 1, 2  # arc templates that read one token: where they begin follows the kinds in kind_start, before those of factors
WITH_SHARED_HEAD = ("anysibling", "grandchild")

Columns = Mapping[str, Sequence[str]]


class Encoded(NamedTuple):
    """A sentence as kernels read it."""

    partial: Keys  # (roles, n + 2, templates): what tokens 0 to n, and no token, add to the keys in every role
    totals: Keys  # (counts, n + 2): how many of tokens 1 to t - 1 have the value of each count


class Reading(NamedTuple):
    """How kernels make partial sums from the hashes of tokens."""

    n_roles: int
    readings: Keys  # (readings, 4): role, template, its first term, and the one after the last
    terms: Keys  # (terms, 3): attribute, offset, factor
    counts: Keys  # (counts, 2): attribute, hash of the value that is counted


class Plan(NamedTuple):
    """Templates as kernels read them, in an order of their own, in which those that are added up alike stand next to each other.

    Those of kind k in KINDS are kind_start[k] to kind_start[k + 1]; then come two of ALONE; then those of FACTOR_KINDS likewise.
    """

    kind_start: Keys
    relation: Keys  # (templates,): what a template reads of how tokens lie
    run_end: Keys  # (templates,): up to here, the templates have the same relation
    low_bytes: Keys  # (templates,): 1 + places in `PartFeatures.templates`
    codes: Keys  # (relations, values)


ENCODED = record(Encoded, readonly(int64, 3), readonly(int64, 2))
READING = record(Reading, int64, *[readonly(int64, 2)] * 3)
PLAN = record(Plan, *[readonly(int64, 1)] * 4, readonly(int64, 2))


def hash_of(text: str) -> int:
    """The same 64 bits for a text on every machine, as a signed number."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=SALT).digest(), "little", signed=True)


def attributes_of(templates: Iterable[PartTemplate]) -> tuple[Attribute, ...]:
    """What templates read of tokens, each once: what they count is read as well."""
    found: dict[Attribute, None] = {}
    for template in templates:
        found.update((attribute, None) for _, attribute, _ in template.terms)
        if isinstance(template.relation, Count):
            found[Attribute(template.relation.column, ())] = None
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class TokenHashes:
    """Attributes of tokens as hashes; those of a combination of column values are remembered."""

    attributes: tuple[Attribute, ...]
    columns: tuple[str, ...] = field(init=False)
    remembered: dict[tuple[str, ...], bytes] = field(init=False, repr=False)
    frame: Keys = field(init=False, repr=False)  # rows of a sentence without words

    def __post_init__(self) -> None:
        outside = [[hash_of(f"{text} {attribute.column} {attribute.functions}") for attribute in self.attributes] for text in
                   (*[BEFORE] * PAD, ROOT, *[AFTER] * PAD, *[NONE] * (2 * PAD + 1))]  # fmt: skip
        object.__setattr__(self, "columns", tuple(dict.fromkeys(attribute.column for attribute in self.attributes)))
        object.__setattr__(self, "remembered", {})
        object.__setattr__(self, "frame", np.array(outside, dtype=np.int64).reshape(len(outside), len(self.attributes)))

    def of(self, columns: Columns, n: int) -> Keys:
        """(n + 2 + 4 PAD, attributes): tokens before the sentence, the root, words 1 to n, tokens after it, and no token.

        Token t is row PAD + t; no token is the row PAD from the end, and its neighbours are none either.
        """
        rows = np.empty((n + len(self.frame), len(self.attributes)), dtype=np.int64)
        rows[: PAD + 1] = self.frame[: PAD + 1]
        rows[PAD + 1 + n :] = self.frame[PAD + 1 :]
        if n and self.columns:
            known = self.remembered
            found = [known.get(values) or self.remember(values) for values in zip(*[columns[name] for name in self.columns], strict=True)]
            rows[PAD + 1 : PAD + 1 + n] = np.frombuffer(b"".join(found), dtype=np.int64).reshape(n, -1)
        return rows

    def remember(self, values: tuple[str, ...]) -> bytes:
        by_column = dict(zip(self.columns, values, strict=True))
        row = np.array([hash_of(attribute.of(by_column[attribute.column])) for attribute in self.attributes], dtype=np.int64).tobytes()
        if len(self.remembered) < MOST_REMEMBERED:
            self.remembered[values] = row
        return row


@dataclass(frozen=True, slots=True, eq=False)
class PartFeatures:
    """Templates as arrays, those of one kind next to each other. Models of one parser may share what they read of `tokens`."""

    templates: tuple[PartTemplate, ...]  # by kind
    tokens: TokenHashes = None  # type: ignore[assignment]  # what the templates read, unless given
    n_across: int = field(init=False, repr=False)  # how many templates read what lies between head and modifier
    plan: Plan = field(init=False, repr=False)
    reading: Reading = field(init=False, repr=False)
    apart: Mapping[str, int] = field(init=False, repr=False)  # by kind: from here on, templates of a factor do not read its head

    def __post_init__(self) -> None:
        kinds = list(EVERY_KIND)
        templates = tuple(sorted(self.templates, key=lambda template: kinds.index(template.kind)))
        tokens = TokenHashes(attributes_of(templates)) if self.tokens is None else self.tokens
        number = {attribute: a for a, attribute in enumerate(tokens.attributes)}
        counts = tuple(dict.fromkeys(template.relation for template in templates if isinstance(template.relation, Count)))
        # kernels add up all roles of a kind, whether its templates name them or not
        read = {role for template in templates for role in EVERY_KIND[template.kind] if role != "between" or template.kind == "between"}
        n_roles = 1 + max((ROLES.index(role) for role in read), default=0)
        relations = [relation_number(template, counts) for template in templates]
        groups = [group_of(template) for template in templates]
        order = sorted(range(len(templates)), key=lambda t: (*groups[t], 0 if templates[t].kind == "between" else relations[t]))
        relation = np.array([relations[t] for t in order], dtype=np.int64)
        changes = [p for p in range(1, len(order)) if groups[order[p]] != groups[order[p - 1]] or relation[p] != relation[p - 1]]
        run_end = np.array([next((c for c in changes if c > p), len(order)) for p in range(len(order))], dtype=np.int64)
        alone = [sum(groups[t] < (0, group) for t in order) for group in (ALONE_HEAD, ALONE_MOD)]
        terms = [
            # factors come from the text of the template, so that it has the same keys wherever it stands in a list
            [
                (number[attribute], offset, hash_of(f"{template.kind}: {template.text} {p}") | 1)
                for p, (role, attribute, offset) in enumerate(template.terms)
                if role == wanted
            ]
            for wanted in ROLES[:n_roles]
            for template in (templates[t] for t in order)
        ]
        starts = np.searchsorted([group[0] for group in groups], np.arange(len(kinds) + 1))
        codes = [[hash_of(f"relation {r} {v}") for v in range(2 * BUCKETS)] for r in ("direction", "distance", *counts)]
        counted = [[number[Attribute(c.column, ())], hash_of(c.value)] for c in counts]
        found: dict[str, Any] = {
            "templates": templates,
            "tokens": tokens,
            "n_across": sum(template.kind == "between" for template in templates),
            "plan": Plan(
                np.array([*starts[: len(KINDS) + 1], *alone, *starts[len(KINDS) :]], dtype=np.int64), relation, run_end,
                np.array(order, dtype=np.int64) + 1, np.array(codes, dtype=np.int64),
            ),
            "reading": Reading(
                n_roles, readings_of(terms, len(templates)),
                np.array([term for group in terms for term in group], dtype=np.int64).reshape(-1, 3),
                np.array(counted, dtype=np.int64).reshape(-1, 2),
            ),
            "apart": {kind: int(starts[k] + groups.count((k, 0))) for k, kind in enumerate(kinds) if kind in FACTOR_KINDS},
        }  # fmt: skip
        for name, value in found.items():
            object.__setattr__(self, name, value)

    def encode(self, columns: Columns, n: int) -> Encoded:
        """What kernels read of a sentence."""
        return self.encode_hashes(self.tokens.of(columns, n))

    def encode_hashes(self, hashes: Keys) -> Encoded:
        """The same of a sentence whose tokens have these hashes."""
        n = len(hashes) - 2 - 4 * PAD
        partial = np.empty((self.reading.n_roles, n + 2, len(self.templates)), dtype=np.int64)
        totals = np.empty((len(self.reading.counts), n + 2), dtype=np.int64)
        fill_partial(hashes, self.reading, partial, totals)
        return Encoded(partial, totals)


def readings_of(terms: Sequence[Sequence[object]], n_templates: int) -> Keys:
    """Where a template reads a role: rows of role, template, and the range of its terms, which come role by role."""
    stops = np.cumsum([0, *map(len, terms)])
    rows = [(*divmod(i, n_templates), stops[i], stops[i + 1]) for i, some in enumerate(terms) if some]
    return np.array(rows, dtype=np.int64).reshape(-1, 4)


def group_of(template: PartTemplate) -> tuple[int, int]:
    """The number of its kind, and whether it reads only the head of an arc, or only the modifier, and how far they are from each other. Of
    two arcs that share a token, the head, it may read only the others."""
    roles = {role for role, _, _ in template.terms}
    kind = list(EVERY_KIND).index(template.kind)
    if template.kind in WITH_SHARED_HEAD:
        return kind, 0 if "head" in roles else 1
    alone = template.kind == "arc" and not isinstance(template.relation, Count) and len(roles) < 2
    return kind, 0 if not alone else ALONE_MOD if roles == {"mod"} else ALONE_HEAD


def factor_place(kind: str) -> int:
    """Where kind_start has the templates of a kind of factors."""
    return len(KINDS) + 3 + list(FACTOR_KINDS).index(kind)


def relation_number(template: PartTemplate, counts: tuple[Count, ...]) -> int:
    if isinstance(template.relation, Count):
        return FIRST_COUNT + counts.index(template.relation)
    return DIRECTION if template.relation is None else DISTANCE


@kernel(int64(readonly(int64, 2), READING, writable(int64, 3), writable(int64, 2)))
def fill_partial(hashes, reading, partial, totals):  # out: partial, totals, those of `Encoded`
    _, readings, terms, counts = reading
    n = partial.shape[1] - 2
    flat = partial.reshape(-1)
    for i in range(flat.size):
        flat[i] = 0
    for i in range(readings.shape[0]):  # token by token within a term: nothing but the hashes is read again
        of_role, t = partial[readings[i, 0]], readings[i, 1]
        for p in range(readings[i, 2], readings[i, 3]):
            attribute, row, factor = terms[p, 0], PAD + terms[p, 1], terms[p, 2]
            for token in range(n + 1):
                of_role[token, t] += hashes[row + token, attribute] * factor
            of_role[n + 1, t] += hashes[hashes.shape[0] - 1 - 2 * PAD + row, attribute] * factor
    for c in range(totals.shape[0]):
        totals[c, 0] = totals[c, 1] = 0
        for token in range(1, n + 1):
            totals[c, token + 1] = totals[c, token] + (hashes[token + PAD, counts[c, 0]] == counts[c, 1])
    return 0


@inner
def encoded_by(reading, plan, hashes):
    """`PartFeatures.encode_hashes` for kernels."""
    n = hashes.shape[0] - 2 - 4 * PAD
    partial = np.empty((reading.n_roles, n + 2, plan.low_bytes.size), dtype=np.int64)
    totals = np.empty((reading.counts.shape[0], n + 2), dtype=np.int64)
    fill_partial(hashes, reading, partial, totals)
    return Encoded(partial, totals)
