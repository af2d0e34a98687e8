"""Batch jobs: what a sentence costs, jobs that are killed, memory over a million sentences, and Ray against one worker.

    python benchmarks/batch.py costs
    python benchmarks/batch.py kill --sentences 100000 --kills 20
    python benchmarks/batch.py memory --sentences 1000000
    python benchmarks/batch.py ray --sentences 4000

Sentences are those of the training part of English EWT (../shared/data/ud/en_ewt, or where ZEROGAP_DATA points), in their order and again
from the beginning, at most `--words` long. The model is the English one. Scratch files are in `--folder`.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from itertools import cycle, islice
from pathlib import Path

DATA = Path(os.environ.get("ZEROGAP_DATA", Path(__file__).parents[2] / "shared" / "data"))
SOURCE = DATA / "ud" / "en_ewt" / "train.conllu"


def corpus(path: Path, sentences: int, words: int) -> Path:
    """A file with as many sentences."""
    from zerogap.io.formats.conllu import read_conllu

    blocks = [record.written() for record in read_conllu(SOURCE) if len(record.sentence) <= words]
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(islice(cycle(blocks), sentences))
    return path


def job_file(folder: Path, name: str, source: Path, *, shard_size: int, workers: int, engine: str = "local") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(
        f'task = "parse"\ninput = ["{source}"]\noutput = "{folder / name}"\nengine = "{engine}"\nworkers = {workers}\n'
        f'shard_size = {shard_size}\n[parse]\nmodel = "en"\n'
    )
    return path


def same_files(one: Path, other: Path) -> tuple[int, list[str]]:
    """How many files are in both, and those that are not the same."""
    names = sorted({path.name for folder in (one, other) for path in folder.iterdir()} - {".lock"})
    _, different, missing = filecmp.cmpfiles(one, other, names, shallow=False)
    return len(names), different + missing


def start(job: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "zerogap.cli.main", "run", str(job)], start_new_session=True)


def kill(given: argparse.Namespace) -> None:
    """A job that is killed again and again writes what one writes that is left alone; the manifest too."""
    source = corpus(given.folder / "corpus.conllu", given.sentences, given.words)
    begin = time.perf_counter()
    alone = job_file(given.folder, "undisturbed", source, shard_size=given.shard_size, workers=given.workers)
    shutil.rmtree(given.folder / "undisturbed", ignore_errors=True)
    assert start(alone).wait() == 0
    seconds = time.perf_counter() - begin
    shutil.rmtree(given.folder / "killed", ignore_errors=True)
    job = job_file(given.folder, "killed", source, shard_size=given.shard_size, workers=given.workers)
    rng, kills, begin = random.Random(given.seed), 0, time.perf_counter()
    while True:
        process = start(job)
        try:
            process.wait(timeout=None if kills == given.kills else rng.uniform(0.5, 1.6) * seconds / given.kills)
            break
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)  # the workers find out by themselves
            process.wait()
            kills += 1
            print(f"killed {kills} times, {len(list((given.folder / 'killed').glob('0*.conllu')))} shards done", flush=True)
    assert process.returncode == 0
    files, different = same_files(given.folder / "undisturbed", given.folder / "killed")
    names = [record.count(b"\n\n") for record in (path.read_bytes() for path in (given.folder / "killed").glob("0*.conllu"))]
    print(f"{given.sentences:,} sentences; undisturbed {seconds:.0f} s; killed {kills} times {time.perf_counter() - begin:.0f} s")
    print(f"{sum(names):,} sentences in the output; {files} files, different: {different or 'none'}")


def memory(given: argparse.Namespace) -> None:
    """The memory of the job and its workers while it goes on, shared pages counted once (PSS)."""
    source = corpus(given.folder / "long.conllu", given.sentences, given.words)
    shutil.rmtree(given.folder / "memory", ignore_errors=True)
    job = job_file(given.folder, "memory", source, shard_size=given.shard_size, workers=given.workers)
    begin = time.perf_counter()
    process = start(job)
    marks = [n for n in (10_000, 30_000, 100_000, 300_000, 1_000_000) if n <= given.sentences]
    seen: list[tuple[int, float]] = []
    while process.poll() is None:
        time.sleep(0.5)
        done = given.shard_size * len(list((given.folder / "memory").glob("0*.conllu")))
        megabytes = sum(map(pss, [process.pid, *children(process.pid)]))
        if megabytes:
            seen.append((done, megabytes))
        while marks and done >= marks[0]:
            print(f"{marks[0]:>9,} sentences: {recent(seen):.1f} MiB ({time.perf_counter() - begin:.0f} s)", flush=True)
            marks.pop(0)
    if marks and seen:
        print(f"{marks[0]:>9,} sentences: {recent(seen):.1f} MiB ({time.perf_counter() - begin:.0f} s), at the end")


def recent(seen: list[tuple[int, float]]) -> float:
    """The largest of the last ten measurements."""
    return max(megabytes for _, megabytes in seen[-10:])


def children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def pss(pid: int) -> float:
    """MiB of a process, pages that it shares with others in proportion."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def ray(given: argparse.Namespace) -> None:
    """One and two workers of Ray and of the local engine, in turn; answers per second without the time to start."""
    from zerogap.batch import load_job, run

    source = corpus(given.folder / "ray.conllu", given.sentences, given.words)
    rates: dict[tuple[str, int], list[float]] = {}
    for turn in range(given.turns):
        for engine in ("local", "ray"):
            for workers in (1, 2):
                name = f"{engine}-{workers}"
                shutil.rmtree(given.folder / name, ignore_errors=True)
                job = load_job(job_file(given.folder, name, source, shard_size=given.shard_size, workers=workers, engine=engine))
                moments: list[tuple[float, int]] = []
                run(job, report=lambda progress, moments=moments: moments.append((time.perf_counter(), progress.answered)))  # type: ignore[misc]
                first = moments[len(moments) // 5]  # workers load the model at first
                rates.setdefault((engine, workers), []).append((moments[-1][1] - first[1]) / (moments[-1][0] - first[0]))
                print(f"turn {turn + 1}, {engine}, {workers} workers: {rates[engine, workers][-1]:,.0f} sentences per second", flush=True)
    for engine in ("local", "ray"):
        ratios = sorted(two / one for one, two in zip(rates[engine, 1], rates[engine, 2], strict=True))
        shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        print(f"{engine}: 2 workers against 1: {ratios[len(ratios) // 2]:.2f} (median of {len(ratios)}: {shown})")
    for name in ("local-2", "ray-1", "ray-2"):
        files, different = same_files(given.folder / "local-1", given.folder / name)
        print(f"local-1 and {name}: {files} files, different: {different or 'none'}")


def costs(given: argparse.Namespace) -> None:
    """CPU time of one thread for every step of a job, and what 10^8 sentences on 100 machines of 32 cores would take."""
    import pickle

    from zerogap.batch.chunks import Position, chunks_of
    from zerogap.batch.tasks import ParseTask
    from zerogap.batch.worker import Order, Worker

    source = corpus(given.folder / "costs.conllu", given.sentences, given.words)
    solver = ParseTask().load("conllu")
    clock = time.process_time
    begin = clock()
    chunks = list(chunks_of(str(source), 0, format="conllu", begin=Position(), shard_size=10_000))
    cutting = clock() - begin
    begin = clock()
    n = sum(1 for chunk in chunks for _ in solver.entries(chunk.piece))
    reading = clock() - begin
    worker = Worker(solver, 60.0)
    worker(Order(chunks[0]))
    begin = clock()
    outcomes = [worker(Order(chunk)) for chunk in chunks]
    working = clock() - begin
    begin = clock()
    sent = sum(len(pickle.loads(pickle.dumps((Order(chunk), outcome)))[1].text) for chunk, outcome in zip(chunks, outcomes, strict=True))
    sending = clock() - begin
    begin = clock()
    with open(given.folder / "costs.out", "wb") as file:
        for outcome in outcomes:
            assert outcome is not None
            file.write(outcome.text.encode())
        file.flush()
        os.fsync(file.fileno())
    writing = clock() - begin
    print(f"{n:,} sentences, {sent / n:,.0f} characters each")
    for name, seconds in (("cut by the driver", cutting), ("sent and taken", sending), ("written by the driver", writing)):
        print(f"{name:>22}: {1e6 * seconds / n:9.1f} us per sentence")
    print(f"{'read by a worker':>22}: {1e6 * reading / n:9.1f} us per sentence (part of the next)")
    print(f"{'parsed by a worker':>22}: {1e6 * working / n:9.1f} us per sentence")
    driver = (cutting + sending + writing) / n
    cores = 100 * 32
    print(f"10^8 sentences: {1e8 * working / n / 3600:,.1f} core hours; {1e8 * working / n / cores / 60:,.1f} minutes on {cores:,} cores;")
    print(f"one driver for all: {1e8 * driver / 3600:,.1f} hours; a driver on each of 100 machines: {1e6 * driver / 60:,.1f} minutes")
    print(f"one driver keeps {working / n / driver:,.0f} workers busy")


MODES = {"kill": kill, "memory": memory, "ray": ray, "costs": costs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=MODES)
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--words", type=int, default=1000, help="of the longest sentence")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--shard-size", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/zerogap-batch"))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    MODES[given.mode](given)


if __name__ == "__main__":
    main()
