"""Learning of the passes of a cascade, one after the other (Rush 2014, section 8.5.1).

Every pass is learned on the arcs that the ones before leave, and its threshold is chosen on development data. What is stacked on other
passes is learned on sentences that they have not seen: each part of the training data is pruned and scored by passes that are learned on
the others, so that scores are no more sure than in new sentences. The last model has wider margins to learn from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from zerogap.dependency.cascade.passes import BANDED, DICTIONARY, FIRST, LAST, LOCAL, OF_ARCS, ROWS, SECOND, SHORT, VINE, Pass, check_band
from zerogap.dependency.parser.parser import Parser, sharing_tokens
from zerogap.dependency.parser.templates import known_columns
from zerogap.dependency.scoring.sentence import Allowed, every_arc
from zerogap.dependency.sentence import Sentence
from zerogap.dependency.training.final_model import State, learn_last
from zerogap.dependency.training.options import TrainingOptions, gold_heads
from zerogap.dependency.training.parser import checked
from zerogap.dependency.training.passes import CRF, LEARNERS, learn_dictionary, learn_pass, with_threshold
from zerogap.errors import UnknownMethod
from zerogap.grid import Integers, Scores
from zerogap.relax.pruning import LARGEST, Rule
from zerogap.relax.pruning import MARGIN as MARGIN_RULE

ERROR = 0.0215
SHARES = {ROWS: 3, VINE: 4, SHORT: 4, FIRST: 8, LOCAL: 8, SECOND: 11}  # of the error, if a pass is there
FOLDS, FEW_FOLDS = 4, 2  # of the training data; few where passes are learned only to learn others
WIDER = 1.75  # margins under which the last model is learned


def with_cascade(
    parser: Parser,
    sentences: Sequence[Sentence],
    development: Sequence[Sentence],
    *,
    kinds: Sequence[str] | None = None,
    band: int = 3,
    error: float = ERROR,
    learner: str = CRF,
    rule: str = MARGIN_RULE,
    eta: float = 0.3,
    **changes: Any,
) -> Parser:
    """The parser with passes before it, learned from sentences, with thresholds from the development data.

    `error` is the share of gold arcs of the development data that all passes together may lose; later passes, which know more, may lose
    more of it. With rows or a last model, passes are stacked, each on the one before it. `kinds` are rows and first if they are not given,
    and last for a parser of larger parts. The others are options of `TrainingOptions`: epochs, 3 of them, seed, most_features, checkpoints
    and report.
    """
    kinds = ((ROWS, FIRST) if parser.order == "first" else (ROWS, FIRST, LAST)) if kinds is None else kinds
    for name, given, known in (("learner", learner, LEARNERS), ("rule", rule, LARGEST)):
        if given not in known:
            raise UnknownMethod(name, given, list(known))
    check_band(band)
    single_root = parser.single_root
    train_set = checked(sentences, single_root, "sentences")
    held_out = checked(development, single_root, "development")
    columns = known_columns(train_set)
    options = TrainingOptions(**{"epochs": 3, "single_root": single_root, **changes})
    options.make_folder()
    gold = [gold_heads(sentence, options) for sentence in train_set]
    shares = {kind: SHARES[kind] for kind in kinds if kind in SHARES}
    passes: list[Pass] = []
    is_stacked = ROWS in kinds or LAST in kinds
    state, held_out_state = all_arcs(train_set), all_arcs(held_out)

    def learned(kind: str, some: Sequence[Sentence], right: Sequence[Integers], state: State, options: TrainingOptions) -> Pass:
        width = band if kind in BANDED else 0
        return learn_pass(
            kind, some, right, state.left, columns, options, band=width, learner=learner, eta=eta, before=state.scores,
        )  # fmt: skip

    for kind in kinds:
        if kind == LAST:
            unseen = unseen_state(passes, learned, train_set, gold, options, FOLDS, WIDER)
            passes.append(learn_last(parser.order, train_set, gold, unseen, held_out, held_out_state, options))
            continue
        if kind == DICTIONARY:
            found = learn_dictionary(train_set, gold, columns)
        else:
            seen = state if state.scores is None else unseen_state(passes, learned, train_set, gold, options, FOLDS)
            found = learned(kind, train_set, gold, seen, options)
            share = error * shares[kind] / sum(shares.values())
            by = MARGIN_RULE if kind == ROWS else rule
            found = with_threshold(
                found, held_out, held_out_state.left, share, rule=by, single_root=single_root, before=held_out_state.scores
            )  # fmt: skip
        passes.append(found)
        state = after(found, train_set, state, single_root=single_root, is_stacked=is_stacked)
        held_out_state = after(found, held_out, held_out_state, single_root=single_root, is_stacked=is_stacked)
    return sharing_tokens(replace(parser, passes=tuple(passes)))


Learned = Callable[[str, Sequence[Sentence], Sequence[Integers], State, TrainingOptions], Pass]


def unseen_state(
    passes: Sequence[Pass], learned: Learned, sentences: Sequence[Sentence], gold: Sequence[Integers], options: TrainingOptions, folds: int,
    width: float = 1.0,
) -> State:  # fmt: skip
    """What passes like these, learned on the other parts of the training data, leave of each part under margins that are so many times as
    wide; and gold arcs."""
    quiet = replace(options, checkpoints=None, report=None)
    left, scores = list[Allowed](), list[Scores]()
    folds = min(folds, len(sentences))
    for fold in range(folds):
        own = list(range(fold, len(sentences), folds))
        others = [i for i in range(len(sentences)) if i % folds != fold or folds == 1]  # of one sentence there are no others
        seen, unseen, right = [sentences[i] for i in others], [sentences[i] for i in own], [gold[i] for i in others]
        state, new, before = all_arcs(seen), all_arcs(unseen), list[Pass]()
        for one in passes:
            found = one
            if one.kind != DICTIONARY:
                known = state if state.scores is None else unseen_state(before, learned, seen, right, quiet, FEW_FOLDS)
                found = replace(learned(one.kind, seen, right, known, quiet), rule=one.rule)
            before.append(found)
            state = after(found, seen, state, single_root=options.single_root, is_stacked=True)
            new = after(replace(found, rule=wider(found.rule, width)), unseen, new, single_root=options.single_root, is_stacked=True)
            for allowed, i in zip(new.left, own, strict=True):
                allowed[gold[i], np.arange(1, len(allowed))] = True
        left += new.left
        scores += new.scores or []
    order = np.argsort([i for fold in range(folds) for i in range(fold, len(sentences), folds)])
    return State(left, scores or None).of(order.tolist())


def wider(rule: Rule, width: float) -> Rule:
    return rule._replace(value=width * rule.value) if rule.name == MARGIN_RULE else rule


def all_arcs(sentences: Sequence[Sentence]) -> State:
    return State([every_arc(len(sentence)) for sentence in sentences], None)


def after(one: Pass, sentences: Sequence[Sentence], state: State, *, single_root: bool, is_stacked: bool) -> State:
    """Where sentences are after a pass."""
    left = narrowed(one, sentences, state.left, single_root=single_root, before=state.scores)
    scores = arcs_of(one, sentences, state.left, state.scores) if is_stacked and one.kind in OF_ARCS else state.scores
    return State(left, scores)


def narrowed(
    one: Pass, sentences: Sequence[Sentence], candidates: Sequence[Allowed], *, single_root: bool, before: Sequence[Scores] | None = None
) -> list[Allowed]:
    """The arcs that a pass leaves of every sentence."""
    tokens = one.model.features.tokens
    return [
        one.narrowed(
            tokens.of(sentence.columns, len(sentence)), allowed, single_root=single_root, before=None if before is None else before[i]
        )
        for i, (sentence, allowed) in enumerate(zip(sentences, candidates, strict=True))
    ]


def arcs_of(one: Pass, sentences: Sequence[Sentence], candidates: Sequence[Allowed], before: Sequence[Scores] | None) -> list[Scores]:
    """The scores of the arcs of every sentence, for what is stacked on the pass."""
    tokens = one.model.features.tokens
    return [
        one.arcs(tokens.of(sentence.columns, len(sentence)), allowed, None if before is None else before[i])
        for i, (sentence, allowed) in enumerate(zip(sentences, candidates, strict=True))
    ]
