"""BLEU and chrF of translations, by sacrebleu, with intervals by paired bootstrap where two systems are compared.

Text is taken as it is, tokenised or not: `tokenize` is sacrebleu's name of a tokeniser, "none" for text that is tokenised already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zerogap.errors import InputError

SAMPLES = 1000
TOKENIZERS = ("none", "13a", "char", "intl", "zh", "ja-mecab", "ko-mecab", "flores101", "flores200", "spm")


@dataclass(frozen=True, slots=True)
class Compared:
    """The difference in BLEU of two systems, an interval of 95% and how often the sign turns, over bootstrap samples."""

    difference: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class Scored:
    bleu: float
    precisions: tuple[float, ...]
    brevity_penalty: float
    ratio: float  # words of the translations for every word of the references
    chrf: float
    sentences: int
    signature: str

    def __str__(self) -> str:
        grams = " ".join(f"{precision:.1f}" for precision in self.precisions)
        return (
            f"BLEU  {self.bleu:6.2f}  (1- to 4-grams {grams}; brevity penalty {self.brevity_penalty:.3f}, length ratio {self.ratio:.3f})\n"
            f"chrF  {self.chrf:6.2f}\n{self.sentences:,} sentences, {self.signature}"
        )


def evaluate(references: Sequence[Sequence[str]], found: Sequence[str], *, tokenize: str = "none") -> Scored:
    """Translations against one or several sets of references."""
    metric, chrf = metrics(tokenize)
    check_lengths(references, found)
    bleu = metric.corpus_score(list(found), [list(lines) for lines in references])
    return Scored(
        bleu.score, tuple(bleu.precisions), bleu.bp, bleu.sys_len / max(bleu.ref_len, 1),
        chrf.corpus_score(list(found), [list(lines) for lines in references]).score, len(found), str(metric.get_signature()),
    )  # fmt: skip


def compare(references: Sequence[Sequence[str]], first: Sequence[str], second: Sequence[str], *, tokenize: str = "none") -> Compared:
    """How much better the first is than the second: the same sentences are drawn for both (Koehn 2004)."""
    metric, _ = metrics(tokenize)
    for found in (first, second):
        check_lengths(references, found)
    draws = np.random.default_rng(0).integers(len(first), size=(SAMPLES, len(first)))
    counts = [sentence_counts(metric, references, found) for found in (first, second)]
    whole = [bleu_of(metric, part.sum(axis=0)) for part in counts]
    sampled = np.array([bleu_of(metric, counts[0][draw].sum(axis=0)) - bleu_of(metric, counts[1][draw].sum(axis=0)) for draw in draws])
    difference = whole[0] - whole[1]
    low, high = np.quantile(sampled, [0.025, 0.975])
    turned = float(np.mean(sampled <= 0.0 if difference > 0.0 else sampled >= 0.0))
    return Compared(difference, float(low), float(high), turned)


def sentence_counts(metric: Any, references: Sequence[Sequence[str]], found: Sequence[str]) -> np.ndarray:
    """(sentences, 10): lengths, and matched and possible n-grams of every sentence, which add up to those of the whole."""
    rows = []
    for i, line in enumerate(found):
        one = metric.sentence_score(line, [lines[i] for lines in references])
        rows.append([one.sys_len, one.ref_len, *one.counts, *one.totals])
    return np.array(rows)


def bleu_of(metric: Any, sums: np.ndarray) -> float:
    counts, totals = sums[2:6].tolist(), sums[6:10].tolist()
    return float(metric.compute_bleu(counts, totals, int(sums[0]), int(sums[1]), smooth_method="exp").score)


def metrics(tokenize: str) -> tuple[Any, Any]:
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
    except ImportError:
        raise InputError("BLEU needs the package sacrebleu: pip install sacrebleu.") from None
    if tokenize not in TOKENIZERS:
        raise InputError(f"tokenize is {tokenize!r}: expected one of {', '.join(TOKENIZERS)}.")
    return BLEU(tokenize=tokenize, effective_order=False, force=True), CHRF()


def check_lengths(references: Sequence[Sequence[str]], found: Sequence[str]) -> None:
    for lines in references:
        if len(lines) != len(found):
            raise InputError(f"there are {len(found)} translations for {len(lines)} references: expected as many.")
    if not found:
        raise InputError("there are no translations: expected at least one.")
