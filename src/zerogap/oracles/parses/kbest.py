"""The k best parses under a weighted grammar, exactly and lazily (Huang & Chiang 2005, algorithm 3).

After the inside pass, the next best derivation of a symbol over a span is found only when somebody asks for it; the rules that could
make it are looked up when it is first asked. Before chains of unary rules and after them are two kinds of items. A chain has no symbol
twice, so that cycles do not make parses without end; the next best chain between two symbols, too, is found when asked (Yen 1971).
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from zerogap.errors import InputError
from zerogap.grid import Scores
from zerogap.oracles.parses.cky import CHAIN, LEXICAL, LOWEST, Cells, IndexedGrammar, Parse, inside_cells, parse_of, require_parse

Item = tuple[int, int, int, bool]  # start, end, symbol, whether chains come after it
Step = tuple[int, int]  # a binary rule and a split, the child of a chain and its rank, or LEXICAL and the word


@dataclass(slots=True)
class ChainList:
    """The best chains from one symbol to another, as many as were asked for."""

    found: list[tuple[float, tuple[int, ...]]]  # score, rules
    waiting: list[tuple[float, tuple[int, ...]]] = field(default_factory=list)  # a heap: minus the score, rules
    seen: set[tuple[int, ...]] = field(default_factory=set)


@dataclass(slots=True)
class ChainFinder:
    """The best chains without a symbol twice between any two symbols of a grammar."""

    indexed: IndexedGrammar
    lists: dict[tuple[int, int], ChainList] = field(default_factory=dict)
    children: dict[int, list[tuple[int, float, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        grammar = self.indexed.grammar
        for rule, ((parent, child), score) in enumerate(zip(grammar.unary.tolist(), grammar.unary_scores.tolist(), strict=True)):
            if score > LOWEST and parent != child:
                self.children.setdefault(parent, []).append((child, score, rule))

    def chain(self, parent: int, child: int, rank: int) -> tuple[float, tuple[int, ...]] | None:
        """The chain of a rank from 0, None if there are fewer."""
        if (parent, child) not in self.lists:
            first = self.best(parent, child, frozenset(), frozenset())
            self.lists[parent, child] = ChainList([] if first is None else [first])
        known = self.lists[parent, child]
        while len(known.found) <= rank and known.found:
            self.spur(known, parent, child)
            if not known.waiting:
                return None
            score, rules = heapq.heappop(known.waiting)
            known.found.append((-score, rules))
        return known.found[rank] if rank < len(known.found) else None

    def spur(self, known: ChainList, parent: int, child: int) -> None:
        """Candidates that leave the last chain found at each of its symbols, by rules that no chain with the same beginning took."""
        unary, scores = self.indexed.grammar.unary, self.indexed.grammar.unary_scores
        last = known.found[-1][1]
        at, used, begun = parent, {parent}, 0.0
        for length in range(len(last)):
            taken = frozenset(rules[length] for _, rules in known.found if rules[:length] == last[:length] and len(rules) > length)
            rest = self.best(at, child, frozenset(used - {at}), taken)
            if rest is not None and (rules := (*last[:length], *rest[1])) not in known.seen:
                known.seen.add(rules)
                heapq.heappush(known.waiting, (-(begun + rest[0]), rules))
            begun += float(scores[last[length]])
            at = int(unary[last[length], 1])
            used.add(at)

    def best(self, parent: int, child: int, barred: frozenset[int], taken: frozenset[int]) -> tuple[float, tuple[int, ...]] | None:
        """The best chain that meets no barred symbol and does not begin with a taken rule (labels are corrected until none changes)."""
        best: dict[int, tuple[float, int, tuple[int, ...]]] = {parent: (0.0, 0, ())}
        changed = [parent]
        while changed:
            at = changed.pop(0)
            score, length, rules = best[at]
            if at == child and length:
                continue
            for below, added, rule in self.children.get(at, ()):
                if below in barred or below == parent or (at == parent and rule in taken):
                    continue
                if below not in best or (score + added, length - 1) > best[below][:2]:
                    best[below] = (score + added, length - 1, (*rules, rule))
                    changed.append(below)
        return (best[child][0], best[child][2]) if child in best else None


@dataclass(slots=True)
class Derivations:
    """What is known of one item: derivations found, best first, and the heap of candidates."""

    found: list[tuple[float, Step, tuple[int, ...]]] = field(default_factory=list)  # score, step, ranks of the children
    heap: list[tuple[float, int, Step, tuple[int, ...]]] = field(default_factory=list)  # minus the score, order, step, ranks
    open: int = 0  # derivations whose successors are in the heap


@dataclass(slots=True)
class Forest:
    """The derivations of the items of a chart, as far as they were asked for."""

    indexed: IndexedGrammar
    cells: Cells
    lexical: Scores
    chains: ChainFinder
    known: dict[Item, Derivations] = field(default_factory=dict)
    orders: itertools.count[int] = field(default_factory=itertools.count)

    def row(self, i: int, j: int, after: bool) -> Scores:
        """The scores of all symbols over a span."""
        begin, end = self.cells.bounds[i, j]
        dense = np.full(len(self.indexed.grammar.symbols), LOWEST)
        dense[self.cells.symbols[begin:end]] = (self.cells.after if after else self.cells.before)[begin:end]
        return dense

    def first_candidates(self, item: Item) -> Derivations:
        """All ways to make an item from the best derivations of what is below it."""
        i, j, x, after = item
        known = Derivations()
        found: list[tuple[float, Step, tuple[int, ...]]] = []
        if after:
            before = self.row(i, j, False)
            down = self.indexed.down
            if before[x] > LOWEST:
                found.append((float(before[x]), (x, 0), (0,)))
            for p in range(down.start[x], down.start[x + 1]):
                y = int(down.other[p])
                if before[y] > LOWEST:
                    found.append((float(down.scores[p] + before[y]), (y, 0), (0,)))
        elif j == i + 1:
            found.append((float(self.lexical[i, x]), (LEXICAL, i), ()))
        else:
            rules = self.indexed.by_parent
            some = slice(int(rules.start[x]), int(rules.start[x + 1]))
            for k in range(i + 1, j):
                totals = self.row(i, k, True)[rules.left[some]] + self.row(k, j, True)[rules.right[some]] + rules.scores[some]
                found += [(float(totals[r]), (int(rules.rules[some][r]), k), (0, 0)) for r in np.flatnonzero(totals > LOWEST)]
        known.heap = [(-score, next(self.orders), step, ranks) for score, step, ranks in found]
        heapq.heapify(known.heap)
        return known

    def below(self, item: Item, step: Step) -> list[Item]:
        i, j, _, after = item
        if after:
            return [(i, j, step[0], False)]
        if step[0] == LEXICAL:
            return []
        _, left, right = self.indexed.grammar.binary[step[0]].tolist()
        return [(i, step[1], left, True), (step[1], j, right, True)]

    def fill(self, item: Item, rank: int) -> bool:
        """Finds derivations of an item up to a rank from 0; False if there are fewer. Requests wait on a list: nothing recurses."""
        waiting = [(item, rank)]
        while waiting:
            asked, wanted = waiting[-1]
            if asked not in self.known:
                self.known[asked] = self.first_candidates(asked)
            known = self.known[asked]
            if len(known.found) > wanted:
                waiting.pop()
                continue
            if known.open < len(known.found):  # the successors of the last one found, once all that they need is known
                _, step, ranks = known.found[known.open]
                children = self.below(asked, step)
                missing = [
                    (child, ranks[p] + 1) for p, child in enumerate(children)
                    if p >= last_raised(ranks) and not self.is_known(child, ranks[p] + 1)
                ]  # fmt: skip
                if missing:
                    waiting.extend(missing)
                    continue
                self.push_successors(asked, step, ranks, children)
                known.open += 1
                continue
            if not known.heap:
                waiting.pop()
                continue
            score, _, step, ranks = heapq.heappop(known.heap)
            known.found.append((-score, step, ranks))
        return len(self.known[item].found) > rank

    def is_known(self, item: Item, rank: int) -> bool:
        """Whether the derivation of a rank was found, or there is none."""
        known = self.known.get(item)
        return known is not None and (len(known.found) > rank or (not known.heap and known.open == len(known.found)))

    def push_successors(self, item: Item, step: Step, ranks: tuple[int, ...], children: list[Item]) -> None:
        """Raises the rank of the last raised child or of one to its right, so that every choice of ranks comes once."""
        known = self.known[item]
        if item[3] and ranks == (0,) and step[0] != item[2]:  # the next chain to the same symbol, under its best derivation
            chain = self.chains.chain(item[2], step[0], step[1] + 1)
            if chain is not None:
                score = chain[0] + self.score_of(children[0], 0)
                heapq.heappush(known.heap, (-score, next(self.orders), (step[0], step[1] + 1), (0,)))
        for p in range(last_raised(ranks), len(children)):
            raised = (*ranks[:p], ranks[p] + 1, *ranks[p + 1 :])
            if len(self.known[children[p]].found) > raised[p]:
                parts = [self.score_of(child, rank) for child, rank in zip(children, raised, strict=True)]
                score = sum(parts) + self.step_score(item, step)
                heapq.heappush(known.heap, (-score, next(self.orders), step, raised))

    def score_of(self, item: Item, rank: int) -> float:
        if rank > 0:
            return self.known[item].found[rank][0]
        i, j, x, after = item
        begin, end = self.cells.bounds[i, j]
        at = begin + np.searchsorted(self.cells.symbols[begin:end], x)
        return float((self.cells.after if after else self.cells.before)[at])

    def step_score(self, item: Item, step: Step) -> float:
        if not item[3]:
            return float(self.indexed.grammar.binary_scores[step[0]])
        if step[0] == item[2]:
            return 0.0
        chain = self.chains.chain(item[2], step[0], step[1])
        assert chain is not None
        return chain[0]

    def steps(self, item: Item, rank: int) -> list[tuple[int, int, int, int, int, tuple[int, ...]]]:
        """The derivation of a rank, top first, as rows of `cky_chart` with the rules of chains."""
        rows = []
        waiting = [(item, rank)]
        while waiting:
            at, wanted = waiting.pop()
            self.fill(at, wanted)
            _, step, ranks = self.known[at].found[wanted]
            i, j, x, after = at
            if after and step[0] != x:
                chain = self.chains.chain(x, step[0], step[1])
                assert chain is not None
                rows.append((i, j, x, CHAIN, step[0], chain[1]))
            elif not after:
                rows.append((i, j, x, step[0], step[1], ()))
            waiting.extend(reversed(list(zip(self.below(at, step), ranks, strict=True))))
        return rows


def last_raised(ranks: tuple[int, ...]) -> int:
    return max((p for p, rank in enumerate(ranks) if rank > 0), default=0)


def k_best_parses(indexed: IndexedGrammar, lexical: ArrayLike, k: int, *, chains: ChainFinder | None = None) -> list[Parse]:
    """The k best parses, best first; all of them if there are fewer. Infeasible if there is none.

    `chains` keeps the chains of unary rules that were found, for further sentences under the same grammar.
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"k is {k!r}: expected a positive integer.")
    cells, table = inside_cells(indexed, lexical)
    require_parse(indexed, cells)
    forest = Forest(indexed, cells, table, chains or ChainFinder(indexed))
    root: Item = (0, len(table), indexed.grammar.root, True)
    parses = []
    for rank in range(int(k)):
        if not forest.fill(root, rank):
            break
        rows = forest.steps(root, rank)
        parses.append(parse_of(indexed.grammar, table, rows))
    return parses
