"""Chunks to workers and outcomes back in order: few chunks are in memory at a time, and lost or stuck workers are replaced.

A chunk whose worker was lost, or answered nothing in time, is given out again entry by entry. An entry that ends its worker twice is
recorded as an error. So a job gets by with workers that are killed, and with records that crash compiled code.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from zerogap.batch.chunks import Chunk
from zerogap.batch.engines import Engine
from zerogap.batch.worker import Order, Outcome, error_line
from zerogap.relax.processes import WorkerLost

AHEAD = 8  # chunks for every worker that wait, or wait behind a slow one to be taken away
GRACE = 10.0  # seconds after which a worker that should have ended an order by itself is ended
ATTEMPTS = 2  # of an entry
MOST_LOST = 1000  # workers in a row that answered nothing: something else is wrong


@dataclass(slots=True, eq=False)
class Slot:
    """A chunk on its way, and what came of it so far."""

    chunk: Chunk
    alone: int | None = None  # the entry that is next, when they go out one by one
    attempts: int = 0
    found: Outcome = field(default_factory=Outcome)
    is_done: bool = False
    deadline: float = float("inf")

    def take(self, outcome: Outcome | None) -> None:
        """Of the whole chunk, or of the entry that is next; None if there is none."""
        if self.alone is None or outcome is None:
            self.found = outcome or self.found
            self.is_done = True
        else:
            self.found = self.found.then(outcome)
            self.alone, self.attempts = self.alone + 1, 0

    def lose(self, reason: str) -> None:
        """Its worker is gone."""
        if self.alone is None:
            self.alone, self.attempts = 0, 0
            return
        self.attempts += 1
        if self.attempts == ATTEMPTS:
            error = error_line(self.chunk.piece.path, self.chunk.piece.line, "WorkerLost", f"entry {self.alone + 1} from here: {reason}")
            self.take(Outcome(errors=error, failures=1))


def in_order(engine: Engine, chunks: Iterator[Chunk], *, limit: float | None) -> Iterator[tuple[Chunk, Outcome]]:
    """The outcomes of chunks in their order. An error of the stream of chunks is raised after those before it have their outcomes."""
    free: list[Any] = []
    busy: dict[Any, Slot] = {}
    slots: deque[Slot] = deque()
    again: deque[Slot] = deque()
    failure: Exception | None = None
    is_over = False
    lost = 0
    while True:
        while (again or not is_over) and len(busy) < engine.workers:
            if again:
                slot = again.popleft()
            elif len(slots) < AHEAD * engine.workers:
                try:
                    chunk = next(chunks, None)
                except Exception as error:
                    chunk, failure = None, error
                if chunk is None:
                    is_over = True
                    break
                slot = Slot(chunk)
                slots.append(slot)
            else:
                break
            hand = free.pop() if free else engine.start()
            try:
                hand.send(Order(slot.chunk, slot.alone))
            except WorkerLost:
                hand.end()
                again.appendleft(slot)
                continue
            if limit is not None:
                slot.deadline = time.monotonic() + limit + GRACE  # a whole chunk that takes longer goes entry by entry, and loses nothing
            busy[hand] = slot
        if not busy:
            break
        first = min(slot.deadline for slot in busy.values())
        ready = engine.ready(list(busy), None if first == float("inf") else max(first - time.monotonic(), 0.0))
        for hand in ready:
            slot = busy.pop(hand)
            try:
                slot.take(hand.outcome())
            except WorkerLost as error:
                lost += 1
                if lost > MOST_LOST:
                    raise
                hand.end()
                slot.lose(str(error))
            else:
                lost = 0
                free.append(hand)
            if not slot.is_done:
                again.append(slot)
        now = time.monotonic()
        for hand, slot in [pair for pair in busy.items() if pair[1].deadline <= now]:
            del busy[hand]
            hand.end()
            slot.lose(f"took longer than its limit of {limit:g} seconds.")
            again.append(slot)
        while slots and slots[0].is_done:
            slot = slots.popleft()
            yield slot.chunk, slot.found
    if failure is not None:
        raise failure
