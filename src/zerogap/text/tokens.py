"""English text into tokens and words, in the style of the English Web Treebank of Universal Dependencies.

Text is cut at white space, and what is between by one table of patterns, from the most particular (addresses, emoticons) to a single
character. Some tokens stand for several words, as don't does for do and n't. A hyphen parts words (well-known), but not a prefix from its
word (non-stop), nor telephone numbers. A period belongs to an abbreviation; where it also ends the sentence it is a token of its own, which
`zerogap.text.sentences` finds out. Every pattern reads a bounded stretch or none twice: time is linear in the text, whatever it is.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from zerogap.text.english import (
    ABBREVIATIONS,
    FILE_ENDINGS,
    MEANT,
    PREFIXES,
    TOGETHER,
    TOP_DOMAINS,
    UNITS,
    WHOLE,
    WRITTEN_ABBREVIATIONS,
)

Cuts = tuple[tuple[int, int, tuple[str, ...]], ...]


class Token(NamedTuple):
    """A piece of the text, `text[start:end]`, and the words for which it stands: most often one, the piece itself."""

    form: str
    start: int
    end: int
    words: tuple[str, ...]


def tokenise(text: str) -> list[Token]:
    """The tokens of a text in their order; between them is only white space.

    >>> [token.words for token in tokenise("We can't, e.g. on 3/14/15.")]
    [('We',), ('ca', "n't"), (',',), ('e.g.',), ('on',), ('3/14/15',), ('.',)]
    """
    found: list[Token] = []
    awaited: frozenset[str] = frozenset()  # the last token is two words if one of these follows
    quoted = False  # a single quotation mark is open: one after an s closes it, and is no genitive
    for match in CHUNK.finditer(text):
        chunk, offset = match[0], match.start()
        quoted = quoted or chunk[0] in QUOTE_OPENS
        cuts = cuts_of(chunk, quoted) if len(chunk) <= LONGEST_REMEMBERED else cuts_of.__wrapped__(chunk, quoted)
        quoted = quoted and chunk.rstrip(FOLLOWS_QUOTE)[-1:] not in QUOTE_CLOSES
        for start, end, words in cuts:
            form = chunk[start:end]
            if awaited and form.lower() in awaited:
                before = found[-1].form
                found[-1] = found[-1]._replace(words=(before[:-1], before[-1]))
            awaited = FOLLOWING.get(form, frozenset())
            found.append(Token(form, offset + start, offset + end, words or (form,)))
    return found


CHUNK = re.compile(r"\S+")
LONGEST_REMEMBERED = 50
QUOTE_OPENS, QUOTE_CLOSES, FOLLOWS_QUOTE = "'‘`", "'’", ".,;:!?)]"


def either(names: frozenset[str]) -> str:
    return "(?:" + "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) + ")"


LETTER, ALNUM = r"[^\W\d_]", r"[^\W_]"
EMOJI = r"[\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff]"
EMOTICON = r"(?:[<>]?[:;=][-'^o]?[)(\]\[DPp3/\\|*]+|\([-^]?[:;=]|<3+|[xX]D+|\^_*\^|-_+-|o_O|O_o)"
MARK, JOINER = "ə", "ʒ"  # letters that stand for accents and the like, and for what joins two emoji
IN_ADDRESS, ENDS_ADDRESS = r"[^\s<>\"“”|]", r"[^\s<>\"“”|.,;:!?'’)\]}]"
PATTERNS = {
    "url": rf"(?i:https?://|ftp://|www\d?\.|mailto:){IN_ADDRESS}*{ENDS_ADDRESS}",
    "email": r"[\w.%+-]{1,64}@\w[\w-]{0,63}(?:\.[\w-]{1,64}){0,8}",
    "site": rf"(?:{ALNUM}[\w-]{{0,63}}\.){{1,8}}(?i:{either(TOP_DOMAINS)})(?![\w-])(?!\.\w)(?:/{IN_ADDRESS}*{ENDS_ADDRESS})?",
    "file": rf"[\w#~%!-]{{0,64}}\.(?i:{either(FILE_ENDINGS)})(?!\w)",
    "newsgroup": r"(?<![\w.])(?:[a-z]{2,20}(?:\.[a-z-]{1,20}){2,9}|(?:alt|comp|misc|rec|sci|soc|talk)\.[a-z]{2,20})(?!\w|\.\w)",
    "emoticon": rf"(?<![\w(]){EMOTICON}(?!\w)|(?<=[a-z])[:;]-?[)(]\Z",
    "emoji": rf"[\U0001f1e6-\U0001f1ff]{{2}}|{EMOJI}(?:[{MARK}\U0001f3fb-\U0001f3ff]|{JOINER}{EMOJI})*",
    "mention": r"(?<!\w)[@#][^\W\d_]\w+(?!\.\w)",
    # U.S., e.g., U.K: letters and periods in turn
    "acronym": rf"(?<!{ALNUM})(?:{LETTER}\.){{1,10}}(?:{LETTER}(?![\w.'’])|(?<=\..\.)(?!{LETTER}{{2}})(?!{LETTER}\.))",
    "initial": r"(?<!\w)(?!I\.)[A-Z]\.(?!\.)(?=\Z|[,)\]-]|[A-Z])",
    "abbreviation": rf"(?<![\w'’])(?:(?i:{either(ABBREVIATIONS)})|{either(WRITTEN_ABBREVIATIONS)})\.(?!\.\.)(?![a-z]{{1,3}}\.)",
    "numero": r"(?<!\w)Nos?\.(?=\d|\Z)",
    "telephone": r"(?<![\d-])(?:(?:\+?\d{1,2}[-.])?\d{3}[-./]\d{3}[-.]\d{4}|\d(?:\d\d)?-\d{4}|\d{5}-\d{4})(?![\d-])",
    "date": r"(?<![\d/-])(?:\d{1,4}/\d{1,2}/\d{1,4}|\d{1,2}-\d{1,2}-\d{2,4}|\d{4}-\d\d-\d\d)(?![\w/-])",
    # 9/11, but 1/2 is three tokens
    "day": r"(?<![\d/-])(?:0?[1-9]|1[0-2])/(?:1[1-9]|2\d|3[01]|0\d)(?![\w/-])",
    "time": r"\d{1,2}:\d{2}(?::\d{2})?(?!\d)",
    "ordinal": r"\d+(?i:st|nd|rd|th|'?s|’s)(?!\w)",
    "amount": rf"\d+(?:[.,]\d+)*(?=(?i:{either(UNITS)})(?!\w))",
    "number": r"(?:(?<!\w)\+(?=\d{1,3}(?!\d)))?\d+(?:[.,]\d+)*(?!\w)|(?<!\w)\.\d+(?!\w)|\d+(?:[.,]\d+)+",
    "currency": r"(?:US|AU|CA|NZ|HK|U|A|C|S)\$",
    "shortened": r"(?<!\w)['’](?:\d\ds?|(?i:em|n|til|cause|tis|twas|s|re|ve|ll|d|m))(?!\w)",
    "prefixed": rf"(?<!\w)(?i:{either(PREFIXES)})-{ALNUM}+(?:['’]{LETTER}+)?",
    "company": rf"{LETTER}{{1,4}}&{LETTER}{{1,4}}(?!\w)(?:['’]s)?",
    "masked": rf"{LETTER}+[*@]+{LETTER}+",
    "slashed": r"(?<!\w)(?i:w/o|w/out|b/c|l/c|i/c|n/a)(?!\w)",
    "word": rf"{ALNUM}+(?:[_'’`´]+{ALNUM}+)*",
    "ellipsis": r"\.{2,}|…+\.*",
    "ending": r"[.!?][!?]+[.!?]*|!+\.",
    "quote": r"''|``|’’|‘‘|‘’|,,",
    "run": r"[-=]{2,}>?|(?P<sign>[*_~+#<>^$])(?P=sign)+|[-=]>|<-",
    "character": r".",
}
TOKEN = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in PATTERNS.items()), re.DOTALL)
RULE = re.compile(r"[-=*_~+#|<>{}]{6,}")  # a line of signs
CLITIC = re.compile(r"(.+?)(n['’`´]t|['’`´](?:s|m|re|ve|ll|d))", re.IGNORECASE | re.DOTALL)
GENITIVE = re.compile(r"['’](?![\w'’])")
FOLLOWING = MEANT | {form.capitalize(): words for form, words in MEANT.items()} | {form.upper(): words for form, words in MEANT.items()}
WORDS = frozenset(("word", "prefixed", "company"))  # patterns of what may be several


@lru_cache(maxsize=1 << 16)
def cuts_of(chunk: str, quoted: bool) -> Cuts:
    """Where a chunk without white space is cut: start, end, and the words if they are several."""
    if chunk.isalpha() and chunk.isascii():  # most are; the patterns would say the same
        return ((0, len(chunk), words_of(chunk)),)
    if RULE.fullmatch(chunk):
        return ((0, len(chunk), ()),)
    found = []
    plain = chunk if chunk.isascii() else without_marks(chunk)
    position = 0
    while match := TOKEN.match(plain, position):
        end = match.end()
        words: tuple[str, ...] = ()
        if match.lastgroup in WORDS:
            if plain[end - 1] in "sSxXzZ" and not quoted and GENITIVE.match(plain, end):
                words, end = (chunk[position:end], chunk[end]), end + 1
            else:
                words = words_of(chunk[position:end])
        found.append((position, end, words))
        position = end
    return tuple(found)


def words_of(form: str) -> tuple[str, ...]:
    """The words for which a token stands, none if it is one."""
    lower = form.lower()
    at = TOGETHER.get(lower, 0)
    if not at and not form.isalnum() and lower not in WHOLE and (match := CLITIC.fullmatch(form)) and not match[1].isdecimal():
        at = match.end(1)
    return (form[:at], form[at:]) if at else ()


def without_marks(chunk: str) -> str:
    """Accents and the like as letters: they belong to what is before them, and never part a word."""
    marks = {character for character in chunk if unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf")}
    return chunk.translate({ord(character): JOINER if character == "\u200d" else MARK for character in marks})
