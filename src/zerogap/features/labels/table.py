"""Features as 64-bit keys, a hash table that numbers them, and weights for the pairs of feature and label that exist.

A key is a polynomial in the number of the template and the integers of its attributes, modulo the prime 2^31 - 1, at two fixed
points: 62 bits, so that among a million features two share a key with a probability of about one in a million. Nothing overflows,
so keys are the same on every machine, with and without the compiler.
"""

# mypy: disable-error-code="no-untyped-def"
# a kernel's types are its signature

from __future__ import annotations

from zerogap.kernels import float64, int32, int64, kernel, readonly, writable

PRIME = 2**31 - 1
POINT, OTHER_POINT = 1_204_385_287, 1_846_570_019
SPREAD = 1_327_217_885
NONE = -1  # no feature; an empty slot


@kernel(int64(readonly(int32, 2), readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), readonly(int64, 1), writable(int64, 2)))
def fill_keys(attributes, first, template_start, term_attribute, term_offset, keys):  # out: keys (tokens, templates)
    """Sequence s has the tokens first[s] to first[s + 1]. Integers 0, 1, 2: unseen, before, after the sequence."""
    for s in range(first.shape[0] - 1):
        for t in range(first[s], first[s + 1]):
            for k in range(template_start.shape[0] - 1):
                one, other, seen = k + 1, k + 1, True
                for p in range(template_start[k], template_start[k + 1]):
                    at = t + term_offset[p]
                    if at < first[s]:
                        value = 1
                    elif at >= first[s + 1]:
                        value = 2
                    else:
                        value = int(attributes[at, term_attribute[p]])
                    if value == 0:
                        seen = False
                    one = (one * POINT + value) % PRIME
                    other = (other * OTHER_POINT + value) % PRIME
                keys[t, k] = one * 2147483648 + other if seen else NONE
    return 0


@kernel(int64(readonly(int64, 1), writable(int64, 1), writable(int32, 1)))
def fill_slots(keys, slot_key, slot_row):  # out: slot_key, slot_row (a power of two, more than keys), given as NONE
    mask = slot_key.shape[0] - 1
    for row in range(keys.shape[0]):
        slot = ((keys[row] % PRIME) * SPREAD % PRIME) & mask
        while slot_key[slot] != NONE:
            slot = (slot + 1) & mask
        slot_key[slot] = keys[row]
        slot_row[slot] = row
    return 0


@kernel(int64(readonly(int64, 1), readonly(int32, 1), readonly(int64, 2), writable(int32, 2)))
def find_rows(slot_key, slot_row, keys, rows):  # out: rows (tokens, templates), NONE where a key is not there
    mask = slot_key.shape[0] - 1
    for t in range(keys.shape[0]):
        for k in range(keys.shape[1]):
            key = keys[t, k]
            rows[t, k] = NONE
            if key == NONE:
                continue
            slot = ((key % PRIME) * SPREAD % PRIME) & mask
            while slot_key[slot] != NONE:
                if slot_key[slot] == key:
                    rows[t, k] = slot_row[slot]
                    break
                slot = (slot + 1) & mask
    return 0


@kernel(int64(readonly(int32, 2), readonly(int64, 1), readonly(int32, 1), readonly(float64, 1), writable(float64, 2)))
def add_scores(rows, row_start, labels, weights, scores):  # out: scores (tokens, labels), added to
    for t in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            row = rows[t, k]
            if row != NONE:
                for p in range(row_start[row], row_start[row + 1]):
                    scores[t, labels[p]] += weights[p]
    return 0


@kernel(int64(readonly(int32, 2), readonly(int64, 1), readonly(int32, 1), readonly(float64, 2), float64, writable(float64, 1)))
def add_to_weights(rows, row_start, labels, amounts, factor, weights):  # out: weights, added to
    """The transpose of `add_scores`: every feature of a token gets factor * amounts[token]."""
    for t in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            row = rows[t, k]
            if row != NONE:
                for p in range(row_start[row], row_start[row + 1]):
                    weights[p] += factor * amounts[t, labels[p]]
    return 0
