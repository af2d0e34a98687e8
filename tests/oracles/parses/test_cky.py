"""The chart parser, max-marginals, sums and k-best parses against parsers by definition, with cycles of unary rules."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap.errors import GrammarError, Infeasible, InputError
from zerogap.oracles.hypergraphs.best_path import best_path
from zerogap.oracles.hypergraphs.kbest import k_best_paths
from zerogap.oracles.parses.cky import LEXICAL, IndexedGrammar, best_parse, best_score, inside_cells
from zerogap.oracles.parses.cky_marginals import max_marginals
from zerogap.oracles.parses.cky_sums import sum_parses
from zerogap.oracles.parses.hypergraph import cky_hypergraph
from zerogap.oracles.parses.kbest import ChainFinder, k_best_parses
from zerogap.structures.grammar import from_tables, grammar, with_glue
from zerogap.testing.strategies import score_arrays, small_integers


@st.composite
def cyclic_grammars(draw, max_symbols=3, cycles=True):
    """Small integers for scores, -inf now and then; cycles of unary rules sum to zero or less, single rules may be above it."""
    names = "ABCD"[: draw(st.integers(1, max_symbols))]
    symbols = st.sampled_from(names)
    binary = draw(st.dictionaries(st.tuples(symbols, symbols, symbols), small_integers(), max_size=7))
    heights = {name: draw(st.integers(-2, 2)) for name in names}
    unary = {}
    for parent, child in draw(st.sets(st.tuples(symbols, symbols), max_size=5)):
        if cycles or parent < child:
            unary[parent, child] = draw(st.sampled_from([-np.inf, -3.0, -2.0, -1.0, 0.0, 0.0])) + heights[parent] - heights[child]
    return from_tables(names, binary, unary, {}, "A", cycles=cycles)


@st.composite
def sentences(draw, max_words=4, cycles=True):
    g = draw(cyclic_grammars(cycles=cycles))
    return g, draw(score_arrays((draw(st.integers(1, max_words)), len(g.symbols))))


def rules_of(g):
    binary = [(r, *row, s) for r, (row, s) in enumerate(zip(g.binary.tolist(), g.binary_scores.tolist(), strict=True)) if s > -np.inf]
    unary = [(r, *row, s) for r, (row, s) in enumerate(zip(g.unary.tolist(), g.unary_scores.tolist(), strict=True)) if s > -np.inf]
    return binary, unary


def best_with(g, lexical, thing=None):
    """The score of a best parse, and of one that has a thing: a symbol over a span, a rule, or a symbol directly over a word."""
    binary, unary = rules_of(g)
    n, size = lexical.shape
    best = {}

    def put(cell, i, j, x, has, score):
        has = has or thing == ("item", i, j, x)
        if score > cell.get((x, has), -np.inf):
            cell[x, has] = score
            return True
        return False

    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            cell = best[i, j] = {}
            for x in range(size) if length == 1 else ():
                put(cell, i, j, x, thing == ("word", i, x), lexical[i, x])
            for k in range(i + 1, j):
                for r, x, y, z, score in binary:
                    for a, b in itertools.product((False, True), repeat=2):
                        total = best[i, k].get((y, a), -np.inf) + score + best[k, j].get((z, b), -np.inf)
                        put(cell, i, j, x, a or b or thing == ("binary", r), total)
            changed = True
            while changed:  # until no unary rule makes anything better
                changed = False
                for (r, x, y, score), has in itertools.product(unary, (False, True)):
                    below = cell.get((y, has), -np.inf)
                    changed = put(cell, i, j, x, has or thing == ("unary", r), below + score) or changed
    top = best[0, n]
    return max(top.get((g.root, False), -np.inf), top.get((g.root, True), -np.inf)), top.get((g.root, True), -np.inf)


def check_parse(g, lexical, parse):
    """It is a parse of all words by the rules that it names, and has the score that it says."""
    waiting, total, words = [g.root], 0.0, 0
    for symbol, size, rule in zip(parse.symbols.tolist(), parse.sizes.tolist(), parse.rules.tolist(), strict=True):
        assert waiting.pop() == symbol
        if rule == LEXICAL:
            total += lexical[words, symbol]
            words += 1
            below = []
        elif rule < len(g.binary):
            total += g.binary_scores[rule]
            parent, *below = g.binary[rule].tolist()
            assert parent == symbol
        else:
            total += g.unary_scores[rule - len(g.binary)]
            parent, *below = g.unary[rule - len(g.binary)].tolist()
            assert parent == symbol
        assert size == len(below)
        waiting.extend(reversed(below))
    assert not waiting
    assert words == len(lexical)
    assert parse.score == total


@given(sentences())
@settings(max_examples=300)
def test_it_is_a_best_parse(sentence):
    g, lexical = sentence
    indexed = IndexedGrammar.of(g)
    best, _ = best_with(g, lexical)
    if best == -np.inf:
        for find in (best_parse, max_marginals, lambda *given: k_best_parses(*given, 2)):
            with pytest.raises(Infeasible, match="no parse"):
                find(indexed, lexical)
        with pytest.raises((Infeasible, GrammarError), match="no parse|no limit"):
            sum_parses(indexed, lexical)
        return
    parse = best_parse(indexed, lexical)
    assert parse.score == best
    check_parse(g, lexical, parse)


@given(sentences(max_words=3))
@settings(max_examples=60)
def test_max_marginals(sentence):
    g, lexical = sentence
    if best_with(g, lexical)[0] == -np.inf:
        return
    found = max_marginals(IndexedGrammar.of(g), lexical)
    cells = found.cells
    assert found.score == best_with(g, lexical)[0]
    for i in range(len(lexical)):
        for j in range(i + 1, len(lexical) + 1):
            begin, end = cells.bounds[i, j]
            assert (np.diff(cells.symbols[begin:end]) > 0).all()
            items = dict(zip(cells.symbols[begin:end].tolist(), found.items[begin:end].tolist(), strict=True))
            for x in range(len(g.symbols)):
                assert items.get(x, -np.inf) == best_with(g, lexical, ("item", i, j, x))[1]
    for i, x in np.ndindex(lexical.shape):
        assert found.words[i, x] == best_with(g, lexical, ("word", i, x))[1]
    for name, values in (("binary", found.binary), ("unary", found.unary)):
        for r, value in enumerate(values.tolist()):
            assert value == best_with(g, lexical, (name, r))[1]


def best_lists(g, lexical, k):
    """The k best scores of all symbols over all spans, of parses whose chains have no symbol twice: everything is combined."""
    binary, unary = rules_of(g)
    n, size = lexical.shape
    after = {}
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            before = [[] for _ in range(size)]
            for x in range(size):
                if length == 1 and lexical[i, x] > -np.inf:
                    before[x].append(lexical[i, x])
            for m in range(i + 1, j):
                for _, x, y, z, score in binary:
                    before[x] += [a + score + b for a in after[i, m, y] for b in after[m, j, z]]
            before = [sorted(scores, reverse=True)[:k] for scores in before]
            for x in range(size):
                found = list(before[x])
                chains = [(x, (x,), 0.0)]
                while chains:
                    at, used, total = chains.pop()
                    for _, parent, child, score in unary:
                        if parent == at and child not in used:
                            chains.append((child, (*used, child), total + score))
                            found += [total + score + s for s in before[child]]
                after[i, j, x] = sorted(found, reverse=True)[:k]
    return after[0, n, g.root]


@given(sentences(), st.sampled_from([1, 2, 5, 30]))
@settings(max_examples=150)
def test_k_best(sentence, k):
    g, lexical = sentence
    expected = best_lists(g, lexical, k)
    if not expected:
        return
    parses = k_best_parses(IndexedGrammar.of(g), lexical, k)
    assert [parse.score for parse in parses] == expected
    assert len({(*parse.symbols.tolist(), -9, *parse.rules.tolist()) for parse in parses}) <= len(parses)
    keys = {tuple(zip(parse.rules.tolist(), parse.symbols.tolist(), strict=True)) + splits(parse) for parse in parses}
    assert len(keys) == len(parses)  # no parse twice
    for parse in parses:
        check_parse(g, lexical, parse)


def splits(parse):
    return tuple(parse.sizes.tolist())


def log_inside(g, lexical, binary_scores, unary_scores):
    """log sum exp over all parses, with 200 rounds of unary rules."""
    n, size = lexical.shape
    chart = {}
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            cell = np.exp(lexical[i]) if length == 1 else np.zeros(size)
            for k in range(i + 1, j):
                for (x, y, z), score in zip(g.binary.tolist(), binary_scores, strict=True):
                    cell[x] += chart[i, k][y] * chart[k, j][z] * math.exp(score)
            total = cell.copy()
            for _ in range(200):
                step = np.zeros(size)
                for (x, y), score in zip(g.unary.tolist(), unary_scores, strict=True):
                    step[x] += cell[y] * math.exp(score)
                cell = step
                total += cell
            chart[i, j] = total
    return math.log(chart[0, n][g.root]) if chart[0, n][g.root] > 0 else -np.inf


@given(sentences(max_words=3), st.floats(-2.5, -1.5))
@settings(max_examples=40)
def test_sums(sentence, shift):
    g, lexical = sentence
    # cycles of probability below one: every score of a unary rule is lowered
    g = from_tables(
        g.symbols, {tuple(g.symbols[s] for s in row): v for row, v in zip(g.binary, g.binary_scores, strict=True)},
        {tuple(g.symbols[s] for s in row): v + shift for row, v in zip(g.unary, g.unary_scores, strict=True)}, {}, "A", cycles=True,
    )  # fmt: skip
    expected = log_inside(g, lexical, g.binary_scores, g.unary_scores)
    if expected == -np.inf:
        return
    found = sum_parses(IndexedGrammar.of(g), lexical)
    assert found.total == pytest.approx(expected, abs=1e-9)
    step = 1e-5
    for name, table in (("binary", g.binary_scores), ("unary", g.unary_scores)):
        for r in np.flatnonzero(table > -np.inf):
            up, down = table.copy(), table.copy()
            up[r] += step
            down[r] -= step
            higher, lower = (
                log_inside(g, lexical, *((moved, g.unary_scores) if name == "binary" else (g.binary_scores, moved))) for moved in (up, down)
            )
            slope = (higher - lower) / (2 * step)
            assert getattr(found, name)[r] == pytest.approx(slope, abs=1e-6)
    for i, x in np.argwhere(lexical > -np.inf):
        up, down = lexical.copy(), lexical.copy()
        up[i, x] += step
        down[i, x] -= step
        slope = (log_inside(g, up, g.binary_scores, g.unary_scores) - log_inside(g, down, g.binary_scores, g.unary_scores)) / (2 * step)
        assert found.words[i, x] == pytest.approx(slope, abs=1e-6)
    assert found.words.sum(axis=1) == pytest.approx(np.ones(len(lexical)))


@given(sentences(max_words=4, cycles=False))
@settings(max_examples=60)
def test_counts_of_items_are_the_share_of_their_parses(sentence):
    g, lexical = sentence
    k = 4000
    indexed = IndexedGrammar.of(g)
    if best_with(g, lexical)[0] == -np.inf:
        return
    parses = k_best_parses(indexed, lexical, k)
    if len(parses) == k:
        return
    found = sum_parses(indexed, lexical)
    total = sum(math.exp(parse.score) for parse in parses)
    assert found.total == pytest.approx(math.log(total))
    shares = np.zeros(len(g.binary) + len(g.unary))
    for parse in parses:
        np.add.at(shares, parse.rules[parse.rules >= 0], math.exp(parse.score) / total)
    assert np.concatenate([found.binary, found.unary]) == pytest.approx(shares)
    # a root and two children for every binary rule, one for every unary rule
    assert found.items.sum() == pytest.approx(1 + 2 * found.binary.sum() + found.unary.sum())


@pytest.mark.parametrize("seed", range(6))
def test_as_the_hypergraph_of_all_parses(seed):
    rng = np.random.default_rng(seed)
    names = [f"X{i}" for i in range(12)]
    binary = {tuple(rng.choice(names, 3)): float(rng.integers(-9, 3)) for _ in range(80)}
    unary = {(names[a], names[b]): float(rng.integers(-4, 3)) for a, b in (sorted(rng.choice(12, 2, replace=False)) for _ in range(10))}
    g = from_tables(names, binary, unary, {}, "X0")
    lexical = np.where(rng.random((9, 12)) < 0.3, rng.integers(-5, 5, (9, 12)), -np.inf).astype(float)
    indexed = IndexedGrammar.of(g)
    try:
        chart = cky_hypergraph(g, lexical)
    except Infeasible as error:
        with pytest.raises(Infeasible, match=str(error)):
            best_parse(indexed, lexical)
        return
    assert best_parse(indexed, lexical).score == best_path(chart.hypergraph, chart.scores).score
    expected = [path.score for path in k_best_paths(chart.hypergraph, chart.scores, 60)]
    assert [parse.score for parse in k_best_parses(indexed, lexical, 60)] == expected
    assert sum_parses(indexed, lexical, counts=False).total >= expected[0]


def test_rounding_does_not_lose_the_way_back():
    """Scores that are on no grid: the way back finds the sums that the way up formed."""
    rng = np.random.default_rng(0)
    names = [f"X{i}" for i in range(8)]
    binary = {tuple(rng.choice(names, 3)): float(rng.normal()) for _ in range(60)}
    unary = {tuple(rng.choice(names, 2, replace=False)): float(-rng.random()) for _ in range(12)}
    g = from_tables(names, binary, unary, {}, "X0", cycles=True)
    lexical = rng.normal(size=(20, 8))
    indexed = IndexedGrammar.of(g)
    parse = best_parse(indexed, lexical)
    cells, _ = inside_cells(indexed, lexical)
    assert parse.score == pytest.approx(best_score(indexed, cells))
    assert k_best_parses(indexed, lexical, 3)[0].score == pytest.approx(parse.score)


def test_no_parse_names_the_first_word_or_span():
    g = grammar([("S", ["A", "B"], 0.0), ("A", ["A", "A"], 0.0), ("A", ["a"], 0.0), ("B", ["b"], 0.0)], root="S")
    indexed = IndexedGrammar.of(g)

    def lexical(words):
        return g.lexical_scores(list(words))

    with pytest.raises(Infeasible, match="no symbol covers words 1 to 2") as error:
        best_parse(indexed, lexical("abaab"))
    assert error.value.conflict == ((1, 3),)
    with pytest.raises(Infeasible, match="other symbols cover all of them, 'S' does not"):
        best_parse(indexed, lexical("aaa"))
    hole = lexical("ab")
    hole[1] = -np.inf
    with pytest.raises(Infeasible, match="word 1 has no symbol"):
        best_parse(indexed, hole)
    with pytest.raises(InputError, match="no words"):
        best_parse(indexed, np.zeros((0, len(g.symbols))))
    with pytest.raises(InputError, match="lexical has shape"):
        best_parse(indexed, np.zeros((2, 9)))
    for k in (0, True, 1.5):
        with pytest.raises(InputError, match="k is"):
            k_best_parses(indexed, lexical("ab"), k)


def test_of_equal_parses_the_first_from_the_top_is_taken():
    """No chain before a chain, the leftmost split, the first rule: the same on every machine."""
    names = ("S", "A", "B")
    everything = {(x, y, z): 0.0 for x in names for y in names for z in names}
    g = from_tables(names, everything, {("S", "A"): 0.0, ("A", "B"): 0.0, ("B", "S"): 0.0}, {}, "S", cycles=True)
    parse = best_parse(IndexedGrammar.of(g), np.zeros((4, 3)))
    assert parse.sizes.tolist() == [2, 0, 2, 0, 2, 0, 0]  # every first child is one word
    first = min(r for r, (x, _, _) in enumerate(g.binary.tolist()) if x == g.root)
    assert parse.rules[0] == first
    assert (parse.rules < len(g.binary)).all()
    k_best = k_best_parses(IndexedGrammar.of(g), np.zeros((4, 3)), 50)
    again = k_best_parses(IndexedGrammar.of(g), np.zeros((4, 3)), 50)
    assert [a.rules.tolist() for a in k_best] == [b.rules.tolist() for b in again]


def test_glue_parses_everything():
    g = grammar([("S", ["A", "B"], 0.0), ("A", ["a"], 0.0), ("B", ["b"], 0.0)], root="S")
    glued = with_glue(g, -100.0)
    indexed = IndexedGrammar.of(glued)
    parse = best_parse(indexed, glued.lexical_scores(list("baab")))
    assert parse.score == -400.0
    assert best_parse(indexed, glued.lexical_scores(list("ab"))).score == 0.0
    assert [glued.symbols[s] for s in parse.symbols[:3]] == ["S", "⟨glue⟩", "⟨glue⟩"]
    with pytest.raises(GrammarError, match="glue already"):
        with_glue(glued, -1.0)
    with pytest.raises(GrammarError, match="symbols has 'X'"):
        with_glue(g, -1.0, symbols=["X"])
    with pytest.raises(GrammarError, match="symbols has the root"):
        with_glue(g, -1.0, symbols=["S"])
    below = grammar([("S", ["A", "B"], 0.0), ("A", ["S"], -1.0), ("A", ["a"], 0.0), ("B", ["b"], 0.0)], root="S")
    assert with_glue(below, -100.0).cycles
    assert best_parse(IndexedGrammar.of(with_glue(below, -100.0)), with_glue(below, -100.0).lexical_scores(list("abb"))).score == -1.0


def test_cycles_with_a_positive_score_are_named():
    rules = [("A", ["B"], 1.0), ("B", ["C"], 1.0), ("C", ["A"], -1.5), ("C", ["c"], 0.0)]
    with pytest.raises(GrammarError, match=r"cycle (A -> B -> C -> A|B -> C -> A -> B|C -> A -> B -> C) with the score 0.5"):
        grammar(rules, root="A", cycles=True)
    rules[2] = ("C", ["A"], -2.0)
    g = grammar(rules, root="A", cycles=True)
    indexed = IndexedGrammar.of(g)
    assert best_parse(indexed, g.lexical_scores(["c"])).score == 2.0
    assert [parse.score for parse in k_best_parses(indexed, g.lexical_scores(["c"]), 9)] == [2.0]
    with pytest.raises(GrammarError, match="no limit"):
        sum_parses(indexed, g.lexical_scores(["c"]))
    with pytest.raises(GrammarError, match="cycle"):
        grammar(rules, root="A")
    with pytest.raises(GrammarError, match="A -> A"):
        grammar([("A", ["A"], 1.0), ("A", ["a"], 0.0)], root="A", cycles=True)


def test_chains_best_first():
    """All chains without a symbol twice between two symbols of a dense graph, in order."""
    rng = np.random.default_rng(3)
    names = "ABCDE"
    unary = {(a, b): float(rng.integers(-6, 1)) for a in names for b in names if a != b}
    g = from_tables(names, {}, unary, {}, "A", cycles=True)
    finder = ChainFinder(IndexedGrammar.of(g))
    expected = []
    for size in range(4):
        for middle in itertools.permutations("BCD", size):
            path = ("A", *middle, "E")
            expected.append(sum(unary[pair] for pair in itertools.pairwise(path)))
    found = []
    a, e = g.symbols.index("A"), g.symbols.index("E")
    for rank in itertools.count():
        chain = finder.chain(a, e, rank)
        if chain is None:
            break
        assert chain[0] == sum(g.unary_scores[list(chain[1])])
        found.append(chain[0])
    assert found == sorted(expected, reverse=True)
