"""A head-driven generative parser: every constituent grows outward from its head, every step knows the head word (Collins 1997, model 1).

    P(head child | parent, tag, word) P(sister | parent, head child, side, last sister, verb between, tag, word) ... P(end | ...)
    P(tag of the sister | its label, tag, word) P(its word | its tag, its label, side, tag, word)

Each is mixed with what it is without the word, then without the tag, and so on: n / (n + 5 u) of the counts, where n events of u kinds were
seen in the context (Collins 1999, section 7.2.4). The words of a tag alone are those of a `Lexicon`. Departures: what was never seen with a
parent, head child and side is impossible; subcategorisation (model 2) is not there; see `lexical_counts` for distance and memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerogap.constituency.lexical.counts import (
    LEFT,
    MEMORIES,
    NOTHING,
    RIGHT,
    STOP,
    LexicalCounts,
    Step,
    count_events,
    is_verb,
)  # fmt: skip
from zerogap.constituency.treebank.binarising import CLOSE, OPEN, Split, label_of, unbinarise
from zerogap.constituency.treebank.lexicon import Lexicon
from zerogap.constituency.treebank.splits import splits_named
from zerogap.constituency.treebank.trees import Tree, from_preorder
from zerogap.grid import Scores
from zerogap.problems.constituency.lexical import LEFT_EDGE, NO_EDGE, RIGHT_EDGE, LexicalGrammar, LexicalProblem, Structure
from zerogap.problems.constituency.lexical import preorder as nodes_of

RAREST_TAG = 0.01  # of a word, against its most probable one
VARIETY = 5.0  # how much the number of kinds weighs against the number of events

Places = NDArray[np.int64]
Seen = list[tuple[int, int, int, Places, Scores]]  # begin and end of a context, verb between, places in it, counts


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Distributions with the counts that are mixed into them: events of a context are beside each other."""

    base: Scores  # (events, 2): without and with a verb between
    by_tag: dict[str, Seen]
    by_word: dict[tuple[str, str], Seen]

    def column(self, tag: str, word: str) -> Scores:
        """The probabilities of all events for a head."""
        found = self.base.copy()
        for seen in (self.by_tag.get(tag, ()), self.by_word.get((tag, word), ())):
            for begin, end, verb, places, counts in seen:
                mix(found[begin:end, verb], places, counts)
        return found


def mix(shares: Scores, places: Places, counts: Scores) -> None:
    """Gives counts their part of a distribution, in place."""
    total = float(counts.sum())
    weight = total / (total + VARIETY * len(counts))
    shares *= 1.0 - weight
    shares[places] += weight * counts / total


@dataclass(frozen=True, slots=True, eq=False)
class Sisters:
    """Counts of tags and words of sisters by class (`sister_class`)."""

    classes: dict[str, int]
    tags: dict[tuple[object, ...], dict[str, float]]  # (class), (class, tag), (class, tag, word) -> tag -> count
    words: dict[tuple[object, ...], dict[str, float]]  # (class, its tag, side, tag), (..., word) -> word -> count


@dataclass(frozen=True, slots=True, eq=False)
class LexicalModel:
    """A grammar, the mixtures that score it, and a lexicon whose tags are symbols of it."""

    grammar: LexicalGrammar
    mixture: Mixture
    binary_event: Places
    unary_event: Places
    sisters: Sisters
    roots: Scores  # (tags,): how often the head of a sentence had each
    lexicon: Lexicon
    tag_symbols: Places  # the symbol of every tag of the lexicon

    def problem(self, words: Sequence[str], *, tags: Sequence[str] | None = None) -> LexicalProblem:
        """The scores of a sentence; with `tags`, every word has its tag, else those that the lexicon allows."""
        table = self.lexicon.scores(words, tags=None if tags is None else [[tag] for tag in tags])
        for i, word in enumerate(words if tags is None else ()):
            chances = self.lexicon.probabilities(word, i == 0)
            table[i, chances < RAREST_TAG * chances.max()] = -np.inf
        positions, chosen = np.nonzero(table > -np.inf)
        names = [self.lexicon.tags[t] for t in chosen]
        heads = [(tag, words[i]) for tag, i in zip(names, positions.tolist(), strict=True)]
        columns = {head: self.mixture.column(*head) for head in set(heads)}
        with np.errstate(divide="ignore"):
            events = np.log(np.stack([columns[head] for head in heads], axis=1))
            shares = (self.roots + self.lexicon.totals / self.lexicon.totals.sum()) / (self.roots.sum() + 1.0)
            roots = np.log(shares[chosen]) + table[positions, chosen]
        np.minimum(events, 0.0, out=events)  # sums of shares may exceed 1 by a rounding
        verbs = [is_verb(self.lexicon, word, i == 0) for i, word in enumerate(words)]
        return LexicalProblem(
            self.grammar, positions=positions, tags=self.tag_symbols[chosen], verbs=verbs, binary=events[self.binary_event],
            unary=events[self.unary_event], words=self.word_scores(positions, heads, table[positions, chosen]), roots=roots,
        )  # fmt: skip

    def word_scores(self, positions: Places, heads: Sequence[tuple[str, str]], lexical: Scores) -> Scores:
        """log P(tag and word of a sister | its class, its head), (classes, sister, head)."""
        size, counts, places = len(positions), self.sisters, positions.tolist()
        found = np.zeros((len(counts.classes), size, size))
        for name, k in counts.classes.items():
            known = counts.tags.get((name,), {})
            for m, (own, word) in enumerate(heads):
                if name and own not in known:
                    continue
                alone = float(np.exp(lexical[m]))
                row: dict[tuple[str, str, int], float] = {}
                for h, (tag, head) in enumerate(heads):
                    if places[h] != places[m]:
                        key = (tag, head, LEFT if places[m] < places[h] else RIGHT)
                        if key not in row:
                            share = 1.0 if not name else mixed(0.0, own, counts.tags, (name,), (name, tag), (name, tag, head))
                            context = (name, own, key[2], tag)
                            row[key] = share * mixed(alone, word, counts.words, context, (*context, head))
                        found[k, m, h] = row[key]
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(found))

    def tree(self, structure: Structure, words: Sequence[str]) -> Tree:
        """A structure of a problem as a tree of the treebank's labels."""
        nodes = nodes_of(structure)
        sizes = [0 if not isinstance(node[1], tuple) else len(node) - 1 for node in nodes]
        return unbinarise(from_preorder([node[0] for node in nodes], sizes, words))


def mixed(chance: float, what: str, table: dict[tuple[object, ...], dict[str, float]], *contexts: tuple[object, ...]) -> float:
    """The chance, with the counts of one context after another mixed into it."""
    for context in contexts:
        seen = table.get(context)
        if seen is not None:
            total = sum(seen.values())
            weight = total / (total + VARIETY * len(seen)) if chance > 0.0 or context != contexts[0] else 1.0
            chance = weight * seen.get(what, 0.0) / total + (1.0 - weight) * chance
    return chance


def train_lexical(
    trees: Iterable[Tree], *, memory: str = "class", head_rules: str = "yamada", vertical: int = 1,
    splits: Sequence[Split] = splits_named(("base",)),
) -> LexicalModel:  # fmt: skip
    """A model from cleaned trees (`cleaning.cleaned`)."""
    return estimate_lexical(count_events(trees, memory=memory, head_rules=head_rules, vertical=vertical, splits=splits))


def estimate_lexical(counts: LexicalCounts) -> LexicalModel:
    kinds: dict[tuple[str, str, int], dict[str, None]] = {}  # parent, head child, side -> sisters
    for step, _, sister, _, _ in counts.steps:
        kinds.setdefault(step[:3], {STOP: None})[sister] = None
    remember = MEMORIES[counts.memory]
    outcomes: dict[Step | str, list[str]] = {}  # what a step, or a parent for its head child, can become
    for parent, inner, _, _ in counts.heads:
        if inner not in outcomes.setdefault(parent, []):
            outcomes[parent].append(inner)
    for key, sisters in kinds.items():
        for last in dict.fromkeys([NOTHING, *(remember(s, s in counts.tags) for s in sisters if s != STOP)]):
            outcomes[(*key, last)] = list(sisters)
    begin: dict[Step | str, int] = {}
    place: dict[tuple[Step | str, str], int] = {}
    for context, several in outcomes.items():
        begin[context] = len(place)
        for outcome in several:
            place[context, outcome] = len(place)
    base = base_shares(counts, outcomes, begin, place)
    by_tag: dict[str, dict[tuple[object, int], dict[int, float]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(float)))
    by_word: dict[tuple[str, str], dict[tuple[object, int], dict[int, float]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(float))
    )
    events: list[tuple[Step | str, int, str, str, str, int]] = [(p, 0, h, t, w, n) for (p, h, t, w), n in counts.heads.items()]
    events += [(*key, n) for key, n in counts.steps.items()]
    for context, verb, outcome, tag, word, n in events:
        at = place[context, outcome] - begin[context]
        by_tag[tag][context, verb][at] += n
        by_word[tag, word][context, verb][at] += n

    def listed(table: dict[tuple[object, int], dict[int, float]]) -> Seen:
        return [
            (begin[c], begin[c] + len(outcomes[c]), v, np.array(list(seen), dtype=np.int64), np.array(list(seen.values())))  # type: ignore[index]
            for (c, v), seen in table.items()
        ]

    mixture = Mixture(base, {k: listed(v) for k, v in by_tag.items()}, {k: listed(v) for k, v in by_word.items()})
    classes = {name: k for k, name in enumerate(dict.fromkeys(key[0] for key in counts.sisters))}
    grammar, binary_event, unary_event = rules_of(counts, outcomes, place, classes)
    number = {symbol: i for i, symbol in enumerate(grammar.symbols)}
    roots = np.array([float(sum(n for (tag, _), n in counts.roots.items() if tag == own)) for own in counts.lexicon.tags])
    tags = np.array([number[tag] for tag in counts.lexicon.tags], dtype=np.int64)
    return LexicalModel(grammar, mixture, binary_event, unary_event, count_sisters(counts, classes), roots, counts.lexicon, tags)


def base_shares(
    counts: LexicalCounts, outcomes: dict[Step | str, list[str]], begin: dict[Step | str, int], place: dict[tuple[Step | str, str], int]
) -> Scores:
    """The distributions without tag and word of the head: of a step given its side, then its memory, then whether a verb is between."""
    sides: dict[tuple[object, ...], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for (parent, inner, _, _), n in counts.heads.items():
        sides[(parent,)][inner] += n
    for (step, verb, sister, _, _), n in counts.steps.items():
        for longer in (step[:3], step, (*step, verb)):
            sides[longer][sister] += n
    base = np.zeros((len(place), 2))
    for context, several in outcomes.items():
        rows = slice(begin[context], begin[context] + len(several))
        key: tuple[object, ...] = (context,) if isinstance(context, str) else context[:3]
        known = np.array([sides[key][outcome] for outcome in several])
        base[rows] = (known / known.sum())[:, None]
        for verb in (0, 1) if not isinstance(context, str) else ():
            for finer in (context, (*context, verb)):
                if finer in sides:
                    places = np.array([place[context, outcome] - begin[context] for outcome in sides[finer]], dtype=np.int64)
                    mix(base[rows, verb], places, np.array(list(sides[finer].values())))
    return base


def rules_of(
    counts: LexicalCounts, outcomes: dict[Step | str, list[str]], place: dict[tuple[Step | str, str], int], classes: dict[str, int]
) -> tuple[LexicalGrammar, Places, Places]:
    """Symbols are labels, tags and steps: a step is a part of a constituent, to whose right and then left sisters are added."""
    remember = MEMORIES[counts.memory]

    def name(step: Step) -> str:
        return f"{step[0]}{OPEN}{step[1]}{'<>'[step[2]]}{step[3]}{CLOSE}"

    labels = dict.fromkeys([*(c for c in outcomes if isinstance(c, str)), *sorted(counts.tags)])
    steps = {context: name(context) for context in outcomes if not isinstance(context, str)}
    number = {symbol: i for i, symbol in enumerate([*labels, *steps.values()])}
    binary, unary = [], []  # rule, head side or edge, event
    for context, several in outcomes.items():
        for outcome in several:
            event = place[context, outcome]
            if isinstance(context, str):
                first = steps.get((context, outcome, RIGHT, NOTHING))
                if first is not None:
                    unary.append((number[first], number[outcome], NO_EDGE, event))
                continue
            parent, inner, side, _ = context
            here = number[steps[context]]
            if outcome == STOP:
                after = number[steps[parent, inner, LEFT, NOTHING]] if side == RIGHT else number[parent]
                unary.append((after, here, RIGHT_EDGE if side == RIGHT else LEFT_EDGE, event))
            else:
                there = number[steps[parent, inner, side, remember(outcome, outcome in counts.tags)]]
                pair = (here, number[outcome]) if side == RIGHT else (number[outcome], here)
                binary.append((there, *pair, 0 if side == RIGHT else 1, event))
    sisters = np.full(len(number), -1, dtype=np.int64)
    for symbol in labels:
        kind = "" if symbol in counts.tags else label_of(symbol)
        sisters[number[symbol]] = classes.get(kind, -1)
    two = np.array(sorted(binary), dtype=np.int64).reshape(-1, 5)
    one = np.array(sorted(unary), dtype=np.int64).reshape(-1, 4)
    grammar = LexicalGrammar(
        tuple(number), number[counts.root], two[:, :3].copy(), two[:, 3].copy(), one[:, :2].copy(), one[:, 2].copy(), sisters
    )
    return grammar, two[:, 4].copy(), one[:, 3].copy()


def count_sisters(counts: LexicalCounts, classes: dict[str, int]) -> Sisters:
    tags: dict[tuple[object, ...], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    words: dict[tuple[object, ...], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for (kind, side, own, word, tag, head), n in counts.sisters.items():
        for key in ((kind,), (kind, tag), (kind, tag, head)):
            tags[key][own] += n
        for longer in ((kind, own, side, tag), (kind, own, side, tag, head)):
            words[longer][word] += n
    return Sisters(classes, {k: dict(v) for k, v in tags.items()}, {k: dict(v) for k, v in words.items()})
