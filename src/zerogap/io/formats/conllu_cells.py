"""The cells of a CoNLL-U file, and a sentence written from nothing: values, comments, multiword tokens, blanks between tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError, UnknownMethod
from zerogap.text.tokens import Token

COLUMNS = {
    "conllu": ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"),
    "conllx": ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "phead", "pdeprel"),
}
APART = ("id", "head", "deprel")  # counted, heads= and labels=
NOTHING = "_"
SPACE_NONE = "SpaceAfter=No"
BYTE_ORDER_MARK = "\ufeff"
COMMENT = re.compile(r"#[ \t]*([^=\r\n]*?)[ \t]*(?:=[ \t]*([^\r\n]*?)[ \t]*)?\r?\n?")
CUTS = ("\t", "\n", "\r")


def lines_of(text: str) -> list[str]:
    """With their ends; only a newline ends a line."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def line_end(row: str) -> str:
    return row[len(row.rstrip("\r\n")) :]


def checked_cells(
    n: int, columns: Mapping[str, Sequence[str]], heads: Sequence[int] | None, labels: Sequence[str] | None, *, format: str = "conllu"
) -> list[tuple[int, Sequence[str]]]:
    """(column, its cells) for all that is given, if it can stand in a sentence of n words."""
    names = COLUMNS[format]
    given: dict[str, Sequence[str]] = {}
    for name, values in columns.items():
        if name not in names or name in APART:
            raise UnknownMethod("column", name, [known for known in names if known not in APART])
        given[name] = values
    if heads is not None:
        for m, head in enumerate(heads, start=1):
            if not 0 <= head <= n or head == m:
                raise InputError(f"the head of word {m} is {head}: expected 0 (the root) or another word, 1 to {n}.")
        given["head"] = [str(int(head)) for head in heads]
    if labels is not None:
        given["deprel"] = labels
    for name, values in given.items():
        if len(values) != n:
            raise InputError(f"{len(values)} cells of column {name!r} were given for {n} words: expected as many.")
        together = "".join(values)
        if "" in values or any(cut in together for cut in CUTS):
            m = next(m for m, value in enumerate(values) if not value or any(cut in value for cut in CUTS))
            raise InputError(
                f"column {name!r} of word {m + 1} is {values[m]!r}: expected text without tabs and line ends, '_' for nothing."
            )
    return [(names.index(name), values) for name, values in given.items()]


def commented(before: str, comments: Iterable[tuple[str, str | None]], *, end: str) -> str:
    """The lines before a sentence with these comments set; see `ConlluRecord.written`."""
    changes = dict(comments)
    if not changes:
        return before
    lines = []
    for line in lines_of(before):
        mark = BYTE_ORDER_MARK if line.startswith(BYTE_ORDER_MARK) else ""
        match = COMMENT.fullmatch(line[len(mark) :])
        if match and match[1] in changes:
            value = changes.pop(match[1])
            lines.append(mark if value is None else mark + comment_line(match[1], value, line_end(line)))
        else:
            lines.append(line)
    lines += [comment_line(key, value, end) for key, value in changes.items() if value is not None]
    return "".join(lines)


def comment_line(key: str, value: str, end: str) -> str:
    if not key.strip() or any(cut in key for cut in ("=", "\r", "\n")) or any(cut in value for cut in "\r\n"):
        raise InputError(f"the comment {key!r} = {value!r} cannot stand in a line: expected no line ends, and no = in its name.")
    return f"# {key} = {value}{end or chr(10)}" if value else f"# {key}{end or chr(10)}"


def conllu_text(
    sentence: Sentence, *, text: str | None = None, tokens: Sequence[Token] | None = None, comments: Iterable[tuple[str, str]] = ()
) -> str:
    """A sentence as CoNLL-U, written from nothing, with the empty line that ends it.

    `tokens` are those of the sentence, as the tokeniser found them in `text`, which may be a whole document: they give `# text`,
    SpaceAfter=No and the lines of multiword tokens. `# sent_id` is the name of the sentence, if it has one.

    >>> from zerogap.text.tokens import tokenise
    >>> text = "I don't."
    >>> written = conllu_text(Sentence({"form": ("I", "do", "n't", ".")}, name="1"), text=text, tokens=tokenise(text))
    >>> print(written.replace("\\t", " ").rstrip())
    # sent_id = 1
    # text = I don't.
    1 I _ _ _ _ _ _ _ _
    2-3 don't _ _ _ _ _ _ _ SpaceAfter=No
    2 do _ _ _ _ _ _ _ _
    3 n't _ _ _ _ _ _ _ _
    4 . _ _ _ _ _ _ _ _
    """
    n = len(sentence)
    columns = [[NOTHING] * n for _ in COLUMNS["conllu"]]
    columns[0] = [str(m) for m in range(1, n + 1)]
    for column, values in checked_cells(n, sentence.columns, sentence.heads, sentence.labels):
        columns[column] = list(values)
    rows = ["\t".join(row) for row in zip(*columns, strict=True)]
    given = {"sent_id": sentence.name} if sentence.name else {}
    if tokens is not None:
        if text is None or [word for token in tokens for word in token.words] != list(sentence.columns["form"]):
            raise InputError(
                "tokens are not those of the sentence: expected the tokens of its words, and the text in which they were found."
            )
        rows = surface_rows(rows, tokens, text)
        text = text[tokens[0].start : tokens[-1].end] if tokens else ""
    if text is not None:
        given["text"] = " ".join(text.split())
    return "".join(comment_line(key, value, "\n") for key, value in (given | dict(comments)).items()) + "\n".join(rows) + "\n\n"


def surface_rows(rows: Sequence[str], tokens: Sequence[Token], text: str) -> list[str]:
    """Rows of words with SpaceAfter=No where no blank follows, and lines of multiword tokens between them."""
    found: list[str] = []
    first = 0
    for token in tokens:
        words = list(rows[first : first + len(token.words)])
        joined = token.end < len(text) and not text[token.end].isspace()
        if len(words) > 1:
            misc = SPACE_NONE if joined else NOTHING
            found.append("\t".join([f"{first + 1}-{first + len(words)}", token.form, *[NOTHING] * 7, misc]))
        elif joined:
            body, misc = words[0].rsplit("\t", 1)
            words[0] = f"{body}\t{SPACE_NONE if misc == NOTHING else f'{misc}|{SPACE_NONE}'}"
        found += words
        first += len(words)
    return found
