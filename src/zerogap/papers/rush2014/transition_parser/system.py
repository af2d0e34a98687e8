"""The arc-eager transition system, its static oracle, and the features of its states (Nivre 2003; Zhang & Nivre 2011).

A state is a stack of words, the words that are still to come, and the arcs so far. S0 is the top of the stack, N0 the next word.

    SHIFT    pushes N0
    LEFT     makes N0 the head of S0, which has none yet, and pops S0
    RIGHT    makes S0 the head of N0, and pushes N0
    REDUCE   pops S0, which has a head

The root comes after the last word (Ballesteros & Nivre 2013), and only takes words from the stack by LEFT. So every word is pushed once and
popped once, and all derivations of n words have 2 n actions: states of a beam have as many terms in their scores. Zhang & Nivre pop the
root of the sentence by an action of its own instead.

A tree has one root if the last word is shifted only onto an empty stack, and attached only when one word of the stack has no head. As long
as another word is to come, that can still be had: it may take all of the stack by LEFT and REDUCE. So no tree is ever to be repaired.

Templates are grouped by the words that decide what they read: a search remembers the sum of a group for these words, as the states of a
beam share most of them.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are those of its arguments

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError, UnknownMethod
from zerogap.kernels import inlined, inner

if TYPE_CHECKING:
    from zerogap.dependency.sentence import Sentence

SHIFT, LEFT, RIGHT, REDUCE = 0, 1, 2, 3
ACTIONS = ("shift", "left", "right", "reduce")
COLUMNS = ("form", "lemma", "upos", "xpos")
# Words that templates read: a head h and its head h2; outermost modifiers on a side l, r, and those next to them l2, r2
ROLES = ("s0", "n0", "n1", "n2", "s0h", "s0h2", "s0l", "s0l2", "s0r", "s0r2", "n0l", "n0l2")
# how far N0 is from S0, and how many modifiers there are so far
RELATIONS = ("none", "distance", "s0.lefts", "s0.rights", "n0.lefts")
VALUES = 8  # of a relation: 0 to 5, then 6 to 10 and more if it is a distance, else 6, and 7 or more
# What a group may read, and the words and the relation that decide it; N1 and N2 follow from N0, and the distance from S0 and N0
GROUPS: tuple[tuple[tuple[str, ...], str, tuple[str, ...], str], ...] = (
    (("n0", "n1", "n2"), "none", ("n0",), "none"),
    (("s0",), "none", ("s0",), "none"),
    (("s0", "n0", "n1", "n2"), "distance", ("s0", "n0"), "none"),
    (("s0", "s0h", "s0h2"), "none", ("s0", "s0h", "s0h2"), "none"),
    (("s0", "s0l", "s0l2"), "s0.lefts", ("s0", "s0l", "s0l2"), "s0.lefts"),
    (("s0", "s0r", "s0r2"), "s0.rights", ("s0", "s0r", "s0r2"), "s0.rights"),
    (("n0", "n0l", "n0l2"), "n0.lefts", ("n0", "n0l", "n0l2"), "n0.lefts"),
    (("s0", "n0", "s0h"), "none", ("s0", "n0", "s0h"), "none"),
    (("s0", "n0", "s0l"), "none", ("s0", "n0", "s0l"), "none"),
    (("s0", "n0", "s0r"), "none", ("s0", "n0", "s0r"), "none"),
    (("s0", "n0", "n0l"), "none", ("s0", "n0", "n0l"), "none"),
)
NONE, ROOT, AFTER = range(3)  # rows of token types before those of words
OUTSIDE = ("\0none", "\0root", "\0after")
MOST_TEMPLATES = 1000
MOST_WORDS = 2**16 - 8  # of a sentence: three words and a number are one key of what a search remembers
MOST_BEAM = 4096
MOST_STATES = 4_000_000  # words times beam: more would take more than 1 GB
TOKEN, HEADED, LEFT1, LEFT2, LEFTS, RIGHT1, RIGHT2, RIGHTS, BELOW, ITEM = range(10)  # an item of a stack
TOP, FRONT, FRONT1, FRONT2, FRONTS, HEADLESS, STATE = range(7)  # a state: FRONT.. are the next word and its left modifiers

# Zhang & Nivre 2011, tables 1 and 2, without those that read labels
ZHANG_NIVRE = """
s0.form+s0.{p} s0.form s0.{p} n0.form+n0.{p} n0.form n0.{p} n1.form+n1.{p} n1.form n1.{p} n2.form+n2.{p} n2.form n2.{p}
s0.form+s0.{p}+n0.form+n0.{p} s0.form+s0.{p}+n0.form s0.form+n0.form+n0.{p} s0.form+s0.{p}+n0.{p} s0.{p}+n0.form+n0.{p}
s0.form+n0.form s0.{p}+n0.{p} n0.{p}+n1.{p}
n0.{p}+n1.{p}+n2.{p} s0.{p}+n0.{p}+n1.{p} s0h.{p}+s0.{p}+n0.{p} s0.{p}+s0l.{p}+n0.{p} s0.{p}+s0r.{p}+n0.{p} s0.{p}+n0.{p}+n0l.{p}
s0.form+distance s0.{p}+distance n0.form+distance n0.{p}+distance s0.form+n0.form+distance s0.{p}+n0.{p}+distance
s0.form+s0.rights s0.{p}+s0.rights s0.form+s0.lefts s0.{p}+s0.lefts n0.form+n0.lefts n0.{p}+n0.lefts
s0h.form s0h.{p} s0l.form s0l.{p} s0r.form s0r.{p} n0l.form n0l.{p}
s0h2.form s0h2.{p} s0l2.form s0l2.{p} s0r2.form s0r2.{p} n0l2.form n0l2.{p}
s0.{p}+s0l.{p}+s0l2.{p} s0.{p}+s0r.{p}+s0r2.{p} s0.{p}+s0h.{p}+s0h2.{p} n0.{p}+n0l.{p}+n0l2.{p}
"""

Numbers = NDArray[np.int64]


def zhang_nivre(tags: Sequence[str]) -> tuple[str, ...]:
    """Their templates, once with every kind of tags (Rush 2014, 8.5.2, has fine and coarse ones)."""
    return tuple(dict.fromkeys(text.format(p=tag) for tag in tags for text in ZHANG_NIVRE.split()))


@inner
def derive(heads, actions, stack):  # out: actions (2 n), stack (n + 1)
    """The canonical derivation of a tree, which reduces only where it must; returns whether there is one."""
    n = heads.shape[0]
    depth, front, size, roots = 0, 1, 0, 0
    for head in heads:
        roots += head == 0
    if n and roots != 1:
        return False
    while front <= n or depth:
        top = stack[depth - 1] if depth else 0
        # attached: its head is below it, so it went onto the stack by RIGHT
        attached = top > 0 and 0 < heads[top - 1] < top
        if top and not attached and heads[top - 1] == (front if front <= n else 0):
            action = LEFT
        elif top and front <= n and heads[front - 1] == top:
            action = RIGHT
        elif attached and front > n:
            action = REDUCE
        else:
            action = SHIFT
            if attached:
                for i in range(depth):
                    if heads[front - 1] == stack[i] or heads[stack[i] - 1] == front:
                        action = REDUCE
        if action == SHIFT and (front > n or 0 < heads[front - 1] < front):
            return False  # a word whose head is gone, or not to be reached
        actions[size] = action
        size += 1
        if action in (LEFT, REDUCE):
            depth -= 1
        else:
            stack[depth] = front
            depth += 1
            front += 1
    return True


@inner
def attach(actions, n, heads, stack):  # out: heads (n), stack (n + 1)
    """The heads after all actions, 0 for the root."""
    depth, front = 0, 1
    for action in actions:
        if action == LEFT:
            depth -= 1
            heads[stack[depth] - 1] = front if front <= n else 0
        elif action == REDUCE:
            depth -= 1
        else:
            if action == RIGHT:
                heads[front - 1] = stack[depth - 1]
            stack[depth] = front
            depth += 1
            front += 1
    return depth


def static_oracle(heads: Sequence[int]) -> tuple[int, ...] | None:
    """The canonical derivation of a projective tree with one root; None if it is not one. Words count from 1, and 0 is the root.

    >>> [ACTIONS[action] for action in static_oracle((2, 0))]
    ['shift', 'left', 'shift', 'left']
    """
    n = len(heads)
    if not all(0 <= head <= n for head in heads):
        raise InputError(f"heads are {tuple(heads)}: expected numbers from 0 to {n}.")
    actions = np.zeros(2 * n, dtype=np.int8)
    return tuple(actions.tolist()) if derive(np.array(heads, dtype=np.int32), actions, np.zeros(n + 1, dtype=np.int32)) else None


def heads_of(actions: Sequence[int]) -> tuple[int, ...]:
    """The heads of words after a whole derivation."""
    n = len(actions) // 2
    heads = np.zeros(n, dtype=np.int32)
    attach(np.array(actions, dtype=np.int8), n, heads, np.zeros(n + 1, dtype=np.int32))
    return tuple(heads.tolist())


@inlined
def is_allowed(action, state, items, n):
    front, top = state[FRONT], state[TOP]
    if action == SHIFT:
        return front < n or (front == n and top == 0)
    if top == 0:
        return False
    if action == RIGHT:
        return front < n or (front == n and state[HEADLESS] == 1)
    return (items[top, HEADED] == 1) == (action == REDUCE)


@inlined
def act(action, state, items, n_items, after):  # out: items (from n_items on), after (a state)
    """Returns how many items there are then. Items never change, so that states share them; an item's head is the one below."""
    top, front = state[TOP], state[FRONT]
    for f in range(STATE):
        after[f] = state[f]
    if action in (LEFT, REDUCE):
        after[TOP] = items[top, BELOW]
        if action == LEFT:
            after[FRONT1], after[FRONT2] = items[top, TOKEN], state[FRONT1]
            after[FRONTS] += 1
            after[HEADLESS] -= 1
        return n_items
    if action == RIGHT:
        for f in range(ITEM):
            items[n_items, f] = items[top, f]
        items[n_items, RIGHT1], items[n_items, RIGHT2] = front, items[top, RIGHT1]
        items[n_items, RIGHTS] += 1
        top = n_items
        n_items += 1
    else:
        after[HEADLESS] += 1
    items[n_items, TOKEN], items[n_items, HEADED], items[n_items, BELOW] = front, 1 if action == RIGHT else 0, top
    items[n_items, LEFT1], items[n_items, LEFT2], items[n_items, LEFTS] = state[FRONT1], state[FRONT2], state[FRONTS]
    items[n_items, RIGHT1], items[n_items, RIGHT2], items[n_items, RIGHTS] = 0, 0, 0
    after[TOP], after[FRONT] = n_items, front + 1
    after[FRONT1], after[FRONT2], after[FRONTS] = 0, 0, 0
    return n_items + 1


class Template(NamedTuple):
    text: str
    terms: tuple[tuple[str, str], ...]  # role, column
    relation: str
    group: int


def parse_template(text: str) -> Template:
    """Terms such as s0.form, and at most one relation such as distance, with + between them."""
    terms: list[tuple[str, str]] = []
    relation = RELATIONS[0]
    for term in text.split("+"):
        role, _, column = term.partition(".")
        if term in RELATIONS[1:]:
            if relation != RELATIONS[0]:
                raise InputError(f"the template {text!r} has the relations {relation} and {term}: expected at most one.")
            relation = term
        elif role not in ROLES:
            raise UnknownMethod(f"in the template {text!r}, the role", role, ROLES)
        elif column not in COLUMNS:
            raise UnknownMethod(f"in the template {text!r}, the column", column, COLUMNS)
        else:
            terms.append((role, column))
    roles = {role for role, _ in terms}
    for group, (readable, its_relation, _, _) in enumerate(GROUPS):
        if roles <= set(readable) and relation in ("none", its_relation):
            return Template(text, tuple(terms), relation, group)
    groups = "; ".join(", ".join((*readable, *[r for r in [its] if r != "none"])) for readable, its, _, _ in GROUPS)
    raise InputError(f"the template {text!r} reads too much: expected words and a relation of one of {groups}.")


class Plan(NamedTuple):
    """Templates as arrays for kernels, those of a group next to each other. A slot is a role of a template.

    A key is the sum of a number per slot, which is a sum of hashes of the token's attributes times factors, and one of the relation.
    """

    group_start: Numbers  # (groups + 1,)
    slot_start: Numbers  # (templates + 1,)
    slot_roles: Numbers  # (slots,)
    relations: Numbers  # (templates,)
    codes: Numbers  # (relations, VALUES)
    term_start: Numbers  # (slots + 1,)
    terms: Numbers  # (terms, 2): attribute, factor
    contexts: Numbers  # (groups, 4): three roles, or len(ROLES) for none, and a relation


class Features(NamedTuple):
    templates: tuple[Template, ...]  # by group
    columns: tuple[str, ...]  # what they read
    plan: Plan


class Corpus(NamedTuple):
    """Sentences as integers: those of sentence s are words[start[s] : start[s + 1]], numbers of token types."""

    start: Numbers
    words: NDArray[np.int32]
    types: Numbers  # (types, columns): hashes of attributes; the first rows are no words


@functools.lru_cache(maxsize=2**18)
def hash_of(text: str) -> int:
    """The same 64 bits for a text on every machine, as a signed number."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little", signed=True)


def factor_of(template: str, place: int) -> int:
    """What the attribute at a place of a template is multiplied by: an odd number that no other template has."""
    return hash_of(f"\0factor {template} {place}") | 1


def code_of(relation: str, value: int) -> int:
    return hash_of(f"\0code {relation} {value}")


def features_of(texts: Sequence[str]) -> Features:
    templates = tuple(sorted(map(parse_template, texts), key=lambda template: template.group))
    if not 0 < len(templates) <= MOST_TEMPLATES or len(set(texts)) < len(texts):
        raise InputError(f"there are {len(templates)} templates: expected 1 to {MOST_TEMPLATES}, every one once.")
    columns = tuple(name for name in COLUMNS if any(name == column for template in templates for _, column in template.terms))
    slot_start, roles, term_start, terms = [0], [], [0], []
    for template in templates:
        for role in dict.fromkeys(role for role, _ in template.terms):
            roles.append(ROLES.index(role))
            terms += [(columns.index(c), factor_of(template.text, p)) for p, (other, c) in enumerate(template.terms) if other == role]
            term_start.append(len(terms))
        slot_start.append(len(roles))
    groups = [template.group for template in templates]
    contexts = [
        [*[ROLES.index(role) for role in words], *[len(ROLES)] * (3 - len(words)), RELATIONS.index(relation)]
        for _, _, words, relation in GROUPS
    ]
    plan = Plan(
        group_start=np.searchsorted(groups, np.arange(len(GROUPS) + 1)).astype(np.int64),
        slot_start=np.array(slot_start, dtype=np.int64),
        slot_roles=np.array(roles, dtype=np.int64),
        relations=np.array([RELATIONS.index(template.relation) for template in templates], dtype=np.int64),
        codes=np.array([[code_of(relation, value) for value in range(VALUES)] for relation in RELATIONS], dtype=np.int64),
        term_start=np.array(term_start, dtype=np.int64),
        terms=np.array(terms, dtype=np.int64).reshape(-1, 2),
        contexts=np.array(contexts, dtype=np.int64),
    )
    return Features(templates, columns, plan)


def check_beam(beam: int) -> None:
    if not isinstance(beam, int) or not 1 <= beam <= MOST_BEAM:
        raise InputError(f"beam is {beam!r}: expected a whole number from 1 to {MOST_BEAM}.")


def check_sentence(sentence: Sentence, columns: Sequence[str], beam: int) -> None:
    """A column of which nothing is known is as bad as none."""
    name = sentence.name or "the sentence"
    given = [column for column, values in sentence.columns.items() if not values or values.count("_") < len(values)]
    missing = [column for column in columns if column not in given and column != "form"]
    if missing:
        raise InputError(f"{name} has {', '.join(given)}, and no {', '.join(missing)}: the parser reads {', '.join(columns)}.")
    most = min(MOST_WORDS, MOST_STATES // beam)
    if len(sentence) > most:
        raise InputError(f"{name} has {len(sentence):,} words: expected at most {most:,} with a beam of {beam:,}.")


def corpus_of(sentences: Sequence[Mapping[str, Sequence[str]]], columns: Sequence[str]) -> Corpus:
    """Sentences, given by their columns of equal length, as integers."""
    known: dict[tuple[str, ...], int] = {}
    words: list[int] = []
    start = [0]
    for sentence in sentences:
        words += [known.setdefault(values, len(known)) for values in zip(*[sentence[name] for name in columns], strict=True)]
        start.append(len(words))
    rows = [[hash_of(text) for text in values] for values in (*[[text] * len(columns) for text in OUTSIDE], *known)]
    types = np.array(rows, dtype=np.int64).reshape(len(rows), len(columns))
    return Corpus(np.array(start, dtype=np.int64), np.array(words, dtype=np.int32) + np.int32(len(OUTSIDE)), types)


@inner
def fill_sums(words, types, plan, sums):  # out: sums (n + 4, slots)
    n = words.shape[0]
    for token in range(n + 4):
        row = types[NONE if token == 0 else words[token - 1] if token <= n else ROOT if token == n + 1 else AFTER]
        for slot in range(plan.slot_roles.shape[0]):
            total = np.int64(0)
            for p in range(plan.term_start[slot], plan.term_start[slot + 1]):
                total += row[plan.terms[p, 0]] * plan.terms[p, 1]
            sums[token, slot] = total


@inlined
def read_state(state, items, n, tokens, values):  # out: tokens (roles + 1,), values (relations,)
    """Which tokens play the roles of templates, and the values of relations."""
    top, front = state[TOP], state[FRONT]
    word, below = items[top, TOKEN], items[top, BELOW]
    tokens[0], tokens[1], tokens[2], tokens[3] = word, front, min(front + 1, n + 3), min(front + 2, n + 3)
    tokens[4] = items[below, TOKEN] if items[top, HEADED] else 0
    tokens[5] = items[items[below, BELOW], TOKEN] if items[top, HEADED] and items[below, HEADED] else 0
    tokens[6], tokens[7], tokens[8], tokens[9] = items[top, LEFT1], items[top, LEFT2], items[top, RIGHT1], items[top, RIGHT2]
    tokens[10], tokens[11] = state[FRONT1], state[FRONT2]
    distance = front - word if word else 0
    values[1] = distance if distance <= 5 else 6 if distance <= 10 else 7
    values[2], values[3], values[4] = min(items[top, LEFTS], 7), min(items[top, RIGHTS], 7), min(state[FRONTS], 7)


@inlined
def key_of(t, slot_start, slot_roles, relations, codes, sums, tokens, values):
    key = codes[relations[t], values[relations[t]]]
    for slot in range(slot_start[t], slot_start[t + 1]):
        key += sums[tokens[slot_roles[slot]], slot]
    return key if key != 0 else np.int64(1)  # 0 is none in tables


@inner
def shift_of(places):
    """How far a key is shifted to the right so that as many of its high bits are left as there are places for."""
    shift = 64
    while places > 1:
        places >>= 1
        shift -= 1
    return shift
