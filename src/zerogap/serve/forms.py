"""Forms of requests and answers: the names are those of the Python API. Checked by workers, described by OpenAPI."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Words = Annotated[list[str], Field(description="The words of a sentence.")]
Number = float | Literal["inf", "-inf"]
Include = Literal["conllu", "proof", "svg"]
PROBLEM: dict[str, Any] = {
    "format": "zerogap-problem", "version": 1, "kind": "dependency", "arcs": [[0, 5, 1], [0, 0, 8], [0, 9, 0]],
    "projective": False, "single_root": False,
}  # fmt: skip
SOLUTION: dict[str, Any] = {
    "format": "zerogap-solution", "version": 2, "status": "optimal", "structure": [0, 1], "score": 13.0, "bound": 13.0,
    "certificate": {"kind": "cut-duals", "sets": [[1], [2], [1, 2]], "values": [9.0, 8.0, -4.0]},
    "trace": {"bounds": [13.0], "scores": [13.0], "seconds": [0.0]},
}  # fmt: skip


class Form(BaseModel):
    """Fields that are not known are refused, so that a mistyped one is not ignored."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Texts(Form):
    """A text, or sentences whose words are known."""

    text: str | None = Field(default=None, description="Text, which is cut into sentences and words.")
    sentences: list[Words] | None = Field(default=None, description="In place of a text, lists of words.")

    @model_validator(mode="after")
    def one_of_both(self) -> Texts:
        if (self.text is None) == (self.sentences is None):
            raise ValueError("expected either text or sentences")
        return self


class Search(Form):
    method: str = Field(
        default="auto", description="How to decode; a wrong name is answered with the list of known ones.", examples=["auto"]
    )
    time_limit: float | None = Field(
        default=None,
        ge=0.0,
        description="Seconds for each structure; then the best one so far is the answer, with its gap.",
        examples=[1.0],
    )


class ParseRequest(Texts):
    """Parse text: the best dependency tree of every sentence."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "Time flies like an arrow."}, {"sentences": [["Time", "flies"]]}]})
    lines: bool = Field(default=False, description="Every line end is the end of a sentence.")
    include: list[Include] = Field(default=[], description="What else to answer with: CoNLL-U, the problem with its solution, a picture.")


class TreesRequest(Texts, Search):
    """Parse text: the best constituency tree of every sentence."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "The dog barks ."}]})
    include: list[Literal["proof", "svg"]] = Field(default=[], description="What else to answer with: the proof, a picture.")


class LabelRequest(Search):
    """Label sequences."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "John lives in Paris ."}, {"examples": [{"tokens": ["John"]}]}]})
    text: str | None = Field(default=None, description="One sequence, whose tokens are parted by blanks.")
    examples: list[dict[str, Any]] | None = Field(
        default=None, description="In place of a text, objects with `tokens`, and `constraints` and further columns if there are some."
    )
    constraints: bool = Field(default=True, description="Whether the constraints of the model count.")
    include: list[Literal["proof"]] = Field(default=[], description="What else to answer with: the problem with its solution.")

    @model_validator(mode="after")
    def one_of_both(self) -> LabelRequest:
        if (self.text is None) == (self.examples is None):
            raise ValueError("expected either text or examples")
        return self


class TranslateRequest(Search):
    """Translate sentences whose words are parted by blanks, as the model was trained."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"sentences": ["das haus ist klein"]}]})
    sentences: list[str] = Field(description="Tokenised as the model is.")
    include: list[Literal["proof"]] = Field(default=[], description="What else to answer with: the problem with its solution.")


class DecodeRequest(Search):
    """Decode the scores of any model."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"problem": PROBLEM, "method": "auto"}]})
    problem: dict[str, Any] = Field(description="A problem as save_problem writes it.", examples=[PROBLEM])
    k: int = Field(default=1, ge=1, le=1000, description="How many of the best structures; for trees and sequences.")


class VerifyRequest(Form):
    """Check a solution against its problem, without any solver."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"problem": PROBLEM, "solution": SOLUTION}]})
    problem: dict[str, Any] = Field(description="A problem as save_problem writes it.", examples=[PROBLEM])
    solution: dict[str, Any] = Field(description="A solution as save_solution writes it.", examples=[SOLUTION])


class WatchRequest(Search):
    """Decode one sentence or problem, and tell every step."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"task": "parse", "text": "Time flies.", "method": "head-automata"}]})
    task: Literal["parse", "trees", "label", "translate", "decode"] = "parse"
    text: str | None = Field(default=None, description="For all tasks but decode.")
    sentence: int = Field(default=0, ge=0, description="Which sentence of the text, from 0.")
    problem: dict[str, Any] | None = Field(default=None, description="For decode.", examples=[PROBLEM])

    @model_validator(mode="after")
    def what_the_task_needs(self) -> WatchRequest:
        wanted, other = ("problem", "text") if self.task == "decode" else ("text", "problem")
        if getattr(self, wanted) is None or getattr(self, other) is not None:
            raise ValueError(f"expected {wanted} and no {other} for task {self.task!r}")
        return self


class Proof(BaseModel):
    """What `verify` takes, and a line of what --certificates writes."""

    problem: dict[str, Any]
    solution: dict[str, Any]


class Proven(BaseModel):
    status: Literal["optimal", "feasible"] = Field(description="optimal: proven that nothing scores higher.")
    score: float | None = Field(description="None if nothing was found in time.")
    bound: float | None = Field(description="Nothing scores higher.")
    gap: float | None
    proof: Proof | None = None


class Word(BaseModel):
    id: int
    form: str
    upos: str
    xpos: str
    head: int
    label: str
    start: int | None = None
    end: int | None = None


class ParsedSentence(Proven):
    id: str | None = None
    text: str | None = None
    words: list[Word]
    conllu: str | None = None
    svg: str | None = None


class Parsed(BaseModel):
    sentences: list[ParsedSentence]


class ParsedTree(Proven):
    words: list[str]
    tags: list[str] | None = None
    tree: str | None
    svg: str | None = None
    constituents: list[dict[str, Any]] | None = None
    glued: bool = False


class Trees(BaseModel):
    sentences: list[ParsedTree]


class Labelling(Proven):
    tokens: list[str]
    labels: list[str] | None


class Labelled(BaseModel):
    sequences: list[Labelling]


class Translation(Proven):
    source: str
    translation: str | None


class Translated(BaseModel):
    sentences: list[Translation]


class Decoded(BaseModel):
    solution: dict[str, Any] = Field(description="As save_solution writes it.")
    seconds: float


class Verified(BaseModel):
    valid: bool
    checked: list[str] = Field(description="What was checked, in words.")
    reason: str | None = Field(default=None, description="The first claim that does not hold.")
    score: Number | None = None
    bound: Number | None = None


class Problem(BaseModel):
    type: str = Field(description="What kind of error it is, by its name in zerogap.errors.")
    message: str = Field(description="What was given, what is accepted, and where.")
    limit: str | None = Field(default=None, description="The limit that was exceeded, if it is one.")


class Refused(BaseModel):
    """The answer to what cannot be done."""

    error: Problem
