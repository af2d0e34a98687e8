"""Threads change nothing: not the order, not what comes before an error; and they do not run far ahead."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.errors import InputError
from zerogap.relax.parallel import AHEAD, CHUNK, LARGE_CHUNK, can_fork, mapped, mapped_together
from zerogap.relax.processes import WorkerLost

forking = pytest.mark.skipif(not can_fork(), reason="this system cannot fork safely")


@given(st.integers(0, 60), st.integers(1, 4))
def test_as_map_does(n, threads):
    assert list(mapped(lambda x: x * x, range(n), threads)) == [x * x for x in range(n)]


@forking
@pytest.mark.parametrize("processes", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_items_together(threads, processes):
    for n in (0, 1, 5, 6, 23):
        found = list(mapped_together(lambda some: [(x, len(some)) for x in some], range(n), 5, threads, processes=processes))
        assert found == [(x, min(5, n - x // 5 * 5)) for x in range(n)]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("last", [0, 3, CHUNK, CHUNK + 1, 5 * CHUNK + 2])
def test_what_comes_before_an_error_of_the_stream_is_there(threads, last):
    def numbers():
        yield from range(last)
        raise InputError("here")

    found = []
    with pytest.raises(InputError, match="here"):
        found.extend(iter_into(found, mapped(str, numbers(), threads)))
    assert found == [str(x) for x in range(last)]


def iter_into(found, results):
    for result in results:
        found.append(result)
    return []


def test_an_error_of_the_function_is_raised():
    with pytest.raises(ZeroDivisionError):
        list(mapped(lambda x: 1 // (x - 30), range(100), 2))


def test_little_is_in_memory():
    taken = 0

    def numbers():
        nonlocal taken
        while True:
            taken += 1
            yield taken

    for i, _ in enumerate(mapped(lambda x: x, numbers(), 2)):
        assert taken <= i + (2 * AHEAD + 1) * CHUNK
        if i == 500:
            break


def test_threads_work_at_once():
    both = threading.Barrier(2, timeout=20)

    def wait(x):
        if x in (0, CHUNK):  # the first of two chunks
            both.wait()
        return x

    assert list(mapped(wait, range(3 * CHUNK), 2)) == list(range(3 * CHUNK))


def test_leaving_early_ends_the_threads():
    before = threading.active_count()
    results = mapped(lambda x: time.sleep(0.001), range(1000), 2)
    next(results)
    results.close()
    assert threading.active_count() == before


@pytest.mark.parametrize("threads", [0, -1, True, 1.5, "2"])
def test_threads_that_are_none(threads):
    with pytest.raises(InputError, match="threads is .*: expected a positive integer"):
        mapped(str, [], threads)


@forking
@pytest.mark.parametrize("n", [0, 1, LARGE_CHUNK, 5 * LARGE_CHUNK + 3])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_processes_change_nothing(n, threads):
    assert list(mapped(lambda x: x * x, range(n), threads, processes=True)) == [x * x for x in range(n)]
    assert not multiprocessing.active_children()


@forking
def test_processes_work_apart():
    found = set(mapped(lambda x: (time.sleep(0.001), os.getpid())[1], range(8 * LARGE_CHUNK), 2, processes=True))
    assert len(found) == 2
    assert os.getpid() not in found


@forking
def test_errors_of_processes():
    with pytest.raises(ZeroDivisionError):
        list(mapped(lambda x: 1 // (x - 30), range(100), 2, processes=True))

    class Odd(Exception):
        def __init__(self, a, b):
            super().__init__("odd")

    def fail(x):
        raise Odd(1, 2)

    with pytest.raises(RuntimeError, match="Odd: odd"):
        list(mapped(fail, range(100), 2, processes=True))
    with pytest.raises(WorkerLost, match="has ended"):
        list(mapped(lambda x: os._exit(1), range(100), 2, processes=True))
    assert not multiprocessing.active_children()


@forking
def test_leaving_early_ends_the_processes():
    results = mapped(lambda x: x, range(10_000), 2, processes=True)
    next(results)
    results.close()
    assert not multiprocessing.active_children()


@forking
def test_processes_end_with_their_parent():
    program = """
import os, sys, time
from zerogap.relax.parallel import mapped
results = mapped(lambda x: os.getpid(), iter(int, 1), 2, processes=True)
print(len(set(next(results) for _ in range(5000))), next(results), flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        _, worker = map(int, parent.stdout.readline().split())
        os.kill(worker, 0)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        for _ in range(200):
            if state_of(worker) in ("gone", "Z"):
                break
            time.sleep(0.05)
        else:
            pytest.fail("the worker is still there")


def state_of(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return "gone"
