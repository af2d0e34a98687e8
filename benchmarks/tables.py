"""Tables of Tromble & Eisner 2006 for any set of constrained labelling problems: times, violations, lattices, orders, soft constraints.

Times are per call of a decoder, by perf_counter, with the garbage collector off, after a warm-up that has run every problem once (zerogap)
or a few problems (the others, which compile nothing). What takes microseconds is run PASSES times, and the median of a problem counts.
Problems are built before; what building costs is a line of its own. A method that is slow runs on every k-th problem, and its ratios are
to the times of zerogap on the same problems.
"""

from __future__ import annotations

import gc
import importlib
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from zerogap import sequence as seq
from zerogap import verify
from zerogap.baselines.sequence_ilp import solve_ilp
from zerogap.papers.tromble2006.relaxation import decode_intersection, learned_order
from zerogap.problems.sequence.compiling import build
from zerogap.sequence.decoding.lattice import lattice_of, states_of_labels
from zerogap.sequence.evaluation import segments

Problems = Sequence[seq.Problem]
PASSES = 5  # of what takes microseconds; the median of a problem's times counts
TOLERANCE = 1e-6  # HiGHS's own: its labelling may score this much less than ours


def headline(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


@contextmanager
def quiet_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def timed(
    function: Callable[[Any], Any], arguments: Sequence[Any], *, warm_up: int | None = None, passes: int = 1
) -> tuple[np.ndarray, list[Any]]:
    """Seconds and result of every call; with several passes over all arguments, the median of a call's seconds."""
    for argument in arguments[:warm_up]:
        function(argument)
    times = np.empty((passes, len(arguments)))
    results: list[Any] = []
    with quiet_collector():
        for row in times:
            results.clear()
            for i, argument in enumerate(arguments):
                begin = time.perf_counter()
                result = function(argument)
                row[i] = time.perf_counter() - begin
                results.append(result)
    return np.median(times, axis=0), results


def peer() -> Any:
    """The module of the peer, or None where pynini is not installed."""
    try:
        return importlib.import_module("pynini_relaxation")
    except ModuleNotFoundError:
        return None


def solver_clock() -> tuple[type, list[float]]:
    """HiGHS without presolve, which on these programs is the faster way, and the seconds that it spends in run()."""
    import highspy

    seconds: list[float] = []

    class Clocked(highspy.Highs):
        def run(self) -> Any:
            self.setOptionValue("presolve", "off")
            begin = time.perf_counter()
            result = super().run()
            seconds.append(time.perf_counter() - begin)
            return result

    return Clocked, seconds


@contextmanager
def without_presolve() -> Iterator[list[float]]:
    import highspy

    original = highspy.Highs
    highspy.Highs, seconds = solver_clock()
    try:
        yield seconds
    finally:
        highspy.Highs = original


def by_flows(problem: seq.Problem) -> list[int]:
    """zerogap's general program: counts are rows, every other automaton is a flow of its own."""
    lattice = lattice_of(problem)
    path = solve_ilp(problem, lattice.nodes, lattice.edges, lattice.first, states_of_labels(len(problem.labels), problem.order))
    assert path is not None
    return path


def by_rows(problem: seq.Problem) -> list[int]:
    """The program that one would write by hand, after Roth & Yih 2005: counts are rows; what forbids parts of the lattice fixes them at 0.

    Built with NumPy arrays at once. For first-order problems whose constraints have counts or are `spans`, `at` or `disallow`.
    """
    import highspy

    lattice = lattice_of(problem)
    n, size = lattice.nodes.shape
    added = np.broadcast_to(lattice.edges, (max(n - 1, 0), size, size)) + lattice.nodes[1:, None, :]
    cost = np.concatenate([lattice.first, added.ravel()])
    first, steps = np.ones(size), np.ones((max(n - 1, 0), size, size))
    counts = []
    for constraint, machine in zip(problem.constraints, problem.machines, strict=True):
        if machine.count is not None:
            counts.append(machine.count)
        elif constraint.kind == "spans":
            for start, end in constraint.arguments:
                steps[start : end - 1] *= np.eye(size)
        elif constraint.kind in ("at", "disallow"):
            names = constraint.arguments if constraint.kind == "disallow" else constraint.arguments[1]
            position = slice(None) if constraint.kind == "disallow" else constraint.arguments[0]
            named = np.array([label in names for label in problem.labels])
            allowed = ~named if constraint.kind == "disallow" else named
            mask = np.ones((n, size))
            mask[position] *= allowed
            first *= mask[0]
            steps *= mask[1:, None, :]
        else:
            raise ValueError(constraint.name)
    index = size + np.arange(added.size).reshape(added.shape)
    rows, low, high = [(np.arange(size), np.ones(size))], [1.0], [1.0]
    for t in range(n - 1):
        for s in range(size):
            entering = np.array([s]) if t == 0 else index[t - 1, :, s]
            rows.append((np.concatenate([entering, index[t, s]]), np.concatenate([np.ones(len(entering)), -np.ones(size)])))
            low.append(0.0)
            high.append(0.0)
    for count in counts:
        weights = np.concatenate([count.step[-1], np.tile(count.step[:-1].ravel(), n - 1)])
        chosen = np.flatnonzero(weights)
        rows.append((chosen, weights[chosen]))
        low.append(count.low if count.low > 0.0 else -highspy.kHighsInf)
        high.append(min(count.high, highspy.kHighsInf))
    solver = highspy.Highs()
    solver.silent()
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 0.0)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(cost), len(rows)
    program.col_cost_, program.col_lower_, program.col_upper_ = cost, np.zeros(len(cost)), np.concatenate([first, steps.ravel()])
    program.row_lower_, program.row_upper_ = np.array(low), np.array(high)
    program.sense_ = highspy.ObjSense.kMaximize
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.concatenate([[0], np.cumsum([len(columns) for columns, _ in rows])]).astype(np.int32)
    program.a_matrix_.index_ = np.concatenate([columns for columns, _ in rows]).astype(np.int32)
    program.a_matrix_.value_ = np.concatenate([values for _, values in rows])
    program.integrality_ = [highspy.HighsVarType.kInteger] * len(cost)
    solver.passModel(program)
    solver.run()
    values = np.array(solver.getSolution().col_value)
    path = [int(values[:size].argmax())]
    for t in range(n - 1):
        path.append(int(values[index[t, path[-1]]].argmax()))
    return path


def table_2(
    problems: Problems, what: str, *, every_ilp: int, every_pynini: int, every_intersection: int, by_hand: bool,
    rebuild: Callable[[int], Any],
) -> list[Any]:  # fmt: skip
    """Runtimes. `rebuild(i)` builds problem i again from scores and constraints. Returns the solutions of `auto`."""
    n = np.array([problem.n_tokens for problem in problems])
    shape = f"{len(problems)} problems, {n.mean():.1f} positions (median {np.median(n):.0f}), {len(problems[0].labels)} labels"
    headline(f"Table 2. Runtimes: {what}, {shape}")
    ours: dict[str, np.ndarray] = {}
    solved: dict[str, list[Any]] = {}
    for method in ("auto", "relaxation"):
        ours[method], solved[method] = timed(lambda p, method=method: seq.decode(p, method=method), problems, passes=PASSES)
    best = np.array([solution.score for solution in solved["auto"]])
    checked = sum(verified(problem, solution) for many in solved.values() for problem, solution in zip(problems, many, strict=True))
    assert [s.score for s in solved["relaxation"]] == best.tolist(), "relaxation and auto differ"
    columns = f"{'examples':>9}{'total s':>10}{'mean ms':>10}{'median ms':>11}{'x relaxation':>14}{'x auto':>9}{'x auto, medians':>17}"
    print(f"{'':51}{columns}{'scores':>14}")

    def line(name: str, times: np.ndarray, which: np.ndarray, agreement: str) -> None:
        relaxed, automatic = ours["relaxation"][which], ours["auto"][which]
        figures = f"{len(times):9}{times.sum():10.3f}{1000 * times.mean():10.3f}{1000 * np.median(times):11.3f}"
        ratios = f"{times.sum() / relaxed.sum():14.1f}{times.sum() / automatic.sum():9.1f}{np.median(times) / np.median(automatic):17.1f}"
        print(f"{name:51}{figures}{ratios}{agreement:>14}", flush=True)

    everything = np.arange(len(problems))
    line("zerogap auto", ours["auto"], everything, "proved")
    line("zerogap relaxation", ours["relaxation"], everything, "equal")
    answers = 2 * len(problems)
    if every_intersection:
        which = everything[::every_intersection]
        times, solutions = timed(lambda p: seq.decode(p, method="intersection"), [problems[i] for i in which], warm_up=20)
        assert [s.score for s in solutions] == best[which].tolist()
        answers += len(which)
        checked += sum(verified(problems[i], s) for i, s in zip(which, solutions, strict=True))
        line("zerogap intersection (brute force)", times, which, "equal")
    build_times = construction(rebuild, everything)
    for name, program in [("HiGHS, automata as flows", by_flows)] + ([("HiGHS, written by hand", by_rows)] if by_hand else []):
        if not every_ilp:
            print(f"{name}: not run")
            continue
        which = everything[::every_ilp]
        with without_presolve() as inside:
            times, paths = timed(program, [problems[i] for i in which], warm_up=2)
        agreement = compare_paths(problems, best, which, paths)
        line(f"{name}: model + solve", times, which, agreement)
        line(f"{name}: solve only", np.array(inside[-len(which) :]), which, "")
    other = peer()
    if not every_pynini:
        print("pynini: not run, figure 7 is not part of the peer")
    elif other is None:
        print("pynini is not installed here: its lines are left out")
    else:
        which = everything[::every_pynini]
        methods = [("pynini relaxation", other.relax, which)]
        if every_intersection:
            methods.append(("pynini intersection (brute force)", other.intersect_all, everything[:: 8 * every_intersection]))
        pynini_lines(other, problems, best, methods, line, ours["auto"], build_times)
    total = ours["auto"] + build_times
    print(
        f"building a zerogap problem from scores and constraints, with the automata of the example: mean {1e6 * build_times.mean():.0f} µs,"
        f" median {1e6 * np.median(build_times):.0f} µs;"
        f" with decoding: mean {1e6 * total.mean():.0f} µs, median {1e6 * np.median(total):.0f} µs"
    )
    print(f"certificates verified: {checked} of {answers}")
    return solved["auto"]


def verified(problem: seq.Problem, solution: Any) -> bool:
    verify(problem, solution)
    return bool(solution.status == "optimal" and solution.gap == 0.0)


def construction(rebuild: Callable[[int], Any], which: np.ndarray) -> np.ndarray:
    """Seconds that it takes to build each problem, with no automaton of an example left over from before."""
    rebuild(int(which[0]))
    build.cache_clear()
    rebuild(int(which[0]))
    return timed(lambda i: rebuild(int(i)), which.tolist(), warm_up=0)[0]


def compare_paths(problems: Problems, best: np.ndarray, which: np.ndarray, paths: list[list[int]]) -> str:
    """Every labelling must be allowed and as good as ours, up to the solver's tolerance."""
    worst, equal = 0.0, 0
    for i, path in zip(which, paths, strict=True):
        problem = problems[i]
        labels = [state % len(problem.labels) for state in path]
        problem.check(problem.names(labels))
        difference = float(best[i] - problem.score_of(labels))
        equal += difference == 0.0
        worst = max(worst, difference)
        assert 0.0 <= difference <= TOLERANCE, f"problem {i}: {difference} below the optimum"
    return "equal" if equal == len(which) else f"{equal}/{len(which)}, {worst:.0e}"


def pynini_lines(
    other: Any, problems: Problems, best: np.ndarray, methods: Sequence[Any], line: Callable[..., None], ours: np.ndarray, build: np.ndarray
) -> None:
    """`decode`: lattice and automata stand ready. `build + decode`: lattice and violated automata of the example are built on the clock."""
    for problem in problems:
        other.offline(problem)
    for name, method, which in methods:
        chosen = [problems[i] for i in which]
        passes = PASSES if method is other.relax else 1
        ready = [(problem, other.lattice(problem), other.automata_of(problem)) for problem in chosen]
        for problem, _, automaton in ready:
            for c in range(len(problem.machines)):
                automaton(c)
        times, paths = timed(lambda r, method=method: method(*r), ready, warm_up=20, passes=passes)
        line(f"{name}: decode", times, which, float_agreement(problems, best, which, paths))
        violations = np.array([violations_of_best(problem) for problem in chosen])
        groups = [(k, violations == k if k < 3 else violations >= k) for k in range(4)]
        ratios = [f"{k}: {times[group].sum() / ours[which][group].sum():.1f}" for k, group in groups if group.any()]
        print(f"{'':6}times zerogap's auto by violations of y0*: {', '.join(ratios)}")
        times, _ = timed(lambda p, method=method: method(p, other.lattice(p), other.automata_of(p)), chosen, warm_up=20, passes=passes)
        line(f"{name}: build + decode", times, which, "")
        both = (ours + build)[which]
        ratio, middle = times.sum() / both.sum(), np.median(times) / np.median(both)
        print(f"{'':6}with building on both sides: {ratio:.1f} times zerogap's Problem + auto (medians {middle:.1f})")


def violations_of_best(problem: seq.Problem) -> int:
    """How many constraints the best labelling without constraints breaks."""
    edges = problem.transitions if len(problem.transitions) > 1 else problem.transitions[0]
    local = (problem.emissions, edges, problem.start, problem.end, problem.labels)
    return len(broken_names(problem, seq.decode(seq.Problem(*local, order=problem.order)).structure))


def float_agreement(problems: Problems, best: np.ndarray, which: np.ndarray, paths: list[list[int]]) -> str:
    """float32 may choose another labelling when two are close."""
    losses = [float(best[i] - problems[i].score_of(path)) for i, path in zip(which, paths, strict=True)]
    assert min(losses) >= 0.0
    worse = sum(loss > 0.0 for loss in losses)
    return "equal" if not worse else f"{worse} worse, {max(losses):.0e}"


def broken_names(problem: seq.Problem, labels: Sequence[Any]) -> list[str]:
    return [problem.constraints[c].name for c in problem.broken(problem.indices(labels))]


def gain(gold: Sequence[Any], before: Sequence[Any], after: Sequence[Any], *, samples: int = 2_000) -> str:
    """The difference in F1 and its 95% interval, by a paired bootstrap over sequences."""
    rows = []
    for right, *answers in zip(gold, before, after, strict=True):
        wanted = set(segments(right))
        found = [set(segments(answer)) for answer in answers]
        rows.append([len(wanted), *(count for answer in found for count in (len(answer), len(wanted & answer)))])
    table = np.array(rows, dtype=np.float64)
    drawn = np.random.default_rng(0).integers(0, len(rows), (samples, len(rows)))
    sums = np.vstack([table.sum(axis=0), table[drawn].sum(axis=1)])
    differences = 100 * (2 * sums[:, 4] / (sums[:, 0] + sums[:, 3]) - 2 * sums[:, 2] / (sums[:, 0] + sums[:, 1]))
    low, high = np.percentile(differences[1:], [2.5, 97.5])
    return f"{differences[0]:+.2f} [{low:+.2f}, {high:+.2f}]"


def table_of_violations(title: str, found: Sequence[list[str]], targets: dict[str, float] | None = None) -> None:
    headline(title)
    counts = Counter(name for names in found for name in names)
    print(f"{'constraint':52}{'violations':>11}{'fraction':>10}" + (f"{'paper':>8}" if targets else ""))
    for name, count in counts.most_common():
        paper = f"{targets.get(name, 0.0):8.4f}" if targets else ""
        print(f"{name:52}{count:11}{count / len(found):10.4f}{paper}")


def table_4(title: str, found: Sequence[list[str]], targets: Sequence[float] = ()) -> None:
    headline(title)
    counts = Counter(map(len, found))
    total = 0
    print(f"{'violations':>10}{'labellings':>12}{'fraction':>10}{'cumulative':>12}" + (f"{'paper':>9}" if targets else ""))
    for k in range(max(max(counts), len(targets) - 1) + 1):
        total += counts[k]
        paper = f"{targets[k] if k < len(targets) else 0.0:9.3f}" if targets else ""
        print(f"{k:10}{counts[k]:12}{counts[k] / len(found):10.3f}{total / len(found):12.3f}{paper}")


def figure_6(title: str, problems: Problems, *, brute: bool = True) -> None:
    headline(title)
    by_steps: dict[int, list[list[int]]] = defaultdict(list)
    final: dict[int, list[int]] = defaultdict(list)
    intersections = []
    for problem in problems:
        sizes: list[int] = []
        seq.decode(problem, method="relaxation", sizes=sizes)
        everything: list[int] = []
        if brute:
            decode_intersection(problem, sizes=everything)
        n, size = problem.emissions.shape
        sizes = sizes or [everything[0] if everything else size + (n - 1) * size * size]
        by_steps[len(sizes) - 1].append(sizes)
        final[len(sizes) - 1].append(everything[-1] if everything else 0)
        intersections.append(len(sizes) - 1)
    print(f"mean number of intersections: {statistics.mean(intersections):.2f}")
    print(f"{'k':>3}{'examples':>10}{'brute force, final':>20}   mean arcs after 0, 1, ... k intersections")
    for k, rows in sorted(by_steps.items()):
        means = " ".join(f"{value:>9,.0f}" for value in np.array(rows).mean(axis=0))
        shown = f"{statistics.mean(final[k]):>20,.0f}" if brute else f"{'-':>20}"
        print(f"{k:3}{len(rows):10}{shown}   {means}")


def orders(title: str, problems: Problems, training: Problems) -> None:
    """Which violated constraint comes next (section 7)."""
    headline(title)
    learned = learned_order([seq.decode(problem, method="relaxation") for problem in training], training)
    print(f"{'order':20}{'total s':>10}{'intersections':>15}{'most':>6}{'final arcs':>12}{'largest':>12}")
    for name, order in (*((o, o) for o in ("random", "most-violated", "fewest-states", "smallest-product")), ("learned", learned)):
        times, _ = timed(lambda p, order=order: seq.decode(p, method="relaxation", order=order), problems, passes=PASSES)
        steps, last, largest = [], [], 0
        for problem in problems:
            sizes: list[int] = []
            seq.decode(problem, method="relaxation", order=order, sizes=sizes)
            steps.append(max(len(sizes) - 1, 0))
            last.append(sizes[-1] if sizes else 0)
            largest = max(largest, *sizes, 0)
        arcs = statistics.mean(size for size in last if size) if any(last) else 0.0
        print(f"{name:20}{times.sum():10.3f}{statistics.mean(steps):15.3f}{max(steps):6}{arcs:12,.0f}{largest:12,}", flush=True)
    print("final arcs: mean over the problems with at least one intersection")


def soft_against_hard(title: str, hard: Problems, soft: Problems, *, skip: Sequence[str] = ()) -> list[Any]:
    """Times of both; returns the solutions of the soft problems."""
    headline(title)
    solutions: list[Any] = []
    print(f"{'method':14}{'hard s':>10}{'soft s':>10}{'ratio':>8}{'median ratio':>14}   target <= 2 (paper 1.5)")
    for method in ("auto", "relaxation"):
        if method in skip:
            continue
        times_hard, _ = timed(lambda p, method=method: seq.decode(p, method=method), hard, passes=PASSES)
        times_soft, found = timed(lambda p, method=method: seq.decode(p, method=method), soft, passes=PASSES)
        if solutions:
            assert [s.score for s in found] == [s.score for s in solutions]
        count = sum(verified(problem, solution) for problem, solution in zip(soft, found, strict=True))
        ratio, middle = times_soft.sum() / times_hard.sum(), np.median(times_soft) / np.median(times_hard)
        figures = f"{times_hard.sum():10.3f}{times_soft.sum():10.3f}{ratio:8.2f}{middle:14.2f}"
        print(f"{method:14}{figures}   verified {count} of {len(found)}", flush=True)
        solutions = solutions or found
    return solutions
