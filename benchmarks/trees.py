"""First-order trees against their peers: microseconds per instance, one thread, and ratios to zerogap.

    python benchmarks/trees.py [--regime peaked|random] [--lengths 10 20 40 60 100] [--rounds 21]

Every system runs over the same instances, a pass each in turn (the machine is noisy), and the median pass counts. zerogap and ufal are
called once per sentence from Python and pay for it. The C++ loop (benchmarks/cpp/eisner.cpp, built here) runs over the sentences
itself and pays for no call. torch-struct and supar get batches of 32. Peers that are not installed are said to be so. All
scores are compared.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from zerogap.oracles.trees.arborescence import maximum_arborescence
from zerogap.oracles.trees.eisner import eisner

HERE = Path(__file__).resolve().parent
BATCH = 32
SLOW_SECONDS = 0.2  # a system whose pass takes longer runs in a few rounds only
SLOW_ROUNDS = 3

Pass = Callable[[], Any]  # over all instances; results are dropped
Scored = Callable[[], np.ndarray]  # the scores of what it finds
System = tuple[str, str, Pass | None, Scored | None, int]  # table, name, pass, scores, number of instances


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--regime", choices=["peaked", "random"], default="peaked")
    parser.add_argument("--lengths", type=int, nargs="+", default=[10, 20, 40, 60, 100])
    parser.add_argument("--rounds", type=int, default=21)
    options = parser.parse_args()
    results: dict[tuple[str, str], list[float | None]] = {}
    for n in options.lengths:
        scores = np.stack(list(instances(options.regime, n)))
        for key, microseconds in measure(list(systems(scores)), options.rounds).items():
            results.setdefault(key, []).append(microseconds)
    report(results, options.lengths, options.regime)


def instances(regime: str, n: int) -> Iterator[np.ndarray]:
    """The seeded instances behind the anchors if they are here, else ones like them."""
    places = [os.environ.get("ZEROGAP_INSTANCES"), HERE.parent.parent / "shared" / "instances"]
    if "ZEROGAP_DATA" in os.environ:
        places.insert(1, Path(os.environ["ZEROGAP_DATA"]).parent / "instances")
    for place in places:
        if place is not None and (path := Path(place) / "instances.py").exists():
            spec = importlib.util.spec_from_file_location("instances", path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            yield from (arcs for arcs, _ in module.arcs(regime, n))
            return
    rng = np.random.default_rng([n, regime == "peaked"])
    for _ in range(200):
        arcs = rng.standard_normal((n + 1, n + 1))
        if regime == "peaked":  # a random tree of short arcs, with a margin
            for m in range(1, n + 1):
                arcs[max(0, m - int(rng.integers(1, 4))), m] += 3.0
        yield arcs


def systems(scores: np.ndarray) -> Iterator[System]:
    """Every system as a pass over the instances (k, n + 1, n + 1)."""
    each = list(scores)
    first = each[:BATCH]

    def ours(solve: Callable[..., np.ndarray], single_root: bool) -> tuple[Pass, Scored]:
        def run() -> None:
            for one in each:
                solve(one, single_root=single_root)

        def scored() -> np.ndarray:
            heads = np.array([solve(one, single_root=single_root) for one in each])
            return scores[np.arange(k)[:, None], heads, np.arange(1, scores.shape[1])].sum(axis=1)

        return run, scored

    k = len(each)
    yield "any number of roots", "zerogap", *ours(maximum_arborescence, False), k
    yield "any number of roots", "ufal.chu_liu_edmonds", *ufal_pass(scores), k
    yield "single root", "zerogap", *ours(maximum_arborescence, True), k
    yield "single root", "ufal.chu_liu_edmonds (any number of roots)", ufal_pass(scores)[0], None, k
    yield "projective, single root", "zerogap", *ours(eisner, True), k
    yield "projective, single root", "C++ -O3, no calls", *cpp_pass(scores, single_root=True), k
    yield "projective, single root", "torch-struct, batch 32", *torch_struct_pass(np.stack(first)), len(first)
    yield "projective, single root", "supar, batch 32", *supar_pass(np.stack(first)), len(first)
    yield "projective, any number of roots", "zerogap", *ours(eisner, False), k
    yield "projective, any number of roots", "C++ -O3, no calls", *cpp_pass(scores, single_root=False), k


def ufal_pass(scores: np.ndarray) -> tuple[Pass | None, Scored | None]:
    try:
        from ufal.chu_liu_edmonds import chu_liu_edmonds
    except ImportError:
        return None, None
    transposed = [np.ascontiguousarray(one.T) for one in scores]  # it takes [modifier, head]

    def run() -> None:
        for one in transposed:
            chu_liu_edmonds(one)

    return run, lambda: np.array([chu_liu_edmonds(one)[1] for one in transposed])


def cpp_pass(scores: np.ndarray, *, single_root: bool) -> tuple[Pass | None, Scored | None]:
    library = HERE / "build" / "eisner.so"
    source = HERE / "cpp" / "eisner.cpp"
    if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
        if shutil.which("g++") is None:
            return None, None
        library.parent.mkdir(exist_ok=True)
        subprocess.run(["g++", "-O3", "-march=native", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    decode_all = ctypes.CDLL(str(library)).decode_all
    k, n = len(scores), scores.shape[1] - 1
    best, heads = np.empty(k), np.empty((k, n), dtype=np.int64)
    pointer = ctypes.c_void_p
    decode_all.argtypes = [pointer, ctypes.c_longlong, ctypes.c_longlong, ctypes.c_int, pointer, pointer]
    decode_all.restype = None

    def run() -> np.ndarray:
        decode_all(scores.ctypes.data, k, n, int(single_root), best.ctypes.data, heads.ctypes.data)
        return best

    return run, run


def torch_struct_pass(scores: np.ndarray) -> tuple[Pass | None, Scored | None]:
    try:
        import torch
        from torch_struct import DependencyCRF, MaxSemiring
    except Exception:  # 0.5 does not import on every version of torch
        return None, None
    torch.set_num_threads(1)
    fill = MaxSemiring.zero_  # a current torch refuses to fill even an empty view of what needs a gradient
    MaxSemiring.zero_ = staticmethod(lambda array: array if array.numel() == 0 else fill(array))
    DependencyCRF.arg_constraints = {}
    potentials = torch.tensor(scores[:, 1:, 1:])
    words = torch.arange(potentials.shape[1])
    potentials[:, words, words] = torch.tensor(scores[:, 0, 1:])  # it takes root arcs on the diagonal

    def decode() -> Any:
        return DependencyCRF(potentials, multiroot=False).argmax

    return decode, lambda: (decode() * potentials).sum(dim=(1, 2)).detach().numpy()


def supar_pass(scores: np.ndarray) -> tuple[Pass | None, Scored | None]:
    try:
        import torch
        from supar.structs import DependencyCRF
    except Exception:  # it imports much of what it does not need here
        return None, None
    torch.set_num_threads(1)
    transposed = torch.tensor(scores).transpose(1, 2).contiguous()  # it takes [modifier, head]

    def decode() -> Any:
        return DependencyCRF(transposed, multiroot=False).argmax

    return decode, lambda: transposed.detach().gather(2, decode().unsqueeze(2)).squeeze(2)[:, 1:].sum(dim=1).numpy()


def measure(everything: list[System], rounds: int) -> dict[tuple[str, str], float | None]:
    """The median microseconds per instance of every system; the passes of a round follow each other."""
    expected: dict[str, np.ndarray] = {}
    for table, name, run, scored, _ in everything:
        if run is not None and scored is not None:
            found = scored()  # also warms up
            reference = expected.setdefault(table, found)
            if not np.allclose(found, reference[: len(found)], rtol=0, atol=1e-6):
                raise SystemExit(f"{table}: {name} and zerogap disagree on a score.")
    seconds: dict[tuple[str, str], list[float]] = {}
    for turn in range(rounds):
        for table, name, run, _, count in everything:
            taken = seconds.setdefault((table, name), [])
            if run is None or (turn >= SLOW_ROUNDS and taken[0] * count > SLOW_SECONDS):
                continue
            begin = time.perf_counter()
            run()
            taken.append((time.perf_counter() - begin) / count)
    return {key: float(np.median(taken)) * 1e6 if taken else None for key, taken in seconds.items()}


def report(results: dict[tuple[str, str], list[float | None]], lengths: list[int], regime: str) -> None:
    print(f"First-order trees, {regime} scores: microseconds per instance (times zerogap's)\n")
    for table in dict.fromkeys(table for table, _ in results):
        print(f"{table:44}" + "".join(f"{f'n = {n}':>18}" for n in lengths))
        ours = results[table, "zerogap"]
        for (of, name), row in results.items():
            if of == table:
                cells = [shown(value, our) for value, our in zip(row, ours, strict=True)]
                print(f"  {name:42}" + "".join(f"{cell:>18}" for cell in cells))
        print()


def shown(value: float | None, ours: float | None) -> str:
    if value is None or ours is None:
        return "not installed"
    text = f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
    return text if value == ours else f"{text} ({value / ours:,.2f})" if value < 10 * ours else f"{text} ({value / ours:,.0f})"


if __name__ == "__main__":
    main()
