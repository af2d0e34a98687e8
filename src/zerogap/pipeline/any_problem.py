"""Problems of any kind: the decoder of each, the methods that can decode it, and how long its input is."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from zerogap import constituency, dependency, hypergraph, sequence, translation
from zerogap.errors import InputError
from zerogap.proof.solution import Solution

Decoder = Callable[..., Solution[Any]]


def decoder_of(problem: Any) -> Decoder:
    """The `decode` of the task that a problem belongs to."""
    decoders: dict[type, tuple[ModuleType, str]] = {  # by name: what is not asked for is not imported, nor its kernels compiled
        constituency.JointProblem: (constituency, "decode"),
        constituency.LexicalProblem: (constituency, "decode_lexical"),
        constituency.LexicalAgreement: (constituency, "decode_agreement"),
        dependency.Problem: (dependency, "decode"),
        hypergraph.Problem: (hypergraph, "decode"),
        sequence.Problem: (sequence, "decode"),
        translation.PhraseProblem: (translation, "decode"),
        translation.SyntaxProblem: (translation, "decode"),
    }
    return getattr(*decoders[type(problem)])


def decode_any(problem: Any, *, method: str = "auto", time_limit: float | None = None, k: int = 1) -> Solution[Any]:
    """The best structure of a problem of any kind; with k above 1, the next best too, where the task knows them."""
    decoder = decoder_of(problem)
    if k == 1:
        return decoder(problem, method=method, time_limit=time_limit)
    if not knows_k_best(problem):
        raise InputError(f"k is {k} for a problem of {decoder.__module__.split('.')[1]}: expected 1, or trees or sequences.")
    return decoder(problem, method=method, time_limit=time_limit, k=k)


def knows_k_best(problem: Any) -> bool:
    """Whether the task finds the k best structures."""
    return "k" in inspect.signature(decoder_of(problem)).parameters


def methods_for(problem: Any) -> list[str]:
    """The names of the methods that can decode a problem; `auto` is the first."""
    if isinstance(problem, dependency.Problem):
        from zerogap.dependency.decoding.methods import METHODS

        kind, parts = problem.projective, problem.larger
        return ["auto", *(name for name, m in METHODS.items() if kind in m.projective and m.parts.issuperset(parts))]
    if isinstance(problem, translation.PhraseProblem):
        from zerogap.translation.phrases import decoding as phrase_decoders

        return list(phrase_decoders.METHODS)
    if isinstance(problem, translation.SyntaxProblem):
        from zerogap.translation.forests import decoding as syntax_decoders

        return list(syntax_decoders.METHODS)
    return list(inspect.getmodule(decoder_of(problem)).METHODS)  # type: ignore[union-attr]


def length_of(problem: Any) -> int:
    """Words or tokens of the input; 0 for a hypergraph, which has none."""
    if isinstance(problem, sequence.Problem):
        return problem.n_tokens
    if isinstance(problem, translation.PhraseProblem):
        return len(problem.source)
    return int(getattr(problem, "n_words", 0))
