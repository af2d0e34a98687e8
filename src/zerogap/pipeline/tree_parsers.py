"""Any constituency model as one parser: words in, the best tree and its proof out (Rush 2014, chapter 4).

A grammar alone is a joint problem whose tagger scores nothing, so that it has the same certificates. Tags that no word of the sentence may
have are left out of the problem.
"""

from __future__ import annotations

import os
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from zerogap.constituency.files import load_model
from zerogap.constituency.grammars.pcfg import GLUE_SCORE, PcfgModel
from zerogap.constituency.joint.decoding import METHODS, decode
from zerogap.constituency.joint.model import RESOLUTION, JointModel, tree_from
from zerogap.constituency.joint.parser_and_tagger import Halves
from zerogap.constituency.lexical.agreement import decode_agreement
from zerogap.constituency.lexical.compact import compact_agreement, compact_lexical
from zerogap.constituency.lexical.decoding import decode_lexical
from zerogap.constituency.lexical.model import LexicalModel
from zerogap.constituency.lexical.pair import LexicalPair
from zerogap.constituency.treebank.binarising import is_added, label_of
from zerogap.constituency.treebank.trees import Tree, spans
from zerogap.errors import FormatError, Infeasible, InputError, UnknownMethod
from zerogap.io.formats.grammars import read_grammar
from zerogap.plot.constituents import plot_constituents
from zerogap.plot.svg import Picture
from zerogap.problems.constituency.joint import JointProblem
from zerogap.problems.constituency.lexical import LexicalProblem
from zerogap.problems.constituency.lexical_agreement import LexicalAgreement
from zerogap.proof.solution import Solution
from zerogap.structures.grammar import GLUE, Grammar, with_glue

Model = PcfgModel | JointModel | LexicalModel | LexicalPair | Grammar
Problem = JointProblem | LexicalProblem | LexicalAgreement


@dataclass(frozen=True, slots=True, eq=False)
class ParsedTree:
    """The best tree of a sentence and the proof; the tree is None if a limit was hit before there was any."""

    words: tuple[str, ...]
    tree: Tree | None
    solution: Solution[Any]
    problem: Problem
    glued: bool = False  # the grammar alone has no parse

    def to_json(self) -> dict[str, Any]:
        """A JSON object: the tree as brackets and as spans `[start, end)` of words, and what is proven."""
        found: dict[str, Any] = {"words": list(self.words), "tree": None}
        if self.tree is not None:
            nodes = [row for row in zip(*spans(self.tree), strict=True) if not row[0].is_preterminal]
            found |= {"tags": self.tree.tags(), "tree": str(self.tree)}
            found["constituents"] = [{"label": node.label, "start": start, "end": end} for node, start, end in nodes]
        proof = self.solution
        found |= {"status": proof.status, "score": finite(proof.score), "bound": finite(proof.bound), "gap": finite(proof.gap)}
        return found | ({"glued": True} if self.glued else {})

    def plot(self) -> Picture:
        """The tree as a picture, which notebooks show; `.save(path)` writes it as SVG."""
        if self.tree is None:
            raise InputError("there is no tree: a limit was reached before any was found.")
        return plot_constituents(self.tree)

    def _repr_svg_(self) -> str | None:
        return None if self.tree is None else self.plot().svg


def finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


@dataclass(frozen=True, slots=True, eq=False)
class TreeParser:
    """A model, how its problems are solved, and whether pieces are put beside each other where its grammar has no parse."""

    model: Model
    method: str = "auto"
    time_limit: float | None = None
    glue: bool = False

    def __post_init__(self) -> None:
        known = METHODS if not isinstance(self.model, LexicalModel | LexicalPair) else ("auto",)
        if self.method not in known:
            raise UnknownMethod("method", self.method, known)
        if self.glue and isinstance(self.model, LexicalModel | LexicalPair):
            raise InputError("glue was asked for with a lexicalised model: expected a pcfg, joint model or grammar.")

    def parse(self, words: Sequence[str], *, tags: Sequence[str] | None = None) -> ParsedTree:
        """The best tree; with `tags`, the best that has them. Infeasible names the words that nothing covers."""
        if tags is not None and len(tags) != len(words):
            raise InputError(f"tags has {len(tags)} entries for {len(words)} words: expected one for each.")
        problem, glued = problem_of(self.model, words, tags), False
        try:
            solution = self.solve(problem)
        except Infeasible as error:
            if not self.glue or isinstance(self.model, LexicalModel | LexicalPair) or has_glue(self.model):
                raise Infeasible(with_words(error, words), error.conflict) from None
            problem, glued = problem_of(glued_model(self.model), words, tags), True
            solution = self.solve(problem)
        structure = solution.structure
        return ParsedTree(tuple(words), None if structure is None else tree_of(self.model, structure, words), solution, problem, glued)

    def solve(self, problem: Problem) -> Solution[Any]:
        if isinstance(problem, JointProblem):
            return decode(problem, method=self.method, time_limit=self.time_limit)
        if isinstance(problem, LexicalProblem):
            return decode_lexical(problem, time_limit=self.time_limit)
        return decode_agreement(problem, time_limit=self.time_limit)

    def known_words(self) -> Container[str]:
        """The words that training saw, or that a grammar has."""
        if isinstance(self.model, Grammar):
            return self.model.lexicon
        return lexicon_of(self.model).words


def lexicon_of(model: PcfgModel | JointModel | LexicalModel | LexicalPair) -> Any:
    if isinstance(model, JointModel):
        return model.pcfg.lexicon
    return model.lexical.lexicon if isinstance(model, LexicalPair) else model.lexicon


def load_tree_parser(path: str | os.PathLike[str], **options: Any) -> TreeParser:
    """The parser in a file: a model (.npz), or a grammar as text; options are those of `TreeParser`."""
    name = os.fspath(path)
    if os.path.isdir(name) or not os.path.exists(name):
        raise FormatError(f"{name} cannot be read: {'it is a folder' if os.path.isdir(name) else 'no such file'}.")
    with open(name, "rb") as file:
        is_archive = file.read(4)[:2] == b"PK" or name.endswith(".npz")
    if not is_archive:
        return TreeParser(read_grammar(name), **options)
    return TreeParser(load_model(name), **options)


def problem_of(model: Model, words: Sequence[str], tags: Sequence[str] | None = None) -> Problem:
    """The problem of a sentence. Where tags are given, a tagger has nothing to say."""
    if not words:
        raise InputError("the sentence has no words: expected at least one.")
    if isinstance(model, LexicalModel | LexicalPair):
        known = lexicon_of(model).tags
        check_tags(tags, known)
        return model.problem(words, tags=tags)
    if isinstance(model, Grammar):
        return grammar_problem(model, words, tags)
    if isinstance(model, JointModel):
        return narrowed(model.problem(words)) if tags is None else problem_of(model.pcfg, words, tags)
    labels = {tag: label_of(tag) for tag in model.lexicon.tags}
    return narrowed(untagged(model.grammar, model.lexical_scores(words, tags=tags), labels))


def check_tags(tags: Sequence[str] | None, known: Sequence[str]) -> None:
    unknown = [tag for tag in tags or () if tag not in known]
    if unknown:
        raise InputError(f"tags has {unknown[0]!r}, which training never saw: expected {', '.join(sorted(known))}.")


def grammar_problem(grammar: Grammar, words: Sequence[str], tags: Sequence[str] | None) -> JointProblem:
    """With tags, the grammar need not know the words."""
    if tags is None:
        lexical = grammar.lexical_scores(words)
    else:
        check_tags(tags, grammar.symbols)
        lexical = np.full((len(words), len(grammar.symbols)), -np.inf)
        for i, (word, tag) in enumerate(zip(words, tags, strict=True)):
            symbol = grammar.symbols.index(tag)
            lexical[i, symbol] = dict(grammar.lexicon.get(word, ())).get(symbol, 0.0)
    used = [grammar.symbols[s] for s in np.flatnonzero((lexical > -np.inf).any(axis=0))]
    return untagged(grammar, lexical, {symbol: symbol for symbol in used})


def untagged(grammar: Grammar, lexical: Any, labels: dict[str, str]) -> JointProblem:
    """A problem whose tagger scores nothing."""
    tags = tuple(dict.fromkeys(labels.values()))
    nothing = np.zeros((len(tags) + 1,) * 2)
    return JointProblem(grammar, tags=tags, lexical=lexical, transitions=nothing, preterminals=labels, resolution=RESOLUTION)


def narrowed(problem: JointProblem) -> JointProblem:
    """The same problem without the tags that no word can have."""
    used = np.flatnonzero((problem.emissions > -np.inf).any(axis=0))
    if len(used) in (0, len(problem.tags)):
        return problem
    kept = {problem.tags[t] for t in used.tolist()}
    preterminals = {symbol: problem.tags[t] for symbol, (_, t) in problem.leaf_tags.items() if problem.tags[t] in kept}
    edge = np.append(used, len(problem.tags))
    return JointProblem(
        problem.grammar, tags=[problem.tags[t] for t in used.tolist()], lexical=problem.lexical, emissions=problem.emissions[:, used],
        transitions=problem.transitions[np.ix_(*[edge] * problem.order)], preterminals=preterminals, resolution=problem.resolution,
    )  # fmt: skip


def compact(problem: Problem) -> Problem:
    """The same problem without the rules that no parse of the sentence can have: for files."""
    if isinstance(problem, JointProblem):
        return compact_joint(problem)

    return compact_lexical(problem) if isinstance(problem, LexicalProblem) else compact_agreement(problem)


def compact_joint(problem: JointProblem) -> JointProblem:
    """A binary rule is left out if its parent covers no span, or its children none that meet."""
    cells, grammar, n = Halves.of(problem).chart(), problem.grammar, problem.n_words
    starts = np.zeros((len(grammar.symbols), n + 1), dtype=np.bool_)
    ends = np.zeros_like(starts)
    for i in range(n):
        for j in range(i + 1, n + 1):
            found = cells.symbols[cells.bounds[i, j, 0] : cells.bounds[i, j, 1]]
            starts[found, i] = ends[found, j] = True
    there = np.asarray(starts.any(axis=1))
    parent, left, right = grammar.binary.T
    binary = there[parent] & (ends[left] & starts[right]).any(axis=1)
    unary = there[grammar.unary].all(axis=1)
    used = np.zeros(len(there), dtype=np.bool_)
    used[[grammar.root, *problem.tag_symbols]] = True
    used[grammar.binary[binary]] = used[grammar.unary[unary]] = True
    kept = np.flatnonzero(used)
    number = np.cumsum(used) - 1
    small = Grammar(
        tuple(grammar.symbols[s] for s in kept.tolist()), int(number[grammar.root]),
        number[grammar.binary[binary]].astype(np.int32), grammar.binary_scores[binary].copy(),
        number[grammar.unary[unary]].astype(np.int32), grammar.unary_scores[unary].copy(), {}, grammar.cycles,
    )  # fmt: skip
    return JointProblem(
        small, tags=problem.tags, lexical=problem.lexical[:, kept], emissions=problem.emissions, transitions=problem.transitions,
        preterminals={symbol: problem.tags[tag] for symbol, (_, tag) in problem.leaf_tags.items()}, resolution=problem.resolution,
    )  # fmt: skip


def has_glue(model: PcfgModel | JointModel | Grammar) -> bool:
    grammar = model if isinstance(model, Grammar) else model.pcfg.grammar if isinstance(model, JointModel) else model.grammar
    return GLUE in grammar.symbols


@lru_cache(maxsize=4)
def glued_model(model: PcfgModel | JointModel | Grammar) -> PcfgModel | JointModel | Grammar:
    """The same model, whose grammar may put pieces beside each other below the root."""
    if isinstance(model, JointModel):
        pcfg = glued_model(model.pcfg)
        assert isinstance(pcfg, PcfgModel)
        return replace(model, pcfg=pcfg)
    grammar = model if isinstance(model, Grammar) else model.grammar
    root = grammar.symbols[grammar.root]
    glued = with_glue(grammar, GLUE_SCORE, symbols=[name for name in grammar.symbols if name != root and not is_added(name)])
    return glued if isinstance(model, Grammar) else PcfgModel.of(glued, model.lexicon)


def tree_of(model: Model, structure: Any, words: Sequence[str]) -> Tree:
    if isinstance(model, LexicalPair):
        return model.lexical.tree(structure, words)
    return model.tree(structure, words) if isinstance(model, LexicalModel) else tree_from(structure, words)


def with_words(error: Infeasible, words: Sequence[str]) -> str:
    """The message, with the words of the span that it names."""
    place = error.conflict[0] if error.conflict else None
    if isinstance(place, tuple) and len(place) == 2 and all(isinstance(i, int) for i in place) and place != (0, len(words)):
        return f"{str(error).rstrip('.')} ({' '.join(words[place[0] : place[1]])!r})."
    return str(error)
