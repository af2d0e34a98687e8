"""Every reader of files as a function of bytes, with small files that it reads: what fuzzing starts from.

A reader may refuse what it is given with a ZerogapError, and may do nothing else than that or read it.
"""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from zerogap.archive import read_archive
from zerogap.batch.job import load_job
from zerogap.io.formats.brackets import read_trees
from zerogap.io.formats.columns import read_columns
from zerogap.io.formats.conllu import read_conllu
from zerogap.io.formats.examples import read_records
from zerogap.io.formats.grammars import read_grammar
from zerogap.io.formats.jsonl import read_jsonl
from zerogap.io.formats.lines import Piece
from zerogap.io.formats.openfst import read_openfst
from zerogap.io.rules.files import load_constraints
from zerogap.io.translation.arpa import load_language_model
from zerogap.io.translation.forests import forest_from_json
from zerogap.io.translation.moses_ini import load_moses_config
from zerogap.io.translation.phrase_alignments import load_phrase_alignments
from zerogap.io.translation.phrase_tables import load_phrase_table
from zerogap.io.translation.scfg import load_syntax_weights
from zerogap.io.translation.scfg import read_grammar as read_synchronous
from zerogap.io.translation.weights import load_phrase_weights
from zerogap.pipeline.sources import read_text
from zerogap.problems.files import problem_from_json, problem_to_json
from zerogap.proof.certificate import (
    Agreement,
    CutDuals,
    DynamicProgram,
    FactorShares,
    HeadPrices,
    Intersection,
    Leaf,
    Leaves,
    Multipliers,
    Narrowed,
    Screened,
    Unsatisfiable,
)
from zerogap.proof.files import solution_from_json, solution_to_json
from zerogap.proof.lines import object_in
from zerogap.proof.solution import Solution, Trace
from zerogap.testing import reader_seeds as seeds
from zerogap.testing.draws import KINDS, draw

Read = Callable[[bytes], object]
LONGEST = 1 << 12  # bytes of an input


@dataclass(frozen=True, slots=True)
class Reader:
    """`tokens` are bits of its language, which mutations put in."""

    read: Read
    seeds: tuple[bytes, ...]
    tokens: tuple[bytes, ...] = ()
    is_json: bool = False


def readers() -> dict[str, Reader]:
    """All readers by name."""
    warnings.simplefilter("ignore")

    def piece(read: Callable[[Piece], object], name: str) -> Read:
        return lambda data: read(Piece(name, data))

    return {
        "conllu": Reader(
            piece(lambda p: written(read_conllu(p)), "a.conllu"), seeds.CONLLU, (b"\t_", b"1-2\t", b"1.1\t", b"\n\n", b"# x = y\n")
        ),
        "conllu, skipping": Reader(
            piece(lambda p: written(read_conllu(p, on_error="skip", trees=True)), "a.conllu"), seeds.CONLLU, (b"\t0\t", b"\n\n", b"\xff")
        ),
        "columns": Reader(piece(lambda p: list(read_columns(p)), "a.txt"), seeds.COLUMNS, (b" O\n", b"\t", b"-DOCSTART-", b"\n\n")),
        "records": Reader(piece(lambda p: list(read_records(p)), "a"), (*seeds.COLUMNS, *seeds.JSONL), (b"{", b'"tokens"', b"\n")),
        "jsonl": Reader(piece(lambda p: list(read_jsonl(p)), "a"), seeds.JSONL, (b'"labels"', b"null", b"[]", b'"\\ud800"', b"1e999")),
        "text": Reader(piece(lambda p: list(read_text(p, on_error="skip")), "a"), seeds.TEXT, (b".", b"? ", b"...", b"n't", b"\xc2\xa0")),
        "brackets": Reader(piece(lambda p: list(read_trees(p)), "a"), seeds.BRACKETS, (b"(", b")", b"((", b" ")),
        "arpa": Reader(piece(load_language_model, "a"), seeds.ARPA, (b"\\data\\\n", b"ngram 1=", b"-99", b"\\end\\", b"nan")),
        "grammar": Reader(piece(read_grammar, "g"), seeds.GRAMMARS, (b"->", b" | ", b"[0.5]", b"%start ", b"{", b"}", b'"a"')),
        "synchronous grammar": Reader(piece(read_synchronous, "g"), seeds.SYNCHRONOUS, (b" ||| ", b"[X,1]", b"[1]", b"=1e999", b"[S]")),
        "syntax weights": Reader(piece(load_syntax_weights, "w"), seeds.WEIGHTS, (b"[hiero]", b"lm ", b"1e999", b"#", b"=")),
        "phrase weights": Reader(piece(load_phrase_weights, "w"), seeds.WEIGHTS, (b"[phrase]", b"[weight]", b"LM0= ", b"nan")),
        "moses.ini": Reader(piece(load_moses_config, "w"), seeds.MOSES, (b"[feature]\n", b"path=", b"[stack]\n1e999")),
        "phrase alignments": Reader(
            piece(lambda p: load_phrase_alignments(p, [["das", "haus"], ["le", "dug"]]), "t"), seeds.TABLES, (b" ||| ", b"0-0", b"1-")
        ),
        "phrase table": Reader(piece(load_phrase_table, "t"), seeds.TABLES, (b" ||| ", b"0.5", b"1e999", b"-1")),
        "openfst": Reader(piece(read_openfst, "a"), seeds.OPENFST, (b"0 1 ", b" a", b"Infinity", b"\n")),
        "constraints, YAML": Reader(
            piece(lambda p: load_constraints(p, labels=("author", "title", "O")), "c.yaml"),
            seeds.YAML,
            (b"- ", b": ", b"regex", b"[", b"&a"),
        ),
        "constraints, TOML": Reader(
            piece(load_constraints, "c.toml"), seeds.TOML, (b"[[constraints]]\n", b" = ", b"[", b'"', b"1979-05-27")
        ),
        "problem": Reader(lambda data: problem_from_json(json_of(data)), tuple(map(as_json, problems())), is_json=True),
        "solution": Reader(lambda data: solution_from_json(json_of(data)), tuple(map(as_json, solutions())), is_json=True),
        "proof": Reader(lambda data: checked_line(data.decode("utf-8", "replace")), proofs(), is_json=True),
        "forest": Reader(lambda data: forest_from_json(json_of(data)), seeds.FORESTS, is_json=True),
        "archive": Reader(read_npz, archives(), (b"PK", b"\x93NUMPY", b"\x00" * 8)),
        "job": Reader(read_job, seeds.JOBS, (b"input = ", b"[parse]\n", b"limit = ", b'"')),
    }


def written(records: Any) -> None:
    for record in records:
        record.written()
        _ = record.text, record.tokens, record.multiwords


def json_of(data: bytes) -> Any:
    return object_in(data.decode("utf-8", "replace"), "input")


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def checked_line(text: str) -> None:
    """A problem with its solution, as `zerogap verify` reads and checks them."""
    from zerogap.proof.lines import proof_in
    from zerogap.proof.verify import verify

    verify(*proof_in(text, "line 1"))


def proofs() -> tuple[bytes, ...]:
    """Small problems of every task with solutions that hold, with certificates of all kinds that decoders write for them."""
    import numpy as np

    from zerogap.errors import ScoreError
    from zerogap.proof.lines import proof_line
    from zerogap.testing.draws import KINDS
    from zerogap.testing.forge import list_of_best, proven

    found: dict[tuple[str, str, bool], bytes] = {}
    for name in KINDS:
        for i in range(30):
            with suppress(ScoreError):
                for problem, _, solution in proven(name, np.random.default_rng([3, i])):
                    for answer in (solution, list_of_best(name, problem)):
                        if answer is not None:
                            line = proof_line(problem, answer).encode()
                            if len(line) < LONGEST:
                                found.setdefault((name, answer.certificate.kind, bool(answer.alternatives)), line)
    return tuple(found.values())


def read_npz(data: bytes) -> None:
    read_archive(io.BytesIO(data), "fuzzed", 1)  # type: ignore[arg-type]  # NumPy takes files too


def read_job(data: bytes) -> None:
    job = load_job(Piece("job.toml", data))
    _ = job.made, job.n_workers


def archives() -> tuple[bytes, ...]:
    found = io.BytesIO()
    header = np.frombuffer(b'{"format": "fuzzed", "version": 1}', dtype=np.uint8)
    np.savez(found, header=header, weights=np.arange(3.0))
    return (found.getvalue(),)


def problems() -> list[dict[str, Any]]:
    """A small problem of every kind that has files."""
    return [problem_to_json(draw(kind, seed=0)) for kind in KINDS]


def solutions() -> list[dict[str, Any]]:
    """Certificates of every kind."""
    prices = HeadPrices((1, 2), (0.5, 0.0), (0.0, -0.5))
    shares = FactorShares(0.5, (1,), (2, 3), DynamicProgram())
    certificates = (
        DynamicProgram(), Multipliers((1.0, -0.5)), CutDuals(((1,), (1, 2)), (1.0, -1.0)), Intersection((0,), ((0, 0.5),)),
        Agreement(((0, 1, 1, 0.25),)), prices, Screened(prices, 1.0, DynamicProgram()), shares, Narrowed(shares, 1.0, (1,), prices),
        Leaves((Leaf(((1, True),), Unsatisfiable(0)), Leaf(((1, False),), DynamicProgram()))),
    )  # fmt: skip
    return [solution_to_json(Solution((2, 0), 1.0, 1.0, c, Trace((1.0,), (1.0,), (0.0,)))) for c in certificates]
