"""All exceptions of zerogap, named by what went wrong.

ZerogapError
├── InputError (ValueError)      what was given is not what is accepted
│   ├── ScoreError               a score is nan, +inf, or out of the exact range
│   ├── ScoreShapeError          an array has the wrong shape
│   ├── ScoreTypeError           an array has a type that is not real numbers
│   ├── HypergraphError          not a hypergraph: a vertex or tail that does not exist, ...
│   │   ├── CyclicHypergraph     breaks acyclicity (property 2.2.1 of Rush 2014)
│   │   ├── DisconnectedHypergraph   breaks connectedness (2.2.2)
│   │   └── OverlappingTails     breaks disjointness of the reference sets (2.2.3)
│   ├── AutomatonError           not a deterministic automaton, or an operation it does not allow
│   │   ├── AlphabetMismatch     two alphabets differ, or a symbol is in neither
│   │   └── RegexSyntaxError     a regular expression that does not parse; has .position
│   ├── GrammarError             not a weighted grammar, or cyclic unary rules
│   ├── ConstraintError          rows that are not linear constraints over the parts
│   ├── UnknownMethod            a method, step rule or problem kind that does not exist
│   ├── InvalidStructure         not a structure of the problem
│   └── FormatError              a file that is not what it should be
├── Infeasible                   no structure satisfies the hard constraints; has .conflict
├── NotCompiled                  a kernel that a worker of the server leaves to others to compile
└── VerificationError            a solution or certificate that does not hold
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ZerogapError(Exception):
    """Everything that zerogap raises on purpose."""


class InputError(ZerogapError, ValueError):
    """What was given is not what is accepted."""


def check_problem(problem: object, kind: type) -> None:
    """Raises InputError unless the problem is of the kind that a decoder takes."""
    if not isinstance(problem, kind):
        raise InputError(f"problem is a {type(problem).__name__}: expected a zerogap.{public_name(kind)}.")


def public_name(kind: type) -> str:
    """The task and the name of a class of `zerogap.problems`, as users import it."""
    return f"{kind.__module__.split('.')[2]}.{kind.__name__}"


class ScoreError(InputError):
    """A score is nan, +inf, or so large that sums would not be exact."""


class ScoreShapeError(InputError):
    """An array has the wrong shape."""


class ScoreTypeError(InputError):
    """An array does not hold real numbers."""


class HypergraphError(InputError):
    """The vertices and hyperedges do not form a hypergraph."""


class CyclicHypergraph(HypergraphError):
    """Some vertex is inside itself."""


class DisconnectedHypergraph(HypergraphError):
    """Some non-terminal vertex other than the root is in no tail, or the root derives nothing."""


class OverlappingTails(HypergraphError):
    """Two tail vertices of one hyperedge share a descendant, so hyperpaths are not trees."""


class AutomatonError(InputError):
    """Not a deterministic automaton, or an operation that it does not allow."""


class AlphabetMismatch(AutomatonError):
    """Two alphabets differ, or a symbol is not in the alphabet."""


class RegexSyntaxError(AutomatonError):
    """A regular expression that does not parse; `position` counts characters from 0."""

    def __init__(self, message: str, pattern: str, position: int) -> None:
        self.pattern, self.position = pattern, position
        line_start = pattern.rfind("\n", 0, position) + 1
        line_end = pattern.find("\n", position)
        begin = max(line_start, position - 60)  # long lines are cut around the position
        end = min(line_end if line_end >= 0 else len(pattern), position + 60)
        super().__init__(f"{message} (position {position})\n  {pattern[begin:end]}\n  {' ' * (position - begin)}^")


class GrammarError(InputError):
    """Not a weighted grammar, or one with cyclic unary rules."""


class ConstraintError(InputError):
    """Rows that are not linear constraints over the parts."""


class InvalidStructure(InputError):
    """Not a structure of the problem: the message says why."""


class FormatError(InputError):
    """A file or JSON value that is not what it should be."""


class UnknownMethod(InputError):
    """A name that is not in the list of known ones."""

    def __init__(self, what: str, given: object, known: Iterable[str]) -> None:
        names = list(known)
        close = difflib.get_close_matches(str(given), names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        super().__init__(f"{what} {given!r} is not known.{hint} Known: {', '.join(names)}.")


class Infeasible(ZerogapError):
    """No structure satisfies the hard constraints; `conflict` names some that cannot hold together, none of them needlessly."""

    def __init__(self, message: str, conflict: tuple[object, ...] = ()) -> None:
        self.conflict = conflict
        super().__init__(message)


class NotCompiled(ZerogapError):
    """A kernel is not on disk, and this process leaves it to others to compile it."""


class VerificationError(ZerogapError):
    """A solution or certificate that does not hold: the message says which claim failed."""
