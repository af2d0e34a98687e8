"""The HTTP application: a route for every task and for batches of it, health, metrics, the page and the description of all that.

Bodies go to workers as they came, and answers back as workers wrote them. FastAPI routes and describes; it does not read JSON here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi
from fastapi.responses import StreamingResponse
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException

from zerogap import __version__
from zerogap.serve import forms
from zerogap.serve.batches import WhileReading, answers
from zerogap.serve.guard import FILES, JSON, LINES, Guard
from zerogap.serve.limits import LimitExceeded, Limits, body_too_large, body_too_slow
from zerogap.serve.metrics import CONTENT_TYPE, Metrics
from zerogap.serve.page_files import page_files
from zerogap.serve.starting import OK, RETRY_AFTER, Starting
from zerogap.serve.tasks import TASKS, Task
from zerogap.serve.worker import NOT_COMPILED, json_line, refusal

ABOUT = """Finds the best structure under a model, and proves that it is the best. Names are those of the Python API.

A request that cannot be answered gets a 4xx whose `error` says what was given and what is accepted; with `limit`, if it is beyond one.
Batches are lines of JSON, one request on each; answers come in the same order, as soon as they are there."""
REFERENCE = "#/components/schemas/{model}"
REFUSALS = {
    400: "The request is not HTTP as it should be.", 401: "No token, or a wrong one.", 404: "There is no model for this.",
    408: "The body came too slowly.", 413: "The body is too large.", 415: "The body is of another type.",
    421: "The server has another name.", 422: "The request is not what is accepted, or beyond a limit.", 429: "Too many requests at once.",
    503: "Kernels are being compiled, or models loaded: to be asked again soon.",
}  # fmt: skip


def application(starting: Starting, limits: Limits, *, token: str | None = None, local_names_only: bool = True) -> Guard:
    """Everything, behind its guard."""
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        beginning = asyncio.create_task(starting.begin())
        yield
        beginning.cancel()
        starting.close()

    app = FastAPI(title="zerogap", version=__version__, description=ABOUT, docs_url=None, redoc_url=None, lifespan=lifespan)
    for name, task in TASKS.items():
        add_task(app, name, task, starting, limits, metrics)
    add_status(app, starting, metrics, token is not None)
    add_page(app)
    app.add_exception_handler(LimitExceeded, beyond_limit(metrics))  # type: ignore[arg-type]  # it is given what it is for
    app.add_exception_handler(HTTPException, http_error)  # type: ignore[arg-type]
    app.openapi = lambda: described(app, secured=token is not None)  # type: ignore[method-assign]
    paths = frozenset(path for name in TASKS for path in (f"/{name}", f"/{name}/batch"))
    return Guard(app, limits, metrics, token, local_names_only, paths, starting)


def add_task(app: FastAPI, name: str, task: Task, starting: Starting, limits: Limits, metrics: Metrics) -> None:
    pool = starting.pool

    def answered(status: int, body: bytes) -> Response:
        if status != NOT_COMPILED:
            return Response(body, status, media_type=JSON)
        starting.compile_rest()
        return Response(refusal("NotReady", starting.message()), status, {"retry-after": str(RETRY_AFTER)}, JSON)

    async def answer(request: Request) -> Response:
        return answered(*await pool.answer(name, await read_body(request, limits)))

    async def steps(request: Request) -> Response:
        messages = pool.messages(name, await read_body(request, limits))
        status, first = await anext(messages)
        if status not in (0, 200):
            await messages.aclose()  # type: ignore[attr-defined]  # it is a generator
            return answered(status, first)
        return StreamingResponse(told(first, messages, starting), media_type=LINES)

    async def batch(request: Request) -> Response:
        return WhileReading(answers(request, name, starting, limits, metrics), media_type=LINES)

    refused: dict[Any, Any] = {status: {"model": forms.Refused, "description": text} for status, text in REFUSALS.items()}
    body = reference(task.request)
    lines: dict[str, Any] = {
        "description": "Lines of JSON, an answer or an `error` on each.",
        "content": {LINES: {"schema": {"type": "string"}}},
    }
    documented: dict[Any, Any] = {**refused, 200: lines if task.streams else {"model": task.answer}}
    app.add_api_route(
        f"/{name}", steps if task.streams else answer, methods=["POST"], summary=task.summary, operation_id=name, tags=["tasks"],
        responses=documented, response_class=Response, openapi_extra=request_body(JSON, body, task.request),
    )  # fmt: skip
    if not task.streams:
        whole = {"type": "string", "description": f"Lines of JSON, each a {task.request.__name__}."}
        app.add_api_route(
            f"/{name}/batch", batch, methods=["POST"], summary=f"Many requests for {name}, one on each line.", operation_id=f"{name}_batch",
            tags=["batches"], responses={**refused, 200: lines}, response_class=Response, openapi_extra=request_body(LINES, whole),
        )  # fmt: skip


def add_status(app: FastAPI, starting: Starting, metrics: Metrics, needs_token: bool) -> None:
    pool = starting.pool

    async def health() -> Response:
        found = {**starting.how_far(), "version": __version__, "workers": pool.size, "needs_token": needs_token, **starting.about}
        is_ready = starting.status == OK
        return Response(json_line(found), 200 if is_ready else 503, None if is_ready else {"retry-after": str(RETRY_AFTER)}, JSON)

    async def measured() -> Response:
        return Response(metrics.text(pool), media_type=CONTENT_TYPE)

    ok: dict[Any, Any] = {200: {"description": "The server works.", "content": {JSON: {"schema": {"type": "object"}}}}}
    text: dict[Any, Any] = {200: {"description": "In Prometheus' text format.", "content": {"text/plain": {"schema": {"type": "string"}}}}}
    refused: dict[Any, Any] = {status: {"model": forms.Refused, "description": REFUSALS[status]} for status in (400, 401, 421)}
    not_ready = {503: {"description": REFUSALS[503], "content": {JSON: {"schema": {"type": "object"}}}}}
    for path, answer, summary, found in (
        ("/health", health, "Whether the server works, and what it can do.", ok | not_ready),
        ("/metrics", measured, "Counts and times, for Prometheus.", text),
    ):
        app.add_api_route(
            path, answer, methods=["GET"], summary=summary, tags=["status"], responses={**refused, **found}, response_class=Response
        )


def add_page(app: FastAPI) -> None:
    """The page and its files, all from the package: nothing is fetched from elsewhere."""
    files = page_files()

    def sender(name: str) -> Callable[[Request], Any]:
        file = files[name]

        async def send(request: Request) -> Response:
            headers = {"etag": file.tag, "cache-control": "no-cache"}
            if request.headers.get("if-none-match") == file.tag:
                return Response(status_code=304, headers=headers)
            return Response(file.body, media_type=file.media_type, headers=headers)

        return send

    for path, name in [("/", "index.html"), ("/docs", "docs.html"), *((FILES + name, name) for name in files)]:
        app.add_api_route(path, sender(name), methods=["GET", "HEAD"], include_in_schema=False, response_class=Response)


async def read_body(request: Request, limits: Limits) -> bytes:
    parts, size = [], 0
    try:
        async with asyncio.timeout(limits.seconds):
            async for part in request.stream():
                size += len(part)
                if size > limits.body:
                    raise body_too_large(limits)
                parts.append(part)
    except TimeoutError:
        raise body_too_slow(limits) from None
    return b"".join(parts)


async def told(first: bytes, messages: AsyncIterator[tuple[int, bytes]], starting: Starting) -> AsyncIterator[bytes]:
    """Steps as lines; what goes wrong after the first is a line too."""
    yield first + b"\n"
    try:
        async for status, body in messages:
            if status == NOT_COMPILED:
                starting.compile_rest()
                body = refusal("NotReady", starting.message())
            yield body + b"\n"
    except LimitExceeded as error:
        yield refusal("LimitExceeded", str(error), error.limit) + b"\n"


def beyond_limit(metrics: Metrics) -> Callable[[Request, LimitExceeded], Any]:
    async def handle(_: Request, error: LimitExceeded) -> Response:
        metrics.refused[error.limit] += 1
        headers = {"retry-after": "1"} if error.status == 429 else {"connection": "close"} if error.status in (408, 413) else None
        return Response(refusal("LimitExceeded", str(error), error.limit), error.status, headers, JSON)

    return handle


async def http_error(request: Request, error: HTTPException) -> Response:
    """No such path, or another method."""
    known = ", ".join(f"/{name}" for name in TASKS)
    message = {
        404: f"there is nothing at {request.url.path[:200]!r}: expected one of {known}, /health, /metrics, /docs.",
        405: f"{request.method[:20]} is not for {request.url.path[:200]!r}: expected POST for tasks, GET for all else.",
    }.get(error.status_code, str(error.detail))
    kind = {404: "NotFound", 405: "MethodNotAllowed"}.get(error.status_code, "BadRequest")
    return Response(refusal(kind, message), error.status_code, dict(error.headers or {}), JSON)


def reference(model: type[Any]) -> dict[str, Any]:
    return {"$ref": REFERENCE.format(model=model.__name__)}


def request_body(media_type: str, schema: dict[str, Any], model: type[Any] | None = None) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": schema}
    if model is not None:
        examples = model.model_json_schema().get("examples", [])
        content["examples"] = {f"example {i}": {"value": value} for i, value in enumerate(examples, start=1)}
    return {"requestBody": {"required": True, "content": {media_type: content}}}


def described(app: FastAPI, *, secured: bool) -> dict[str, Any]:
    """The OpenAPI description, with the forms that workers check."""
    if app.openapi_schema is None:
        found = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        _, schemas = models_json_schema([(task.request, "validation") for task in TASKS.values()], ref_template=REFERENCE)
        found.setdefault("components", {}).setdefault("schemas", {}).update(schemas["$defs"])
        for path in found["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422" if "requestBody" not in operation else "", None)
                if secured:
                    operation["security"] = [{"token": []}]
        if secured:
            found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        app.openapi_schema = found
    return app.openapi_schema
