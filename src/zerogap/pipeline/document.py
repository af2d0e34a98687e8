"""A parsed text: its sentences with tokens, tags, heads, relations and proofs, written as CoNLL-U or JSON, or drawn.

The problem that was solved is scored again when it is asked for: all scores of a long text would not fit into memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from zerogap.dependency.parser.parser import Heads, Parse, Parser
from zerogap.dependency.sentence import Sentence
from zerogap.io.formats.conllu import ConlluRecord, Multiword
from zerogap.io.formats.conllu_cells import NOTHING, conllu_text
from zerogap.plot.arcs import plot_arcs
from zerogap.plot.svg import Picture
from zerogap.plot.terminal_tree import draw_tree
from zerogap.problems.dependency.problem import Problem
from zerogap.proof.solution import Solution, Status
from zerogap.text.tokens import Token

if TYPE_CHECKING:
    from zerogap.dependency.cascade.approximate import Cascade, FastParse
    from zerogap.dependency.cascade.exact import ExactCascade
    from zerogap.dependency.factors.parser import FactorParse, FactorParser

STALE = {"conllu": ("deps",), "conllx": ("phead", "pdeprel")}  # what is no longer true when heads change
TAGS = ("upos", "xpos")
SHOWN = 8  # words, where a sentence is mentioned
MOST_SHOWN = 20  # sentences, in a notebook


class Word(NamedTuple):
    """A word of a parsed sentence. `start` and `end` are characters of the text, None if words were given."""

    number: int  # from 1
    form: str
    upos: str  # '_' for none, as in files
    xpos: str
    head: int  # the number of its head, 0 for the root
    label: str
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ParsedSentence:
    """The best tree of a sentence, and the proof. `sentence` has the tags that were found, the heads and the labels."""

    sentence: Sentence
    solution: Solution[Heads]
    parser: Parser | FactorParser | Cascade | ExactCascade
    text: str | None = None  # in which its tokens are
    tokens: tuple[Token, ...] | None = None
    offset: int = 0  # of that text in the document
    record: ConlluRecord | None = None

    @property
    def forms(self) -> tuple[str, ...]:
        return self.sentence.columns["form"]

    @property
    def upos(self) -> tuple[str, ...]:
        return self.column("upos")

    @property
    def xpos(self) -> tuple[str, ...]:
        return self.column("xpos")

    @property
    def heads(self) -> tuple[int, ...]:
        """Of words 1 to n; 0 is the root."""
        return self.sentence.heads or ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The relation of every word to its head; '_' from a parser without labels."""
        return self.sentence.labels or (NOTHING,) * len(self)

    @property
    def status(self) -> Status:
        """`optimal`: no tree among the pruner's candidates scores higher."""
        return self.solution.status

    @property
    def gap(self) -> float:
        return self.solution.gap

    @property
    def problem(self) -> Problem:
        """What was solved, for `zerogap.verify(sentence.problem, sentence.solution)`."""
        return self.parser.problem(self.sentence)

    @property
    def parse(self) -> Parse | FactorParse | FastParse:
        """The sentence parsed again, with all scores."""
        return self.parser.parse(self.sentence)

    @property
    def words(self) -> tuple[Word, ...]:
        spans = [(None, None)] * len(self) if self.tokens is None else word_spans(self.tokens, self.offset)
        rows = zip(self.forms, self.upos, self.xpos, self.heads, self.labels, spans, strict=True)
        return tuple(Word(m, *cells, *span) for m, (*cells, span) in enumerate(rows, start=1))

    @property
    def multiwords(self) -> tuple[Multiword, ...]:
        """The tokens that stand for several words."""
        if self.tokens is None:
            return self.record.multiwords if self.record else ()
        found, last = [], 0
        for token in self.tokens:
            first, last = last + 1, last + len(token.words)
            if last > first:
                found.append(Multiword(token.form, first, last))
        return tuple(found)

    def __repr__(self) -> str:
        return f"<{len(self)} words, {self.status}: {' '.join(self.forms[:SHOWN])}{' ...' * (len(self) > SHOWN)}>"

    def __str__(self) -> str:
        return self.draw()

    def column(self, name: str) -> tuple[str, ...]:
        return self.sentence.columns.get(name, (NOTHING,) * len(self))

    def __len__(self) -> int:
        return len(self.sentence)

    def __iter__(self) -> Iterator[Word]:
        return iter(self.words)

    def to_conllu(self) -> str:
        """As CoNLL-U; what was read from a file with all else as it was there, in its format."""
        proof = {"zerogap_status": self.status, "zerogap_gap": f"{self.gap:g}"}
        record = self.record
        if not len(self):
            return ""
        if record is None:
            return conllu_text(self.sentence, text=self.text, tokens=self.tokens, comments=proof.items())
        nothing = (NOTHING,) * len(self)
        tags = {name: self.column(name) for name in TAGS if self.column(name) != record.sentence.columns[name]}
        return record.written(
            columns=tags | dict.fromkeys(STALE[record.format], nothing),
            heads=self.heads,
            labels=self.labels,
            comments=() if record.format == "conllx" else proof.items(),  # CoNLL-X has no comments
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON object: what there is of name and text, the words, and what is proven."""
        found: dict[str, Any] = {"id": self.sentence.name} if self.sentence.name else {}
        if self.text is not None and self.tokens:
            found["text"] = self.text[self.tokens[0].start : self.tokens[-1].end]
        elif self.record is not None:
            found["text"] = self.record.text
        words = []
        for word in self.words:
            words.append({name: value for name, value in zip(NAMES, word, strict=True) if value is not None})
        return found | {"words": words, "status": self.status, "score": self.solution.score, "bound": self.solution.bound, "gap": self.gap}

    def draw(self, *, width: int | None = None, colour: bool = False) -> str:
        """The tree as lines of text, no wider than `width` if that can be; `colour` adds the codes of a terminal."""
        return draw_tree(self.sentence, columns=self.shown_tags, width=width, colour=colour)

    def plot(self) -> Picture:
        """The tree as a picture, which notebooks show; `.save(path)` writes it as SVG."""
        return plot_arcs(self.sentence, columns=self.shown_tags)

    def _repr_svg_(self) -> str:
        return self.plot().svg

    @property
    def shown_tags(self) -> list[str]:
        """The column of tags that a drawing has."""
        return [name for name in TAGS if set(self.column(name)) - {NOTHING}][:1]


NAMES = ("id", "form", "upos", "xpos", "head", "label", "start", "end")


def word_spans(tokens: Sequence[Token], offset: int) -> list[tuple[int, int]]:
    """The characters of every word: its own where the words of a token are its pieces, else those of the token."""
    found = []
    for token in tokens:
        start = offset + token.start
        if "".join(token.words) == token.form:
            for word in token.words:
                found.append((start, start + len(word)))
                start += len(word)
        else:
            found += [(start, offset + token.end)] * len(token.words)
    return found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Document(Sequence[ParsedSentence]):
    """Parsed sentences in their order."""

    sentences: tuple[ParsedSentence, ...]

    def __len__(self) -> int:
        return len(self.sentences)

    @overload
    def __getitem__(self, index: int) -> ParsedSentence: ...
    @overload
    def __getitem__(self, index: slice) -> Document: ...
    def __getitem__(self, index: int | slice) -> ParsedSentence | Document:
        return Document(self.sentences[index]) if isinstance(index, slice) else self.sentences[index]

    def __iter__(self) -> Iterator[ParsedSentence]:
        return iter(self.sentences)

    def __repr__(self) -> str:
        return f"<Document of {len(self)} sentences, {self.status}>"

    def __str__(self) -> str:
        return self.draw()

    @property
    def status(self) -> Status:
        """`optimal` if all trees are."""
        return "optimal" if all(sentence.status == "optimal" for sentence in self) else "feasible"

    @property
    def gap(self) -> float:
        """The largest of the sentences."""
        return max((sentence.gap for sentence in self), default=0.0)

    def to_conllu(self) -> str:
        return "".join(sentence.to_conllu() for sentence in self)

    def to_json(self) -> dict[str, Any]:
        return {"sentences": [sentence.to_json() for sentence in self]}

    def draw(self, *, width: int | None = None, colour: bool = False) -> str:
        """All trees, with an empty line between them."""
        return "\n\n".join(sentence.draw(width=width, colour=colour) for sentence in self)

    def _repr_html_(self) -> str:
        """All trees, each as wide as it is: a notebook scrolls the wide ones."""
        rows = [f'<div style="overflow-x: auto">{sentence.plot().svg}</div>' for sentence in self[:MOST_SHOWN]]
        more = len(self) - MOST_SHOWN
        return "".join(rows) + (f"<p>... and {more:,} more sentences</p>" if more > 0 else "")
