"""Fuzzing of file readers: mutated files must be read or refused with a ZerogapError, at once and without much memory.

    python -m zerogap.testing.fuzz_readers --minutes 10
    python -m zerogap.testing.fuzz_readers --minutes 60 --engine atheris --readers "conllu,arpa"

The own engine keeps inputs that bring a reader to say something new (numbers and names taken out) and mutates them further: what a
reader says tells where in it one is, at no cost. `atheris` measures the coverage of the code itself (an extra). What fails is shrunk and
saved; counts are added to `reader_counts.jsonl`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import mmap
import random
import re
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zerogap.errors import ZerogapError
from zerogap.testing.mutations import mutated
from zerogap.testing.readers import LONGEST, Reader, readers

CPU_SECONDS = 5.0  # then a reader hangs
MEMORY = 8 << 30  # bytes that a process may use
MOST_KEPT = 2000  # inputs of a reader
SHRINKING = 20.0  # seconds of CPU
TURN = 2000  # inputs to a reader before the next one has its turn
PLACES = re.compile(r"'(?:[^'\\]|\\.)*'|\"[^\"]*\"|[0-9.e+-]+|\[[^]]*\]")

MEASURED = ("zerogap.io", "zerogap.text", "zerogap.archive", "zerogap.testing.readers", "zerogap.testing.reader_seeds")


class Hang(BaseException):
    """A reader took too long."""


@dataclass(slots=True)
class Pool:
    """The inputs of a reader that are worth mutating, those that it read, and what it said to the others."""

    inputs: list[bytes]
    good: list[bytes]
    said: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Tally:
    inputs: Counter[str] = field(default_factory=Counter)
    read: Counter[str] = field(default_factory=Counter)  # not refused
    findings: dict[tuple[str, ...], str] = field(default_factory=dict)  # by reader, kind of error and place
    begin: float = field(default_factory=time.perf_counter)
    stopped: bool = False  # by a signal: what was done so far counts

    def as_json(self) -> dict[str, Any]:
        return {
            "inputs": sum(self.inputs.values()), "read": sum(self.read.values()), "findings": len(self.findings),
            "seconds": round(time.perf_counter() - self.begin, 1), "by_reader": dict(self.inputs),
        }  # fmt: skip

    def __str__(self) -> str:
        seconds, total = time.perf_counter() - self.begin, sum(self.inputs.values())
        speed = f"{seconds / 60:.1f} minutes, {total / seconds:,.0f} per second"
        return f"{total:,} inputs, {sum(self.read.values()):,} of them read, {len(self.findings)} findings ({speed})"


def outcome(reader: Reader, data: bytes) -> tuple[str, ...] | str | None:
    """None if it was read, what was said if it was refused; kind and place of an error that is none of ours."""
    try:
        reader.read(data)
    except ZerogapError as error:
        return str(error)
    except (Exception, Hang) as error:
        frames = [
            frame for frame in traceback.extract_tb(error.__traceback__) if "zerogap" in frame.filename and "testing" not in frame.filename
        ]
        place = f"{Path(frames[-1].filename).name}:{frames[-1].name}:{frames[-1].lineno}" if frames else "?"
        return type(error).__name__, place
    return None


def run(
    names: Sequence[str],
    *,
    seed: int = 0,
    seconds: float | None = None,
    inputs: int | None = None,
    save: Path | None = None,
    report: bool = False,
    tally: Tally | None = None,
) -> Tally:
    """Gives the readers mutated inputs in turn, until the time is over or as many were given."""
    known = readers()
    pools = {name: Pool(list(known[name].seeds), list(known[name].seeds)) for name in names}
    tally, rng = Tally() if tally is None else tally, random.Random(seed)
    for name in names:
        for data in known[name].seeds:
            said = outcome(known[name], data)
            if isinstance(said, tuple):
                note(tally, name, known[name], data, said, save)
    noted, total = time.perf_counter(), 0
    with limited(), last_input(save) as last:
        for name in turns(names):
            if tally.stopped:
                break
            reader, pool = known[name], pools[name]
            read = 0
            for _ in range(TURN if inputs is None else min(TURN, inputs - total)):
                data = mutated(rng.choice(pool.good if rng.random() < 0.6 else pool.inputs), rng.choice(pool.inputs), reader, rng)
                last(data)
                signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
                said = outcome(reader, data)
                if said is None:
                    read += 1
                    said = "read"
                elif isinstance(said, tuple):
                    note(tally, name, reader, data, said, save)
                    continue
                shape = PLACES.sub("", said[:200])
                if shape not in pool.said and len(pool.inputs) < MOST_KEPT:
                    pool.said.add(shape)
                    pool.inputs.append(data)
                elif said == "read" and rng.random() < 0.01 and len(pool.good) < MOST_KEPT:
                    pool.good.append(data)
            given = TURN if inputs is None else min(TURN, inputs - total)
            total += given
            tally.inputs[name] += given
            tally.read[name] += read
            now = time.perf_counter()
            if (inputs is not None and total >= inputs) or (seconds is not None and now - tally.begin > seconds):
                break
            if report and now - noted > 60.0:
                noted = now
                print(tally, file=sys.stderr, flush=True)
    return tally


def turns(names: Sequence[str]) -> Iterator[str]:
    while True:
        yield from names


class limited:
    """Readers that take too much time or memory fail."""

    def __enter__(self) -> None:
        def hang(*_: object) -> None:
            raise Hang(f"more than {CPU_SECONDS:g} seconds")

        self.before = signal.signal(signal.SIGVTALRM, hang)
        self.memory = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, self.memory[1]))

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, self.before)
        resource.setrlimit(resource.RLIMIT_AS, self.memory)


class last_input:
    """The input that is being read, in a file: it is there even if the process dies of it."""

    def __init__(self, folder: Path | None) -> None:
        self.map: mmap.mmap | None = None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / "last_input.bin"
            path.write_bytes(b"\0" * (LONGEST + 16))
            with open(path, "r+b") as file:
                self.map = mmap.mmap(file.fileno(), LONGEST + 16)

    def __enter__(self) -> Any:
        return self.write

    def write(self, data: bytes) -> None:
        if self.map is not None:
            self.map[: len(data) + 5] = b"%04d " % len(data) + data

    def __exit__(self, *_: object) -> None:
        if self.map is not None:
            self.map.close()


def note(tally: Tally, name: str, reader: Reader, data: bytes, said: tuple[str, ...], save: Path | None) -> None:
    key = (name, *said)
    if key in tally.findings:
        return
    small = shrunk(reader, data, said)
    tally.findings[key] = f"{name}: {' in '.join(said)}: {small[:200]!r}"
    if save is not None:
        save.mkdir(parents=True, exist_ok=True)
        digest = hashlib.blake2b(repr(key).encode(), digest_size=4).hexdigest()
        (save / f"{name.replace(' ', '_').replace(',', '')}-{digest}.bin").write_bytes(small)
        with open(save / "reader_findings.txt", "a", encoding="utf-8") as file:
            file.write(tally.findings[key] + "\n")


def shrunk(reader: Reader, data: bytes, said: tuple[str, ...], most: int = 300) -> bytes:
    """Less of it that fails in the same way."""
    size, steps, begin = max(len(data) // 2, 1), 0, time.process_time()
    while size and steps < most:
        at = 0
        while at < len(data) and steps < most and time.process_time() - begin < SHRINKING:
            less = data[:at] + data[at + size :]
            steps += 1
            signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
            if outcome(reader, less) == said:
                data = less
            else:
                at += size
        size //= 2
    return data


def run_atheris(name: str, seconds: float, folder: Path, seed: int) -> None:
    """Coverage-guided, one reader; it does not come back, as libFuzzer ends the process."""
    import atheris

    for loaded in [module for module in sys.modules if module.startswith(MEASURED)]:
        del sys.modules[loaded]  # what is imported again is measured
    with atheris.instrument_imports(include=["zerogap.io", "zerogap.text", "zerogap.archive"]):
        reader = readers()[name]

    def one(data: bytes) -> None:
        with suppress(ZerogapError):
            reader.read(data)

    corpus = folder / f"corpus-{name.replace(' ', '_').replace(',', '')}"
    corpus.mkdir(parents=True, exist_ok=True)
    for i, data in enumerate(reader.seeds):
        (corpus / f"seed-{i}").write_bytes(data)
    options = [f"-max_total_time={int(seconds)}", f"-max_len={LONGEST}", "-timeout=10", f"-seed={seed + 1}", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], str(corpus), *options, f"-artifact_prefix={folder}/atheris-"], one)
    atheris.Fuzz()


def each_by_atheris(names: Sequence[str], minutes: float, folder: Path, seed: int) -> int:
    """All readers in turn, a process for each; returns 1 if one of them failed. What made it fail is in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    inputs, failed, begin = Counter[str](), list[str](), time.perf_counter()
    for name in names:
        options = [
            "--engine",
            "atheris",
            "--readers",
            name,
            "--minutes",
            str(minutes / len(names)),
            "--save",
            str(folder),
            "--seed",
            str(seed),
        ]
        done = subprocess.run([sys.executable, "-m", "zerogap.testing.fuzz_readers", *options], capture_output=True, text=True, check=False)
        count = re.search(r"^Done (\d+) runs", done.stderr, flags=re.MULTILINE)
        inputs[name] += int(count[1]) if count else 0
        if done.returncode:
            failed.append(name)
        print(f"{inputs[name]:>12,}  {'failed' if done.returncode else 'nothing found'}  {name}", flush=True)
    value = {"seed": seed, "engine": "atheris", "inputs": sum(inputs.values()), "findings": len(failed)}
    value |= {"seconds": round(time.perf_counter() - begin, 1), "by_reader": dict(inputs)}
    with open(folder / "reader_counts.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps(value) + "\n")
    return 1 if failed else 0


def main(arguments: Sequence[str] | None = None) -> int:
    names = list(readers())
    parser = argparse.ArgumentParser(prog="python -m zerogap.testing.fuzz_readers", description="Mutated files to every reader.")
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (1)")
    parser.add_argument("--inputs", type=int, help="stop after as many inputs")
    parser.add_argument("--readers", help="some readers, with ; between (all)")
    parser.add_argument("--seed", type=int, default=0, help="another one mutates otherwise (0)")
    parser.add_argument(
        "--engine", choices=("own", "atheris"), default="own", help="atheris does one reader after the other, each in a process (own)"
    )
    parser.add_argument("--save", type=Path, default=Path("findings"), help="folder for what fails, and for the counts (findings)")
    given = parser.parse_args(arguments)
    wanted = given.readers.split(";") if given.readers else names
    if given.engine == "atheris":
        if len(wanted) > 1:
            return each_by_atheris(wanted, given.minutes, given.save, given.seed)
        run_atheris(wanted[0], 60.0 * given.minutes, given.save, given.seed)
    for name in wanted:
        if name not in names:
            parser.error(f"reader {name!r} is not known: expected some of {'; '.join(names)}.")
    tally = Tally()
    signal.signal(signal.SIGTERM, lambda *_: setattr(tally, "stopped", True))
    run(wanted, seed=given.seed, seconds=60.0 * given.minutes, inputs=given.inputs, save=given.save, report=True, tally=tally)
    with open(given.save / "reader_counts.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps({"seed": given.seed, "engine": given.engine, **tally.as_json()}) + "\n")
    for name, count in sorted(tally.inputs.items()):
        print(f"{count:>12,}  {tally.read[name] / max(count, 1):>6.1%} read  {name}")
    for finding in tally.findings.values():
        print(finding)
    print(tally)
    return 1 if tally.findings else 0


if __name__ == "__main__":
    sys.exit(main())
