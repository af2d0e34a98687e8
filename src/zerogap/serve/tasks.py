"""Workers take a request from its form to the answer. A new task is a function, two forms, and a line in `TASKS`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel

from zerogap.dependency.sentence import Sentence
from zerogap.errors import InputError, VerificationError
from zerogap.io.formats.jsonl import example_from
from zerogap.pipeline.any_problem import decode_any, length_of, methods_for
from zerogap.pipeline.sources import Unparsed, from_text
from zerogap.problems.files import KINDS, digest_of, problem_from_json
from zerogap.problems.json_values import number_to_json
from zerogap.problems.sequence.problem import Problem as SequenceProblem
from zerogap.proof.files import solution_from_json, solution_to_json
from zerogap.proof.lines import proof_to_json
from zerogap.proof.solution import Solution
from zerogap.proof.verify import verify
from zerogap.sequence.examples import Example
from zerogap.serve import forms
from zerogap.serve.limits import Limits, too_many_words
from zerogap.serve.models import Models
from zerogap.serve.steps import finite, watched

if TYPE_CHECKING:
    from zerogap.pipeline.stages import Pipeline
    from zerogap.pipeline.tree_parsers import ParsedTree, TreeParser
    from zerogap.sequence.model import SequenceModel
    from zerogap.translation.translators import Translator

SHARE = 0.9  # of the time of a request that decoders are given
Tell = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Context:
    """What a worker knows: models, limits, when the work on this request must end."""

    models: Models
    limits: Limits
    deadline: float = float("inf")

    def seconds(self, asked: float | None) -> float:
        """For one decoder: what was asked for, and no more than is left."""
        left = max(SHARE * (self.deadline - time.perf_counter()), 0.0)
        return left if asked is None else min(asked, left)

    def checked(self, n_words: int, what: str = "the sentence") -> None:
        if n_words > self.limits.words:
            raise too_many_words(n_words, self.limits, what)


def proof(problem: Any, solution: Solution[Any]) -> dict[str, Any]:
    return proof_to_json(problem, solution)


def proven(solution: Solution[Any], problem: Any = None) -> dict[str, Any]:
    """What is proven of a structure, and the proof itself if the problem is given."""
    found: dict[str, Any] = {name: finite(getattr(solution, name)) for name in ("score", "bound", "gap")}
    return {"status": solution.status, **found, **({} if problem is None else {"proof": proof(problem, solution)})}


# parse


def unparsed_of(context: Context, text: str | None, sentences: list[list[str]] | None = None, *, lines: bool = False) -> Iterator[Unparsed]:
    if text is not None:
        found: Iterator[Unparsed] = from_text(valid_text(text), lines=lines)
    else:
        found = (Unparsed(sentence_of(words, i)) for i, words in enumerate(sentences or ()))
    for i, unparsed in enumerate(found):
        context.checked(len(unparsed.sentence), f"sentence {i + 1}")
        yield unparsed


def sentence_of(words: list[str], i: int) -> Sentence:
    for j, word in enumerate(words):
        if not valid_text(word).strip():
            raise InputError(f"sentences[{i}][{j}] is {word!r}: expected a word.")
    return Sentence({"form": tuple(words)}, name=str(i + 1))


def valid_text(text: str) -> str:
    """Halves of characters, which JSON can hold, are in no text."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"character {error.start} is half of one ({text[error.start]!r}): expected Unicode text.") from None
    return text


def parse(request: forms.ParseRequest, context: Context) -> dict[str, Any]:
    pipeline = context.models.of("parse")
    found = []
    for unparsed in unparsed_of(context, request.text, request.sentences, lines=request.lines):
        parsed = pipeline.parse_one(unparsed)
        value = parsed.to_json()
        if "conllu" in request.include:
            value["conllu"] = parsed.to_conllu()
        if "svg" in request.include:
            value["svg"] = parsed.plot().svg
        if "proof" in request.include:
            value["proof"] = proof(parsed.problem, parsed.solution)
        found.append(value)
    return {"sentences": found}


# trees


def trees(request: forms.TreesRequest, context: Context) -> dict[str, Any]:
    found = []
    for unparsed in unparsed_of(context, request.text, request.sentences):
        parsed = parsed_tree(context, unparsed.sentence.columns["form"], request.method, request.time_limit)
        value = parsed.to_json()
        if "svg" in request.include and parsed.tree is not None:
            value["svg"] = parsed.plot().svg
        if "proof" in request.include:
            value["proof"] = proof(parsed.problem, parsed.solution)
        found.append(value)
    return {"sentences": found}


def parsed_tree(context: Context, words: Sequence[str], method: str, time_limit: float | None) -> ParsedTree:
    parser: TreeParser = context.models.of("trees")
    return replace(parser, method=method, time_limit=context.seconds(time_limit)).parse(words)


# label


def label(request: forms.LabelRequest, context: Context) -> dict[str, Any]:
    found = []
    for example in examples_of(context, request.text, request.examples):
        problem = sequence_problem(context, example, request.constraints)
        solution = decode_any(problem, method=request.method, time_limit=context.seconds(request.time_limit))
        found.append(labelling(example, solution) | proven(solution, problem if "proof" in request.include else None))
    return {"sequences": found}


def examples_of(context: Context, text: str | None, examples: list[dict[str, Any]] | None = None) -> Iterator[Example]:
    if text is not None:
        tokens = tuple(valid_text(text).split())  # as the model's examples are: only blanks part tokens
        found: Iterator[Example] = iter([Example({"form": tokens})] if tokens else [])
    else:
        found = (example_from(value, f"examples[{i}]") for i, value in enumerate(examples or ()))
    for i, example in enumerate(found):
        context.checked(len(example), f"sequence {i + 1}")
        yield example


def sequence_problem(context: Context, example: Example, with_constraints: bool) -> SequenceProblem:
    model: SequenceModel = context.models.of("label")
    for word in example.columns["form"]:
        valid_text(word)
    return model.problem(example) if with_constraints else model.problem(example, constraints=())


def labelling(example: Example, solution: Solution[Any]) -> dict[str, Any]:
    return {"tokens": list(example.columns["form"]), "labels": None if solution.structure is None else list(solution.structure)}


# translate


def translate(request: forms.TranslateRequest, context: Context) -> dict[str, Any]:
    translator = context.models.of("translate")
    found = []
    for i, source in enumerate(request.sentences):
        words = valid_text(source).split()
        context.checked(len(words), f"sentences[{i}]")
        problem = translator.problem(words)
        solution = translator.decode(problem, method=request.method, time_limit=context.seconds(request.time_limit))
        found.append(translation(translator, source, problem, solution, "proof" in request.include))
    return {"sentences": found}


def translation(translator: Translator, source: str, problem: Any, solution: Solution[Any], with_proof: bool) -> dict[str, Any]:
    text = None if solution.structure is None else translator.text(problem, solution.structure)
    return {"source": source, "translation": text, **proven(solution, problem if with_proof else None)}


# decode and verify


def problem_in(value: dict[str, Any], context: Context) -> Any:
    problem = problem_from_json(value)
    context.checked(length_of(problem), "the problem")
    return problem


def decode(request: forms.DecodeRequest, context: Context) -> dict[str, Any]:
    problem = problem_in(request.problem, context)
    begin = time.perf_counter()
    solution = decode_any(problem, method=request.method, time_limit=context.seconds(request.time_limit), k=request.k)
    return {"solution": solution_to_json(solution, digest_of(problem)), "seconds": time.perf_counter() - begin}


def verified(request: forms.VerifyRequest, context: Context) -> dict[str, Any]:
    problem = problem_in(request.problem, context)
    try:
        found = verify(problem, solution_from_json(request.solution))
    except VerificationError as error:
        return {"valid": False, "checked": [], "reason": str(error)}
    return {"valid": True, "checked": list(found.checked), "score": number_to_json(found.score), "bound": number_to_json(found.bound)}


# watch


def watch(request: forms.WatchRequest, context: Context, tell: Tell) -> dict[str, Any]:
    """Tells what the problem is, every step, and in the end the solution."""
    limit = context.seconds(request.time_limit)
    if request.task == "decode":
        problem = problem_in(request.problem or {}, context)
        tell(opening(request, 1, problem, length=length_of(problem)))
        solution = watched(lambda: decode_any(problem, method=request.method, time_limit=limit), tell)
        return ending(problem, solution, {})
    return WATCHED[request.task](request, context, limit, tell)


def opening(request: forms.WatchRequest, n_sentences: int, problem: Any, **about: Any) -> dict[str, Any]:
    kind, methods = KINDS[type(problem)].name, methods_for(problem)
    return {"event": "problem", "task": request.task, "kind": kind, "sentences": n_sentences, "methods": methods, **about}


def ending(problem: Any, solution: Solution[Any], shown: dict[str, Any]) -> dict[str, Any]:
    return {"event": "solution", **shown, **proven(solution), "certificate": solution.certificate.kind, "proof": proof(problem, solution)}


def chosen(found: Sequence[Any], request: forms.WatchRequest) -> Any:
    if not found:
        raise InputError("the text is empty: expected at least one word.")
    if request.sentence >= len(found):
        raise InputError(f"sentence is {request.sentence}: the text has {len(found)}, counted from 0.")
    return found[request.sentence]


def watch_parse(request: forms.WatchRequest, context: Context, limit: float, tell: Tell) -> dict[str, Any]:
    pipeline = context.models.of("parse")
    text = list(unparsed_of(context, request.text))
    parsed = pipeline.parse_one(chosen(text, request))
    problem = parsed.problem
    tell(opening(request, len(text), problem, words=parsed.to_json()["words"]))
    solution = watched(lambda: decode_any(problem, method=request.method, time_limit=limit), tell)
    if solution.structure is not None and tuple(solution.structure) != parsed.heads:
        parsed = replace(parsed, sentence=with_heads(pipeline, parsed.sentence, solution.structure))
    parsed = replace(parsed, solution=solution)
    return ending(problem, solution, {"words": parsed.to_json()["words"], "conllu": parsed.to_conllu()})


def with_heads(pipeline: Pipeline, sentence: Sentence, heads: Sequence[int]) -> Sentence:
    """The sentence with another tree, and the labels of its arcs."""
    labeller = getattr(pipeline.parser, "labeller", None)
    labels = None if labeller is None else labeller.label(sentence.columns, np.array(heads, dtype=np.int64))
    return Sentence(sentence.columns, tuple(heads), labels, sentence.name)


def watch_trees(request: forms.WatchRequest, context: Context, limit: float, tell: Tell) -> dict[str, Any]:
    from zerogap.pipeline.tree_parsers import problem_of  # loads Numba: workers do, the process that starts them does not

    parser: TreeParser = context.models.of("trees")
    text = list(unparsed_of(context, request.text))
    words = chosen(text, request).sentence.columns["form"]
    found: list[ParsedTree] = []

    def solve() -> Solution[Any]:
        found.append(parsed_tree(context, words, request.method, limit))
        return found[-1].solution

    tell(opening(request, len(text), problem_of(parser.model, words), words=words))
    solution = watched(solve, tell)
    return ending(found[-1].problem, solution, found[-1].to_json())


def watch_label(request: forms.WatchRequest, context: Context, limit: float, tell: Tell) -> dict[str, Any]:
    examples = list(examples_of(context, request.text))
    example = chosen(examples, request)
    problem = sequence_problem(context, example, True)
    tell(opening(request, len(examples), problem, tokens=example.columns["form"]))
    solution = watched(lambda: decode_any(problem, method=request.method, time_limit=limit), tell)
    return ending(problem, solution, labelling(example, solution))


def watch_translate(request: forms.WatchRequest, context: Context, limit: float, tell: Tell) -> dict[str, Any]:
    translator = context.models.of("translate")
    lines = [line for line in valid_text(request.text or "").splitlines() if line.strip()]
    words = chosen(lines, request).split()
    context.checked(len(words))
    problem = translator.problem(words)
    tell(opening(request, len(lines), problem, words=words))
    solution = watched(lambda: translator.decode(problem, method=request.method, time_limit=limit), tell)
    shown = translation(translator, " ".join(words), problem, solution, False)
    if translator.kind == "phrases" and solution.structure is not None:
        shown["phrases"] = [{"start": start, "end": end, "target": list(target)} for start, end, target in solution.structure]
    return ending(problem, solution, shown)


WATCHED = {"parse": watch_parse, "trees": watch_trees, "label": watch_label, "translate": watch_translate}


@dataclass(frozen=True, slots=True)
class Task:
    """`run(request, context)` gives the answer; one that streams tells its steps by a third argument, and then gives the last."""

    run: Callable[..., dict[str, Any]]
    request: type[BaseModel]
    answer: type[BaseModel] | None
    summary: str
    streams: bool = False


TASKS: dict[str, Task] = {
    "parse": Task(parse, forms.ParseRequest, forms.Parsed, "Dependency trees of a text, proven to be the best."),
    "trees": Task(trees, forms.TreesRequest, forms.Trees, "Constituency trees of a text, proven to be the best."),
    "label": Task(label, forms.LabelRequest, forms.Labelled, "Labels of sequences under constraints, proven to be the best."),
    "translate": Task(translate, forms.TranslateRequest, forms.Translated, "Translations of sentences, proven to be the best."),
    "decode": Task(decode, forms.DecodeRequest, forms.Decoded, "The best structure of a problem given by its scores."),
    "verify": Task(verified, forms.VerifyRequest, forms.Verified, "Checks a solution and its certificate, without any solver."),
    "watch": Task(
        watch, forms.WatchRequest, None, "Decodes one sentence or problem, and tells every step as a line of JSON.", streams=True
    ),
}
