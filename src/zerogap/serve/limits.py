"""Limits of a single request. Whatever is beyond a limit is answered by a 4xx that says which."""

from __future__ import annotations

from dataclasses import dataclass, fields

from zerogap.errors import InputError

MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """All are numbers above 0."""

    body: int = MEGABYTE  # bytes of a request, or of a line of a batch
    batch: int = 16 * MEGABYTE  # bytes of a batch
    words: int = 200  # of a sentence
    seconds: float = 10.0  # of work on one request; decoders are told to end before
    concurrency: int = 64  # requests at once: more are turned away
    memory: int = 2048 * MEGABYTE  # bytes that a worker may take beside the models

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
                raise InputError(f"{entry.name} is {value!r}: expected a number above 0.")


class LimitExceeded(Exception):
    """A request is beyond a limit. `status` is that of the answer."""

    def __init__(self, limit: str, message: str, status: int = 422) -> None:
        self.limit, self.status = limit, status
        super().__init__(message)


def too_many_words(n: int, limits: Limits, what: str = "the sentence") -> LimitExceeded:
    return LimitExceeded("words", f"{what} has {n:,} words: expected at most {limits.words:,} (--max-words).")


def body_too_large(limits: Limits, what: str = "the body") -> LimitExceeded:
    return LimitExceeded("body", f"{what} has more than {limits.body:,} bytes: expected no more (--max-body).", 413)


def batch_too_large(limits: Limits) -> LimitExceeded:
    return LimitExceeded("batch", f"the batch has more than {limits.batch:,} bytes: expected no more (--max-batch).", 413)


def body_too_slow(limits: Limits) -> LimitExceeded:
    return LimitExceeded("seconds", f"the body did not arrive within {limits.seconds:g} seconds (--max-seconds).", 408)


def took_too_long(limits: Limits) -> LimitExceeded:
    message = f"this took more than {limits.seconds:g} seconds, and was ended: expected less work in one request (--max-seconds)."
    return LimitExceeded("seconds", message)


def too_many_requests(limits: Limits) -> LimitExceeded:
    return LimitExceeded("concurrency", f"{limits.concurrency:,} requests are in progress: try again soon (--max-requests).", 429)


def out_of_memory(limits: Limits) -> LimitExceeded:
    message = f"this needs more than {limits.memory // MEGABYTE:,} MB of memory: expected a smaller problem (--max-memory)."
    return LimitExceeded("memory", message)
