"""Parts of speech: a trigram model over candidate tags of words, which gives universal and language-specific tags at once.

A tag is a pair (UPOS, XPOS) that training saw. The candidates of a word that is frequent in training are the tags that it has there; those
of any other are the tags of its lower case, and those of rare words that look alike and end alike (Ratnaparkhi 1996; Brants 2000, section
2.3). Among the sequences of candidates the best is found exactly (`oracles/labels/trigram_tags.py`): a sum of weights of features of words
and tag (Collins 2002), of features of words and two neighbouring tags, and of three neighbouring tags.

Features are hashed: 40 bits stand for a template and its values, so that one of a million features shares its key with another with a
probability of one in a million. Weights are small integers, so that sums are exact: the same tags on every machine.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zerogap.archive import read_archive, write_archive
from zerogap.errors import FormatError, InputError
from zerogap.kernels import inner, int32, int64, kernel, readonly, types, writable
from zerogap.oracles.labels.trigram_tags import best_sequence
from zerogap.problems.json_values import expect, shorten
from zerogap.problems.json_values import field as entry
from zerogap.sequence.tagger.features import (
    ATTRIBUTES,
    CHECK_SHIFT,
    EDGE,
    KEY_SHIFT,
    LOOK,
    N_ATTRIBUTES,
    NODE,
    NONE,
    TERMS,
    characters,
    fill_candidates,
    hashed,
    key_of,
    mixed,
    read_words,
    row_of,
)

Integers = NDArray[np.int64]

FORMAT, VERSION = "zerogap-tagger", 1
KEY_BITS = 40
SMALLEST_TABLE = 1024  # the place in the table stands for at least CHECK_SHIFT bits of a key
MOST_TAGS = 65536  # less one; a label has 16 bits
MOST_KINDS = 200  # with more tags, trigrams are of universal tags
WIDE, WIDE_FROM = -2, 16  # rows of so many labels have a weight for every label
BATCH = 256  # sentences of `tag_many` that are tagged at once
TERM = re.compile(r"([a-z]+[0-9]*)\[(-?[0-9])\]")
ARRAYS = {
    "keys": (np.uint8, 2), "lengths": (np.uint16, 1), "labels": (np.uint16, 1), "weights": (np.int8, 1),
    "trigram_places": (np.uint32, 1), "trigram_weights": (np.int8, 1),
}  # fmt: skip


class Tags(NamedTuple):
    """The tags of the words of a sentence."""

    upos: tuple[str, ...]
    xpos: tuple[str, ...]


@inner
def add_rows(rows, entries, candidates, place, scores):  # out: scores, added to
    """Adds the weights of rows to the scores of the candidates, of which each is one less than its place."""
    for k in range(rows.shape[0]):
        row = rows[k]
        if row == NONE:
            continue
        if entries[row] == WIDE:
            for j in range(candidates.shape[0]):
                scores[j] += entries[row + 1 + candidates[j]]
        else:
            for p in range(row + 1, row + 1 + entries[row]):
                at = place[entries[p] & 65535]
                if at > 0:
                    scores[at - 1] += entries[p] >> 16


@kernel(
    int64(
        readonly(int32, 1), readonly(int64, 1), readonly(int32, 2), readonly(int32, 2), readonly(int32, 1), readonly(int64, 2),
        readonly(int64, 2), readonly(int64, 1), readonly(types.float32, 3), writable(int64, 1),
    )
)  # fmt: skip
def tag_words(codes, first, alphabet, slots, entries, node_plan, edge_plan, kind_of, trigram, labels):  # out: labels (words,)
    n_labels, n_words, n_nodes, n_edges = kind_of.shape[0], labels.shape[0], node_plan.shape[0], edge_plan.shape[0]
    attributes = np.empty((n_words, N_ATTRIBUTES), dtype=np.int64)
    read_words(codes, first, alphabet, attributes)
    longest = 0
    for s in range(first.shape[0] - 1):
        longest = max(longest, first[s + 1] - first[s])
    place = np.zeros(n_labels, dtype=np.int64)  # 1 + where a label stands among the candidates of the word at hand
    candidates, kinds = np.empty(longest * n_labels, dtype=np.int64), np.empty(longest * n_labels, dtype=np.int64)
    start, pair, path = np.empty(longest + 1, dtype=np.int64), np.empty(longest + 1, dtype=np.int64), np.empty(longest, dtype=np.int64)
    node, keys = np.empty(n_labels), np.empty(n_edges, dtype=np.int64)
    rows = np.empty(max(n_nodes, n_edges * n_labels), dtype=np.int64)
    room = 1024
    pairs, best, back = np.empty(room), np.empty(room), np.empty(room, dtype=np.int32)
    start[0] = pair[0] = 0
    for s in range(first.shape[0] - 1):
        begin, end = first[s], first[s + 1]
        n = end - begin
        before = 1
        for t in range(n):
            width = fill_candidates(attributes, begin + t, slots, entries, place, candidates[start[t] :])
            start[t + 1], pair[t + 1] = start[t] + width, pair[t] + before * width
            before = width
        if pair[n] > room:
            room = 2 * pair[n]
            pairs, best, back = np.empty(room), np.empty(room), np.empty(room, dtype=np.int32)
        before = 1
        for t in range(n):
            width = start[t + 1] - start[t]
            for j in range(width):
                label = candidates[start[t] + j]
                kinds[start[t] + j] = kind_of[label]
                place[label] = j + 1
                node[j] = 0.0
            # all rows are looked up before one is read: lookups do not wait for each other, and most time is spent waiting for memory
            if width > 1:
                for k in range(n_nodes):
                    key = key_of(NODE, node_plan, k, attributes, begin, end, begin + t)
                    rows[k] = row_of(slots, key) if key != NONE else NONE
                add_rows(rows[:n_nodes], entries, candidates[start[t] : start[t + 1]], place, node)
            if width * before > 1:
                for k in range(n_edges):
                    keys[k] = key_of(EDGE, edge_plan, k, attributes, begin, end, begin + t)
                for i in range(before):
                    previous = candidates[start[t - 1] + i] + 1 if t > 0 else 0
                    for k in range(n_edges):
                        rows[i * n_edges + k] = row_of(slots, mixed(keys[k], previous)) if keys[k] != NONE else NONE
            for i in range(before):
                base = pair[t] + i * width
                for j in range(width):
                    pairs[base + j] = node[j]
                if width * before > 1:
                    of_pair = rows[i * n_edges : (i + 1) * n_edges]
                    add_rows(of_pair, entries, candidates[start[t] : start[t + 1]], place, pairs[base : base + width])
            for j in range(width):
                place[candidates[start[t] + j]] = 0
            before = width
        best_sequence(start[: n + 1], pair[: n + 1], kinds, pairs, trigram, best, back, path)
        for t in range(n):
            labels[begin + t] = candidates[path[t]]
    return 0


@dataclass(frozen=True, slots=True, eq=False)
class Tagger:
    """A trained model: `tag` takes the words of a sentence."""

    tags: tuple[tuple[str, str], ...]  # UPOS and XPOS
    templates: tuple[str, ...]  # of words and a tag
    edge_templates: tuple[str, ...]  # of words, the tag before, and a tag
    keys: Integers = field(repr=False)  # (features,), ascending
    lengths: Integers = field(repr=False)  # (features,): of their rows
    labels: Integers = field(repr=False)  # of the rows, one after the other
    weights: Integers = field(repr=False)
    trigram: Integers = field(repr=False)  # (kinds + 1,) * 3: the boundary is the last
    model: tuple[Any, ...] = field(init=False, repr=False)  # all that as the kernels want it
    names: tuple[tuple[str, ...], tuple[str, ...]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        slots, entries = table_of(self.keys, self.lengths, self.labels, self.weights, len(self.tags))
        plans = plan_of(self.templates), plan_of(self.edge_templates)
        trigram = np.ascontiguousarray(self.trigram, dtype=np.float32)
        object.__setattr__(self, "model", (characters(), slots, entries, *plans, kinds_of(self.tags), trigram))
        object.__setattr__(self, "names", (tuple(upos for upos, _ in self.tags), tuple(xpos for _, xpos in self.tags)))

    def tag(self, forms: Sequence[str]) -> Tags:
        """The best tags of the words of a sentence."""
        upos, xpos = self._names(text_of(forms), np.array([0, len(forms)], dtype=np.int64))
        return Tags(tuple(upos), tuple(xpos))

    def tag_many(self, sentences: Sequence[Sequence[str]], threads: int | None = None) -> list[Tags]:
        """The tags of many sentences; `threads` is as many as there are processors unless given."""
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
            raise InputError(f"threads is {threads!r}: expected a positive integer.")
        batches = [sentences[i : i + BATCH] for i in range(0, len(sentences), BATCH)]
        if threads == 1 or len(batches) < 2:
            return [tags for batch in batches for tags in self._tagged(batch)]
        with ThreadPoolExecutor(threads) as pool:
            return [tags for found in pool.map(self._tagged, batches) for tags in found]

    def _tagged(self, sentences: Sequence[Sequence[str]]) -> list[Tags]:
        for forms in sentences:
            if isinstance(forms, str):
                raise InputError(f"a sentence is {shorten(forms)}: expected its words, as strings.")
        bounds = list(itertools.accumulate(map(len, sentences), initial=0))
        upos, xpos = self._names(text_of([form for forms in sentences for form in forms]), np.array(bounds, dtype=np.int64))
        return [Tags(tuple(upos[i:j]), tuple(xpos[i:j])) for i, j in itertools.pairwise(bounds)]

    def _names(self, codes: NDArray[np.int32], first: Integers) -> tuple[list[str], list[str]]:
        labels = np.empty(first[-1], dtype=np.int64)
        tag_words(codes, first, *self.model, labels)
        numbers = labels.tolist()
        upos, xpos = self.names
        return [upos[i] for i in numbers], [xpos[i] for i in numbers]

    def save(self, path: str | Path) -> None:
        """Writes the model into one file, which is there completely or not at all."""
        header = {
            "format": FORMAT, "version": VERSION, "tags": self.tags, "templates": self.templates, "edge_templates": self.edge_templates,
        }  # fmt: skip
        deltas = np.diff(self.keys, prepend=0).astype("<u8").view(np.uint8).reshape(-1, 8)[:, : KEY_BITS // 8]  # small ones compress well
        places = np.flatnonzero(self.trigram)
        arrays: dict[str, Integers] = {
            "keys": np.ascontiguousarray(deltas.T), "lengths": self.lengths, "labels": self.labels, "weights": self.weights,
            "trigram_places": np.diff(places, prepend=0), "trigram_weights": self.trigram.reshape(-1)[places],
        }  # fmt: skip
        write_archive(path, header, {name: arrays[name].astype(dtype) for name, (dtype, _) in ARRAYS.items()})

    @classmethod
    def load(cls, path: str | Path) -> Tagger:
        """The model in a file; FormatError says what is wrong with it."""
        return tagger_from_arrays(*read_archive(path, FORMAT, VERSION), str(path))


def text_of(words: Sequence[str]) -> NDArray[np.int32]:
    """The characters of words, with separators between them."""
    try:
        if isinstance(words, str):
            raise TypeError
        text = "\n".join(words)
    except TypeError:
        raise InputError(f"forms is {shorten(words)}: expected the words of a sentence, as strings.") from None
    if text.count("\n") >= len(words) > 0:
        text = "\n".join([form.replace("\n", " ") for form in words])
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.int32)


def kinds_of(tags: Sequence[tuple[str, str]]) -> Integers:
    """What trigrams see of every tag: itself, or its universal tag if there are very many."""
    if len(tags) <= MOST_KINDS:
        return np.arange(len(tags))
    number = {upos: i for i, upos in enumerate(sorted({upos for upos, _ in tags}))}
    return np.array([number[upos] for upos, _ in tags], dtype=np.int64)


def plan_of(templates: Sequence[str]) -> Integers:
    """(templates, 2 * TERMS) numbers of attributes and offsets, filled up with -1: "lower[-1]+lower[0]"; "bias" has none."""
    plan = np.full((len(templates), 2 * TERMS), -1, dtype=np.int64)
    for k, template in enumerate(templates):
        terms = [] if template == "bias" else template.split("+")
        matches = [TERM.fullmatch(term) for term in terms]
        if len(terms) > TERMS or not all(match and match[1] in ATTRIBUTES for match in matches):
            raise InputError(f"template {template!r}: expected up to {TERMS} of {', '.join(ATTRIBUTES)}, as in 'lower[-1]+suffix3[0]'.")
        for p, match in enumerate(matches):
            plan[k, 2 * p : 2 * p + 2] = ATTRIBUTES.index(match[1]), int(match[2])  # type: ignore[index]
    return plan


def table_of(
    keys: Integers, lengths: Integers, labels: Integers, weights: Integers, n_labels: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The hash table, (slots, 2) with checks and starts, and the rows that it leads to: see `row_of`."""
    size = max(SMALLEST_TABLE, 1 << (3 * len(keys) // 2).bit_length())
    row = np.repeat(np.arange(len(keys)), lengths)
    wide = (lengths >= WIDE_FROM) & (np.bincount(row, weights != 0, minlength=len(keys)) > 0)  # candidates have no weights
    room = np.where(wide, n_labels, lengths)
    starts = np.cumsum(room + 1) - room - 1
    entries = np.zeros(int((room + 1).sum()), dtype=np.int32)
    entries[starts] = np.where(wide, WIDE, lengths)
    nth = np.arange(len(labels)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    entries[starts[row] + 1 + np.where(wide[row], labels, nth)] = np.where(wide[row], weights, weights * 65536 + labels)
    slots = np.full((size, 2), NONE, dtype=np.int32)
    fill_table(np.ascontiguousarray(keys, dtype=np.int64), starts, slots)
    return slots, entries


@kernel(int64(readonly(int64, 1), readonly(int64, 1), writable(int32, 2)))
def fill_table(keys, starts, slots):  # out: slots, given as NONE
    mask = slots.shape[0] - 1
    for i in range(keys.shape[0]):
        slot = keys[i] & mask
        while slots[slot, 1] != NONE:
            slot = (slot + 1) & mask
        slots[slot, 0], slots[slot, 1] = keys[i] >> CHECK_SHIFT, starts[i]
    return 0


def tagger_from_arrays(header: dict[str, Any], arrays: dict[str, Any], where: str) -> Tagger:
    """Believes nothing: kernels read these arrays without looking at their bounds."""
    for name, (dtype, ndim) in ARRAYS.items():
        check(name in arrays, where, f"there is no {name!r}: expected {', '.join(ARRAYS)}")
        given = arrays[name]
        as_expected = given.dtype == dtype and given.ndim == ndim
        check(as_expected, where, f"{name} is {given.dtype} with {given.ndim} axes: expected {np.dtype(dtype)} with {ndim}")
    tags, templates, edge_templates = (
        expect(entry(header, name, where), list, f"{where}: {name}") for name in ("tags", "templates", "edge_templates")
    )
    pairs = tuple(tuple(tag) for tag in tags if isinstance(tag, list) and len(tag) == 2 and all(isinstance(part, str) for part in tag))
    check(len(pairs) == len(tags), where, "tags are not pairs of strings")
    check(
        0 < len(set(pairs)) == len(pairs) < MOST_TAGS, where, f"there are {len(pairs)} tags: expected 1 to {MOST_TAGS - 1} different ones"
    )
    check(all(isinstance(name, str) for name in templates + edge_templates), where, "templates are not strings")
    keys, lengths, labels = keys_from(arrays["keys"], where), arrays["lengths"].astype(np.int64), arrays["labels"].astype(np.int64)
    check(len(lengths) == len(keys) and lengths.sum() == len(labels) == len(arrays["weights"]), where, "rows do not fit their keys")
    ordered = (np.diff(labels) > 0) | (np.diff(np.repeat(np.arange(len(keys)), lengths)) > 0)
    check(bool(ordered.all() and (lengths > 0).all() and (labels < len(pairs)).all()), where, "rows do not have ascending labels of tags")
    looks = hashed(LOOK, 0, 0, 0) >> KEY_SHIFT
    known = len(keys) > 0 and bool((keys[np.searchsorted(keys, looks) % len(keys)] == looks).all())
    check(known, where, "words that look like none have no candidates")
    size = int(kinds_of(pairs).max()) + 2
    places = np.cumsum(arrays["trigram_places"].astype(np.int64))
    check(len(places) == len(arrays["trigram_weights"]) and bool((places < size**3).all()), where, "trigrams do not fit the tags")
    trigram = np.zeros(size**3, dtype=np.int64)
    trigram[places] = arrays["trigram_weights"]
    weights = arrays["weights"].astype(np.int64)
    try:
        return Tagger(pairs, tuple(templates), tuple(edge_templates), keys, lengths, labels, weights, trigram.reshape(size, size, size))
    except InputError as error:
        raise FormatError(f"{where}: {error}") from None


def keys_from(differences: NDArray[np.uint8], where: str) -> Integers:
    """Keys whose differences are given byte by byte."""
    check(len(differences) == KEY_BITS // 8, where, f"keys have {len(differences)} bytes: expected {KEY_BITS // 8}")
    steps = (256 ** np.arange(KEY_BITS // 8, dtype=np.int64)) @ differences.astype(np.int64)
    keys = np.cumsum(steps)
    check(bool((steps[1:] > 0).all()) and (len(keys) == 0 or 0 <= keys[-1] < 2**KEY_BITS), where, "keys do not ascend")
    return keys


def check(holds: bool, where: str, otherwise: str) -> None:
    if not holds:
        raise FormatError(f"{where}: {otherwise}.")
