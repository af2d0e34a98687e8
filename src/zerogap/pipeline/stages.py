"""Text in, proven trees out: sentences are cut into words, tagged, parsed and labelled.

Tags that are there are kept; the tagger fills in what is missing of those that the parser reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zerogap.dependency.parser.parser import Parse, Parser
from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError, UnknownMethod
from zerogap.io.formats.conllu_cells import NOTHING
from zerogap.pipeline.document import TAGS, Document, ParsedSentence
from zerogap.pipeline.sources import Unparsed, from_text
from zerogap.relax.parallel import mapped, mapped_together

if TYPE_CHECKING:
    from zerogap.dependency.cascade.approximate import Cascade, FastParse
    from zerogap.dependency.cascade.exact import ExactCascade
    from zerogap.dependency.factors.parser import FactorParse, FactorParser
    from zerogap.sequence.tagger.tagger import Tagger


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pipeline:
    """A parser, and a tagger for what has no tags. `zerogap.load("en")` gives one for English."""

    parser: Parser | FactorParser | Cascade | ExactCascade
    tagger: Tagger | None = None
    at_once: int = 1  # sentences that are best parsed together

    def __repr__(self) -> str:
        return f"<Pipeline: {self.parser.order} parser{f', tagger of {len(self.tagger.tags)} tags' if self.tagger else ''}>"

    def __call__(self, text: str, *, lines: bool = False, threads: int | None = None) -> Document:
        """The sentences of a text, parsed. With `lines`, every line end is the end of a sentence."""
        if not isinstance(text, str):
            raise InputError(f"text is a {type(text).__name__}: expected a string; parse_sentences takes lists of words.")
        return Document(tuple(self.parse_all(from_text(text, lines=lines), threads)))

    def parse_sentences(
        self, sentences: Iterable[Sentence | Sequence[str]], *, threads: int | None = None, keep_tags: bool = True
    ) -> Document:
        """Sentences whose words are known, parsed: each a `Sentence`, or the list of its words.

        Tags that a sentence has are kept; without `keep_tags`, they are those of the tagger.
        """
        if isinstance(sentences, str | Sentence):
            raise InputError("sentences is a single one: expected a list of sentences, or of lists of words.")
        unparsed = (Unparsed(given_sentence(sentence, i)) for i, sentence in enumerate(sentences))
        return Document(tuple(self.parse_all(unparsed, threads, keep_tags=keep_tags)))

    def parse_all(self, unparsed: Iterable[Unparsed], threads: int | None, *, keep_tags: bool = True) -> Iterator[ParsedSentence]:
        """In their order."""
        if self.at_once > 1:
            return mapped_together(lambda some: self.parse_together(some, keep_tags=keep_tags), unparsed, self.at_once, threads)
        return mapped(lambda one: self.parse_one(one, keep_tags=keep_tags), unparsed, threads)

    def parse_one(self, unparsed: Unparsed, *, keep_tags: bool = True) -> ParsedSentence:
        self.check_columns(unparsed.sentence.columns, keep_tags=keep_tags)
        sentence = self.with_tags(unparsed.sentence, keep_tags=keep_tags)
        return self.parsed(unparsed, sentence, self.parser.parse(sentence))

    def parse_together(self, unparsed: Sequence[Unparsed], *, keep_tags: bool = True) -> list[ParsedSentence]:
        """Some sentences at once; a cascade is faster so, all else takes one after the other."""
        if self.at_once == 1:
            return [self.parse_one(one, keep_tags=keep_tags) for one in unparsed]
        for one in unparsed:
            self.check_columns(one.sentence.columns, keep_tags=keep_tags)
        sentences = [self.with_tags(one.sentence, keep_tags=keep_tags) for one in unparsed]
        parses = self.parser.parse_together(sentences)  # type: ignore[union-attr]  # a cascade, since it is fast
        return [self.parsed(*found) for found in zip(unparsed, sentences, parses, strict=True)]

    def parsed(self, unparsed: Unparsed, sentence: Sentence, parse: Parse | FactorParse | FastParse) -> ParsedSentence:
        found = Sentence(sentence.columns, parse.heads, parse.labels, sentence.name)
        return ParsedSentence(found, parse.solution, self.parser, unparsed.text, unparsed.tokens, unparsed.offset, unparsed.record)

    def by(self, method: str) -> Pipeline:
        """The same with another way of parsing: `cascade` (approximate, `fast`) or `exact-cascade` (`exact`); `auto` is this one."""
        if method not in METHODS:
            raise UnknownMethod("method", method, METHODS)
        return METHODS[method](self)

    def fast(self) -> Pipeline:
        """The same with the cascade of the parser: faster, and without proofs. InputError if it has none."""
        from zerogap.dependency.cascade.approximate import AT_ONCE, Cascade  # most do without

        return replace(self, parser=Cascade(self.without_factors()), at_once=AT_ONCE)

    def exact(self) -> Pipeline:
        """The same with a cascade that loses nothing: the best of all trees, not only of those that the pruner leaves.

        InputError if the parser is not one of third order whose larger parts only cost.
        """
        from zerogap.dependency.cascade.approximate import AT_ONCE  # most do without
        from zerogap.dependency.cascade.exact import ExactCascade

        return replace(self, parser=ExactCascade(self.without_factors()), at_once=AT_ONCE)

    def without_factors(self) -> Parser:
        if not isinstance(self.parser, Parser):
            raise InputError("the parser scores sets of arcs, and has no cascade: expected one without them.")
        return self.parser

    def with_tags(self, sentence: Sentence, *, keep_tags: bool) -> Sentence:
        """The sentence with the tags of the tagger: all, or only those that are not there and that the parser reads."""
        columns = dict(sentence.columns)
        lacking = [
            name for name in TAGS if not keep_tags or name not in columns or (name in self.parser.columns and NOTHING in columns[name])
        ]
        if not lacking:
            return sentence
        if self.tagger is None:
            return sentence
        tags = self.tagger.tag(columns["form"])
        for name, found in zip(TAGS, (tags.upos, tags.xpos), strict=True):
            if name in lacking:
                given = columns.get(name) if keep_tags else None
                columns[name] = found if given is None else tuple(a if b == NOTHING else b for a, b in zip(found, given, strict=True))
        return Sentence(columns, sentence.heads, sentence.labels, sentence.name)

    def check_columns(self, columns: Iterable[str], *, keep_tags: bool = True) -> None:
        """Raises InputError if the parser reads what is neither among these columns nor found by the tagger, or a tagger is needed."""
        if self.tagger is None and not keep_tags:
            raise InputError("tags are to be predicted, and there is no tagger: expected one (tagger=, --tagger).")
        known = {*columns, *(TAGS if self.tagger else ())}
        missing = [name for name in self.parser.columns if name not in known]
        if missing:
            hint = "a tagger (tagger=, --tagger) finds upos and xpos; " if set(missing) & set(TAGS) else ""
            raise InputError(
                f"the parser reads {', '.join(missing)}, which the sentences do not have: {hint}CoNLL-U files and Sentence may have them."
            )


METHODS: dict[str, Callable[[Pipeline], Pipeline]] = {
    "auto": lambda pipeline: pipeline,
    "cascade": Pipeline.fast,
    "exact-cascade": Pipeline.exact,
}


def given_sentence(given: Sentence | Sequence[str], i: int) -> Sentence:
    if isinstance(given, Sentence):
        return given
    if isinstance(given, str) or not all(isinstance(word, str) for word in given):
        what = f"the string {given[:20]!r}" if isinstance(given, str) else "something else than strings"
        raise InputError(f"sentences[{i}] is {what}: expected a list of words, or a Sentence; pipeline(text) takes text.")
    return Sentence({"form": tuple(given)}, name=str(i + 1))
