"""Features of words for a tagger: attributes made of their characters, hashed templates of them, and the tags that they may have.

A text is its characters, with a separator between words. Everything is hashed: an attribute is a number of 62 bits, a feature is a key made
of the number of its template and of the values of its attributes at words nearby. A table maps keys to rows, of which each lists labels,
with weights (features) or without (candidates).
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from zerogap.kernels import inner, int32, int64, kernel, readonly, writable

NONE = -1
MASK, MULTIPLIER, INCREMENT = 2**62 - 1, 2_685_821_657_736_338_717, 1_442_695_040_888_963_407
KEY_SHIFT, CHECK_SHIFT = 22, 9  # a key is the upper 40 of 62 bits; the table keeps 31, and the lower 9 are in the place

ATTRIBUTES = (
    "form", "lower", "plain", "suffix1", "suffix2", "suffix3", "suffix4", "suffix5", "prefix1", "prefix2", "prefix3", "prefix4", "shape",
    "kind", "case",
)  # fmt: skip
N_ATTRIBUTES = len(ATTRIBUTES)
FORM, LOWER, PLAIN, SUFFIX, PREFIX, SHAPE, KIND, CASE = 0, 1, 2, 3, 8, 12, 13, 14
SUFFIXES, PREFIXES = 5, 4
# where keys begin: of candidates of frequent forms, of words in lower case, of words that look alike; of features of a tag, and of two tags
CLOSED, OPEN, LOOK, NODE, EDGE = (0x1B873593CC9E2D51 + (i << 50) for i in range(5))
LONGEST_LOOK = 3  # suffix of unknown words by which their candidates are found
TERMS = 3  # of a template, at most

OTHER, SMALL, CAPITAL, DIGIT = 0, 1, 2, 3  # classes of characters
ALPHABET, SYMBOLS = 0x3000, 0x1F000  # characters from ALPHABET on count as small letters, from SYMBOLS on as symbols
SEPARATOR = 10  # a line feed


@functools.cache
def characters() -> NDArray[np.int32]:
    """(2, ALPHABET) the class and the lower case of the characters of most alphabets."""
    found = np.zeros((2, ALPHABET), dtype=np.int32)
    for code in range(ALPHABET):
        character = chr(code)
        if character.isalpha():
            found[0, code] = CAPITAL if character.isupper() else SMALL
        elif character.isdigit():
            found[0, code] = DIGIT
        found[1, code] = ord(character.lower()[0])
    return found


@inner
def mixed(key, value):
    """62 bits, which are the same whether products overflow, as compiled, or not."""
    key = ((int(key) ^ int(value)) * MULTIPLIER + INCREMENT) & MASK
    return key ^ (key >> 31)


@kernel(int64(readonly(int32, 1), readonly(int64, 1), readonly(int32, 2), writable(int64, 2)))
def read_words(codes, first, alphabet, attributes):  # out: attributes (words, attributes); 0 where a word has none
    """Words are separated by SEPARATOR; sentence s has the words first[s] to first[s + 1]."""
    at = 0
    for s in range(first.shape[0] - 1):
        n_words, capitals, later, shouted, lonely = 0, 0, 0, 0, 0
        for t in range(first[s], first[s + 1]):
            begin = at
            form, lower, plain, shape, last = 1, 2, 3, 4, NONE
            small, capital, digits, hyphens = 0, 0, 0, 0
            first_class = OTHER
            while at < codes.shape[0] and codes[at] != SEPARATOR:
                code = int(codes[at])
                of, low = SMALL if code < SYMBOLS else OTHER, code
                if code < ALPHABET:
                    of, low = int(alphabet[0, code]), int(alphabet[1, code])
                form, lower, plain = mixed(form, code), mixed(lower, low), mixed(plain, 48 if of == DIGIT else low)
                look = of if of != OTHER else code + 10
                if look != last:
                    shape = mixed(shape, look)
                last = look
                if of == SMALL:
                    small += 1
                elif of == CAPITAL:
                    capital += 1
                elif of == DIGIT:
                    digits += 1
                elif code == 45:
                    hyphens += 1
                if at == begin:
                    first_class = of
                if at - begin < PREFIXES:
                    attributes[t, PREFIX + at - begin] = lower
                at += 1
            length = at - begin
            for i in range(length, PREFIXES):
                attributes[t, PREFIX + i] = 0
            suffix = 5
            for i in range(SUFFIXES):
                if i < length:
                    code = int(codes[at - 1 - i])
                    suffix = mixed(suffix, int(alphabet[1, code]) if code < ALPHABET else code)
                attributes[t, SUFFIX + i] = suffix if i < length else 0
            at += 1
            kind = 1
            if first_class == CAPITAL:
                kind = 2 if length > 1 else 4
                if length > 1 and capital == length:
                    kind = 3
            if capital > 1 and small > 0:
                kind += 4
            if digits > 0:
                kind += 8 if digits < length else 16
            if hyphens > 0 and length > 1:
                kind += 32
            if small + capital == 0:
                kind += 64
            attributes[t, FORM], attributes[t, LOWER], attributes[t, PLAIN], attributes[t, SHAPE] = form, lower, plain, shape
            attributes[t, KIND] = kind
            if first_class in (SMALL, CAPITAL):
                if first_class == CAPITAL:
                    capitals += 1
                    later += 1 if n_words > 0 else 0
                    shouted += 1 if capital == length and length > 1 else 0
                n_words += 1
        if n_words <= 2:
            lonely = 1
        if n_words == 0:
            case = 1
        elif n_words > 1 and 10 * shouted > 6 * n_words:
            case = 2  # the sentence is in capitals
        elif not lonely and 10 * later >= 6 * (n_words - 1):
            case = 3  # a title
        elif capitals == 0:
            case = 4
        else:
            case = 5 + lonely
        for t in range(first[s], first[s + 1]):
            attributes[t, CASE] = case
    return 0


@inner
def key_of(number, plan, k, attributes, begin, end, t):
    """The key of template k at word t of a sentence from begin to end; NONE where an attribute is missing."""
    key = mixed(number, k + 1)
    for p in range(0, 2 * TERMS, 2):
        attribute = plan[k, p]
        if attribute < 0:
            break
        at = t + plan[k, p + 1]
        if at < begin:
            value = begin - at
        elif at >= end:
            value = 11 + at - end
        else:
            value = int(attributes[at, attribute])
            if value == 0:
                return NONE
        key = mixed(key, value)
    return key


@inner
def row_of(slots, key):
    """Where the row of a key begins, or NONE: its length, and weight * 2^16 + label as often; or WIDE, and a weight for every label."""
    mask = slots.shape[0] - 1
    short = key >> KEY_SHIFT
    slot, check = short & mask, short >> CHECK_SHIFT
    while slots[slot, 1] != NONE:
        if slots[slot, 0] == check:
            return int(slots[slot, 1])
        slot = (slot + 1) & mask
    return NONE


@inner
def fill_candidates(attributes, t, slots, entries, seen, found):  # out: found (labels,); seen is 0 and stays so
    """How many candidates word t has; found lists them, ascending."""
    n = 0
    row = row_of(slots, mixed(CLOSED, int(attributes[t, FORM])))
    if row != NONE:
        for p in range(row + 1, row + 1 + entries[row]):
            found[n] = entries[p] & 65535
            n += 1
        return n
    for source in range(2):
        if source == 0:
            row = row_of(slots, mixed(OPEN, int(attributes[t, LOWER])))
        else:
            kind, row, length = int(attributes[t, KIND]), NONE, LONGEST_LOOK
            while row == NONE and length >= 0:
                row = row_of(slots, look_of(kind, length, int(attributes[t, SUFFIX + length - 1]) if length > 0 else 0))
                length -= 1
            if row == NONE:
                row = row_of(slots, look_of(0, 0, 0))
        if row != NONE:
            for p in range(row + 1, row + 1 + entries[row]):
                label = entries[p] & 65535
                if seen[label] == 0:
                    seen[label] = 1
                    i = n
                    while i > 0 and found[i - 1] > label:
                        found[i] = found[i - 1]
                        i -= 1
                    found[i] = label
                    n += 1
    for i in range(n):
        seen[found[i]] = 0
    return n


@inner
def look_of(kind, length, suffix):
    """The key of the words of a kind with a suffix of some length."""
    return mixed(mixed(mixed(LOOK, kind), length), suffix)


@kernel(int64(readonly(int64, 2), readonly(int32, 2), readonly(int32, 1), writable(int64, 1), writable(int64, 1), writable(int64, 1)))
def list_candidates(attributes, slots, entries, seen, start, candidates):  # out: start (words + 1,), candidates; seen is 0 and stays so
    """The candidates of word t are start[t] to start[t + 1], as far as there is room; returns how many there are of all words."""
    found = np.empty(seen.shape[0], dtype=np.int64)
    start[0] = 0
    for t in range(attributes.shape[0]):
        n = fill_candidates(attributes, t, slots, entries, seen, found)
        start[t + 1] = start[t] + n
        for i in range(min(n, candidates.shape[0] - start[t])):
            candidates[start[t] + i] = found[i]
    return start[attributes.shape[0]]


def hashed(key: int, *columns: NDArray[np.int64] | int) -> NDArray[np.int64]:
    """`mixed`, of all rows of columns at once."""
    found = np.full(1, key, dtype=np.uint64)
    for column in columns:
        found = ((found ^ np.asarray(column).astype(np.uint64)) * np.uint64(MULTIPLIER) + np.uint64(INCREMENT)) & np.uint64(
            MASK
        )  # arrays overflow silently
        found ^= found >> np.uint64(31)
    return found.astype(np.int64)
