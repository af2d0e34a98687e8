"""Before a request reaches its task: who may ask, from where, and how many at once; after it, what browsers should know, and the count.

Requests by other sites, which a browser would send without asking, are refused: their names are not ours (a site may claim that its name
is this address), and JSON is not what a form can send.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from zerogap.serve.limits import LimitExceeded, Limits, body_too_large, too_many_requests
from zerogap.serve.metrics import Metrics
from zerogap.serve.starting import OK, RETRY_AFTER, Starting
from zerogap.serve.worker import refusal

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Callable[[], Awaitable[Message]], Send], Awaitable[None]]

HOST = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::[0-9]+)?")  # a name and perhaps a port
OPEN = ("/", "/docs", "/openapi.json", "/health")  # nobody needs a token for these, nor for the files of the page
FILES = "/page/"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
]
JSON, LINES = "application/json", "application/x-ndjson"


@dataclass(slots=True, eq=False)
class Guard:
    app: App
    limits: Limits
    metrics: Metrics
    token: str | None = None
    local_names_only: bool = True  # the server answers under no other name
    paths: frozenset[str] = frozenset()  # of tasks
    starting: Starting | None = None

    async def __call__(self, scope: MutableMapping[str, Any], receive: Callable[[], Awaitable[Message]], send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin, status = time.perf_counter(), 500
        is_task = scope["method"] == "POST" and scope["path"] in self.paths

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        self.metrics.active += is_task
        try:
            refused = self.refused(scope, is_task)
            if refused is None:
                await self.app(scope, receive, sent)
            else:
                await answered(refused[0], refused[1], sent)
        finally:
            self.metrics.active -= is_task
            route = scope.get("route")
            self.metrics.count(getattr(route, "path", "other"), status, time.perf_counter() - begin)

    def refused(self, scope: MutableMapping[str, Any], is_task: bool) -> tuple[int, bytes] | None:
        """The answer to what is not let in."""
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        if self.local_names_only and not is_local(host):
            expected = "expected localhost or 127.0.0.1"
            return 421, refusal("WrongHost", f"this server is asked for under the name {host[:100]!r}: {expected}, or --host at its start.")
        path = scope["path"]
        if (
            self.token is not None
            and path not in OPEN
            and not path.startswith(FILES)
            and not self.is_token(headers.get(b"authorization", b""))
        ):
            return 401, refusal("Unauthorized", "expected the header 'Authorization: Bearer TOKEN' with the token of this server.")
        if not is_task:
            return None
        if self.starting is not None and self.starting.status != OK:
            return 503, refusal("NotReady", self.starting.message())
        kind = headers.get(b"content-type", b"").decode("latin-1").split(";")[0].strip().lower()
        is_batch = path.endswith("/batch")
        wanted = LINES if is_batch else JSON
        if kind != wanted:
            return 415, refusal("UnsupportedMediaType", f"the content type is {kind[:100] or 'not given'!r}: expected {wanted!r}.")
        length = headers.get(b"content-length", b"")
        if not is_batch and length.isdigit() and int(length[:20]) > self.limits.body:
            return self.beyond(body_too_large(self.limits))
        if self.metrics.active > self.limits.concurrency:
            return self.beyond(too_many_requests(self.limits))
        return None

    def beyond(self, error: LimitExceeded) -> tuple[int, bytes]:
        self.metrics.refused[error.limit] += 1
        return error.status, refusal("LimitExceeded", str(error), error.limit)

    def is_token(self, header: bytes) -> bool:
        """Compared in a time that does not depend on how much is right."""
        scheme, _, given = header.partition(b" ")
        return hmac.compare_digest(given.strip(), (self.token or "").encode()) and scheme.lower() == b"bearer"


def is_local(host: str) -> bool:
    """Whether the name that a client asked for, with or without a port, is this machine's own."""
    found = HOST.fullmatch(host.lower())
    if found is None:
        return False
    name = found[1].strip("[]")
    return name == "localhost" or name.endswith(".localhost") or is_loopback(name)


def is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


async def answered(status: int, body: bytes, send: Send) -> None:
    headers = [(b"content-type", JSON.encode()), (b"content-length", str(len(body)).encode())]
    more = {401: [(b"www-authenticate", b"Bearer")], 429: [(b"retry-after", b"1")], 503: [(b"retry-after", str(RETRY_AFTER).encode())]}.get(
        status, []
    )
    close = [(b"connection", b"close")] if status in (413, 415, 421, 429, 503) else []  # the body that follows is not read
    await send({"type": "http.response.start", "status": status, "headers": headers + more + close})
    await send({"type": "http.response.body", "body": body})
