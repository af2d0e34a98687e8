"""Non-projective parsing by dual decomposition: tables 6.1 to 6.3 and figures 6-6 and 6-7 of Rush (2014), on the shared treebanks.

    python benchmarks/nonprojective.py [--models FOLDER] [--treebanks sa_vedic la_perseus ...] [--epochs 5] [--sentences N]
                                       [--parts train accuracy programs random lazy early projective anchors]

Reads ../shared/data/ud (or ZEROGAP_DATA). Models that are not in FOLDER yet are trained there first, on up to 4,000 sentences of the
training part with gold tags; the epoch is chosen on the development part where there is one. it_isdt and it_vit have no training part:
the models of it_partut parse them. The test part is only measured, all of it unless --sentences says otherwise.

    accuracy     6.1: UAS of MST (arcs), Sib (siblings) and G+S (grandparents and siblings); % of sentences that dual decomposition
                 alone certifies within 250 and 5,000 iterations; % proven by `auto` within 10 seconds; milliseconds of decoding
    programs     6.2: LP(S), LP(M) (flow formulations of Martins et al. 2009), ILP and dual decomposition on sentences of one treebank
    random       6.2: the same on random scores
    lazy, early  figures 6-6 and 6-7
    projective   6.3: projective against non-projective decoding, each trained in its way
    anchors      the instances of ../shared/instances beside the figures of AD3
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from zerogap.baselines.dependency_ilp import solve_dependency
from zerogap.dependency import Problem, decode, train
from zerogap.dependency.decoding.agreement.decoder import HeadRelaxation
from zerogap.dependency.decoding.agreement.head_scores import HeadScores
from zerogap.dependency.decoding.agreement.relaxation import Agreement
from zerogap.dependency.parser.parser import PRICE_UNIT, Parser
from zerogap.dependency.scoring.sentence import score_of_tree
from zerogap.dependency.sentence import Sentence
from zerogap.io.formats.conllu import read_conllu
from zerogap.oracles.descent import Steps
from zerogap.proof.verify import verify
from zerogap.relax.candidate import Candidate
from zerogap.relax.descent import NO_LIMITS, Closed, Limits, close_gap, limits_of
from zerogap.relax.steps import HEADS_ALONE, HEADS_AT_ROOT

SHARED = Path(os.environ.get("ZEROGAP_DATA", Path(__file__).parents[2] / "shared" / "data"))
DATA = SHARED / "ud"
TRAINED = (
    "sa_vedic",
    "la_perseus",
    "sl_sst",
    "hu_szeged",
    "cs_cltt",
    "it_partut",
    "tr_imst",
    "nl_lassysmall",
    "da_ddt",
    "zh_gsd",
    "en_ewt",
)
BORROWED = {"it_isdt": "it_partut", "it_vit": "it_partut"}
SEVERAL_ROOTS = ("da_ddt",)
MODELS = {"MST": ("first", False), "Sib": ("sibling", False), "G+S": ("grandsibling", False)}
PROJECTIVE = {"Sib": ("sibling", True), "G+S": ("grandsibling", True)}
LIMIT = 10.0  # seconds for a sentence
ALONE = Limits(max_nodes=1)  # without branching
MOST_SENTENCES = 4000  # to train on: all models take about two hours then
CROSSING = 10.0  # % of the sentences of a treebank for which projective trees are tried too
PARTS = ("train", "accuracy", "programs", "random", "lazy", "early", "projective", "anchors")
AD3 = {
    ("siblings", 10): 1.2,
    ("grandparents", 10): 1.0,
    ("both", 10): 1.7,
    ("siblings", 20): 7.0,
    ("grandparents", 20): 14.0,
    ("both", 20): 21.0,
    ("siblings", 30): 24.0,
    ("grandparents", 30): 90.0,
    ("both", 30): 138.0,
    ("siblings", 40): 51.0,
    ("grandparents", 40): 240.0,
    ("both", 40): 464.0,
}  # milliseconds, medians, as measured for the shared figures


def headline(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def sentences_of(treebank: str, part: str) -> list[Sentence]:
    path = DATA / treebank / f"{part}.conllu"
    return [record.sentence for record in read_conllu(path)] if path.exists() else []


def trained(folder: Path, treebank: str, order: str, projective: bool, epochs: int) -> Parser:
    source = BORROWED.get(treebank, treebank)
    path = folder / f"{source}.{order}.{'projective' if projective else 'nonprojective'}.npz"
    if path.exists():
        return Parser.load(path)
    begin = time.perf_counter()
    parser = train(
        sentences_of(source, "train")[:MOST_SENTENCES], development=sentences_of(source, "dev"), order=order, projective=projective,
        epochs=epochs, single_root=source not in SEVERAL_ROOTS, labels=False, most_features=1_500_000,
    )  # fmt: skip
    parser.save(path)
    print(f"  {path.name}: trained in {time.perf_counter() - begin:.0f} s", flush=True)
    return parser


class Decoding:
    """A sentence with its scores, as decoders get it."""

    def __init__(self, parser: Parser, sentence: Sentence) -> None:
        features = parser.model.features
        hashes = features.tokens.of(sentence.columns, len(sentence))
        encoded = features.encode_hashes(hashes)
        self.sentence = sentence
        self.arcs, self.scores = parser.head_scores(encoded, parser.allowed(hashes))
        self.unit = parser.model.unit * PRICE_UNIT
        self.score: Callable[[Any], float] = lambda heads: score_of_tree(features, parser.model, encoded, heads)

    def solve(self, limits: Limits = NO_LIMITS, steps: Steps = HEADS_AT_ROOT) -> Closed:
        agreement = Agreement(self.scores, self.unit)
        prices = agreement.first_prices(self.arcs)
        heads = HeadRelaxation(
            agreement, lambda heads: Candidate(tuple(heads.tolist()), self.score(heads)), prices, time.perf_counter(), steps
        )
        return close_gap(heads, limits)


def decodings(parser: Parser, sentences: Sequence[Sentence]) -> list[Decoding]:
    return [Decoding(parser, sentence) for sentence in sentences if len(sentence) > 0]


def uas(pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> float:
    right = sum(a == b for found, gold in pairs for a, b in zip(found, gold, strict=True))
    return 100 * right / max(sum(len(gold) for _, gold in pairs), 1)


def heads_of(closed: Any) -> Sequence[int]:
    return closed.best.structure


def accuracy_table(folder: Path, treebanks: Sequence[str], epochs: int, most: int | None) -> None:
    headline("Table 6.1: accuracy, certificates and time, test parts, gold tags")
    names = f"{'':14} {'sent.':>6} {'MST':>6} {'Sib':>6} {'G+S':>6}"
    print(f"{names}   {'certified by dual decomposition alone':^39}   {'proven by auto':^15}   {'auto, ms: median / mean / max':^50}")
    columns = f"{'Sib 250':>9} {'5,000':>8} {'G+S 250':>11} {'5,000':>8}   {'Sib':>7} {'G+S':>7}   {'Sib':>24} {'G+S':>24}"
    print(f"{'':14} {'':>6} {'UAS':>6} {'UAS':>6} {'UAS':>6}   {columns}")
    totals: dict[str, list[float]] = {}
    by_length: dict[str, list[tuple[int, float]]] = {"Sib": [], "G+S": []}
    better = 0
    for treebank in treebanks:
        test = sentences_of(treebank, "test")[:most]
        row: dict[str, float] = {}
        certified: dict[str, list[float]] = {}
        times: dict[str, list[float]] = {}
        for name, (order, projective) in MODELS.items():
            parser = trained(folder, treebank, order, projective, epochs)
            if order == "first":
                row[name] = uas([(parser.parse(sentence).heads, sentence.heads or ()) for sentence in test])
                continue
            found, proven, times[name], counts = [], [], [], []
            for decoding in decodings(parser, test):
                alone = decoding.solve(ALONE, HEADS_ALONE)
                is_proven = alone.best is not None and alone.best.score >= alone.bound
                counts.append(len(alone.trace) if is_proven else math.inf)
                begin = time.perf_counter()
                closed = decoding.solve(limits_of(LIMIT))
                times[name].append(time.perf_counter() - begin)
                by_length[name].append((len(decoding.sentence), times[name][-1]))
                assert not is_proven or closed.best.score == alone.best.score or closed.best.score < closed.bound
                proven.append(closed.best.score >= closed.bound)
                found.append((heads_of(closed), decoding.sentence.heads or ()))
            row[name] = uas(found)
            certified[name] = [100 * np.mean([c <= k for c in counts]) for k in (250, 5000)] + [100 * np.mean(proven)]
            totals.setdefault(name, []).extend([c <= 5000 for c in counts])
            totals.setdefault(f"{name} auto", []).extend(proven)
        better += row["G+S"] > row["Sib"] > row["MST"]
        print(
            f"{treebank:14} {len(test):6,} {row['MST']:6.2f} {row['Sib']:6.2f} {row['G+S']:6.2f}"
            f"   {certified['Sib'][0]:9.2f} {certified['Sib'][1]:8.2f} {certified['G+S'][0]:11.2f} {certified['G+S'][1]:8.2f}"
            f"   {certified['Sib'][2]:7.2f} {certified['G+S'][2]:7.2f}"
            + "".join(f"   {1e3 * np.median(t):6.2f} /{1e3 * np.mean(t):7.2f} /{1e3 * max(t):7.0f}" for t in times.values()),
            flush=True,
        )
    print(f"\nG+S better than Sib better than MST on {better} of {len(treebanks)} treebanks")
    for name in ("Sib", "G+S"):
        alone, auto = (100 * np.mean(totals[which]) for which in (name, f"{name} auto"))
        print(f"{name}: {alone:.2f}% certified by dual decomposition alone, {auto:.2f}% by auto")
        for low, high in ((1, 25), (26, 50), (51, 10_000)):
            some = [1e3 * seconds for n, seconds in by_length[name] if low <= n <= high]
            if some:
                size = f"{len(some):,} sentences of {low} to {high} words"
                print(f"  {size}: median {np.median(some):.2f} ms, mean {np.mean(some):.2f} ms")


def compare(problems: Sequence[Problem], gold: Sequence[Sequence[int] | None], solve: Callable[[Problem], Any]) -> None:
    """LP(S), LP(M), ILP and dual decomposition on the same problems."""
    best: list[float] = []
    rows: list[tuple[str, Callable[[Problem], tuple[Any, bool, float]]]] = []

    def program(**options: Any) -> Callable[[Problem], tuple[Any, bool, float]]:
        def run(problem: Problem) -> tuple[Any, bool, float]:
            found = solve_dependency(problem, **options)
            return found.heads, found.integral if not options.get("integer") else found.finished, found.seconds

        return run

    def ours(problem: Problem) -> tuple[Any, bool, float]:
        begin = time.perf_counter()
        solution = solve(problem)
        return solution.structure, solution.status == "optimal", time.perf_counter() - begin

    def alone(problem: Problem) -> tuple[Any, bool, float]:
        begin = time.perf_counter()
        solution = decode(problem, method="dual-decomposition")
        return solution.structure, solution.status == "optimal", time.perf_counter() - begin

    rows = [
        ("auto", ours), ("dual decomposition alone", alone), ("LP(S)", program(flow="single")), ("LP(M)", program(flow="multi")),
        ("ILP", program(flow="single", integer=True, time_limit=60.0)),
    ]  # fmt: skip
    print(f"{'':26} {'UAS':>7} {'exact %':>9} {'ms mean':>10} {'ms median':>10} {'score as the best %':>20}")
    for name, run in rows:
        for problem in problems if name.startswith(("auto", "dual")) else problems[:1]:
            run(problem)  # kernels are loaded when they are needed first
        found = [run(problem) for problem in problems]
        scores = [problem.score(heads) if heads is not None else -math.inf for problem, (heads, _, _) in zip(problems, found, strict=True)]
        best = best or scores
        if name == "ILP":
            finished = [i for i, (_, done, _) in enumerate(found) if done]
            assert all(scores[i] == best[i] for i in finished), "the ILP found another score"
        pairs = [(heads, tree) for (heads, _, _), tree in zip(found, gold, strict=True) if heads is not None and tree is not None]
        ms = 1e3 * np.array([seconds for _, _, seconds in found])
        exact, as_best = np.mean([done for _, done, _ in found]), np.mean([a == b for a, b in zip(scores, best, strict=True)])
        shown = f"{uas(pairs) if pairs else math.nan:7.2f} {100 * exact:9.1f} {ms.mean():10.2f} {np.median(ms):10.2f}"
        print(f"{name:26} {shown} {100 * as_best:20.1f}", flush=True)


def programs_table(folder: Path, treebank: str, epochs: int, most: int) -> None:
    for name in ("Sib", "G+S"):
        parser = trained(folder, treebank, *MODELS[name], epochs)
        test = [sentence for sentence in sentences_of(treebank, "test") if 1 < len(sentence) <= 40][:most]
        headline(f"Table 6.2: {name}, {treebank} test, {len(test)} sentences of up to 40 words, pruned")
        problems = [parser.problem(sentence) for sentence in test]
        compare(problems, [sentence.heads for sentence in test], lambda problem: decode(problem, time_limit=LIMIT))


def instances() -> Any:
    spec = importlib.util.spec_from_file_location("instances", SHARED.parent / "instances" / "instances.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["instances"] = module
    spec.loader.exec_module(module)
    return module


KINDS = {"siblings": ("siblings",), "grandparents": ("grandparents",), "both": ("siblings", "grandparents")}


def second_order(regime: str, n: int, kind: str, most: int) -> list[Problem]:
    found = []
    for arcs, grandparents, siblings, _ in list(instances().second_order(regime, n))[:most]:
        parts = {"siblings": siblings, "grandparents": grandparents}
        found.append(Problem(arcs, **{name: parts[name] for name in KINDS[kind]}))
    return found


def random_table() -> None:
    for kind in KINDS:
        headline(f"Table 6.2: random scores, 10 words, {kind}, 20 instances")
        problems = second_order("random", 10, kind, 20)
        compare(problems, [None] * len(problems), decode)


def anchors_table() -> None:
    headline("Instances of ../shared/instances: milliseconds, all proven")
    print(f"{'':32} {'median':>9} {'mean':>9} {'max':>9}  {'proven %':>9} {'unbranched %':>13} {'AD3':>8} {'times as fast':>14}")
    wanted = [("peaked", n, kind) for n in (10, 20, 30, 40) for kind in KINDS]
    for regime, n, kind in [*wanted, ("random", 20, "siblings"), ("random", 10, "grandparents"), ("random", 10, "both")]:
        problems = second_order(regime, n, kind, 100)
        decode(problems[0])
        seconds, solutions = [], []
        for problem in problems:
            begin = time.perf_counter()
            solutions.append(decode(problem))
            seconds.append(time.perf_counter() - begin)
        for problem, solution in list(zip(problems, solutions, strict=True))[:5]:
            verify(problem, solution)
        ms = 1e3 * np.array(seconds)
        proven = 100 * np.mean([solution.status == "optimal" for solution in solutions])
        unbranched = 100 * np.mean([solution.certificate.kind == "head-prices" for solution in solutions])
        peer = AD3.get((kind, n)) if regime == "peaked" else None
        ratio = f"{peer:8.1f} {peer / np.median(ms):14.1f}" if peer else ""
        shown = f"{np.median(ms):9.3f} {ms.mean():9.3f} {ms.max():9.1f}  {proven:9.1f} {unbranched:13.1f}"
        print(f"{f'{regime}, {n} words, {kind}':32} {shown} {ratio}", flush=True)


def lazy_figure(folder: Path, treebank: str, epochs: int, most: int) -> None:
    headline(f"Figure 6-6: % of automata that are decoded again, by iteration ({treebank} test)")
    for name in ("Sib", "G+S"):
        some = decodings(trained(folder, treebank, *MODELS[name], epochs), sentences_of(treebank, "test")[:most])
        counts: dict[int, list[float]] = {}
        for decoding in some:
            n_contexts = automata_of(decoding.scores)
            before = 0
            for k in (1, 2, 5, 10, 20, 50, 100):
                agreement = Agreement(decoding.scores, decoding.unit)
                prices = agreement.first_prices(decoding.arcs)
                agreement.run(agreement.state(()), prices, -math.inf, HEADS_ALONE._replace(most=k))
                if agreement.iterations < k:
                    break
                counts.setdefault(k, []).append(100 * (agreement.decoded - before) / n_contexts / max(k - last_of(k), 1))
                before = agreement.decoded
        print(f"{name:6}" + "  ".join(f"{k}: {np.mean(share):.1f}" for k, share in counts.items()))


def last_of(k: int) -> int:
    return {1: 0, 2: 1, 5: 2, 10: 5, 20: 10, 50: 20, 100: 50}[k]


def automata_of(scores: HeadScores) -> int:
    """Heads, each with all of its candidate heads."""
    return int(scores.candidates.contexts.sum())


def early_figure(folder: Path, treebank: str, epochs: int, most: int | None) -> None:
    headline(f"Figure 6-7: stopping after K iterations ({treebank} test)")
    print(f"{'':6} {'K':>6} {'UAS':>7} {'certified %':>12} {'same tree as after 5,000 %':>27}")
    for name in ("Sib", "G+S"):
        some = decodings(trained(folder, treebank, *MODELS[name], epochs), sentences_of(treebank, "test")[:most])
        final = [decoding.solve(ALONE, HEADS_ALONE) for decoding in some]
        for k in (5, 10, 25, 50, 100, 250, 1000, 5000):
            found = [decoding.solve(ALONE, HEADS_ALONE._replace(most=k)) for decoding in some]
            pairs = [(heads_of(closed), decoding.sentence.heads or ()) for closed, decoding in zip(found, some, strict=True)]
            certified = [closed.best.score >= closed.bound for closed in found]
            same = [heads_of(a) == heads_of(b) for a, b in zip(found, final, strict=True)]
            print(f"{name:6} {k:6,} {uas(pairs):7.2f} {100 * np.mean(certified):12.2f} {100 * np.mean(same):27.2f}", flush=True)


def projective_table(folder: Path, treebanks: Sequence[str], epochs: int, most: int | None) -> None:
    headline("Table 6.3: projective and non-projective, UAS, test parts; and of the sentences whose arcs cross")
    names = "".join(f"{name:>10}" for name in ("Sib proj.", "Sib non", "G+S proj.", "G+S non"))
    print(f"{'':14} {'crossing %':>11} {names}   {names}")
    for treebank in treebanks:
        test = sentences_of(treebank, "test")[:most]
        crossing = crossing_of(treebank)
        if crossing < CROSSING:
            print(f"{treebank:14} {crossing:11.1f}")
            continue
        cells: list[list[float]] = [[], []]
        for name in ("Sib", "G+S"):
            for order, projective in (PROJECTIVE[name], MODELS[name]):
                parser = trained(folder, treebank, order, projective, epochs)
                pairs = [(parser.parse(sentence).heads, sentence.heads or ()) for sentence in test]
                cells[0].append(uas(pairs))
                cells[1].append(uas([(found, gold) for found, gold in pairs if not is_projective(gold)]))
        shown = ["".join(f"{cell:10.2f}" for cell in row) for row in cells]
        print(f"{treebank:14} {crossing:11.1f} {shown[0]}   {shown[1]}", flush=True)


def crossing_of(treebank: str) -> float:
    """% of the test sentences whose arcs cross."""
    return float(100 * np.mean([not is_projective(sentence.heads or ()) for sentence in sentences_of(treebank, "test")]))


def is_projective(heads: Sequence[int]) -> bool:
    arcs = [(min(h, m), max(h, m)) for m, h in enumerate(heads, start=1)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--models", type=Path, default=Path("/tmp/zerogap-nonprojective"))
    parser.add_argument("--treebanks", nargs="+", default=[*TRAINED, *BORROWED])
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=None, help="of every test part")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS[1:])
    options = parser.parse_args()
    options.models.mkdir(parents=True, exist_ok=True)
    one = options.treebanks[0]
    for part in options.parts:
        match part:
            case "train":
                for treebank in options.treebanks:
                    both = crossing_of(treebank) >= CROSSING
                    for order, projective in [*MODELS.values(), *(PROJECTIVE.values() if both else ())]:
                        trained(options.models, treebank, order, projective, options.epochs)
            case "accuracy":
                accuracy_table(options.models, options.treebanks, options.epochs, options.sentences)
            case "programs":
                programs_table(options.models, one, options.epochs, options.sentences or 60)
            case "random":
                random_table()
            case "lazy":
                lazy_figure(options.models, one, options.epochs, options.sentences or 200)
            case "early":
                early_figure(options.models, one, options.epochs, options.sentences)
            case "projective":
                projective_table(options.models, options.treebanks, options.epochs, options.sentences)
            case "anchors":
                anchors_table()


if __name__ == "__main__":
    main()
