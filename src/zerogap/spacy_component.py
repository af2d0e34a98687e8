"""zerogap as a component of a spaCy pipeline: heads, relations and sentence starts, each tree proven to be the best.

    nlp = spacy.blank("en")
    nlp.add_pipe("zerogap_parser", config={"model": "en"})
    doc = nlp("Time flies like an arrow.")

spaCy finds the component by its entry point. The tokens are spaCy's. Sentences that are already marked (by `sentencizer`, `senter` or
another parser) are kept; else zerogap's splitter cuts the text, and a sentence begins with the first word at or after each of its cuts.
Tags that the document has are kept; else they are those of zerogap's tagger. The root's relation is ROOT, as spaCy spells it. Tokens of
white space, which no treebank has, are attached to the word before them.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from zerogap.pipeline.document import Document
    from zerogap.pipeline.stages import Pipeline

NAME = "zerogap_parser"
NOTHING = "_"
STATUS, GAP = "zerogap_status", "zerogap_gap"
ROOT, SPACE, SPACE_TAG, SPACE_RELATION = "ROOT", "SPACE", "_SP", "dep"


class ZerogapParser:
    """Parses documents of spaCy in place; `doc._.zerogap_status` and `zerogap_gap` are of the document, `sent._....` of a sentence."""

    def __init__(self, pipeline: Pipeline, threads: int | None = 1) -> None:
        from spacy.tokens import Doc, Span

        self.pipeline = pipeline
        self.threads = threads
        for kind in (Doc, Span):
            for extension in (STATUS, GAP):
                if not kind.has_extension(extension):
                    kind.set_extension(extension, default=None)

    def __call__(self, doc: Any) -> Any:
        from zerogap.dependency.sentence import Sentence

        if not len(doc):
            return doc
        sentences = list(sentences_of(doc))
        words = [[token for token in sentence if not token.is_space] for sentence in sentences]
        has_pos, has_tag = doc.has_annotation("POS"), doc.has_annotation("TAG")
        parsed = self.pipeline.parse_sentences(
            [Sentence(columns_of(tokens, has_pos, has_tag), name=f"sentence {k}") for k, tokens in enumerate(words, start=1)],
            threads=self.threads,
        )
        answers = [Answer(i, ROOT, SPACE, SPACE_TAG) for i in range(len(doc))]
        for sentence, tokens, found in zip(sentences, words, parsed, strict=True):
            for token, word in zip(tokens, found.words, strict=True):
                if word.head:
                    answers[token.i] = Answer(tokens[word.head - 1].i, word.label, word.upos, word.xpos)
                else:
                    answers[token.i] = Answer(token.i, ROOT, word.upos, word.xpos)
            attach_spaces(sentence, answers)
        with_tags = self.pipeline.tagger is not None
        write(doc, answers, pos=with_tags and not has_pos, tag=with_tags and not has_tag)
        set_proofs(doc, sentences, parsed)
        return doc


class Answer(NamedTuple):
    """What is found of a token: the token that is its head (itself if it is a root), its relation and its tags."""

    head: int
    label: str
    upos: str
    xpos: str


def sentences_of(doc: Any) -> Iterator[list[Any]]:
    """The tokens of every sentence: as the document says, else by the splitter of zerogap."""
    from zerogap.pipeline.sources import from_text

    if doc.has_annotation("SENT_START"):
        yield from (list(sentence) for sentence in doc.sents)
        return
    cuts = [found.offset + found.tokens[0].start for found in from_text(doc.text) if found.tokens][1:]
    sentence: list[Any] = []
    for token in doc:
        if cuts and token.idx >= cuts[0] and not token.is_space:
            while cuts and token.idx >= cuts[0]:
                del cuts[0]
            yield sentence
            sentence = []
        sentence.append(token)
    yield sentence


def columns_of(tokens: list[Any], has_pos: bool, has_tag: bool) -> dict[str, tuple[str, ...]]:
    """What a parser may read; '_' for what the document does not know."""
    columns = {"form": tuple(token.text for token in tokens)}
    columns["lemma"] = tuple(token.lemma_ or NOTHING for token in tokens)
    columns["feats"] = tuple(str(token.morph) or NOTHING for token in tokens)
    if has_pos:
        columns["upos"] = tuple(token.pos_ or NOTHING for token in tokens)
    if has_tag:
        columns["xpos"] = tuple(token.tag_ or NOTHING for token in tokens)
    return columns


def attach_spaces(sentence: list[Any], answers: list[Answer]) -> None:
    """White space goes to the word before it in the sentence, at the beginning to the one after it."""
    near = next((token.i for token in sentence if not token.is_space), None)
    for token in sentence:
        if not token.is_space:
            near = token.i
        elif near is not None:
            answers[token.i] = Answer(near, SPACE_RELATION, SPACE, SPACE_TAG)


def write(doc: Any, answers: list[Answer], *, pos: bool, tag: bool) -> None:
    """Into the document, all at once: heads also say where sentences begin."""
    import numpy as np
    from spacy.attrs import DEP, HEAD, POS, TAG

    number = doc.vocab.strings.add
    columns: dict[int, list[int]] = {
        HEAD: [answer.head - i for i, answer in enumerate(answers)],
        DEP: [number(answer.label) for answer in answers],
    }
    if pos:
        columns[POS] = [number("" if answer.upos == NOTHING else answer.upos) for answer in answers]
    if tag:
        columns[TAG] = [number("" if answer.xpos == NOTHING else answer.xpos) for answer in answers]
    table = np.array([[value % 2**64 for value in column] for column in columns.values()], dtype=np.uint64)
    doc.from_array(list(columns), np.ascontiguousarray(table.T))


def set_proofs(doc: Any, sentences: list[list[Any]], parsed: Document) -> None:
    doc._.set(STATUS, parsed.status)
    doc._.set(GAP, parsed.gap)
    proofs = {token.i: found for sentence, found in zip(sentences, parsed, strict=True) for token in sentence}
    for span in doc.sents:  # with several roots, a sentence may have become several
        span._.set(STATUS, proofs[span.start].status)
        span._.set(GAP, proofs[span.start].gap)


def make_component(nlp: Any, name: str, model: str, tagger: str | None, threads: int | None) -> ZerogapParser:
    from zerogap.pipeline.loading import load

    return ZerogapParser(load(model, tagger=tagger), threads)


if importlib.util.find_spec("spacy") is not None:  # spaCy imports this module to hear of the component
    from spacy.language import Language

    Language.factory(
        NAME,
        assigns=["token.head", "token.dep", "token.is_sent_start", "doc.sents"],
        default_config={"model": "en", "tagger": None, "threads": 1},
        func=make_component,
    )
