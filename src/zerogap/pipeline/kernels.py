"""Compiles kernels ahead of their first call, on all cores.

The kernels that a kernel calls must be in the cache when it is compiled, or two processes would compile them both. So modules are taken
in the order of their imports, read from their sources, each as soon as all that it needs are done.

    python -m zerogap.pipeline.kernels [TASK ...]

compiles the kernels that the tasks need (without any: every kernel there is), and prints how many modules are done.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import zerogap
from zerogap.kernels import compile_module, is_cached, kernels_of

KERNELS = {"zerogap.kernels"}  # who imports this has kernels
Report = Callable[[int, int], object]  # modules that are done, and all
Needs = Mapping[str, set[str]]


# the kernels of a task's first answers: "module:kernel", or a module or package for all that it has
NEEDED: dict[str, tuple[str, ...]] = {
    "parse": (
        "zerogap.dependency.candidate_arcs:lay_out",
        "zerogap.dependency.decoding.agreement.head_scores:fill_from_arrays",
        "zerogap.dependency.decoding.agreement.head_scores:most_added",
        "zerogap.dependency.decoding.agreement.sparse_parts:add_listed_parts",
        "zerogap.dependency.parser.labeller:best_labels",
        "zerogap.dependency.scoring.parts:score_arcs",
        "zerogap.dependency.scoring.parts:score_candidates",
        "zerogap.dependency.scoring.parts:sum_weights",
        "zerogap.dependency.scoring.tree_features:choice_keys",
        "zerogap.features.parts.keys:fill_partial",
        "zerogap.features.parts.packed_table:place_again",
        "zerogap.oracles.heads.agreement:agree",
        "zerogap.oracles.heads.reduced_costs:automata_slacks",
        "zerogap.oracles.trees.eisner:eisner_kernel",
        "zerogap.oracles.trees.grandsiblings:grandsibling_kernel",
        "zerogap.oracles.trees.projective_marginals:in_maxima",
        "zerogap.oracles.trees.projective_marginals:in_numbers",
        "zerogap.sequence.tagger.tagger:fill_table",
        "zerogap.sequence.tagger.tagger:tag_words",
    ),
    "label": (
        "zerogap.features.labels.table:add_scores",
        "zerogap.features.labels.table:fill_keys",
        "zerogap.features.labels.table:fill_slots",
        "zerogap.features.labels.table:find_rows",
        "zerogap.oracles.labels.solver",
    ),
    "trees": (
        "zerogap.oracles.parses",
        "zerogap.oracles.labels.viterbi",
    ),
    "translate": (
        "zerogap.oracles.forests",
        "zerogap.oracles.ngrams",
        "zerogap.oracles.phrases",
    ),
}


def compile_all(needs: Needs, report: Report, *, processes: int | None = None, only: Mapping[str, Collection[str]] | None = None) -> None:
    """Compiles modules, each after those that it needs; `only` names the kernels of a module, if not all are wanted."""
    waiting, running, done = dict(needs), dict[Future[None], str](), set[str]()
    report(0, len(needs))
    with ProcessPoolExecutor(processes or os.cpu_count(), mp_context=get_context("spawn")) as pool:
        while waiting or running:
            for module in [name for name, needed in waiting.items() if needed <= done]:
                del waiting[module]
                running[pool.submit(compile_module, module, None if only is None else only[module])] = module
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                future.result()
                done.add(running.pop(future))
                report(len(done), len(needs))


def compile_for(tasks: Iterable[str], report: Report, *, processes: int | None = None) -> None:
    """Compiles the kernels that the first answers of these tasks need."""
    only = needed_kernels(tasks)
    every = kernel_modules()
    compile_all({name: every[name] & only.keys() for name in only}, report, processes=processes, only=only)


def needed_kernels(tasks: Iterable[str]) -> dict[str, set[str]]:
    """Modules, and the names of those of their kernels that the tasks need."""
    found: dict[str, set[str]] = {}
    for entry in (entry for task in tasks for entry in NEEDED[task]):
        module, _, name = entry.partition(":")
        if name:
            found.setdefault(module, set()).add(name)
            continue
        for path in kernel_modules():
            if (path == module or path.startswith(f"{module}.")) and (names := kernels_of(path)):
                found.setdefault(path, set()).update(names)
    return found


def missing(tasks: Iterable[str]) -> list[str]:
    """The kernels of these tasks that are not in the cache."""
    needed = needed_kernels(tasks)
    return [f"{module}:{name}" for module in needed for name, value in kernels_of(module).items()
            if name in needed[module] and not is_cached(value)]  # fmt: skip


def kernel_modules() -> dict[str, set[str]]:
    """All modules with kernels, and what each of them needs of the others."""
    direct = imports()
    with_kernels = {name for name, others in direct.items() if others & KERNELS}
    return {name: (reached(name, direct) & with_kernels) - {name} for name in with_kernels}


@cache
def imports() -> dict[str, set[str]]:
    """Every module of zerogap, and those that it imports at once."""
    root = Path(zerogap.__file__).parent
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return {name: set(imported(path)) & found.keys() for name, path in found.items()}


def imported(path: Path) -> Iterator[str]:
    """The modules that are imported when this one is: not those of functions, nor those for types only."""
    pending: list[ast.stmt] = list(ast.parse(path.read_text(encoding="utf-8")).body)
    while pending:
        statement = pending.pop()
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            yield statement.module
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)


def reached(name: str, direct: dict[str, set[str]]) -> set[str]:
    seen, pending = set[str](), [name]
    while pending:
        others = direct[pending.pop()] - seen
        seen |= others
        pending += others
    return seen


def print_progress(done: int, total: int) -> None:
    print(done, total, flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        compile_for(sys.argv[1:], print_progress)
    else:
        compile_all(kernel_modules(), print_progress)
