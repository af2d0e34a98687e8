"""The hard pipeline, as a baseline: the best tags first, then the best parse that has them (Rush 2014, section 4.6.2).

Nothing that the grammar knows can correct a tag, so that its structure is often not the best one under both models, and where the
grammar has no parse of these tags there is none at all.
"""

from __future__ import annotations

import numpy as np

from zerogap.constituency.joint.parser_and_tagger import Halves
from zerogap.errors import Infeasible, check_problem
from zerogap.problems.constituency.joint import JointProblem, Tree


def decode_pipeline(problem: JointProblem) -> Tree:
    """The best parse with the tagger's best tags; Infeasible if there is no such parse, or if the tagger forbids all tags."""
    check_problem(problem, JointProblem)
    halves = Halves.of(problem)
    tagged = halves.tag(problem.emissions.reshape(-1))
    if tagged is None:
        raise Infeasible("every sequence of tags that the grammar knows is forbidden by the tagger (-inf).", ("tagger",))
    only = np.full(problem.n_words * len(problem.tags), -np.inf)
    only[tagged.parts] = 0.0
    parsed = halves.parse(only)
    if parsed is None:
        names = " ".join(problem.tags[tag] for tag in tagged.structure)
        raise Infeasible(f"the grammar has no parse with the tagger's tags {names}.", ("grammar", tagged.structure))
    tree: Tree = parsed.structure
    return tree
