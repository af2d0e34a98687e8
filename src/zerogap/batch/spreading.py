"""A function over a few large items by the workers of an engine: shards of a training, again and again with the same workers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any

from zerogap.batch.engines import engine_of
from zerogap.relax.processes import WorkerLost

ATTEMPTS = 3  # of an item whose worker was lost


def spread_over(engine: str, workers: int, address: str | None = None) -> Callable[[Callable[[Any], Any]], AbstractContextManager[Any]]:
    """What gives a function of items that are done by so many workers: `with spread_over("local", 2)(function) as over: over(items)`."""

    @contextmanager
    def spread(function: Callable[[Any], Any]) -> Iterator[Callable[[Sequence[Any]], list[Any]]]:
        with closing(engine_of(engine, Constant(function), workers, address)) as made:
            free: list[Any] = []

            def over(items: Sequence[Any]) -> list[Any]:
                found: dict[int, Any] = {}
                waiting, attempts = deque(range(len(items))), [0] * len(items)
                busy: dict[Any, int] = {}
                while waiting or busy:
                    while waiting and len(busy) < workers:
                        hand, i = free.pop() if free else made.start(), waiting.popleft()
                        hand.send(items[i])
                        busy[hand] = i
                    for hand in made.ready(list(busy), None):
                        i = busy.pop(hand)
                        try:
                            found[i] = hand.outcome()
                            free.append(hand)
                        except WorkerLost:
                            hand.end()
                            attempts[i] += 1
                            if attempts[i] == ATTEMPTS:
                                raise
                            waiting.appendleft(i)
                return [found[i] for i in range(len(items))]

            yield over

    return spread


class Constant:
    """Loads what it was made of."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self) -> Any:
        return self.value
