"""Text into sentences of tokens, by what stands before and after a period and the like.

A sentence ends at an empty line; after `.`, `!` or `?` with the quotation marks, brackets and emoticons that close there; after an
ellipsis, an emoticon or an address if a capital follows; around a line of signs. It does not end after an abbreviation that wants a name
(Mr.), nor after the number of an item of a list. The rules were found on the training part of the English Web Treebank.
"""

from __future__ import annotations

import re

from zerogap.text.english import BEGINNINGS, EXPECT_MORE, MAY_END, TIME_ZONES, VALEDICTIONS
from zerogap.text.tokens import EMOJI, EMOTICON, Token, tokenise

ENDING = re.compile(r"[.!?]+|…+\.*")
ELLIPSIS = re.compile(r"\.{2,}|…+\.*")
CLOSERS = frozenset(('"', "''", "”", "’’", "’", "'", ")", "]", "}", "»"))
OPENERS = frozenset(('"', "''", "“", "``", "‘’", "‘", "'", "(", "[", "{", "«", "*", "-", "–", "—", "_"))
MOST_BRACKETS = 10  # that are looked through, so that time is linear
FACE = re.compile(rf"{EMOTICON}|{EMOJI}.*", re.DOTALL)
SIGNS = re.compile(r"[-=*_~#+|<>{}]{4,}")
ADDRESS = re.compile(r"(?:https?://|www\.|mailto:).*|.*@.*\..*", re.DOTALL)
ABBREVIATION = re.compile(r"(?:.*\w)?\.", re.DOTALL)
DATE, TIME = re.compile(r"\d+/\d+/\d+"), re.compile(r"\d+:\d+(?::\d+)?")


def split_sentences(text: str, *, lines: bool = False) -> list[list[Token]]:
    """The sentences of a text, each the list of its tokens. With `lines`, every line end is the end of a sentence.

    >>> [[token.form for token in sentence] for sentence in split_sentences("Dr. No left at 5 p.m. He ran (fast!). etc.")]
    [['Dr.', 'No', 'left', 'at', '5', 'p.m', '.'], ['He', 'ran', '(', 'fast', '!', ')', '.'], ['etc', '.']]
    """
    tokens = tokenise(text)
    found: list[list[Token]] = []
    start = 0
    for i in range(len(tokens)):
        if ends_after(text, tokens, i, start, lines):
            found.append(with_period_apart(tokens[start : i + 1]))
            start = i + 1
    return found


def ends_after(text: str, tokens: list[Token], i: int, start: int, lines: bool) -> bool:
    """Whether a sentence that begins with token `start` ends with token i."""
    if i + 1 == len(tokens):
        return True
    between = text[tokens[i].end : tokens[i + 1].start]
    if between != " " and (between.count("\n") > (0 if lines else 1) or "\u2029" in between):
        return True
    following = tokens[i + 1].form
    if (following in CLOSERS and not between) or (ENDING.fullmatch(following) and not ELLIPSIS.fullmatch(following)):
        return False
    last = before_closers(tokens, i, start)
    form = tokens[last].form
    if ENDING.fullmatch(form):
        if FACE.fullmatch(following):
            return False  # it belongs to what it comments on
        return ends_after_sign(tokens, i, last, start, bool(between))
    form = tokens[i].form
    word = first_word(tokens, i + 1)
    if SIGNS.fullmatch(form) or SIGNS.fullmatch(following):
        return True
    if FACE.fullmatch(form) or form == ">>":
        return word[0].isupper() or word[0].isdigit()
    if ADDRESS.fullmatch(form):
        return word[0].isupper() or bool(ADDRESS.fullmatch(word))
    if form == ",":
        return word[0].isupper() and i - start <= 2 and tokens[i - 1].form.lower() in VALEDICTIONS and i > start
    if form in ("AM", "PM") and i - start >= 2:
        return bool(TIME.fullmatch(tokens[i - 1].form) and DATE.fullmatch(tokens[i - 2].form))  # the head of a message
    return bool(len(form) > 2 and ABBREVIATION.fullmatch(form)) and ends_after_abbreviation(form.lower(), following, word)


def closes(tokens: list[Token], i: int) -> bool:
    """Whether token i belongs to the end of the sentence before it: a quotation mark, a bracket or an emoticon."""
    form = tokens[i].form
    return (form in CLOSERS and tokens[i].start == tokens[i - 1].end) or bool(FACE.fullmatch(form) and ENDING.fullmatch(tokens[i - 1].form))


def before_closers(tokens: list[Token], i: int, start: int) -> int:
    """The last token up to i that does not close what comes before it."""
    first = max(start, i - MOST_BRACKETS)
    while i > first and closes(tokens, i):
        i -= 1
    return i


def first_word(tokens: list[Token], i: int) -> str:
    """What comes next, after what opens."""
    last = min(len(tokens) - 1, i + MOST_BRACKETS)
    while i < last and tokens[i].form in OPENERS:
        i += 1
    return tokens[i].form


def ends_after_sign(tokens: list[Token], i: int, last: int, start: int, apart: bool) -> bool:
    """Whether a sentence ends after the period, mark or ellipsis `last` and what closes with it, up to token i."""
    form, word = tokens[last].form, first_word(tokens, i + 1)
    if ELLIPSIS.fullmatch(form):
        return word[0].isupper() and (apart or word != "I")
    if form == "." and last == start + 1:
        item = tokens[start].form
        if len(item) == 1 or (len(item) == 2 and item.isdecimal()):
            return False  # 1. is an item of a list
    if last < i and not FACE.fullmatch(tokens[i].form) and not (word[0].isupper() or word[0].isdigit()):
        return False  # "Stop!" he said
    return apart or form != "." or word[0].isupper()


def ends_after_abbreviation(form: str, following: str, word: str) -> bool:
    if form == "no.":
        return not word[0].isdigit()
    if form in EXPECT_MORE or following in ("(", "[") or word in TIME_ZONES:
        return False
    return word in BEGINNINGS or (form in MAY_END and word[0].isupper())


def with_period_apart(sentence: list[Token]) -> list[Token]:
    """The period of an abbreviation that ends a sentence is a token of its own, if it is the last before what closes there."""
    at = before_closers(sentence, len(sentence) - 1, 0)
    token = sentence[at]
    if len(token.form) < 2 or not token.form.endswith(".") or not token.form[-2].isalnum():
        return sentence
    stem = token.form[:-1]
    apart = [Token(stem, token.start, token.end - 1, (stem,)), Token(".", token.end - 1, token.end, (".",))]
    return [*sentence[:at], *apart, *sentence[at + 1 :]]
