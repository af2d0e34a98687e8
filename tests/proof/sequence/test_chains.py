"""What checkers of label sequences compute, against all labellings of short ones."""

import itertools
import math

import numpy as np
import pytest

from zerogap.errors import VerificationError
from zerogap.proof.certificate import Agreement, DynamicProgram, Intersection, Leaf, Leaves
from zerogap.proof.integers import RANGE, number
from zerogap.proof.sequence.agreement import agreement_bound, best_reading
from zerogap.proof.sequence.chain import Chain
from zerogap.proof.sequence.labellings import best_of_each, largest_count, scores_above, sequence_alternatives, sequence_bound
from zerogap.testing.draws import KINDS


def drawn(most=40, some_tokens=True):
    """Problems, their chains, and all labellings by number with their scores in units, broken constraints not counted."""
    found = 0
    for seed in range(400):
        problem = KINDS["sequence"].draw(np.random.default_rng([7, seed]))
        n, labels = problem.n_tokens, len(problem.labels)
        if (some_tokens and n == 0) or found == most:
            continue
        found += 1
        yield problem, Chain.of(problem), list(itertools.product(range(labels), repeat=n))


def chain_score(problem, y):
    """Without constraints, in units."""
    n, order, unit = problem.n_tokens, problem.order, problem.resolution
    if n == 0:
        return 0
    total = problem.start[y[0]] + problem.end[y[-1]] + sum(problem.emissions[t, a] for t, a in enumerate(y))
    for t in range(order, n):
        total += problem.transitions[t - order if len(problem.transitions) > 1 else 0][tuple(y[t - order : t + 1])]
    return total / unit if math.isfinite(total) else -math.inf


def worth(problem, chain, y, without=()):
    """With penalties and hard constraints, but for some of them."""
    total = chain_score(problem, y)
    for c, machine in enumerate(problem.machines):
        if c not in without and not machine.accepts(list(y)):
            total -= math.inf if chain.penalties[c] is None else chain.penalties[c]
    return total


def test_intersections_find_all_above_the_claim():
    for problem, chain, every in drawn(some_tokens=False):
        whole = Intersection(tuple(range(len(problem.machines))))
        scores = sorted((s for y in every if (s := worth(problem, chain, y)) > -math.inf), reverse=True)
        for k in (1, 2, 4):
            for claimed in sorted({-math.inf, *(s + step for s in scores[:6] for step in (-1, 0, 1))}):
                assert scores_above(chain, whole, claimed, k) == [s for s in scores if s > claimed][:k]
        best = scores[0] if scores else -math.inf
        assert sequence_bound(problem, whole, -math.inf) == best
        assert sequence_bound(problem, whole, best + 5) == best + 5
        if scores:
            assert sequence_alternatives(problem, whole, scores[-1], 3) == [s for s in scores if s > scores[-1]][:3]
        if problem.machines:
            with pytest.raises(VerificationError, match="all constraints"):
                sequence_alternatives(problem, Intersection(()), 0, 2)


def test_prices_of_what_is_counted():
    """Relaxed at a price, a constraint adds at most what it can refund; intersected as well, it changes nothing."""
    rng = np.random.default_rng(2)
    priced = 0
    for problem, chain, every in drawn(60):
        counted = [c for c, m in enumerate(problem.machines) if m.count is not None and chain.penalties[c] is None]
        best = max(worth(problem, chain, y) for y in every)
        unit = problem.resolution
        for c in counted:
            for u in rng.integers(-4, 5, 3):
                priced += 1
                others = tuple(d for d in range(len(problem.machines)) if d != c)
                relaxed = Intersection(others, ((c, float(u) * unit),))
                both = Intersection((*others, c), ((c, float(u) * unit),))
                assert sequence_bound(problem, both, -math.inf) == best
                step = chain.problem.machines[c].count.step
                size = step.shape[1]

                def count(y, step=step, size=size):
                    return int(sum(step[a, b] for a, b in itertools.pairwise([size, *y])))

                accepted = [count(y) for y in every if problem.machines[c].accepts(list(y))]
                refund = max((int(u) * x for x in accepted), default=-math.inf)
                wanted = max(worth(problem, chain, y, (c,)) - int(u) * count(y) for y in every) + refund
                assert sequence_bound(problem, relaxed, -math.inf) == (wanted if refund > -math.inf else -math.inf)
                weights = int(u) * step.astype(np.int64)
                assert number(np.int64(largest_count(problem.machines[c], weights, problem.n_tokens))) == refund
                chain.check_prices(RANGE - chain.largest - 1)
                with pytest.raises(VerificationError, match="so large"):
                    chain.check_prices(RANGE - chain.largest)
    assert priced > 10


def test_what_is_no_price():
    for problem, chain, _ in drawn(60):
        k = len(problem.machines)
        plain = [c for c, m in enumerate(problem.machines) if m.count is None or chain.penalties[c] is not None]
        counted = [c for c in range(k) if c not in plain]
        bad = [Intersection((k,)), Intersection((-1,)), Intersection((), ((k, 0.0),)), Intersection((), ((-1, 0.0),)), DynamicProgram()]
        bad += [Intersection((), ((c, 1.0),)) for c in plain] + [Intersection((c, c)) for c in range(k)]
        bad += [Intersection((), ((c, 1.0), (c, 2.0))) for c in counted]
        for certificate in bad:
            with pytest.raises(VerificationError):
                scores_above(chain, certificate, 0, 1)


def test_agreement_is_the_best_of_all_choices():
    rng = np.random.default_rng(3)
    for problem, chain, every in drawn(25):
        n, labels = problem.n_tokens, len(problem.labels)
        tables = {c: rng.integers(-3, 4, (n, labels)) * (rng.random((n, labels)) < 0.7) for c in range(len(problem.machines)) if c % 3 < 2}
        rows = [
            (c, t, a, float(u[t, a]) * problem.resolution) for c, u in tables.items() for t in range(n) for a in range(labels) if u[t, a]
        ]
        kinds = problem.kinds
        for part, inside in (
            (None, True),
            *(((int(p), side)) for p in rng.integers(0, n * (kinds.max() + 1 + labels), 4) for side in (True, False)),
        ):
            if part is None:
                kept = every
            elif part < n * (kinds.max() + 1):
                t, kind = divmod(part, kinds.max() + 1)
                kept = [y for y in every if (kinds[y[t]] == kind) == inside]
            else:
                t, label = divmod(part - n * (kinds.max() + 1), labels)
                kept = [y for y in every if (y[t] == label) == inside]
            wanted = max((chain_score(problem, y) - sum(int(u[t, a]) for u in tables.values() for t, a in enumerate(y)) for y in kept),
                         default=-math.inf)  # fmt: skip
            for c, machine in enumerate(problem.machines):
                u = tables.get(c, np.zeros((n, labels), dtype=int))
                cost = math.inf if chain.penalties[c] is None else chain.penalties[c]
                reading = max((sum(int(u[t, a]) for t, a in enumerate(y)) - (0 if machine.accepts(list(y)) else cost) for y in kept),
                              default=-math.inf)  # fmt: skip
                if part is None:
                    assert best_reading(machine, u, np.ones((n, labels), dtype=bool), chain.penalties[c]) == reading
                wanted += reading
            if part is None:
                assert agreement_bound(chain, Agreement(tuple(rows))) == wanted
                assert sequence_bound(problem, Agreement(tuple(rows)), -5) == wanted
            else:
                halves = Leaves((Leaf(((part, inside),), Agreement(tuple(rows))), Leaf(((part, not inside),), Agreement(tuple(rows)))))
                assert agreement_bound(chain, halves) >= wanted
        whole = agreement_bound(chain, Agreement(tuple(rows)))
        assert agreement_bound(chain, Leaves((Leaf((), Agreement(tuple(rows))),))) == whole


def test_leaves_leave_what_they_say():
    """Every label of a token in a leaf of its own: the bound is the best of those."""
    for problem, chain, every in drawn(60):
        n, labels = problem.n_tokens, len(problem.labels)
        kinds = int(problem.kinds.max()) + 1
        if problem.machines:
            continue
        for t in range(n):
            leaves, path = [], []
            for a in range(labels):
                part = n * kinds + t * labels + a
                leaves.append(Leaf((*path, (part, True)), Agreement(())))
                path.append((part, False))
            nothing = Leaf(tuple(path), Agreement(()))
            assert agreement_bound(chain, Leaves((*leaves, nothing))) == max(chain_score(problem, y) for y in every)


def test_what_is_no_agreement():
    for problem, chain, _ in drawn(20):
        n, labels, k = problem.n_tokens, len(problem.labels), len(problem.machines)
        for row in ((k, 0, 0, 1.0), (-1, 0, 0, 1.0), (0, n, 0, 1.0), (0, -1, 0, 1.0), (0, 0, labels, 1.0), (0, 0, -1, 1.0)):
            with pytest.raises(VerificationError):
                agreement_bound(chain, Agreement((row,)))
        if k:
            with pytest.raises(VerificationError, match="twice"):
                agreement_bound(chain, Agreement(((0, 0, 0, 0.0), (0, 0, 0, 0.0))))
        for bad in (DynamicProgram(), Leaves((Leaf((), DynamicProgram()),)), Leaves(()), Leaves((Leaf(((0, True),), Agreement(())),))):
            with pytest.raises(VerificationError):
                agreement_bound(chain, bad)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_of_equal_rows_the_best(k):
    rng = np.random.default_rng(k)
    for size in range(8):
        rows, score = rng.integers(0, 2, (size, 2)), rng.integers(-5, 6, size)
        kept, scores, priced = best_of_each(rows, score, 10 * score, k)
        assert (priced == 10 * scores).all()
        for row in {tuple(r) for r in rows.tolist()}:
            wanted = sorted((s for r, s in zip(rows.tolist(), score.tolist(), strict=True) if tuple(r) == row), reverse=True)[:k]
            assert sorted((s for r, s in zip(kept.tolist(), scores.tolist(), strict=True) if tuple(r) == row), reverse=True) == wanted
        assert len(kept) <= size
