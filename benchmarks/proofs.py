"""Checking beside solving: time, memory and size of certificates.

    python benchmarks/proofs.py [--sentences 300] [--translations 135 173] [--time-limit 60] [--parts trees translations]

Reads ../shared/data (or ZEROGAP_DATA). Public calls only, CPU time of one thread, after a warm-up:

    trees           sentences of UD English-EWT test, spread over the file, with the bundled model (grand-siblings): parsing beside checking
    translations    lines of wmt-zhen, counted from 0, by phrases: each is solved and checked in a process of its own, whose memory at the
                    end of solving and at the end of checking is its peak so far; so memory to check includes problem and language model
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import zerogap
from zerogap.io.formats.conllu import read_conllu
from zerogap.io.translation.arpa import load_language_model
from zerogap.io.translation.phrase_tables import load_phrase_table
from zerogap.io.translation.weights import load_phrase_weights
from zerogap.proof.certificate import certificate_from_json, certificate_to_json
from zerogap.proof.solution import Solution
from zerogap.translation.phrases.decoding import decode_phrases
from zerogap.translation.phrases.model import PhraseModel

DATA = Path(os.environ.get("ZEROGAP_DATA", Path(__file__).parents[2] / "shared" / "data"))
WARM_UP, FEW_WORDS = 20, 8
RATIO, MILLISECONDS = 3.0, 5.0  # at most, of trees
SECONDS, MEGABYTES = 10.0, 1000.0  # at most, of translations


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.process_time()
    result = function()
    return result, time.process_time() - begun


def trees(count: int) -> None:
    sentences = [record.sentence for record in read_conllu(DATA / "ud" / "en_ewt" / "test.conllu")]
    chosen = sentences[:: max(len(sentences) // count, 1)][:count]
    parser = zerogap.load("en").parser
    for sentence in chosen[:WARM_UP]:
        parse = parser.parse(sentence)
        zerogap.verify(parse.problem, parse.solution)
    parsing, solving, checking, size = [], [], [], 0
    for sentence in chosen:
        parse, seconds = timed(lambda sentence=sentence: parser.parse(sentence))  # type: ignore[misc]
        parsing.append(1e3 * seconds)
        problem = parse.problem
        solving.append(1e3 * timed(lambda problem=problem: zerogap.dependency.decode(problem))[1])  # type: ignore[misc]
        checking.append(1e3 * timed(lambda problem=problem, parse=parse: zerogap.verify(problem, parse.solution))[1])  # type: ignore[misc]
        size += len(json.dumps(certificate_to_json(parse.solution.certificate)))
    print(f"UD English-EWT test, {len(chosen)} sentences, {sum(map(len, chosen)) / len(chosen):.1f} words each, grand-siblings")
    print(f"{'milliseconds a sentence':32} {'mean':>8} {'median':>8} {'largest':>8}")
    rows = {"parsing, from columns to a tree": parsing, "decoding of the problem alone": solving, "checking": checking}
    for name, values in rows.items():
        print(f"{name:32} {statistics.mean(values):8.2f} {statistics.median(values):8.2f} {max(values):8.2f}")
    print(f"checking / parsing {sum(checking) / sum(parsing):.2f} (target: at most {RATIO})", end="; ")
    print(f"checking / decoding {sum(checking) / sum(solving):.2f}; checking a sentence at most {MILLISECONDS} ms (target)")
    print(f"certificates: {size / len(chosen):.0f} bytes each, as JSON\n", flush=True)


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def phrase_problem(line: int, most: int | None = None) -> Any:
    """The problem of a line, or of its first words."""
    folder = DATA / "mt" / "wmt-zhen"
    words = (folder / "test.src").read_text(encoding="utf-8").splitlines()[line].split()[:most]
    table = load_phrase_table(folder / "phrase-table.gz", sentences=[words])
    model = PhraseModel(table, load_phrase_weights(folder / "weights.txt"), load_language_model(folder / "lm.arpa.gz"))
    return model.problem(words)


def one_translation(line: int, time_limit: float) -> None:
    """Solves in this process and checks in another one, so that each has a peak of its own."""
    decode_phrases(phrase_problem(line, FEW_WORDS))  # compiles
    problem = phrase_problem(line)
    solution, seconds = timed(lambda: decode_phrases(problem, time_limit=time_limit))
    certificate = json.dumps(certificate_to_json(solution.certificate))
    claim = {"structure": solution.structure, "score": solution.score, "bound": solution.bound, "certificate": json.loads(certificate)}
    checked = subprocess.run(
        [sys.executable, __file__, "--check", str(line)], input=json.dumps(claim), stdout=subprocess.PIPE, text=True, check=True
    )
    found = json.loads(checked.stdout)
    size = f"{len(certificate):,} ({len(gzip.compress(certificate.encode())):,})"
    print(
        f"{line:5} {len(problem):6} {solution.status:>10} {seconds:9.2f} {megabytes():8.0f}"
        f" {found['seconds']:9.2f} {found['megabytes']:8.0f} {size:>16}  {found['outcome']}",
        flush=True,
    )


def check(line: int) -> None:
    """Reads a claim about a line, and writes how long checking took, and the memory of this process."""
    claim = json.load(sys.stdin)
    structure = tuple((start, end, tuple(target)) for start, end, target in claim["structure"])
    solution = Solution(structure, claim["score"], claim["bound"], certificate_from_json(claim["certificate"]))
    problem = phrase_problem(line)

    def outcome() -> str:
        try:
            return "verified" if zerogap.verify(problem, solution) else ""
        except zerogap.errors.VerificationError as error:
            return str(error)

    said, seconds = timed(outcome)
    print(json.dumps({"outcome": said, "seconds": seconds, "megabytes": megabytes()}))


def translations(lines: Sequence[int], time_limit: float) -> None:
    print(f"wmt-zhen by phrases; to check: target at most {SECONDS:.0f} s and {MEGABYTES:.0f} MB")
    print(f"{'line':>5} {'words':>6} {'':>10} {'solve, s':>9} {'MB':>8} {'check, s':>9} {'MB':>8} {'bytes (gzip)':>16}")
    for line in lines:
        command = [sys.executable, __file__, "--translation", str(line), "--time-limit", str(time_limit)]
        print(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout, end="", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=300)
    parser.add_argument("--translations", type=int, nargs="*", default=[135, 173])
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds to solve a translation")
    parser.add_argument("--parts", nargs="*", default=["trees", "translations"], choices=["trees", "translations"])
    parser.add_argument("--translation", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--check", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.check is not None:
        check(options.check)
    elif options.translation is not None:
        one_translation(options.translation, options.time_limit)
    else:
        if "trees" in options.parts:
            trees(options.sentences)
        if "translations" in options.parts:
            translations(options.translations, options.time_limit)


if __name__ == "__main__":
    main()
