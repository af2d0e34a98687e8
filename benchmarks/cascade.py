"""Vine cascades against what people use instead: tables 8.1, 8.2 and 8.3 and figure 8-7 of Rush (2014), on treebanks.

    python benchmarks/cascade.py [--models FOLDER] [--treebanks en_ewt hu_szeged ...] [--parts methods passes languages lengths exact]
                                 [--orders first ...] [--methods NAMES] [--cascade NAME] [--epochs 6] [--unpruned N] [--transition]

Reads ../shared/data/ud (or ZEROGAP_DATA). Parsers of first, second and third order are trained by MIRA on gold tags, passes by likelihood
(crf) or by filter loss (filter), thresholds on the development part; the test part is only measured. Models that are in FOLDER already are
not trained again. Speed is tokens per second of CPU time on one core, from sentences with tags in memory to heads, the least of three runs.

    methods    table 8.1: every way of pruning before parsers of first, second and third order, on English
    passes     table 8.2: what share of the time each pass takes
    languages  table 8.3: with and without the cascade on all treebanks
    lengths    figure 8-7: milliseconds by length, and the exponent of a fit a n^b
    exact      the exact cascade against all parts scored, of a parser whose larger parts only cost

Pruning efficiency is the share of wrong arcs that are pruned, the oracle the largest share of right heads that a tree of the rest can have.
Unpruned third order is measured on the first N test sentences (all: 0).
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from zerogap.dependency import train
from zerogap.dependency.cascade.approximate import AT_ONCE, Cascade
from zerogap.dependency.cascade.exact import COST, ExactCascade
from zerogap.dependency.cascade.passes import DICTIONARY, FIRST, LAST, LOCAL, ROWS, SECOND, SHORT, VINE, run_passes
from zerogap.dependency.parser.parser import Parser, sharing_tokens
from zerogap.dependency.scoring.sentence import Allowed, arcs_under, every_arc
from zerogap.dependency.sentence import Sentence
from zerogap.dependency.training.cascade import with_cascade
from zerogap.io.formats.conllu import read_conllu
from zerogap.oracles.trees.eisner import eisner_kernel
from zerogap.papers.rush2014.transition_parser.parser import TransitionParser
from zerogap.papers.rush2014.transition_parser.training import train as train_transitions
from zerogap.relax.pruning import MARGIN, MEAN

DATA = Path(os.environ.get("ZEROGAP_DATA", Path(__file__).parents[2] / "shared" / "data")) / "ud"
ORDERS = ("first", "sibling", "grandsibling")
TREEBANKS = ("en_ewt", "hu_szeged", "da_ddt", "nl_lassysmall", "it_partut", "tr_imst", "zh_gsd")
ROWS_CASCADE = "rows cascade"  # what zerogap train --cascade learns
METHODS: dict[str, tuple[tuple[str, ...], str, str]] = {  # of table 8.1: passes, learner, rule
    "length dictionary": ((DICTIONARY,), "crf", MARGIN),
    "local short": ((DICTIONARY, SHORT), "crf", MARGIN),
    "local": ((DICTIONARY, LOCAL), "crf", MARGIN),
    "first only": ((DICTIONARY, FIRST), "crf", MARGIN),
    "first and second": ((DICTIONARY, FIRST, SECOND), "crf", MARGIN),
    "vine and first": ((DICTIONARY, VINE, FIRST), "crf", MARGIN),
    "vine, filter loss": ((DICTIONARY, VINE, FIRST, SECOND), "filter", MEAN),
    "vine cascade": ((DICTIONARY, VINE, FIRST, SECOND), "crf", MARGIN),
    ROWS_CASCADE: ((ROWS, FIRST, LAST), "crf", MARGIN),
}
# Table 8.1 of the thesis (PTB section 22): speed, pruning efficiency, oracle and UAS for each order; of transitions speed and UAS
THESIS: dict[str, tuple[tuple[float, ...], ...]] = {
    "no pruning": ((1.0, 0.0, 100.0, 91.4), (0.32, 0.0, 100.0, 92.7), (0.01, 0.0, 100.0, 93.3)),
    "length dictionary": ((1.94, 43.9, 99.9, 91.5), (0.76, 43.9, 99.9, 92.8), (0.05, 43.9, 99.9, 93.3)),
    "local short": ((3.08, 76.6, 99.1, 91.4), (1.71, 76.4, 99.1, 92.6), (0.31, 77.5, 99.0, 93.1)),
    "local": ((4.59, 89.9, 98.8, 91.5), (2.88, 83.2, 99.5, 92.6), (1.41, 89.5, 98.8, 93.1)),
    "first only": ((3.10, 95.5, 95.9, 91.5), (2.83, 92.5, 98.4, 92.6), (1.61, 92.2, 98.5, 93.1)),
    "first and second": ((), (), (1.80, 97.6, 97.7, 93.1)),
    "vine, filter loss": ((5.24, 95.0, 95.7, 91.5), (3.99, 91.8, 98.7, 92.6), (2.22, 97.8, 97.4, 93.1)),
    "vine cascade": ((3.92, 94.6, 96.5, 91.5), (3.66, 93.2, 97.7, 92.6), (1.67, 96.5, 97.9, 93.1)),
}
OF_TRANSITIONS = {8: (4.32, 92.4), 16: (2.39, 92.5), 64: (0.64, 92.7)}
PARTS = ("methods", "passes", "languages", "lengths", "exact")
POSTERIORS = "posteriors, 1e-3"  # what the parser does without a cascade, before third order
CASCADES = ("vine cascade", ROWS_CASCADE)
KERNEL = (DICTIONARY, ROWS, VINE, FIRST, SECOND, LAST)  # what the fused kernel runs; others go pass by pass
LENGTHS = ((1, 5), (6, 10), (11, 15), (16, 20), (21, 30), (31, 40), (41, 60), (61, 200))


def headline(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def sentences_of(treebank: str, part: str) -> list[Sentence]:
    return [record.sentence for record in read_conllu(DATA / treebank / f"{part}.conllu") if len(record.sentence)]


def trained(folder: Path, treebank: str, order: str, options: argparse.Namespace) -> Parser:
    path = folder / f"{treebank}.{order}.npz"
    if not path.exists():
        begin = time.perf_counter()
        data, held_out = sentences_of(treebank, "train"), sentences_of(treebank, "dev")
        one_root = all((sentence.heads or ()).count(0) == 1 for sentence in (*data, *held_out))
        train(
            data, order=order, development=held_out[:1000], epochs=options.epochs, labels=False, most_features=1_000_000,
            single_root=one_root,
        ).save(path)  # fmt: skip
        print(f"  {path.name}: trained in {time.perf_counter() - begin:.0f} s", flush=True)
    return Parser.load(path)


def with_passes(folder: Path, treebank: str, order: str, method: str, options: argparse.Namespace) -> Parser:
    """The parser of an order behind the passes of a method; only a last model depends on it, and all others are learned once."""
    kinds, learner, rule = METHODS[method]
    if order == "first":
        kinds = tuple(kind for kind in kinds if kind not in (SECOND, LAST))
    path = folder / f"{treebank}.{'+'.join(kinds)}{f'.{order}' if LAST in kinds else ''}.{learner}.npz"
    if not path.exists():
        begin = time.perf_counter()
        data, held_out = sentences_of(treebank, "train"), sentences_of(treebank, "dev")
        parser = trained(folder, treebank, order if LAST in kinds else "first", options)
        error, most = (0.0215, 300_000) if ROWS in kinds else (0.023, 100_000)
        coarse = with_cascade(
            parser, data, held_out, kinds=kinds, learner=learner, rule=rule, epochs=3, error=error, most_features=most
        )  # fmt: skip
        coarse.save(path)
        print(f"  {path.name}: learned in {time.perf_counter() - begin:.0f} s", flush=True)
    return sharing_tokens(replace(trained(folder, treebank, order, options), passes=Parser.load(path).passes))


def right(heads: Sequence[Sequence[int]], sentences: Sequence[Sentence]) -> float:
    """UAS of all tokens."""
    words = sum(map(len, sentences))
    return 100.0 * sum(a == b for found, s in zip(heads, sentences, strict=True) for a, b in zip(found, s.heads or (), strict=True)) / words


def timed(
    parse: Callable[[Sequence[Sentence]], Sequence[Sequence[int]]], sentences: Sequence[Sentence], runs: int = 3
) -> tuple[float, float]:
    """Tokens per second, and UAS."""
    parse(sentences[:20])
    least, heads = np.inf, parse(sentences[:1])
    for _ in range(runs):
        begin = time.process_time()
        heads = parse(sentences)
        least = min(least, time.process_time() - begin)
    return sum(map(len, sentences)) / least, right(heads, sentences)


def one_by_one(parser: Parser) -> Callable[[Sequence[Sentence]], list[tuple[int, ...]]]:
    return lambda sentences: [parser.parse(sentence).heads for sentence in sentences]


def pass_by_pass(parser: Parser) -> Callable[[Sequence[Sentence]], list[tuple[int, ...]]]:
    """For passes that the kernel does not know."""

    def parse(sentences: Sequence[Sentence]) -> list[tuple[int, ...]]:
        found = []
        for sentence in sentences:
            features = parser.model.features
            hashes, allowed = features.tokens.of(sentence.columns, len(sentence)), every_arc(len(sentence))
            for one in parser.passes:
                allowed = one.narrowed(hashes, allowed, single_root=parser.single_root)
            encoded = features.encode_hashes(hashes)
            if parser.order == "first":
                heads = np.empty(len(sentence), dtype=np.int64)
                eisner_kernel(arcs_under(features, parser.model, encoded, allowed), 1 if parser.single_root else 0, heads)
            else:
                heads = parser.block(encoded, allowed).best(single_root=parser.single_root)[0]
            found.append(tuple(heads.tolist()))
        return found

    return parse


def left_by_passes(parser: Parser, sentences: Sequence[Sentence]) -> list[Allowed]:
    passes = [one for one in parser.passes if one.kind != LAST]
    tokens = parser.model.features.tokens
    return [
        run_passes(passes, tokens.of(sentence.columns, len(sentence)), every_arc(len(sentence)), single_root=parser.single_root)[0]
        for sentence in sentences
    ]


def left_by_posteriors(parser: Parser, sentences: Sequence[Sentence]) -> list[Allowed]:
    return [parser.allowed(parser.model.features.tokens.of(sentence.columns, len(sentence))) for sentence in sentences]


def pruned(left: Sequence[Allowed], sentences: Sequence[Sentence], *, single_root: bool) -> tuple[float, float]:
    """Pruning efficiency and oracle, in per cent."""
    kept = best = wrong = words = 0
    for allowed, sentence in zip(left, sentences, strict=True):
        n = len(sentence)
        gold = np.zeros(allowed.shape)
        gold[np.array(sentence.heads), np.arange(1, n + 1)] = 1.0
        kept += int((allowed & (gold == 0.0)).sum())
        wrong += n * n - n
        heads = np.empty(n, dtype=np.int64)
        best += int(eisner_kernel(np.where(allowed, gold, -np.inf), 1 if single_root else 0, heads))
        words += n
    return 100.0 * (1.0 - kept / wrong), 100.0 * best / words


def thesis(method: str, orders: Sequence[str]) -> str:
    """A row of table 8.1, as it is printed there."""
    given = [cell for order, cell in zip(ORDERS, THESIS[method], strict=True) if order in orders]
    cells = [f"{cell[0]:14.2f} {cell[1]:5.1f} {cell[2]:7.1f} {cell[3]:5.1f} " if cell else f"{'':35}" for cell in given]
    return f"{'  thesis, PTB 22':20}" + "".join(f"| {cell}" for cell in cells)


def table_1(folder: Path, treebank: str, options: argparse.Namespace) -> None:
    headline(f"Table 8.1, {treebank} test: speed against unpruned first order, pruning efficiency, oracle and UAS (all tokens)")
    sentences = sentences_of(treebank, "test")
    print(f"{'':20}" + "".join(f"| {order:^31} " for order in options.orders))
    print(f"{'':20}" + "| tokens/s speed    PE  oracle   UAS " * len(options.orders))
    base, cells, unpruned = 0.0, [], {}
    for order in options.orders:
        parser = replace(trained(folder, treebank, order, options), pruner=None)
        some = sentences[: options.unpruned or None] if order == "grandsibling" else sentences
        speed, uas = timed(one_by_one(parser), some, 1 if order == "grandsibling" else 3)
        base = base or speed
        unpruned[order] = speed, uas
        cells.append(f"| {speed:8.0f} {speed / base:5.2f}   0.0   100.0 {uas:5.2f} ")
    print(f"{'no pruning':20}" + "".join(cells) + "\n" + thesis("no pruning", options.orders), flush=True)
    for method in options.methods:
        cells = []
        for order in options.orders:
            if method in (POSTERIORS, "first and second") and order == "first":
                cells.append(f"| {'':35}")
                continue
            if method == POSTERIORS:
                parser = trained(folder, treebank, order, options)
                parse, left = one_by_one(parser), left_by_posteriors(parser, sentences)
            else:
                parser = with_passes(folder, treebank, order, method, options)
                fused = all(one.kind in KERNEL for one in parser.passes)
                parse, left = Cascade(parser).heads if fused else pass_by_pass(parser), left_by_passes(parser, sentences)
            speed, uas = timed(parse, sentences)
            efficiency, oracle = pruned(left, sentences, single_root=parser.single_root)
            cells.append(f"| {speed:8.0f} {speed / base:5.2f} {efficiency:5.1f} {oracle:7.2f} {uas:5.2f} ")
        print(f"{method:20}" + "".join(cells) + ("\n" + thesis(method, options.orders) if method in THESIS else ""), flush=True)
        if method in CASCADES and not options.unpruned and "grandsibling" in options.orders:
            whole, best = unpruned["grandsibling"]
            print(f"{'':20}third order: {speed / base:.2f} times first, {speed / whole:.0f} times third unpruned; UAS {uas - best:+.2f}")
    for beam in (8, 16, 64) if options.transition else ():
        path = folder / f"{treebank}.transition-{beam}.npz"
        if not path.exists():
            data, held_out = sentences_of(treebank, "train"), sentences_of(treebank, "dev")
            train_transitions(data, development=held_out, beam=beam, epochs=15).save(path)
        speed, uas = timed(TransitionParser.load(path).parse_many, sentences)
        print(f"{f'transitions, k = {beam}':20}| {speed:8.0f} {speed / base:5.2f} {'':13} {uas:5.2f}", flush=True)
        print(f"{'  thesis, PTB 22':20}| {OF_TRANSITIONS[beam][0]:14.2f} {'':13} {OF_TRANSITIONS[beam][1]:5.1f}")


def table_2(folder: Path, treebank: str, options: argparse.Namespace) -> None:
    headline(f"Table 8.2, {treebank} test: microseconds per token that each pass takes, and its share of the time")
    sentences = sentences_of(treebank, "test")
    words = sum(map(len, sentences))
    for order in options.orders:
        cascade = Cascade(with_passes(folder, treebank, order, options.cascade, options))
        cascade.parsed(sentences[:20])
        upto = []
        passes = [one.kind for one in cascade.passes if one.kind != LAST]
        for size in (*range(len(passes) + 1), None):
            least = np.inf
            for _ in range(3):
                begin = time.process_time()
                cascade.parsed(sentences, passes=size)
                least = min(least, time.process_time() - begin)
            upto.append(1e6 * least / words)
        names = ["reading words", *passes, "last model"]
        costs = np.diff([0.0, *upto])
        print(
            f"{order:14}" + ", ".join(f"{name} {cost:.1f} ({100 * cost / upto[-1]:.0f}%)" for name, cost in zip(names, costs, strict=True))
        )


def table_3(folder: Path, treebanks: Sequence[str], options: argparse.Namespace) -> None:
    headline("Table 8.3: tokens per second and UAS (all tokens), B without pruning, V behind the vine cascade")
    print(f"{'':16}" + "".join(f"| {order:^24} " for order in ORDERS))
    for treebank in treebanks:
        sentences = sentences_of(treebank, "test")
        rows = {"B": "", "V": ""}
        for order in ORDERS:
            parser = replace(trained(folder, treebank, order, options), pruner=None)
            some = sentences[: options.unpruned or None] if order == "grandsibling" else sentences
            for row, parse, given in (
                ("B", one_by_one(parser), some),
                ("V", Cascade(with_passes(folder, treebank, order, options.cascade, options)).heads, sentences),
            ):
                speed, uas = timed(parse, given, 1 if row == "B" else 3)
                rows[row] += f"| {speed:10.0f} {uas:8.2f}{'':6}"
        for row, cells in rows.items():
            print(f"{treebank if row == 'B' else '':14} {row} {cells}", flush=True)


def figure(folder: Path, treebank: str, options: argparse.Namespace) -> None:
    headline(f"Figure 8-7, {treebank} test: milliseconds per sentence by length, and the exponent b of a fit a n^b")
    sentences = sentences_of(treebank, "test")
    ways: dict[str, Callable[[Sequence[Sentence]], Sequence[Sequence[int]]]] = {}
    for order in options.orders:
        parser = replace(trained(folder, treebank, order, options), pruner=None)
        ways[f"{order}, unpruned"] = one_by_one(parser)
        ways[f"{order}, cascade"] = Cascade(with_passes(folder, treebank, order, options.cascade, options)).heads
    print(f"{'':24}" + "".join(f"{f'{low}-{high}':>9}" for low, high in LENGTHS) + "        b")
    for name, parse in ways.items():
        parse(sentences[:20])
        lengths, times, cells = [], [], []
        for low, high in LENGTHS:
            some = [sentence for sentence in sentences if low <= len(sentence) <= high][: 20 if "grandsibling, un" in name else None]
            if not some:
                cells.append(f"{'':9}")
                continue
            least = np.inf
            for _ in range(1 if "grandsibling, un" in name else 3):
                begin = time.process_time()
                parse(some)
                least = min(least, time.process_time() - begin)
            lengths.append(np.mean([len(sentence) for sentence in some]))
            times.append(least / len(some))
            cells.append(f"{1000 * times[-1]:9.3f}")
        slope = np.polyfit(np.log(lengths), np.log(times), 1)[0]
        print(f"{name:24}" + "".join(cells) + f" {slope:8.2f}", flush=True)


def with_penalties(folder: Path, treebank: str, options: argparse.Namespace) -> Parser:
    """A third-order parser whose larger parts only cost; it is learned more slowly, in twice as many epochs."""
    path = folder / f"{treebank}.penalties.npz"
    if not path.exists():
        begin = time.perf_counter()
        data, held_out = sentences_of(treebank, "train"), sentences_of(treebank, "dev")
        train(
            data, development=held_out[:1000], epochs=2 * options.epochs, labels=False, most_features=300_000, penalties=COST
        ).save(path)  # fmt: skip
        print(f"  {path.name}: trained in {time.perf_counter() - begin:.0f} s", flush=True)
    return Parser.load(path)


def exact(folder: Path, treebank: str, options: argparse.Namespace) -> None:
    sentences = sentences_of(treebank, "test")[: options.unpruned or None]
    headline(f"The exact cascade, {treebank} test: against third order with all parts scored")
    parser = with_penalties(folder, treebank, options)
    plain, cascade = replace(parser, pruner=None), ExactCascade(parser)
    for sentence in sentences[:100]:  # of all lengths: kernels are compiled when they are first needed
        plain.parse(sentence)
    cascade.parse_together(sentences[:100])
    print(f"{'words':>12} {'sentences':>9} {'same tree':>9} {'all parts, ms':>14} {'cascade, ms':>12} {'times':>6}")
    rows, trees = [], []
    for low, high in LENGTHS:
        some = [sentence for sentence in sentences if low <= len(sentence) <= high]
        times = [np.inf, np.inf]
        for _ in range(3):  # each by itself, as it is used: caches have what it needs
            begin = time.process_time()
            wanted = [plain.parse(sentence).solution for sentence in some]
            between = time.process_time()
            found = [parse.solution for at in range(0, len(some), AT_ONCE) for parse in cascade.parse_together(some[at : at + AT_ONCE])]
            times = [min(times[0], between - begin), min(times[1], time.process_time() - between)]
        same = sum(
            one.structure == other.structure and one.score == other.score and other.status == "optimal"
            for one, other in zip(wanted, found, strict=True)
        )
        rows.append((f"{low}-{high}", len(some), same, *times))
        trees += [(solution.structure or (), sentence) for solution, sentence in zip(found, some, strict=True)]
    rows.append(("all", *np.sum([row[1:] for row in rows], axis=0)))
    for name, count, same, full, ours in rows:
        each = max(count, 1) / 1000
        print(f"{name:>12} {count:9.0f} {same:9.0f} {full / each:14.2f} {ours / each:12.2f} {full / ours:6.2f}")
    words = sum(map(len, sentences))
    print(
        f"  {words / rows[-1][3]:,.0f} against {words / rows[-1][4]:,.0f} tokens/s; UAS {right(*zip(*trees, strict=True)):.2f}", flush=True
    )


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    reader.add_argument("--models", type=Path, default=Path("models/cascade"))
    reader.add_argument("--treebanks", nargs="+", default=list(TREEBANKS))
    reader.add_argument("--epochs", type=int, default=6)
    reader.add_argument("--unpruned", type=int, default=0)
    reader.add_argument("--orders", nargs="+", default=list(ORDERS), choices=ORDERS)
    reader.add_argument("--cascade", default=ROWS_CASCADE, choices=CASCADES, help="the one of all parts but methods")
    reader.add_argument("--methods", nargs="+", default=[POSTERIORS, *METHODS], choices=[POSTERIORS, *METHODS])
    reader.add_argument("--transition", action="store_true", help="train and measure transition-based parsers too")
    reader.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS)
    options = reader.parse_args()
    options.models.mkdir(parents=True, exist_ok=True)
    english = options.treebanks[0]
    for part in options.parts:
        if part == "languages":
            table_3(options.models, options.treebanks, options)
        else:
            {"methods": table_1, "passes": table_2, "lengths": figure, "exact": exact}[part](options.models, english, options)


if __name__ == "__main__":
    main()
