"""Tokens: every character that is no white space is in exactly one, words make up their token, and English is cut as in the treebank."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.text.tokens import tokenise

PIECES = st.sampled_from(
    ["a", "B", "7", ".", ",", "-", "'", "n't", "'s", "@", "://", "www.", ".com", "non-", "etc", "U.", "$", "%", "(", ")", ":", "/", "&",
     "*", "_", "#", "…", "’", "“", "é", "e\u0301", "क्ष", "中", "😀", "👩\u200d🚀", " ", "\n", "\u00a0", "\u2028", "\x00", "it", "its", "a "]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=40)


def shown(text):
    """Tokens with blanks between them, words of a token with + between them."""
    return " ".join("+".join(token.words) for token in tokenise(text))


@given(TEXTS)
def test_the_text_can_be_rebuilt(text):
    tokens = tokenise(text)
    assert "".join(token.form for token in tokens) == "".join(text.split())
    end = 0
    for token in tokens:
        assert text[end : token.start].strip() == ""
        assert token.start < token.end
        assert text[token.start : token.end] == token.form == "".join(token.words)
        assert not any(character.isspace() for character in token.form)
        assert all(token.words)
        end = token.end
    assert text[end:].strip() == ""


@pytest.mark.parametrize(
    "expected",
    [
        "",
        "I do+n't know , we ca+n't , they wo+n’t .",
        "I+'m sure he+'ll say she+'d been where you+'ve gone and they+’re off",
        "Anna+'s cat , James+' dog , the drivers+' strike",
        "He said ' two words ' and ' those boxes ' twice .",
        "can+not gon+na wan+na got+ta did+nt",
        "It+s not its tail . You+r welcome to your seat . Let+s go .",
        "O'Hara , ma'am , at six o'clock , rock 'n roll in the '60s",
        "the 1980s , her 30s , a 5th of it , the 90's",
    ],
)
def test_words_of_tokens(expected):
    assert shown(untokenised(expected)) == expected


def untokenised(shown_tokens):
    """Plain text for tokens that are shown: punctuation joined to what it belongs to."""
    text = shown_tokens.replace("+", "")
    for mark in (",", ".", "!", "?", ";", ":", ")", "]", "%"):
        text = text.replace(f" {mark}", mark)
    for mark in ("( ", "[ ", "$ "):
        text = text.replace(mark, mark[0])
    parts = text.split(" ' ")
    return "".join(part + ("" if i == len(parts) - 1 else " '" if i % 2 == 0 else "' ") for i, part in enumerate(parts))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See https://example.org/a_b?c=d, or www.example.com.", "See https://example.org/a_b?c=d , or www.example.com ."),
        ("(write to jo.doe@example.co.uk).", "( write to jo.doe@example.co.uk ) ."),
        ("<mailto:a@b.org>", "< mailto:a@b.org >"),
        ("Open notes.txt, report-2.PDF and example.net!", "Open notes.txt , report-2.PDF and example.net !"),
        ("Great :) bad :-( and <3 or ;)", "Great :) bad :-( and <3 or ;)"),
        ("nice:)", "nice :)"),
        ("Mr. and Mrs. Roe, Dr. Lee vs. St. Ives, Inc., etc.", "Mr. and Mrs. Roe , Dr. Lee vs. St. Ives , Inc. , etc."),
        ("The U.S., e.g. in D.C. (a.k.a. home), J. R. Roe", "The U.S. , e.g. in D.C. ( a.k.a. home ) , J. R. Roe"),
        ("1,000.50 3.14 -5 7:30 10:15pm 5kg 35mm 3rd 4x4", "1,000.50 3.14 - 5 7:30 10:15 pm 5 kg 35 mm 3rd 4x4"),
        ("on 12/24/2020, 9/11, 2021-03-04 but 1/2 of it", "on 12/24/2020 , 9/11 , 2021-03-04 but 1 / 2 of it"),
        ("call 555-0100 or 1-800-555-0199 or 555.555.0100", "call 555-0100 or 1-800-555-0199 or 555.555.0100"),
        ("$5.20, 20%, US$3, £4m, #1", "$ 5.20 , 20 % , US$ 3 , £ 4 m , # 1"),
        ("well-known non-stop e-mail anti-war twenty-one U.S.-led", "well - known non-stop e-mail anti-war twenty - one U.S. - led"),
        ("this--or that---and 5-10", "this -- or that --- and 5 - 10"),
        ("wait... what?! no!!! yes.. ok….", "wait ... what ?! no !!! yes .. ok …."),
        ("\"Yes,\" she said. “No.” ‘so’ ``it''", "\" Yes , \" she said . “ No . ” ‘ so ’ `` it ''"),
        ("[a] {b} (c)", "[ a ] { b } ( c )"),
        ("and/or he/she w/o", "and / or he / she w/o"),
        ("AT&T R&D a & b", "AT&T R&D a & b"),
        ("home.The soil", "home . The soil"),
        ("==================== ---------", "==================== ---------"),
        ("cafe\u0301 naïve हिन्दी 中文 👩\u200d🚀!", "cafe\u0301 naïve हिन्दी 中文 👩\u200d🚀 !"),
        ("@someone likes #this_thing", "@someone likes #this_thing"),
        ("snake_case _emphasis_", "snake_case _ emphasis _"),
    ],
)
def test_how_english_is_cut(text, expected):
    assert shown(text) == expected


@pytest.mark.parametrize(
    "piece", ["a", "a.", "a-", "1", "1,", "@", "a@", ".", "www.", "http://", "'", "a'", "(", ":", "non-", "a*", "é", "\u0301"]
)
def test_long_chunks(piece):
    """Patterns that read on and on, or back and forth, would take minutes."""
    chunk = piece * 30_000
    assert "".join(token.form for token in tokenise(chunk)) == chunk


def test_long_texts():
    text = "It isn't over, is it? " * 5_000
    assert len(tokenise(text)) == 7 * 5_000
