"""Engines run the work: processes of this machine, or actors of a Ray cluster. Both are given chunks and answer with outcomes; all else
is the scheduler's, which is the same for both."""

from __future__ import annotations

import logging
import multiprocessing
import pickle
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol

from zerogap.errors import InputError, UnknownMethod
from zerogap.relax.parallel import can_fork
from zerogap.relax.processes import WorkerLost, work

ENGINES = ("local", "ray")

Function = Callable[[Any], Any]
Loader = Callable[[], Function]  # what workers do, loaded where they are


class Hand(Protocol):
    """A worker as the scheduler sees it: it has at most one order at a time."""

    def send(self, order: Any) -> None: ...

    def outcome(self) -> Any:
        """What came of the order, once it is ready. WorkerLost if there is nobody to answer."""

    def end(self) -> None: ...


class Engine(Protocol):
    workers: int

    def start(self) -> Any: ...

    def ready(self, hands: Sequence[Any], timeout: float | None) -> list[Any]:
        """Those that can answer, or are lost; none if the time is over before."""

    def close(self) -> None: ...


def engine_of(name: str, load: Loader, workers: int, address: str | None = None) -> Engine:
    if name == "local":
        return LocalEngine(load, workers)
    if name == "ray":
        return RayEngine(load, workers, address)
    raise UnknownMethod("engine", name, ENGINES)


class LocalEngine:
    """Processes that are forked when the model is there: they share its memory and what was compiled. Elsewhere each loads it."""

    def __init__(self, load: Loader, workers: int) -> None:
        self.workers = workers
        self.context: Any = multiprocessing.get_context("fork" if can_fork() else "spawn")
        self.function: Function = load() if can_fork() else Loading(load)
        self.hands: list[LocalHand] = []

    def start(self) -> LocalHand:
        ours, theirs = self.context.Pipe()
        others = [ours, *(hand.connection for hand in self.hands)] if can_fork() else []
        process = self.context.Process(target=work, args=(self.function, theirs, others), daemon=True)
        process.start()
        theirs.close()
        hand = LocalHand(self, ours, process)
        self.hands.append(hand)
        return hand

    def ready(self, hands: Sequence[LocalHand], timeout: float | None) -> list[LocalHand]:
        by_connection = {hand.connection: hand for hand in hands}
        return [by_connection[connection] for connection in wait(list(by_connection), timeout)]  # type: ignore[index]

    def close(self) -> None:
        for hand in list(self.hands):
            hand.end()


class Loading:
    """Loads its function when the first order comes."""

    def __init__(self, load: Loader) -> None:
        self.load = load
        self.function: Function | None = None

    def __call__(self, order: Any) -> Any:
        if self.function is None:
            self.function = self.load()
        return self.function(order)


class LocalHand:
    def __init__(self, engine: LocalEngine, connection: Connection, process: Any) -> None:
        self.engine, self.connection, self.process = engine, connection, process

    def send(self, order: Any) -> None:
        try:
            self.connection.send_bytes(pickle.dumps([order], protocol=pickle.HIGHEST_PROTOCOL))
        except OSError:
            raise WorkerLost("a process of the job has ended.") from None

    def outcome(self) -> Any:
        try:
            found, error = pickle.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            raise WorkerLost("a process of the job has ended.") from None
        if error is not None:
            raise error
        return found[0]

    def end(self) -> None:
        """At once, whatever it does."""
        self.connection.close()
        self.process.kill()
        self.process.join()
        self.engine.hands.remove(self)


class RayEngine:
    """Actors that load the task themselves. `address` is that of a cluster; without it, Ray is started on this machine."""

    def __init__(self, load: Loader, workers: int, address: str | None) -> None:
        try:
            import ray
        except ImportError:
            raise InputError("engine is 'ray', which is not installed: expected 'local', or pip install ray.") from None
        load()  # what is wrong with it is said here, and not by an actor
        self.ray, self.load, self.workers = ray, load, workers
        self.began = not ray.is_initialized()
        if self.began:
            local = {"num_cpus": workers, "include_dashboard": False} if address is None else {"address": address}
            ray.init(logging_level=logging.ERROR, log_to_driver=False, **local)
        self.actor = ray.remote(num_cpus=1, max_restarts=0)(Loading)

    def start(self) -> RayHand:
        return RayHand(self.ray, self.actor.remote(self.load))

    def ready(self, hands: Sequence[RayHand], timeout: float | None) -> list[RayHand]:
        by_answer = {hand.answer: hand for hand in hands}
        found, _ = self.ray.wait(list(by_answer), num_returns=1, timeout=timeout)
        return [by_answer[answer] for answer in found]

    def close(self) -> None:
        if self.began:
            self.ray.shutdown()


class RayHand:
    def __init__(self, ray: Any, actor: Any) -> None:
        self.ray, self.actor = ray, actor
        self.answer: Any = None

    def send(self, order: Any) -> None:
        self.answer = self.actor.__call__.remote(order)

    def outcome(self) -> Any:
        try:
            return self.ray.get(self.answer)
        except self.ray.exceptions.RayActorError:
            raise WorkerLost("an actor of the job has ended.") from None

    def end(self) -> None:
        self.ray.kill(self.actor)
