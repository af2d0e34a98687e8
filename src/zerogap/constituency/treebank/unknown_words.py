"""Classes of words by their looks, by which words that training hardly saw, or never, get their tags.

From coarse to fine: the shape of the word (capitals, digits, hyphens, whether it begins the sentence), the shape with an English
suffix in the manner of the Berkeley parser's signatures (Petrov et al. 2006), the shape with its last two letters, with its last three.
"""

from __future__ import annotations

import functools

SUFFIXES = ("ing", "ion", "ity", "est", "ous", "ive", "ble", "ist", "ent", "ant", "ic", "al", "ed", "er", "or", "ly", "ry", "y")


@functools.lru_cache(maxsize=100_000)
def word_classes(word: str, first: bool) -> tuple[str, ...]:
    """The classes of a word, from coarse to fine; `first` if it begins the sentence.

    >>> word_classes("Unhappily", True)
    ('Aa first', 'Aa first -ly', 'Aa first ~ly', 'Aa first ~ily')
    >>> word_classes("1990s", False)
    ('0a', '0a -s', '0a ~0s', '0a ~00s')
    """
    shape = shape_of(word) + (" first" if first else "")
    lower = "".join("0" if c.isdigit() else c for c in word.lower())
    return (shape, f"{shape} -{suffix_of(lower)}", f"{shape} ~{lower[-2:]}", f"{shape} ~{lower[-3:]}")


def shape_of(word: str) -> str:
    """A for a capital at the beginning, AA for more of them, a for small letters, 0 for digits, - and . where it has them.

    >>> [shape_of(word) for word in ("Dogs", "IBM", "dog", "3.5", "third-quarter", "McX", "%")]
    ['Aa', 'AA', 'a', '0.', 'a-', 'AAa', '%']
    """
    capitals = sum(c.isupper() for c in word)
    parts = [
        "0" if any(c.isdigit() for c in word) else "",
        "A" * min(capitals, 2) if word[:1].isupper() else "x" if capitals else "",
        "a" if any(c.islower() for c in word) else "",
        "-" if "-" in word[1:-1] else "",
        "." if "." in word and len(word) > 1 else "",
    ]
    return "".join(parts) or word[:1]


def suffix_of(lower: str) -> str:
    if lower.endswith("s") and len(lower) >= 3 and lower[-2] not in "siu":
        return "s"
    return next((suffix for suffix in SUFFIXES if lower.endswith(suffix) and len(lower) > len(suffix) + 2), "")
