"""Language models in the binary formats of KenLM, through the package `kenlm`: as much of a model as a vocabulary needs.

The package answers questions and lists nothing, so n-grams are found by asking: those of two words for all pairs, longer ones where the
shorter ones that they begin and end with are there, as KenLM keeps them. Back-off weights are what <unk> loses by a longer context.
Numbers are as exact as the files', which have 32 bits.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from zerogap.errors import FormatError, InputError
from zerogap.problems.translation.language_model import BEGIN, END, UNKNOWN, LanguageModel
from zerogap.translation.language_models import Ngrams, build_language_model

MAGIC = b"mmap lm http://kheafield.com/code"  # how binary files begin


def is_kenlm_binary(path: str | os.PathLike[str]) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


@dataclass(frozen=True, slots=True, eq=False)
class KenlmModel:
    """A model that is asked. `language_model` gives the part of it that some words need."""

    model: Any
    order: int

    def language_model(self, vocabulary: Iterable[str]) -> LanguageModel:
        """The n-grams of these words, with <s>, </s> and <unk>; words that the model does not know are left to <unk>."""
        import kenlm

        known = sorted({word for word in vocabulary if word in self.model} - {BEGIN, END, UNKNOWN})
        words = [BEGIN, END, UNKNOWN, *known]
        places = {word: i for i, word in enumerate(words)}

        def after(context: tuple[str, ...]) -> Any:
            state = kenlm.State()
            if context and context[0] == BEGIN:
                self.model.BeginSentenceWrite(state)
                context = context[1:]
            else:
                self.model.NullContextWrite(state)
            for word in context:
                following = kenlm.State()
                self.model.BaseScore(state, word, following)
                state = following
            return state

        def ask(state: Any, word: str) -> Any:
            return self.model.BaseFullScore(state, word, kenlm.State())

        def back_off(context: tuple[str, ...]) -> float:
            return float(ask(after(context), UNKNOWN).log_prob - ask(after(context[1:]), UNKNOWN).log_prob)

        nothing = after(())
        unigrams: list[tuple[str, ...]] = [(word,) for word in words]
        scores: dict[tuple[str, ...], float] = {(word,): -99.0 if word == BEGIN else float(ask(nothing, word).log_prob) for word in words}
        listed: list[list[tuple[str, ...]]] = [unigrams]
        successors: dict[tuple[str, ...], list[str]] = {(): [word for word in words if word not in (BEGIN, UNKNOWN)]}
        for n in range(2, self.order + 1):
            level: list[tuple[str, ...]] = []
            for context in listed[-1]:
                if END in context or UNKNOWN in context:
                    continue
                state = after(context)
                for word in successors.get(context[1:], ()):
                    answer = ask(state, word)
                    if answer.ngram_length == n:
                        ngram = (*context, word)
                        level.append(ngram)
                        scores[ngram] = float(answer.log_prob)
                        successors.setdefault(context, []).append(word)
            listed.append(level)
            if not level:
                break
        levels = []
        for n, level in enumerate(listed, start=1):
            contexts = [n < len(listed) and END not in ngram and UNKNOWN not in ngram for ngram in level]
            levels.append(
                Ngrams(
                    np.array([[places[word] for word in ngram] for ngram in level], dtype=np.int64).reshape(len(level), n),
                    np.array([scores[ngram] for ngram in level]),
                    np.array([back_off(ngram) if is_context else np.nan for ngram, is_context in zip(level, contexts, strict=True)]),
                )
            )
        return build_language_model(words, levels)


def load_kenlm(path: str | os.PathLike[str]) -> KenlmModel:
    """The model in a file of KenLM; FormatError if it is not one."""
    try:
        import kenlm
    except ImportError:
        raise InputError("binary language models need the package kenlm: pip install kenlm.") from None
    try:
        model = kenlm.Model(os.fspath(path))
    except (OSError, RuntimeError) as error:
        raise FormatError(f"{path} cannot be read as a language model of KenLM: {str(error).splitlines()[0]}") from None
    return KenlmModel(model, int(model.order))
