"""Workers that are late, lost or too few: the pool goes on, and every request has an answer."""

import asyncio
import os
import time
from contextlib import asynccontextmanager

import pytest

from zerogap.serve import nursery, pool
from zerogap.serve.limits import LimitExceeded, Limits
from zerogap.serve.worker import MORE, REQUEST, read, send


def work(connection):
    """Does what the body says: sleeps, dies, tells steps, or answers."""
    try:
        while True:
            size, _ = REQUEST.unpack(read(connection, REQUEST.size))
            word, _, rest = bytes(read(connection, size)).decode().partition(" ")
            if word == "sleep":
                time.sleep(float(rest))
            if word == "die":
                os._exit(9)
            if word == "tell":
                for i in range(int(rest)):
                    send(connection, MORE, f"step {i}".encode())
            send(connection, 200, str(os.getpid()).encode())
    except EOFError:
        pass


@asynccontextmanager
async def pooled(*, regular=1, most=3, seconds=0.5, concurrency=10):
    limits = Limits(seconds=seconds, concurrency=concurrency)
    found = pool.Pool(nursery.start(work), limits, regular, most)
    await found.open()
    try:
        yield found
    finally:
        found.close()


def run(test):
    asyncio.run(asyncio.wait_for(test(), 30))


def test_one_worker_answers_one_after_the_other():
    async def test():
        async with pooled() as workers:
            answers = [await workers.answer("parse", b"go") for _ in range(20)]
            assert len(set(answers)) == 1
            assert workers.hired == workers.size == 1

    run(test)


def test_steps_come_before_the_answer():
    async def test():
        async with pooled() as workers:
            found = [message async for message in workers.messages("watch", b"tell 5")]
            assert [status for status, _ in found] == [MORE] * 5 + [200]
            assert found[4][1] == b"step 4"

    run(test)


def test_a_late_worker_is_ended_and_replaced(monkeypatch):
    monkeypatch.setattr(pool, "GRACE", 0.1)

    async def test():
        async with pooled() as workers:
            _, before = await workers.answer("parse", b"go")
            with pytest.raises(LimitExceeded) as error:
                await workers.answer("parse", b"sleep 60")
            assert error.value.limit == "seconds"
            _, after = await workers.answer("parse", b"go")
            assert before != after
            assert not os.path.exists(f"/proc/{int(before)}")
            assert (workers.ended, workers.lost, workers.size) == (1, 0, 1)

    run(test)


def test_a_lost_worker_is_replaced():
    async def test():
        async with pooled() as workers:
            status, _ = await workers.answer("parse", b"die")
            assert status == 500
            assert (await workers.answer("parse", b"go"))[0] == 200
            assert (workers.ended, workers.lost, workers.size) == (0, 1, 1)

    run(test)


def test_short_requests_do_not_wait_for_long_ones(monkeypatch):
    monkeypatch.setattr(pool, "LINGER", 0.1)

    async def test():
        async with pooled(seconds=5.0) as workers:
            slow = asyncio.create_task(workers.answer("parse", b"sleep 1.5"))
            await asyncio.sleep(0.01)
            begin = time.monotonic()
            assert (await workers.answer("parse", b"go"))[0] == 200
            assert time.monotonic() - begin < 1.0
            assert workers.hired == 2
            await slow
            await asyncio.sleep(0.2)
            assert workers.size == 1  # it was not needed any more

    run(test)


def test_there_are_never_more_than_the_most(monkeypatch):
    monkeypatch.setattr(pool, "LONG", 0.01)

    async def test():
        async with pooled(most=3, seconds=5.0) as workers:
            asked = [asyncio.create_task(workers.answer("parse", b"sleep 0.3")) for _ in range(9)]
            sizes = []
            while not all(task.done() for task in asked):
                sizes.append(workers.size)
                await asyncio.sleep(0.02)
            assert max(sizes) <= 3
            assert {task.result()[0] for task in asked} == {200}

    run(test)


def test_who_waits_too_long_is_turned_away():
    async def test():
        async with pooled(most=1, seconds=0.2) as workers:
            slow = asyncio.create_task(workers.answer("parse", b"sleep 0.6"))
            await asyncio.sleep(0.01)
            with pytest.raises(LimitExceeded) as error:
                await workers.answer("parse", b"go")
            assert error.value.limit == "concurrency"
            assert error.value.status == 429
            assert (await slow)[0] == 200
            assert (await workers.answer("parse", b"go"))[0] == 200

    run(test)


def test_a_request_that_nobody_waits_for_is_ended():
    async def test():
        async with pooled(seconds=20.0) as workers:
            slow = asyncio.create_task(workers.answer("parse", b"sleep 60"))
            await asyncio.sleep(0.05)
            slow.cancel()
            with pytest.raises(asyncio.CancelledError):
                await slow
            assert (await workers.answer("parse", b"go"))[0] == 200
            assert workers.size == 1

    run(test)


def test_who_leaves_while_a_worker_is_hired():
    """What the nursery answers then belongs to that worker, not to the next."""

    async def test():
        async with pooled(regular=1, most=4, seconds=20.0) as workers:
            slow = [asyncio.create_task(workers.answer("parse", b"sleep 60")) for _ in range(3)]
            for wait in (0.3, 0.001, 0.002, 0.005):  # the second and third wait for workers that are being hired
                await asyncio.sleep(wait)
            for task in slow:
                task.cancel()
            await asyncio.gather(*slow, return_exceptions=True)
            found = {int((await workers.answer("parse", b"go"))[1]) for _ in range(5)}
            assert found <= {worker.pid for worker in (*workers.free, *workers.busy)}
            for worker in workers.free:
                worker.ask("parse", b"go")
                assert (await worker.link.messages.get())[1] == str(worker.pid).encode()

    run(test)
