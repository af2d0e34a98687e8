"""The best dependency tree of a sentence under scores of arcs, of larger parts and of labels (Rush 2014, sections 2.1.2 and 6.2).

    argmax_y  sum_m arcs[y_m, m] + labels[y_m, m, l_m]  +  the scores of all larger parts of y

over the trees y rooted in token 0, y_m the head of word m and l_m its label. The larger parts are those of `problems.dependency.parts`, and
factors: sets of arcs whose score counts if all of them are in the tree; and automata that read the modifiers of a head on one side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError, InvalidStructure, ScoreShapeError
from zerogap.grid import Scores, as_scores, check_scores, choose_resolution, largest_magnitude, restored, round_to_grid, rounded_together
from zerogap.problems.dependency.factor import Factor, FactorArrays, copied, read_factors
from zerogap.problems.dependency.head_automaton import HeadAutomaton, read_automata, with_weights
from zerogap.problems.dependency.parts import ORDERS, DenseParts, Parts, SparseParts, n_parts, parts_of_tree, read_parts

Heads = tuple[int, ...]
Label = str | int


class LabelledTree(NamedTuple):
    """The heads of words 1 to n, and the labels of the arcs into them: names if the problem has names, else indices."""

    heads: Heads
    labels: tuple[Label, ...]


Tree = Heads | LabelledTree
OPTIONAL = (*ORDERS, "labels", "label_names")
FEW_WORDS = 50  # for less, lists are faster than arrays


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Scores of one sentence, and which trees are wanted.

    `arcs[h, m]` scores head h of word m, -inf forbids it; column 0 and the diagonal mean nothing and become -inf. `labels[h, m, l]` is
    added for label l of the arc. Larger parts are given as an array, as `Sparse` or as `Lazy`; what no arc allows need not be listed.
    A structure is the sequence of the heads of words 1 to n, and with labels a `LabelledTree`.

    >>> problem = Problem([[0, 1, 9], [0, 0, 2], [0, 5, 0]])
    >>> problem.score((2, 0))
    14.0
    """

    arcs: Scores  # (n + 1, n + 1), rounded to multiples of resolution, read-only; so are all scores
    siblings: Parts | None
    stops: Parts | None
    grandparents: Parts | None
    outermost: Parts | None
    grandsiblings: Parts | None
    trisiblings: Parts | None
    factors: Sequence[Factor]  # a tuple, or FactorArrays
    automata: tuple[HeadAutomaton, ...]
    labels: Scores | None  # (n + 1, n + 1, L), 0 where arcs mean nothing
    label_names: tuple[str, ...] | None
    projective: bool  # no two arcs cross
    single_root: bool  # exactly one word is headed by token 0
    resolution: float
    terms: int  # no structure has more scores than this
    largest: float  # no score has a greater magnitude

    __setstate__ = restored

    def __init__(
        self,
        arcs: object,
        *,
        siblings: object = None,
        stops: object = None,
        grandparents: object = None,
        outermost: object = None,
        grandsiblings: object = None,
        trisiblings: object = None,
        factors: Sequence[Any] = (),
        automata: Sequence[HeadAutomaton] = (),
        labels: object = None,
        label_names: Sequence[str] | None = None,
        projective: bool = False,
        single_root: bool = True,
        resolution: float | None = None,
    ) -> None:
        for name, flag in (("projective", projective), ("single_root", single_root)):
            if not isinstance(flag, bool | np.bool_):
                raise InputError(f"{name} is {flag!r}: expected True or False.")
        given = as_scores(arcs, "arcs", shape=(None, None), check=False)
        if given.shape[0] != given.shape[1] or given.size == 0:
            raise ScoreShapeError(f"arcs has shape {given.shape}: expected (n + 1, n + 1), a row and a column for the root first.")
        given.reshape(-1)[:: len(given) + 1] = -np.inf
        given[:, 0] = -np.inf
        put = object.__setattr__
        put(self, "projective", bool(projective))
        put(self, "single_root", bool(single_root))
        for name in OPTIONAL:
            put(self, name, None)
        put(self, "factors", ())
        put(self, "automata", ())
        no_factors = isinstance(factors, tuple) and isinstance(automata, tuple) and not factors and not automata
        if siblings is stops is grandparents is outermost is grandsiblings is trisiblings is labels is label_names is None and no_factors:
            # every sentence of a simple model comes this way
            check_scores(given, "arcs")
            largest = largest_magnitude(given)
            grid = choose_resolution(largest, len(given), resolution)
            put(self, "arcs", round_to_grid(given, grid))
            put(self, "resolution", grid)
            put(self, "terms", len(given))
            put(self, "largest", largest + grid)
            return
        larger = (siblings, stops, grandparents, outermost, grandsiblings, trisiblings)
        by_name = dict(zip(ORDERS, larger, strict=True))
        for name, value in read_scores(given, by_name, factors, automata, labels, label_names, resolution).items():
            put(self, name, value)

    @property
    def n_words(self) -> int:
        return len(self.arcs) - 1

    @property
    def parts(self) -> dict[str, Parts]:
        """The larger parts that the problem scores, by name; factors are apart."""
        return {name: parts for name in ORDERS if (parts := getattr(self, name)) is not None}

    @property
    def larger(self) -> list[str]:
        """The names of all that is scored beside arcs and their labels."""
        return [*self.parts, *(["factors"] if self.factors else []), *(["automata"] if self.automata else [])]

    @property
    def parts_scored(self) -> int:
        """How many larger parts were scored so far: those of arrays and lists all at once, others when a decoder asks for them."""
        return sum(parts.scored for parts in self.parts.values())

    def read(self, structure: Any) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
        """The heads, and the indices of the labels if there are any; InvalidStructure if it is not of that form."""
        if self.labels is None:
            return as_heads(structure, self.n_words), None
        if not isinstance(structure, tuple | list) or len(structure) != 2:
            raise InvalidStructure(f"the structure is {structure!r}: expected a LabelledTree, heads and labels.")
        return as_heads(structure[0], self.n_words), self.label_indices(structure[1])

    def label_indices(self, labels: Any) -> NDArray[np.int64]:
        if not isinstance(labels, tuple | list | np.ndarray) or len(labels) != self.n_words:
            raise InvalidStructure(f"the labels are {labels!r}: expected {self.n_words}, one per word.")
        if self.labels is None:
            raise InvalidStructure("labels were given: expected none, as the problem does not score them.")
        names: Sequence[Label] = range(self.labels.shape[2]) if self.label_names is None else self.label_names
        number = {label: i for i, label in enumerate(names)}
        for m, label in enumerate(labels, start=1):
            if isinstance(label, bool | np.bool_ | float) or label not in number:
                raise InvalidStructure(f"the label of word {m} is {label!r}: expected one of {shown(names)}.")
        return np.array([number[label] for label in labels], dtype=np.int64)

    def tree(self, heads: Sequence[int] | NDArray[np.int64], labels: Sequence[int] | NDArray[np.int64] | None = None) -> Tree:
        """The structure that these heads and label indices are."""
        plain = tuple(heads.tolist() if isinstance(heads, np.ndarray) else map(int, heads))
        if self.labels is None or labels is None:
            return plain
        indices = tuple(map(int, labels))
        return LabelledTree(plain, indices if self.label_names is None else tuple(self.label_names[i] for i in indices))

    def score(self, structure: Any) -> float:
        """The sum of the scores of its parts, tree or not; -inf if one is forbidden."""
        heads, labels = self.read(structure)
        parts, plain = self.parts, heads.tolist()
        if len(plain) < FEW_WORDS:
            total = float(sum(map(self.arcs.item, plain, range(1, len(plain) + 1))))
        else:
            total = float(self.arcs[heads, np.arange(1, len(plain) + 1)].sum())
        if self.labels is not None:
            total += float(self.labels[heads, np.arange(1, len(plain) + 1), labels].sum())
        for name, found in parts_of_tree(plain, parts) if parts else ():
            some = parts[name]
            if isinstance(some, DenseParts):
                total += sum(map(some.table.item, found))
            else:
                total += some.total(found) if isinstance(some, SparseParts) else float(scores_of(some, found).sum())
        if self.automata:
            total += sum(automaton.weight(modifiers_of(heads, automaton)) for automaton in self.automata)
        if isinstance(self.factors, FactorArrays):
            return total + self.factors.score_of(heads)
        return total + sum(factor.score for factor in self.factors if holds(factor, plain)) if self.factors else total

    def check(self, structure: Any) -> None:
        """Raises InvalidStructure unless the structure is a tree that the problem allows."""
        heads, labels = self.read(structure)
        check_acyclic(heads)
        roots = np.flatnonzero(heads == 0) + 1
        if self.single_root and len(roots) > 1:
            raise InvalidStructure(f"words {', '.join(map(str, roots))} are all under the root: expected a single root.")
        if self.projective:
            check_projective(heads)
        words = np.arange(1, self.n_words + 1)
        forbidden = np.flatnonzero(self.arcs[heads, words] == -np.inf)
        if forbidden.size:
            m = int(forbidden[0]) + 1
            raise InvalidStructure(f"the arc {heads[m - 1]} -> {m} is forbidden: its score is -inf.")
        if self.labels is not None and labels is not None:
            forbidden = np.flatnonzero(self.labels[heads, words, labels] == -np.inf)
            if forbidden.size:
                m = int(forbidden[0]) + 1
                raise InvalidStructure(
                    f"the label {structure[1][m - 1]!r} of the arc {heads[m - 1]} -> {m} is forbidden: its score is -inf."
                )
        parts, plain = self.parts, heads.tolist()
        for name, found in parts_of_tree(plain, parts):
            forbidden = np.flatnonzero(scores_of(parts[name], found) == -np.inf)
            if forbidden.size:
                raise InvalidStructure(f"the part {name}{list(found[int(forbidden[0])])} is forbidden: its score is -inf.")
        for automaton in self.automata:
            modifiers = modifiers_of(heads, automaton)
            if automaton.weight(modifiers) == -np.inf:
                raise InvalidStructure(
                    f"the {automaton.side} automaton of word {automaton.head} does not accept the modifiers {modifiers}."
                )
        for i, factor in enumerate(self.factors):
            if factor.score == -np.inf and holds(factor, plain):
                raise InvalidStructure(f"the tree has all arcs of factors[{i}], which are forbidden together: its score is -inf.")


def sibling_problem(
    arcs: Scores, siblings: Scores, stops: Scores, factors: FactorArrays, *, single_root: bool, resolution: float | None
) -> Problem:
    """A projective problem of what a model made itself: arrays of the right shapes with 0 where an index means nothing, arcs with -inf
    there, and factors of possible arcs. Only scores are looked at and rounded, as always."""
    n = len(arcs) - 1
    terms = 4 * n + 2 + len(factors)
    scores = {"arcs": arcs, "siblings": siblings, "stops": stops, "factors": factors.scores}
    (arcs, siblings, stops, of_factors), grid, largest = rounded_together(scores, terms, resolution)
    problem: Problem = object.__new__(Problem)
    found = dict.fromkeys(Problem.__slots__) | {
        "arcs": arcs, "siblings": DenseParts(siblings, n_parts("siblings", n)), "stops": DenseParts(stops, n_parts("stops", n)),
        "factors": FactorArrays(n, factors.start, factors.arcs, of_factors), "automata": (), "projective": True,
        "single_root": single_root, "resolution": grid, "terms": terms, "largest": largest,
    }  # fmt: skip
    for name, value in found.items():
        object.__setattr__(problem, name, value)
    return problem


def scores_of(parts: Parts, found: list[tuple[int, ...]]) -> Scores:
    return parts.at(*(np.array(indices, dtype=np.int64) for indices in zip(*found, strict=True))) if found else np.zeros(0)


def read_scores(
    arcs: Scores, larger: dict[str, object], factors: Sequence[Any], automata: Sequence[HeadAutomaton], labels: object,
    label_names: Sequence[str] | None, resolution: float | None,
) -> dict[str, Any]:  # fmt: skip
    """All scores on one grid, as fields of a problem."""
    n = len(arcs) - 1
    arrays, finish = {"arcs": arcs}, {}
    most = {"stops": 2 * n + 1, "outermost": 2 * n}  # of the others, a tree has at most one for each of its arcs
    terms = n + 1
    for name, value in larger.items():
        if value is not None:
            called, scores, make = read_parts(name, value, n)
            arrays[called], finish[name] = scores, make
            terms += most.get(name, n)
    fields: dict[str, Any] = {"label_names": None}
    if labels is not None:
        arrays["labels"] = read_labels(labels, n)
        terms += n
        fields["label_names"] = None if label_names is None else read_label_names(label_names, arrays["labels"].shape[2])
    elif label_names is not None:
        raise InputError("label_names was given without labels: expected scores (n + 1, n + 1, L) for them.")
    sets: list[tuple[tuple[int, int], ...]] = []
    if not isinstance(factors, tuple | list | FactorArrays):
        raise InputError(f"factors is a {type(factors).__name__}: expected a list of (arcs, score), or FactorArrays.")
    if isinstance(factors, FactorArrays):
        factors = copied(factors)
        factors.check(n)
        arrays["factors"] = factors.scores
        terms += len(factors)
    elif factors:
        sets, arrays["factors"] = read_factors(factors, n)
        terms += len(sets)
    machines: list[HeadAutomaton] = []
    if not (isinstance(automata, tuple) and not automata):
        machines, weights = read_automata(automata, n)
        if machines:
            arrays["automata"] = weights
            terms += 3 * n + 1  # a transition for every arc, and both sides of every word end
    rounded, grid, largest = rounded_together(arrays, terms, resolution)
    by_name = dict(zip(arrays, rounded, strict=True))
    fields |= {"arcs": by_name["arcs"], "labels": by_name.get("labels"), "resolution": grid, "terms": terms, "largest": largest}
    makers: dict[str, Callable[[Scores, float], Parts]] = finish
    called_by = {called.split(".")[0]: called for called in arrays}
    fields |= {name: make(by_name[called_by[name]], grid) for name, make in makers.items()}
    scores_of_factors = by_name["factors"].tolist() if sets else []
    fields["automata"] = with_weights(machines, by_name["automata"].tolist()) if machines else ()
    if isinstance(factors, FactorArrays):
        return fields | {"factors": FactorArrays(n, factors.start, factors.arcs, by_name["factors"])}
    return fields | {"factors": tuple(Factor(some, score) for some, score in zip(sets, scores_of_factors, strict=True))}


def read_labels(value: object, n: int) -> Scores:
    scores = as_scores(value, "labels", shape=(n + 1, n + 1, None), check=False)
    if scores.shape[2] == 0:
        raise ScoreShapeError(f"labels has shape {scores.shape}: expected at least one label.")
    scores[:, 0] = 0.0
    scores[np.arange(n + 1), np.arange(n + 1)] = 0.0
    return scores


def read_label_names(value: Sequence[str], size: int) -> tuple[str, ...]:
    names = tuple(value)
    if len(names) != size or len(set(names)) != size or not all(isinstance(name, str) for name in names):
        raise InputError(f"label_names has {len(names)} names, {len(set(names))} different: expected {size} strings, one per label.")
    return names


def shown(names: Sequence[Label]) -> str:
    return ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")


def holds(factor: Factor, heads: Sequence[int]) -> bool:
    return all(heads[m - 1] == h for h, m in factor.arcs)


def modifiers_of(heads: NDArray[np.int64], automaton: HeadAutomaton) -> list[int]:
    """What an automaton reads of a tree: the modifiers on its side, nearest first."""
    found: list[int] = (np.flatnonzero(heads == automaton.head) + 1).tolist()
    h = automaton.head
    return [m for m in found if m > h] if automaton.side == "right" else [m for m in reversed(found) if m < h]


def as_heads(heads: Any, n_words: int) -> NDArray[np.int64]:
    """One head in 0 .. n_words for every word, or InvalidStructure."""
    if not isinstance(heads, tuple | list | np.ndarray):
        raise InvalidStructure(f"the structure is {heads!r}: expected a sequence of heads.")
    if len(heads) != n_words:
        raise InvalidStructure(f"{len(heads)} heads were given: expected {n_words}, one per word.")
    if set(map(type, heads)) == {int} and min(heads) >= 0 and max(heads) <= n_words:  # what decoders give
        return np.array(heads, dtype=np.int64)
    for m, h in enumerate(heads, start=1):
        if isinstance(h, bool | np.bool_) or not isinstance(h, int | np.integer) or not 0 <= h <= n_words:
            raise InvalidStructure(f"the head of word {m} is {h!r}: expected an integer from 0 to {n_words}.")
    return np.array(heads, dtype=np.int64)


def check_acyclic(heads: NDArray[np.int64]) -> None:
    leads_to_root = np.zeros(len(heads) + 1, dtype=np.bool_)
    leads_to_root[0] = True
    for word in range(1, len(heads) + 1):
        walk: list[int] = []
        while not leads_to_root[word]:
            if word in walk:
                cycle = walk[walk.index(word) :]
                raise InvalidStructure(f"words form a cycle, each headed by the next: {' <- '.join(map(str, [*cycle, word]))}.")
            walk.append(word)
            word = int(heads[word - 1])
        leads_to_root[walk] = True


def check_projective(heads: NDArray[np.int64]) -> None:
    """Two arcs cross if exactly one end of each lies strictly inside the other."""
    words = np.arange(1, len(heads) + 1)
    low, high = np.minimum(heads, words), np.maximum(heads, words)
    first, second = np.nonzero((low[:, None] < low) & (low < high[:, None]) & (high[:, None] < high))
    if first.size:
        a, b = int(first[0]), int(second[0])
        raise InvalidStructure(f"the arcs {heads[a]} -> {a + 1} and {heads[b]} -> {b + 1} cross: expected a projective tree.")
