"""Problems of dependency trees as JSON: larger parts as arrays, or as {"parts": [[index, ..., score], ...]}."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zerogap.problems.arrays import ARRAY, Listed
from zerogap.problems.dependency.factor import Factor
from zerogap.problems.dependency.head_automaton import HeadAutomaton
from zerogap.problems.dependency.parts import ORDERS, Sparse, parts_as_given
from zerogap.problems.dependency.problem import Problem
from zerogap.problems.forms import Below, Many, Maybe, Optional, Record


@dataclass(frozen=True, slots=True)
class PartsForm:
    """All scores of a kind of parts, or a list of some."""

    order: int

    def read(self, value: Any, where: str) -> Any:
        if isinstance(value, list) or (isinstance(value, dict) and "shape" in value):
            return ARRAY.read(value, where)
        return Sparse(*Listed(self.order).read(value, where))

    def written(self, value: Any, packed: bool) -> Any:
        if isinstance(value, Sparse):
            return Listed(self.order).written((value.index, value.scores), packed)
        return ARRAY.written(value, packed)


FACTOR = Record({"arcs": Many((Below(), Below())), "score": float})
AUTOMATON = Record({"head": int, "side": str, "transitions": Many((int, int, int, float)), "finals": Many(float)})
FIELDS = {
    "arcs": ARRAY,
    "projective": Optional(bool, False),
    "single_root": Optional(bool, True),
    **{name: Optional(PartsForm(order)) for name, order in ORDERS.items()},
    "factors": Optional(Many(FACTOR), ()),
    "automata": Optional(Many(AUTOMATON), ()),
    "labels": Optional(Maybe(ARRAY)),
    "label_names": Optional(Maybe(Many(str))),
}


def dependency_fields(problem: Problem) -> dict[str, Any]:
    found: dict[str, Any] = {"arcs": problem.arcs, "projective": problem.projective, "single_root": problem.single_root}
    found |= {name: parts_as_given(name, parts, problem.arcs) for name, parts in problem.parts.items()}
    if problem.factors:
        found["factors"] = [{"arcs": factor.arcs, "score": factor.score} for factor in problem.factors]
    if problem.automata:
        found["automata"] = [{name: getattr(automaton, name) for name in AUTOMATON.fields} for automaton in problem.automata]
    if problem.labels is not None:
        found |= {"labels": problem.labels, "label_names": problem.label_names}
    return found


def dependency_problem(given: dict[str, Any], where: str, resolution: float | None) -> Problem:
    given["factors"] = [Factor(**factor) for factor in given["factors"]]
    given["automata"] = [HeadAutomaton(**automaton) for automaton in given["automata"]]
    return Problem(**given, resolution=resolution)
