"""Regular expressions as numbered nodes, and their minimal automata by derivatives (Brzozowski 1964).

The derivative of an expression by a letter matches what may follow that letter. An expression and its derivatives, and theirs, are the
states of a deterministic automaton. With ∂ for the derivative, R for an expression and {m,n} for repetition:

    ∂(R | S) = ∂R | ∂S        ∂(~R) = ~∂R        ∂(R S) = ∂R S, or ∂R S | ∂S if R matches the empty string
    ∂(R{m,n}) = ∂R R{m-1,n-1}          (also if R matches the empty string: then R{m,n} is R{0,n}, which holds every smaller power)

Every node is made by a function of `Expressions` that gives expressions which obviously mean the same one number: alternatives are a set,
concatenations group to the right, and so on. Without that there may be infinitely many derivatives, with it there are few. The automaton
is right whatever these functions recognise, as long as what they return means the same; then equivalent states are joined.

Nothing here recurses, so depth costs no stack. Letters are 0, 1, ...; sets of letters are the bits of an integer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from zerogap.errors import AutomatonError
from zerogap.structures.automaton import DEAD

MAX_STATES = 100_000
MAX_OPERANDS = 3_000_000  # of all nodes together: a few hundred megabytes

SYMBOLS, EMPTY, OR, NOT, THEN, REPEAT = range(6)  # the first entry of a node; the others are its operands
Rows = list[list[int]]  # of a table: the state after a letter, DEAD if nothing can match any more


class Expressions:
    """Nodes by number. Operands of a node have smaller numbers than the node."""

    def __init__(self, n_letters: int) -> None:
        self.n_letters = n_letters
        self.nodes: list[tuple[Any, ...]] = []
        self.matches_empty: list[bool] = []  # per node
        self.numbers: dict[tuple[Any, ...], int] = {}
        self.rows: dict[int, list[int]] = {}  # the derivatives of a node, by letter
        self.n_operands = 0
        self.nothing = self.node(SYMBOLS, 0)
        self.empty = self.node(EMPTY)  # the empty string
        self.everything = self.node(NOT, self.nothing)

    def node(self, *node: Any) -> int:
        """The number of a node as it is given."""
        found = self.numbers.get(node)
        if found is None:
            found = self.numbers[node] = len(self.nodes)
            self.n_operands += len(node)
            if self.n_operands > MAX_OPERANDS:
                raise AutomatonError(f"its derivatives have more than {MAX_OPERANDS:,} operands.")
            self.nodes.append(node)
            self.matches_empty.append(self.is_empty_matched(node))
        return found

    def is_empty_matched(self, node: tuple[Any, ...]) -> bool:
        kind, accepts = node[0], self.matches_empty
        if kind == OR:
            return any(accepts[part] for part in node[1:])
        if kind == THEN:
            return accepts[node[1]] and accepts[node[2]]
        if kind == REPEAT:
            return node[2] == 0 or accepts[node[1]]
        return not accepts[node[1]] if kind == NOT else kind == EMPTY

    # ------------------------------------------------ expressions that obviously mean the same have one number

    def symbols(self, letters: int) -> int:
        """One letter of a set."""
        return self.node(SYMBOLS, letters)

    def complement(self, part: int) -> int:
        node = self.nodes[part]
        return node[1] if node[0] == NOT else self.node(NOT, part)

    def union(self, parts: Iterable[int]) -> int:
        """R | R = R, R | ~R = everything, A | B = [A B], () | R = R if R matches it, P R{1,3} | P R{2,5} = P R{1,5}."""
        nodes, alternatives = self.nodes, set[int]()
        for part in parts:
            if nodes[part][0] == OR:
                alternatives.update(nodes[part][1:])
            else:
                alternatives.add(part)
        alternatives.discard(self.nothing)
        if len(alternatives) > 1:
            self.join(alternatives)
        if len(alternatives) < 2:
            return alternatives.pop() if alternatives else self.nothing
        return self.node(OR, *sorted(alternatives))

    def join(self, alternatives: set[int]) -> None:
        """Replaces alternatives by one that means as much as they do together."""
        letters, repeats = 0, dict[tuple[int, int], list[int]]()
        for part in list(alternatives):
            node = self.nodes[part]
            if node[0] == SYMBOLS:
                letters |= node[1]
                alternatives.discard(part)
            elif node[0] == REPEAT:
                repeats.setdefault((self.empty, node[1]), []).append(part)
            elif node[0] == THEN and self.nodes[node[2]][0] == REPEAT:
                repeats.setdefault((node[1], self.nodes[node[2]][1]), []).append(part)
            elif node[0] == NOT and node[1] in alternatives:
                alternatives.add(self.everything)
        if letters:
            alternatives.add(self.symbols(letters))
        for (before, body), several in repeats.items():
            if len(several) > 1:
                alternatives.difference_update(several)
                alternatives.update(self.joined_repeats(before, body, several))
        if self.everything in alternatives:
            alternatives.intersection_update([self.everything])
        if self.empty in alternatives and any(self.matches_empty[part] for part in alternatives if part != self.empty):
            alternatives.discard(self.empty)

    def joined_repeats(self, before: int, body: int, several: list[int]) -> list[int]:
        """Repetitions of one body as often as any of them allows, one for every gap between their ranges."""
        repeats = [self.nodes[part if self.nodes[part][0] == REPEAT else self.nodes[part][2]] for part in several]
        ranges = sorted(((least, most) for _, _, least, most in repeats), key=lambda pair: pair[0])
        joined = [ranges[0]]
        for least, most in ranges[1:]:
            first, last = joined[-1]
            if last is None or least <= last + 1:
                joined[-1] = first, None if last is None or most is None else max(last, most)
            else:
                joined.append((least, most))
        return [self.concatenation(before, self.repetition(body, least, most)) for least, most in joined]

    def intersection(self, parts: Iterable[int]) -> int:
        """R & S = ~(~R | ~S)."""
        return self.complement(self.union([self.complement(part) for part in parts]))

    def concatenation(self, one: int, other: int) -> int:
        """(R S) T = R (S T), R .* = .* if R matches the empty string."""
        nodes, factors = self.nodes, [one]
        while nodes[factors[-1]][0] == THEN:
            factors[-1:] = nodes[factors[-1]][1:]
        for factor in reversed(factors):
            if self.nothing in (factor, other):
                return self.nothing
            if factor == self.empty:
                continue
            if other == self.empty:
                other = factor
            elif other == self.everything and self.matches_empty[factor]:
                continue
            elif factor == self.everything and self.matches_empty[other]:
                other = factor
            else:
                other = self.node(THEN, factor, other)
        return other

    def repetition(self, part: int, least: int, most: int | None) -> int:
        """Some number of strings of `part`, one after the other. R{0,3}{2,5} = R{0,15}: ranges from 0 or 1 leave no gaps."""
        node = self.nodes[part]
        if node[0] == REPEAT and node[2] <= 1:
            part, least, most = node[1], least * node[2], None if None in (most, node[3]) else most * node[3]
        if self.matches_empty[part]:
            least = 0
        if most == 0 or part == self.empty or (part == self.nothing and least == 0):
            return self.empty
        if part in (self.nothing, self.everything) or (least, most) == (1, 1) or (most == 1 and self.matches_empty[part]):
            return part
        if self.nodes[part] == (SYMBOLS, (1 << self.n_letters) - 1) and (least, most) == (0, None):
            return self.everything
        return self.node(REPEAT, part, least, most)

    # ------------------------------------------------ derivatives

    def derivatives(self, expression: int) -> list[int]:
        """The derivatives by every letter, after those of the operands that they are made of."""
        rows, pending = self.rows, [expression]
        while pending:
            part = pending[-1]
            missing = [] if part in rows else [operand for operand in self.derived_operands(part) if operand not in rows]
            if missing:
                pending += missing
                continue
            if part not in rows:
                rows[part] = self.derived(part)
            pending.pop()
        return rows[expression]

    def derived_operands(self, expression: int) -> Sequence[int]:
        node = self.nodes[expression]
        if node[0] == THEN:
            return node[1:] if self.matches_empty[node[1]] else node[1:2]
        return node[1:] if node[0] == OR else node[1:2] if node[0] in (NOT, REPEAT) else ()

    def derived(self, expression: int) -> list[int]:
        """See the module. The derivatives of the operands are known."""
        node, rows = self.nodes[expression], self.rows
        kind = node[0]
        if kind == OR:
            return [self.union(column) for column in zip(*[rows[part] for part in node[1:]], strict=True)]
        if kind == NOT:
            return [self.complement(after) for after in rows[node[1]]]
        if kind == THEN:
            heads = [self.concatenation(after, node[2]) for after in rows[node[1]]]
            return [self.union(pair) for pair in zip(heads, rows[node[2]], strict=True)] if self.matches_empty[node[1]] else heads
        if kind == REPEAT:
            _, part, least, most = node
            rest = self.repetition(part, max(least - 1, 0), None if most is None else most - 1)
            return [self.concatenation(after, rest) for after in rows[part]]
        letters = node[1] if kind == SYMBOLS else 0
        return [self.empty if letters >> letter & 1 else self.nothing for letter in range(self.n_letters)]


def minimal_table(expressions: Expressions, expression: int) -> tuple[Rows, list[bool]]:
    """The automaton with the fewest states that matches what the expression does: its rows, and which states accept.

    States are numbered breadth-first from the start, with letters in order. Of states from which nothing is accepted only the start may
    stay. So the same language always gives the same table.
    """
    rows, accepts = reached_table(expressions, expression)
    block = equivalent_states(rows, accepts)
    a_member = dict(zip(block, range(len(rows)), strict=False))  # a state of every block
    number, order, table = {block[0]: 0, block[DEAD]: DEAD}, [0], Rows()
    for state in order:  # grows while it is read
        row = []
        for after in rows[state]:
            if block[after] not in number:
                number[block[after]] = len(order)
                order.append(a_member[block[after]])
            row.append(number[block[after]])
        table.append(row)
    return table, [accepts[state] for state in order]


def reached_table(expressions: Expressions, expression: int) -> tuple[Rows, list[bool]]:
    """An expression, its derivatives and theirs as states; DEAD is the expression that matches nothing."""
    states, number = [expression], {expression: 0, expressions.nothing: DEAD}
    rows = Rows()
    for state in states:  # grows while it is read
        row = []
        for after in expressions.derivatives(state):
            if after not in number:
                number[after] = len(states)
                states.append(after)
                if len(states) > MAX_STATES:
                    raise AutomatonError(f"the automaton has more than {MAX_STATES:,} states.")
            row.append(number[after])
        rows.append(row)
    return rows, [expressions.matches_empty[state] for state in states]


def equivalent_states(rows: Rows, accepts: list[bool]) -> list[int]:
    """Blocks of states that accept the same strings, one entry per state and a last one for DEAD, which accepts none.

    The partition into accepting and other states is refined until states of one block lead, letter by letter, into the same blocks. When a
    block falls apart its largest part keeps the number, and only states that lead into the other parts have to be looked at again: all
    others of their blocks still agree. So a state is renumbered O(log n) times (Hopcroft 1971).
    """
    n_states = len(rows)
    rows = [*rows, [DEAD] * len(rows[0])]
    before: Rows = [[] for _ in rows]  # the states that lead to each
    for state, row in enumerate(rows):
        for after in row:
            before[after].append(state)
    block = [int(accepting) for accepting in accepts] + [0]
    members = [{state for state, number in enumerate(block) if number == accepting} for accepting in (0, 1)]
    changed: Iterable[int] = range(n_states + 1)
    while changed:
        parts: dict[int, dict[tuple[int, ...], list[int]]] = {}  # of every block: the changed states that lead to the same blocks
        for state in changed:
            parts.setdefault(block[state], {}).setdefault(tuple([block[after] for after in rows[state]]), []).append(state)
        moved: list[int] = []
        for old, by_targets in parts.items():
            several = sorted(by_targets.values(), key=len)
            if len(members[old]) - sum(map(len, several)) < len(several[-1]):  # the states that did not change are not the largest part
                several[-1] = list(members[old].difference(*several))
            for part in several:
                members[old].difference_update(part)
                members.append(set(part))
                moved += part
                for state in part:
                    block[state] = len(members) - 1
        changed = {state for after in moved for state in before[after]}
    return block
