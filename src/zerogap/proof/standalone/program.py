"""The program: all kinds of problems, files and exit codes."""

import gzip
import json
import sys

from zerogap.proof.standalone.hypergraphs import Hypergraph
from zerogap.proof.standalone.labels import Labels
from zerogap.proof.standalone.numbers import NO, Unknown, Wrong, check_finite, demand, whole
from zerogap.proof.standalone.parses import Parses
from zerogap.proof.standalone.trees import Trees

KINDS = {"dependency": Trees, "sequence": Labels, "hypergraph": Hypergraph, "joint": Parses}


def check(problem, solution):
    """Raises Wrong with the first claim that does not hold, Unknown with what is not checked here."""
    demand(problem.get("format") == "zerogap-problem" and problem.get("version") == 1, "not a problem of version 1")
    demand(solution.get("format") == "zerogap-solution" and solution.get("version") == 1, "not a solution of version 1")
    if problem["kind"] not in KINDS:
        raise Unknown("problems of the kind {}".format(problem["kind"]))
    unit = problem["resolution"]
    demand(isinstance(unit, float) and unit > 0.0, "no resolution")
    known = KINDS[problem["kind"]](problem, unit)
    score, bound = (whole(solution[name], unit) for name in ("score", "bound"))
    found = NO if solution["structure"] is None else known.score(solution["structure"])
    demand(found == score, f"the structure scores {found}, not {score} as claimed")
    demand(bound >= score, "the bound is below the score")
    demand((bound == score) == (solution["status"] == "optimal"), "the status is {}".format(solution["status"]))
    if solution.get("alternatives"):
        raise Unknown("a list of the best")
    check_finite(solution["certificate"])
    proven = known.bound(solution["certificate"], bound)
    demand(proven <= bound, f"the certificate proves {proven}, not {bound} as claimed")
    return bound == score


def solutions(paths):
    if len(paths) == 2:
        with open(paths[0], encoding="utf-8") as problem, open(paths[1], encoding="utf-8") as solution:
            yield paths[1], {"problem": json.load(problem), "solution": json.load(solution)}
        return
    with (gzip.open if paths[0].endswith(".gz") else open)(paths[0], "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield f"{paths[0]}, line {number}", json.loads(line)


def main(paths):
    if len(paths) not in (1, 2):
        print(__doc__)
        return 2
    hold = optimal = wrong = unknown = 0
    for where, value in solutions(paths):
        try:
            optimal += check(value["problem"], value["solution"])
            hold += 1
        except Wrong as error:
            wrong += 1
            print(f"{where} does not hold: {error}")
        except Unknown as error:
            unknown += 1
            print(f"{where} was not checked: {error} is not known here")
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            wrong += 1
            print(f"{where} does not hold: it is not of the form of a solution ({type(error).__name__}: {error})")
    print(f"{hold} solutions hold, {optimal} of them optimal; {wrong} do not hold; {unknown} were not checked")
    return 1 if wrong else 3 if unknown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
