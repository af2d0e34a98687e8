"""Other libraries' scores under constraints: token classifiers of Hugging Face transformers, documents of spaCy.

Neither library is imported: a tensor is anything that becomes an array, a document anything that has a length, slices and `ents`. Scores
become log-probabilities, so a penalty of log(9), about 2.2, is worth as much as a label that is nine times as likely.

With transformers:

    encoding = tokenizer(words, is_split_into_words=True, return_tensors="pt")
    logits = model(**encoding).logits[0]
    labels = constrain_logits(logits, model.config.id2label, rules, scheme="BIO", word_ids=encoding.word_ids())

With spaCy, where `scores` is an array of a row per token and a column per label:

    constrain_doc(doc, scores, labels, rules, set_ents=True)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerogap.errors import InputError, ScoreError, ScoreShapeError
from zerogap.grid import Scores
from zerogap.problems.json_values import shorten
from zerogap.problems.sequence.constraints import Constraint
from zerogap.problems.sequence.labels import Label, scheme_transitions
from zerogap.problems.sequence.problem import Problem
from zerogap.proof.solution import Solution
from zerogap.sequence.evaluation import segments

SCHEMES = ("BIO", "BIOES", "BILUO", "auto")
TO_BIOES = {"L": "E", "U": "S"}


@dataclass(frozen=True, slots=True)
class Labelled:
    """Labels with their proof: `zerogap.verify(problem, solution)` checks it. No labels if a time limit left none."""

    labels: list[str] | None
    problem: Problem
    solution: Solution[tuple[Label, ...]]


def constrain_logits(
    logits: Any,
    labels: Mapping[Any, str] | Sequence[str],
    constraints: Sequence[Constraint] = (),
    *,
    scheme: str | None = None,
    transitions: Any = None,
    mask: Any = None,
    word_ids: Any = None,
    proof: bool = False,
    method: str = "auto",
    time_limit: float | None = None,
) -> Any:
    """The best labels under constraints, as a list; for a batch of logits (B, n, L) a list of lists.

    `labels` names the columns: a sequence, or the `id2label` of a model's configuration. `scheme` allows only well-formed "BIO", "BIOES" or
    "BILUO" labellings; "auto" finds out which. `transitions` (L, L) are added to the scores. `mask` keeps the tokens where it is not 0.
    `word_ids`, as a fast tokenizer gives them, keeps the first token of every word and drops special tokens. With `proof` the result is
    `Labelled`: labels, problem and solution. Infeasible says which constraints cannot hold together.

    >>> from zerogap.sequence import no_duplicate
    >>> logits = [[9, 0, 0], [0, 2, 1], [0, 1, 2], [0, 2, 1]]  # [CLS] Bob ##by Smith
    >>> constrain_logits(logits, {0: "O", 1: "B-PER", 2: "I-PER"}, [no_duplicate("PER")], scheme="BIO", word_ids=[None, 0, 0, 1])
    ['B-PER', 'I-PER']
    """
    from zerogap.sequence.decoding.methods import decode, decode_many

    table = as_array(logits, "logits")
    names = label_names(labels)
    options: dict[str, Any] = {"method": method, "time_limit": time_limit}
    if table.ndim == 2:
        problem = problem_from_logits(table, names, constraints, scheme=scheme, transitions=transitions, mask=mask, word_ids=word_ids)
        return outcome(problem, decode(problem, **options), names, proof)
    if table.ndim != 3:
        raise ScoreShapeError(f"logits has shape {table.shape}: expected (tokens, labels) or (sequences, tokens, labels).")
    masks = in_batch(None if mask is None else as_array(mask, "mask"), "mask", len(table))
    ids = in_batch(word_ids, "word_ids", len(table))
    problems = [
        problem_from_logits(rows, names, constraints, scheme=scheme, transitions=transitions, mask=masks[i], word_ids=ids[i])
        for i, rows in enumerate(table)
    ]
    return [outcome(p, solution, names, proof) for p, solution in zip(problems, decode_many(problems, **options), strict=True)]


def constrain_doc(
    doc: Any,
    scores: Any,
    labels: Mapping[Any, str] | Sequence[str],
    constraints: Sequence[Constraint] = (),
    *,
    scheme: str | None = "auto",
    transitions: Any = None,
    set_ents: bool = False,
    proof: bool = False,
    method: str = "auto",
    time_limit: float | None = None,
) -> Any:
    """The best labels of a document's tokens under constraints; with `set_ents` the document's entities become what they say.

    `scores` (tokens, labels) are logits or log-probabilities. The rest is as for `constrain_logits`.
    """
    table = as_array(scores, "scores")
    if table.ndim != 2 or len(table) != len(doc):
        raise ScoreShapeError(
            f"scores has shape {table.shape}, the document has {len(doc)} tokens: expected a row for each, (tokens, labels)."
        )
    found = constrain_logits(
        table, labels, constraints, scheme=scheme, transitions=transitions, proof=True, method=method, time_limit=time_limit
    )
    if set_ents and found.solution.structure is not None:
        make = type(doc[0:0])  # spaCy's Span
        doc.ents = [make(doc, start, end, label=field) for start, end, field in segments(found.solution.structure)]
    return found if proof else found.labels


def problem_from_logits(
    logits: Any,
    labels: Mapping[Any, str] | Sequence[str],
    constraints: Sequence[Constraint] = (),
    *,
    scheme: str | None = None,
    transitions: Any = None,
    mask: Any = None,
    word_ids: Any = None,
) -> Problem:
    """The decoding problem of one sequence of logits. In it L- and U- of BILUO are E- and S-, so that constraints know their fields."""
    table = as_array(logits, "logits")
    names = label_names(labels)
    if table.ndim != 2 or table.shape[1] != len(names):
        raise ScoreShapeError(f"logits has shape {table.shape}, labels has {len(names)} names: expected (tokens, {len(names)}).")
    known = as_bioes(names, scheme)
    emissions = log_softmax(table[kept_tokens(len(table), mask, word_ids)])
    chosen = scheme_of(known, scheme)
    if chosen is None:
        return Problem(
            emissions,
            as_array(transitions, "transitions") if transitions is not None else None,
            labels=known,
            constraints=constraints,
            order=1,
        )
    allowed, start, end = scheme_transitions(known, chosen)
    if transitions is not None:
        scores = as_array(transitions, "transitions")
        if scores.shape != allowed.shape:
            raise ScoreShapeError(f"transitions has shape {scores.shape}: expected {allowed.shape}, a row and a column per label.")
        allowed = allowed + scores
    return Problem(emissions, allowed, start, end, known, constraints, order=1)


def outcome(problem: Problem, solution: Solution[tuple[Label, ...]], names: tuple[str, ...], proof: bool) -> Any:
    labels = None if solution.structure is None else [names[i] for i in problem.indices(solution.structure)]
    return Labelled(labels, problem, solution) if proof else labels


def as_array(value: Any, name: str) -> Scores:
    """An array of float64 from lists, arrays or tensors, on whatever device and of whatever precision."""
    for step in ("detach", "cpu", "double", "numpy"):  # torch, step by step; others have numpy() or become arrays by themselves
        if callable(getattr(value, step, None)):
            value = getattr(value, step)()
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ScoreShapeError(f"{name} is {shorten(value)}: expected an array of numbers, with rows of the same length.") from None


def log_softmax(logits: Scores) -> Scores:
    for t, j in zip(*np.nonzero(np.isnan(logits) | (logits == np.inf)), strict=True):
        raise ScoreError(f"logits[{t}, {j}] is {logits[t, j]}: expected numbers, or -inf for what is forbidden.")
    if len(logits) == 0:
        return logits
    highest = logits.max(axis=1, keepdims=True)
    if (highest == -np.inf).any():
        raise ScoreError(f"logits[{int(np.argmin(highest))}] is -inf for every label: expected a number for one of them.")
    shifted = logits - highest
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def label_names(labels: Mapping[Any, str] | Sequence[str]) -> tuple[str, ...]:
    if isinstance(labels, Mapping):
        numbered = {int(key): name for key, name in labels.items() if str(key).isdecimal()}  # JSON has "0" where Python has 0
        if sorted(numbered) != list(range(len(labels))):
            raise InputError(f"labels has the keys {shorten(list(labels))}: expected 0 to {len(labels) - 1}, as in id2label.")
        labels = [numbered[i] for i in range(len(numbered))]
    if isinstance(labels, str) or not all(isinstance(name, str) for name in labels):
        raise InputError(f"labels is {shorten(labels)}: expected names, or a model's id2label.")
    return tuple(labels)


def as_bioes(names: tuple[str, ...], scheme: str | None) -> tuple[str, ...]:
    """L- and U- as E- and S-, if they mean that: asked for, or in the company of a B- or I- of the same field."""
    if scheme is not None and scheme not in SCHEMES:
        raise InputError(f"scheme is {scheme!r}: expected None, {', '.join(map(repr, SCHEMES))}.")
    fields = {name[2:] for name in names if name[:2] in ("B-", "I-")}
    is_biluo = [name[:2] in ("L-", "U-") and (scheme == "BILUO" or name[2:] in fields) for name in names]
    known = tuple(TO_BIOES[name[0]] + name[1:] if mapped else name for name, mapped in zip(names, is_biluo, strict=True))
    if len(set(known)) != len(set(names)):
        raise InputError("labels has L- or U- beside E- or S- of the same field: expected BILUO or BIOES, not both.")
    return known


def scheme_of(names: tuple[str, ...], scheme: str | None) -> str | None:
    if scheme != "auto":
        return "BIOES" if scheme == "BILUO" else scheme
    prefixes = {name[0] for name in names if name[1:2] == "-" and name[0] in "BIES"}
    if not prefixes:
        return None
    return "BIOES" if prefixes & set("ES") else "BIO"


def kept_tokens(n: int, mask: Any, word_ids: Iterable[int | None] | None) -> NDArray[np.bool_]:
    """Where the mask is not 0 and, with word ids, a word begins."""
    kept = np.ones(n, dtype=np.bool_)
    if mask is not None:
        given = as_array(mask, "mask")
        if given.shape != (n,):
            raise ScoreShapeError(f"mask has shape {given.shape}: expected ({n},), a number per token.")
        kept &= given != 0
    if word_ids is not None:
        words = list(word_ids)
        if len(words) != n:
            raise InputError(f"word_ids has {len(words)} entries: expected {n}, one per token.")
        seen: set[int] = set()
        for t, word in enumerate(words):
            kept[t] &= word is not None and word not in seen
            if word is not None and kept[t]:
                seen.add(word)
    return kept


def in_batch(value: Any, name: str, size: int) -> list[Any]:
    if value is None:
        return [None] * size
    rows = list(value)
    if len(rows) != size:
        raise InputError(f"{name} has {len(rows)} rows: expected {size}, one per sequence of the batch.")
    return rows
