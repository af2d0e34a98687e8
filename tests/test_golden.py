"""Pins what the commands write: a digest of every output, byte by byte but for clocks.

The commands run in this process, in a scratch folder with the examples and the problems of `tests/golden/problems`. `tests/golden.json`
has the SHA-256 of every output under a name that says which it is. Outputs for programs (standard output with the exit code, files) are
apart from those for people (standard error, under `.../messages`), so that a message can be reworded alone. Scores lie on a grid, so
their sums are exact on every machine. A change that is meant is recorded by

    python tests/test_golden.py > tests/golden.json

To see what a change does, write all outputs before and after it, and compare the folders:

    python tests/test_golden.py --write FOLDER
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest

HERE = Path(__file__).resolve().parent
PINNED = HERE / "golden.json"
REWRITE = "python tests/test_golden.py > tests/golden.json"
Outputs = Iterator[tuple[str, str]]  # names and normalised texts

CLOCKS = (
    (re.compile(r'("seconds": )\[[^\]]*\]'), r"\1[]"),  # of a trace
    (re.compile(r", [\d,.]+ [a-z ]*per second"), ""),  # told if it took a second or more
    (re.compile(r"\b[\d,]+(?:\.\d+)? (m?s)\b"), r"# \1"),
    (re.compile(r"^ +# s  lower", re.MULTILINE), "  # s  lower"),  # the number was padded
    (re.compile(r"\b[\d.]+ MB\b"), "# MB"),  # of a compressed file: no clock, but a matter of the version of zlib
)


REAL = re.compile(r"-?\d+\.\d{7,}(?:e[-+]?\d+)?")


class Run(NamedTuple):
    code: int
    output: str
    errors: str


def run(*arguments: Any, stdin: str = "") -> Run:
    """The command `zerogap` in this process."""
    from zerogap.cli.main import main

    output, errors = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline=""), io.StringIO()
    before = sys.argv, sys.stdin
    sys.argv, sys.stdin = ["zerogap", *map(str, arguments)], io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    code = 0
    try:
        with redirect_stdout(output), redirect_stderr(errors):
            main()
    except SystemExit as left:
        code = int(left.code or 0)
    finally:
        sys.argv, sys.stdin = before
    output.flush()
    assert "Traceback" not in errors.getvalue()
    return Run(code, output.buffer.getvalue().decode(), errors.getvalue())


def timeless(text: str) -> str:
    for clock, instead in CLOCKS:
        text = clock.sub(instead, text)
    return text


def outputs(name: str, *arguments: Any, stdin: str = "", files: tuple[str, ...] = ()) -> Outputs:
    """What a command writes: standard output with the exit code, messages, and files by their names."""
    done = run(*arguments, stdin=stdin)
    yield name, f"exit code {done.code}\n{timeless(done.output)}"
    if done.code != 2 or done.errors.startswith("zerogap: "):  # other wrong usage is worded by typer, for the width of the terminal
        yield f"{name}/messages", timeless(done.errors)
    for file in files:
        yield f"{name}/{file}", timeless(Path(file).read_text(encoding="utf-8"))


# ---- parse: the model that comes with the library

TEXT = """Time flies like an arrow. The old man the boats.

"Who," she asked, "would prove that?" Dr. Smith paid $3.50 for the U.S. edition (2nd ed.), didn't he?
He saw the dog with a telescope on Monday, and it barked at him.
"""


def parse() -> Outputs:
    Path("text.txt").write_text(TEXT, encoding="utf-8")
    proofs = "proofs.jsonl"
    yield from outputs("parse/en/conllu", "parse", "text.txt", "--threads", 1, "--certificates", proofs, files=(proofs,))
    yield from outputs("parse/en/verify", "verify", proofs)
    yield from outputs("parse/en/two-threads", "parse", "text.txt", "--threads", 2)
    yield from outputs("parse/en/json", "parse", "-", "--format", "json", "--input-format", "text", "--threads", 1, stdin=TEXT)
    yield from outputs("parse/en/drawing", "parse", "Time flies like an arrow.", "--format", "tree", "--threads", 1)
    yield from outputs("parse/en/lines", "parse", "text.txt", "--lines", "--threads", 1)
    for method in ("cascade", "exact-cascade"):
        yield from outputs(f"parse/en/{method}", "parse", "text.txt", "--method", method, "--threads", 1)
    for tags in ("keep", "predict"):
        yield from outputs(f"parse/en/treebank/{tags}", "parse", "trees-test.conllu", "--tags", tags, "--threads", 1)
    yield from outputs("parse/en/evaluate", "evaluate", "dependency", "trees-test.conllu", "--model", "en", "--threads", 1)


# ---- decode: problem files of all kinds

PROPOSED = ("ilp", "price-and-cut", "column-generation")  # HiGHS chooses among optima, by its version
ALL_KINDS: dict[str, tuple[str, ...]] = {
    "dependency-crossing-arcs": ("arborescence", "head-automata", "dual-decomposition", "price-and-cut", "branch-and-bound"),
    "dependency-projective-labels": ("eisner", "siblings", "outermost", "grandsiblings", "head-automata", "dual-decomposition",
                                     "price-and-cut", "branch-and-bound"),
    "dependency-projective-siblings": ("siblings", "outermost", "grandsiblings", "head-automata", "dual-decomposition",
                                       "price-and-cut", "branch-and-bound"),
    "dependency-projective-outermost": ("outermost", "grandsiblings", "head-automata", "branch-and-bound"),
    "dependency-projective-grandsiblings": ("grandsiblings", "head-automata", "dual-decomposition", "branch-and-bound"),
    "dependency-crossing-siblings": ("head-automata", "dual-decomposition", "price-and-cut", "branch-and-bound"),
    "dependency-crossing-grandparents": ("head-automata", "dual-decomposition", "price-and-cut", "branch-and-bound"),
    "dependency-crossing-trisiblings": ("head-automata", "dual-decomposition", "branch-and-bound"),
    "dependency-crossing-automata": ("head-automata", "dual-decomposition", "branch-and-bound"),
    "dependency-crossing-factors": ("branch-and-bound",),
    "dependency-projective-factors": ("branch-and-bound",),
    "sequence-plain": ("relaxation", "intersection", "lagrangian", "dual-decomposition", "column-generation", "ilp"),
    "sequence-constraints": ("relaxation", "intersection", "lagrangian", "dual-decomposition", "ilp"),
    "sequence-second-order": ("relaxation", "intersection", "lagrangian", "ilp"),
    "hypergraph-plain": ("best-path", "optimal-beam", "lagrangian", "ilp"),
    "hypergraph-constraints": ("optimal-beam", "lagrangian", "ilp"),
    "united": ("dual-decomposition", "intersection", "ilp"),
    "joint": ("dual-decomposition", "intersection", "ilp"),
    "lexical": (),
    "agreement": ("dual-decomposition",),
    "phrases": ("optimal-beam", "staged-beam", "lr-tight", "chang-collins", "a-star", "ilp", "lagrangian", "beam"),
    "phrases-constraints": ("optimal-beam", "staged-beam", "lr-tight", "a-star", "lagrangian", "beam"),
    "forest": ("optimal-beam", "relaxation", "lagrangian", "intersection", "cube-pruning"),
    "forest-trigrams": ("optimal-beam", "relaxation", "lagrangian", "intersection", "cube-pruning", "ilp"),
}  # fmt: skip
TASKS = {name: name for name in ("dependency", "sequence", "hypergraph", "phrases", "forest")}  # the others are of constituency
# the trace of a search with factors tells by the clock which node a call of the oracle belongs to
BOUNDS_OF_TRACE = re.compile(r'"bounds": \[[^\]]*\],\s*"scores": \[[^\]]*\],\s*(?="seconds": \[\])')
WITH_K = ("dependency-crossing-arcs", "dependency-projective-siblings", "sequence-plain", "sequence-constraints")


def decode_kind(kind: str) -> Outputs:
    """Every method, what the checker says of its solution, and the problem as it is written again."""
    from zerogap import load_problem, save_problem

    problem, place = f"{kind}.json", kind.replace("-", "/", 1)
    for method in ("auto", *ALL_KINDS[kind]):
        name = f"decode/{place}/{method}"
        done = run("decode", problem, "--method", method, "-o", "solution.json")
        assert done.code in (0, 3), done.errors
        text = timeless(Path("solution.json").read_text(encoding="utf-8"))
        if method in PROPOSED:
            solution = json.loads(text)
            text = json.dumps({key: solution[key] for key in ("format", "version", "score", "bound") if key in solution})
        if kind.endswith("-factors"):
            text = BOUNDS_OF_TRACE.sub("", text)
        yield name, f"exit code {done.code}\n{text}"
        if method not in PROPOSED:
            yield f"{name}/messages", timeless(done.errors)
            yield from outputs(f"{name}/verify", "verify", problem, "solution.json")
    save_problem(load_problem(problem), "again.json")
    yield f"decode/{place}/problem", Path("again.json").read_text(encoding="utf-8")
    if kind in WITH_K:
        yield from outputs(f"decode/{place}/three-best", "decode", problem, "--k", 3)


def decode_of(task: str) -> Callable[[], Outputs]:
    def all_of_task() -> Outputs:
        for kind in ALL_KINDS:
            if TASKS.get(kind.partition("-")[0], "constituency") == task:
                yield from decode_kind(kind)

    return all_of_task


# ---- errors: messages that name what was wrong


def errors() -> Outputs:
    """Names of classes and tasks in messages come from where the code lives, and must not follow it."""
    import zerogap
    from zerogap import constituency, dependency, hypergraph, sequence, translation

    decoders = {
        "constituency": constituency.decode, "lexical": constituency.decode_lexical, "agreement": constituency.decode_agreement,
        "dependency": dependency.decode, "hypergraph": hypergraph.decode, "sequence": sequence.decode, "translation": translation.decode,
        "phrases": translation.decode_phrases, "forest": translation.decode_forest,
    }  # fmt: skip
    for name, decoder in decoders.items():
        yield f"errors/not-a-problem/{name}", caught(lambda decoder=decoder: decoder(3))
    yield "errors/not-a-problem/verify", caught(lambda: zerogap.verify(3, 3))
    yield "errors/not-a-problem/save", caught(lambda: zerogap.save_problem(3, "never.json"))
    for kind in ("dependency-crossing-arcs", "sequence-plain", "hypergraph-plain", "joint", "lexical", "agreement", "phrases", "forest"):
        yield from outputs(f"errors/unknown-method/{kind.partition('-')[0]}", "decode", f"{kind}.json", "--method", "?")
        yield from outputs(f"errors/k/{kind.partition('-')[0]}", "decode", f"{kind}.json", "--k", 2, "--method", "auto", "-o", "k.json")
    Path("kind.json").write_text('{"format": "zerogap-problem", "version": 1, "kind": "tree"}', encoding="utf-8")
    yield from outputs("errors/unknown-kind", "decode", "kind.json")
    yield from outputs("errors/unknown-method/parse", "parse", "Time flies.", "--method", "?")
    yield from outputs("errors/unknown-method/label", "label", "never.npz", "names.txt", "--method", "?")
    run("decode", "dependency-crossing-arcs.json", "-o", "solution.json")
    changed = json.loads(Path("solution.json").read_text(encoding="utf-8"))
    changed["bound"] -= 1
    changed["score"] -= 1
    Path("solution.json").write_text(json.dumps(changed), encoding="utf-8")
    yield from outputs("errors/wrong-score", "verify", "dependency-crossing-arcs.json", "solution.json")
    yield from outputs("errors/other-problem", "verify", "sequence-plain.json", "solution.json")


def caught(call: Callable[[], object]) -> str:
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing was raised"


# ---- translate


ARPA = """\\data\\
ngram 1=8
ngram 2=4

\\1-grams:
-99\t<s>\t-0.5
-1\t</s>
-2\t<unk>
-1\tthe\t-0.25
-1\thouse\t-0.25
-1.5\thome\t-0.25
-1\tis\t-0.25
-1\tsmall\t-0.25

\\2-grams:
-0.1\t<s> the
-0.2\tthe house
-0.3\thouse is
-0.4\tsmall </s>

\\end\\
"""
TABLE = """das ||| the ||| 1 1 1 1 ||| 0-0
haus ||| house ||| 0.9 0.9 0.9 0.9 ||| 0-0
haus ||| home ||| 0.5 0.5 0.5 0.5 ||| 0-0
das haus ||| the house ||| 0.9 0.9 0.9 0.9 ||| 0-0 1-1
ist ||| is ||| 1 1 1 1 ||| 0-0
klein ||| small ||| 1 1 1 1 ||| 0-0
"""
PHRASE_WEIGHTS = """[phrase]
p_f_given_e 0.25
lex_f_given_e 0.25
p_e_given_f 0.25
lex_e_given_f 0.25
lm 0.5
words 0.5
phrases -0.1
distortion 0.2
distortion_limit 4
"""
RULES = """[S] ||| [X,1] ||| [X,1] ||| glue=0
[S] ||| [S,1] [X,2] ||| [S,1] [X,2] ||| glue=1
[X] ||| das haus ||| the house ||| p=-1
[X] ||| das haus ||| home ||| p=-0.5
[X] ||| [X,1] ist klein ||| [X,1] is small ||| p=-0.25
[X] ||| [X,1] ist klein ||| small is [X,1] ||| p=-0.125
[X] ||| klein ||| small ||| p=-2
"""
RULE_WEIGHTS = "[hiero]\np 1\nglue -0.5\noov -3\nlm 1\nwords 0.5\n"
TREE_RULES = """(S (NP [D,1] [N,2]) [V,3]) ||| [1] [2] [3] ||| p=-1
(D das) ||| the ||| p=-0.5
(N haus) ||| house ||| p=-0.25
(V ist) ||| is ||| p=-0.125
"""
SOURCE = "das haus ist klein\n\nklein q das haus\nist das haus klein\n"
TREES = "(S (NP (D das) (N haus)) (V ist))\n\n(S (NP (D das) (N q)) (V ist))\n"


def translate() -> Outputs:
    files = {"lm.arpa": ARPA, "table": TABLE, "phrase-weights": PHRASE_WEIGHTS, "rules": RULES, "rule-weights": RULE_WEIGHTS,
             "tree-rules": TREE_RULES, "source": SOURCE, "trees": TREES}  # fmt: skip
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    phrases = ("--phrase-table", "table", "--lm", "lm.arpa", "--weights", "phrase-weights", "--threads", 1)
    rules = ("--grammar", "rules", "--lm", "lm.arpa", "--weights", "rule-weights", "--max-span", 5, "--threads", 1)
    trees = ("--tree-rules", "tree-rules", "--lm", "lm.arpa", "--weights", "rule-weights", "--threads", 1)
    proofs, links = "proofs.jsonl", "links"
    for kind, source, model, methods in (
        ("phrases", "source", phrases, ("optimal-beam", "staged-beam", "lr-tight", "chang-collins", "a-star", "lagrangian", "beam")),
        ("grammar", "source", rules, ("optimal-beam", "relaxation", "lagrangian", "intersection", "cube-pruning")),
        ("tree-rules", "trees", trees, ("relaxation", "cube-pruning")),
    ):
        start = ("translate", source, *model)
        yield from outputs(f"translate/{kind}/auto", *start, "--certificates", proofs, "--verbose", files=(proofs,))
        yield from outputs(f"translate/{kind}/verify", "verify", proofs)
        yield from outputs(f"translate/{kind}/three-best", *start, "--nbest", 3)
        run(*start, "--report", "report.tsv")
        rows = [line.split("\t")[:-1] for line in Path("report.tsv").read_text(encoding="utf-8").splitlines()]  # the last are seconds
        yield f"translate/{kind}/report", "\n".join(map("\t".join, rows))
        for method in methods:
            yield from outputs(f"translate/{kind}/{method}", *start, "--method", method)
    yield from outputs("translate/phrases/segments", "translate", "source", *phrases, "--segments", "--alignment", links, files=(links,))
    yield from outputs("translate/phrases/limits", "translate", "source", *phrases, "--forbid", "house", "--reordering", "moses")
    Path("scores.tsv").write_text("line\tpruned\n1\t-9.5\n2\t-7\n3\t-8\n", encoding="utf-8")
    yield from outputs("translate/grammar/audit", "audit", "scores.tsv", "--column", "pruned", "--input", "source", *rules)


# ---- label, and the training of its models


def label() -> Outputs:
    for algorithm in ("perceptron", "crf", "crf-sgd"):
        model = f"{algorithm}.npz"
        training = ("train", "sequence", "references-train.jsonl", "-o", model, "--constraints", "references.yaml", "--epochs", 5)
        done = run(*training, "--algorithm", algorithm, "--development", "references-test.jsonl")
        yield f"train/sequence/{algorithm}/messages", timeless(done.errors)
        yield f"train/sequence/{algorithm}/model", described(Path(model))
        yield from outputs(f"label/references/{algorithm}", "label", model, "references-test.jsonl", "--threads", 1)
    proofs = "proofs.jsonl"
    start = ("label", "perceptron.npz", "references-test.jsonl", "--threads", 1)
    yield from outputs("label/references/certificates", *start, "--certificates", proofs, "--keep-labels", files=(proofs,))
    yield from outputs("label/references/verify", "verify", proofs)
    yield from outputs("label/references/no-constraints", *start, "--no-constraints")
    for method in ("relaxation", "intersection", "lagrangian"):
        yield from outputs(f"label/references/{method}", *start, "--method", method)
    yield from outputs("label/references/constraints", "constraints", "perceptron.npz")
    yield from outputs("label/references/evaluate", "evaluate", "sequence", "references-test.jsonl", "--model", "perceptron.npz")
    yield from outputs("train/sequence/columns", "train", "sequence", "names.txt", "-o", "names.npz", "--algorithm", "perceptron")
    yield from outputs("label/names", "label", "names.npz", "names.txt", "--threads", 1)


# ---- train: parsers

DEPENDENCY: dict[str, tuple[Any, ...]] = {
    "first": ("--model", "first"),
    "sibling": ("--model", "sibling", "--no-labels"),
    "grandparent-perceptron": ("--model", "grandparent", "--algorithm", "perceptron"),
    "grandsibling": ("--dev", "trees-test.conllu", "--max-features", 5000),
    "crossing-sibling": ("--model", "sibling", "--non-projective"),
    "crossing-relaxed": ("--model", "grandsibling", "--non-projective", "--relaxed"),
    "crf": ("--model", "first", "--algorithm", "crf"),
    "bp": ("--model", "sibling", "--algorithm", "bp", "--non-projective"),
    "factors": ("--model", "sibling", "--factors", "siblings,grandchildren,comb", "--factor-epochs", 1),
    "penalties": ("--penalties",),
    "bounds": ("--model", "sibling", "--bounds"),
    "cascade": ("--cascade", "--dev", "trees-test.conllu"),
}


def train_dependency() -> Outputs:
    for name, options in DEPENDENCY.items():
        model = f"{name}.npz"
        yield from outputs(f"train/dependency/{name}", "train", "dependency", "trees-train.conllu", "-o", model, "--epochs", 2, *options)
        yield f"train/dependency/{name}/model", described(Path(model))
        yield from outputs(f"train/dependency/{name}/parse", "parse", "trees-test.conllu", "--model", model, "--threads", 1)
    for name, method in (("cascade", "cascade"), ("penalties", "exact-cascade")):
        start = ("parse", "trees-test.conllu", "--model", f"{name}.npz", "--threads", 1)
        yield from outputs(f"train/dependency/{name}/parse-{method}", *start, "--method", method)


def train_tagger() -> Outputs:
    yield from outputs("train/tagger", "train", "tagger", "trees-train.conllu", "-o", "tagger.npz", "--epochs", 2)
    yield "train/tagger/model", described(Path("tagger.npz"))


BRACKETS = """\
( (S (NP-SBJ (DT the) (NN dog)) (VP (VBZ barks)) (. .)) )
( (S (NP-SBJ (DT the) (NN cat)) (VP (VBZ sees) (NP (DT a) (NN dog))) (. .)) )
( (S (NP-SBJ (NNS dogs)) (VP (VBP see) (NP (NP (DT a) (NN man)) (PP (IN with) (NP (DT a) (NN cat))))) (. .)) )
( (S (NP-SBJ (DT a) (NN man)) (VP (VBZ sees) (NP (DT the) (NN dog)) (PP (IN with) (NP (NNS cats)))) (. .)) )
"""


def train_constituency() -> Outputs:
    Path("trees.mrg").write_text(BRACKETS, encoding="utf-8")
    text, proofs = "The dog barks.\nA man sees a cat with the dog.\n", "proofs.jsonl"
    for kind, options in (
        ("pcfg", ()), ("joint", ()), ("joint-hmm", ("--tagger", "hmm")), ("lexical", ()), ("pair", ("--epochs", 1)),
        ("three-way", ("--epochs", 1)),
    ):  # fmt: skip
        model = f"{kind}.npz"
        start = ("train", "constituency", "trees.mrg", "-o", model, "--kind", kind.removesuffix("-hmm"), *options)
        yield from outputs(f"train/constituency/{kind}", *start)
        yield f"train/constituency/{kind}/model", described(Path(model))
        parsing = ("parse", "-", "--input-format", "text", "--constituency", model)
        name = f"parse/constituency/{kind}"
        yield from outputs(name, *parsing, "--certificates", proofs, stdin=text, files=(proofs,))
        yield from outputs(f"{name}/verify", "verify", proofs)
        yield from outputs(f"{name}/json", *parsing, "--format", "json", stdin=text)


def described(model: Path) -> str:
    """The header and the arrays of a model file, without how they are compressed.

    Real numbers are rounded to six decimals: likelihoods come from exponentials, logarithms and sums in BLAS, whose last bits differ
    between processors. Most weights are saved as whole numbers, and pinned exactly.
    """
    import numpy as np

    with np.load(model, allow_pickle=False) as archive:
        lines = [REAL.sub(lambda number: f"{float(number[0]):.6f}", archive["header"].tobytes().decode())]
        for name in sorted(set(archive.files) - {"header"}):
            array = np.ascontiguousarray(archive[name])
            if array.dtype.kind == "f":
                array = np.round(array, 6) + 0.0  # no -0.0
            lines.append(f"{name} {array.dtype} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}")
    return "\n".join(lines)


GROUPS: dict[str, Callable[[], Outputs]] = {
    "parse": parse,
    **{f"decode {task}": decode_of(task) for task in ("dependency", "sequence", "hypergraph", "constituency", "phrases", "forest")},
    "errors": errors,
    "translate": translate,
    "label": label,
    "train dependency": train_dependency,
    "train tagger": train_tagger,
    "train constituency": train_constituency,
}


def written(group: str) -> dict[str, str]:
    """The outputs of a group, in a scratch folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for path in [*(HERE.parent / "examples").glob("*.*"), *(HERE / "golden" / "problems").glob("*.json")]:
            shutil.copy(path, folder)
        with chdir(folder):
            found: dict[str, str] = {}
            for name, text in GROUPS[group]():
                assert name not in found, name
                found[name] = text
    return found


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def pinned() -> dict[str, dict[str, str]]:
    return json.loads(PINNED.read_text(encoding="utf-8"))


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"), reason="takes minutes without the compiler")
@pytest.mark.parametrize("group", GROUPS)
def test_outputs_are_as_pinned(group):
    before, now = pinned().get(group, {}), {name: digest(text) for name, text in written(group).items()}
    changed = [f"  {name}" for name in sorted(before.keys() & now.keys()) if before[name] != now[name]]
    changed += [f"  {name} (gone)" for name in sorted(before.keys() - now.keys())]
    changed += [f"  {name} (new)" for name in sorted(now.keys() - before.keys())]
    told = [f"{len(changed)} of {len(before)} outputs changed:", *changed, "To see how: python tests/test_golden.py --write FOLDER"]
    assert not changed, "\n".join([*told, f"If that is meant: {REWRITE}"])


def test_clocks_are_left_out():
    assert timeless('{"trace": {"bounds": [3.5], "seconds": [0.25, 1e-05]}}') == '{"trace": {"bounds": [3.5], "seconds": []}}'
    assert timeless("3 sentences (0.1 s)") == timeless("3 sentences (12.3 s, 1,234 words per second)") == "3 sentences (# s)"
    assert timeless("(1 iteration, 0.4 ms, verified)") == "(1 iteration, # ms, verified)"


def main() -> None:
    if sys.argv[1:2] == ["--write"]:
        for group in GROUPS:
            for name, text in written(group).items():
                path = Path(sys.argv[2]) / f"{name}.txt"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    else:
        found = {group: {name: digest(text) for name, text in sorted(written(group).items())} for group in GROUPS}
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
