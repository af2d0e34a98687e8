"""A worker: a process that takes requests from a socket, one after the other, and answers them.

A request is the number of its task and its body, as the client sent it; an answer is a status and a body, after the steps if it tells
some. So JSON is read and written here, and a large body holds nobody else up.

    request   length of the body (4 bytes), task (1), body
    answer    length of the body (4 bytes), status (2; 0 if more follows), body
"""

from __future__ import annotations

import contextlib
import resource
import signal
import socket
import struct
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from zerogap.errors import Infeasible, InputError, NotCompiled, ZerogapError
from zerogap.serve.limits import LimitExceeded, out_of_memory
from zerogap.serve.models import NoModel
from zerogap.serve.tasks import TASKS, Context

REQUEST, ANSWER = struct.Struct(">IB"), struct.Struct(">IH")
MORE = 0  # in place of a status
NOT_COMPILED = 503  # a kernel is not there yet: the server says how far it is
NAMES = list(TASKS)


def work(connection: socket.socket, context: Context) -> None:
    """Answers until the connection is closed by the other side."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides
    limit_memory(context.limits.memory)
    with contextlib.suppress(EOFError, OSError):
        while True:
            size, number = REQUEST.unpack(read(connection, REQUEST.size))
            body = read(connection, size)

            def tell(step: dict[str, Any]) -> None:
                send(connection, MORE, json_line(step))

            status, found = answer(NAMES[number], body, context, tell)
            send(connection, status, found)


def read(connection: socket.socket, n: int) -> bytearray:
    found = bytearray(n)
    view, at = memoryview(found), 0
    while at < n:
        got = connection.recv_into(view[at:])
        if not got:
            raise EOFError
        at += got
    return found


def send(connection: socket.socket, status: int, body: bytes) -> None:
    connection.sendall(ANSWER.pack(len(body), status) + body)


def json_line(value: Mapping[str, Any]) -> bytes:
    return to_json(value, inf_nan_mode="null")


def answer(task: str, body: bytes | bytearray, context: Context, tell: Callable[[dict[str, Any]], None]) -> tuple[int, bytes]:
    """The status of the answer and its body; errors that zerogap raises on purpose are the client's."""
    try:
        context = replace(context, deadline=time.perf_counter() + context.limits.seconds)
        request = TASKS[task].request.model_validate_json(body)
        found = TASKS[task].run(request, context, *([tell] if TASKS[task].streams else []))
        return 200, json_line(found)
    except ValidationError as error:
        return 422, refusal("FormatError", validation_message(error))
    except LimitExceeded as error:
        return error.status, refusal("LimitExceeded", str(error), error.limit)
    except NoModel as error:
        return 404, refusal("NoModel", str(error))
    except NotCompiled:
        return NOT_COMPILED, b""
    except (InputError, Infeasible, ZerogapError) as error:
        return 422, refusal(type(error).__name__, str(error))
    except MemoryError:
        too_much = out_of_memory(context.limits)
        return too_much.status, refusal("LimitExceeded", str(too_much), too_much.limit)
    except RecursionError:
        return 422, refusal("FormatError", "the request is nested too deeply to read.")
    except ConnectionError:  # nobody listens any more: no defect, and no answer
        raise
    except Exception as error:  # a defect: the server lives on, and its log says what it was
        traceback.print_exc(file=sys.stderr)
        return 500, refusal("Defect", f"{type(error).__name__} in {task}: this is a defect of zerogap; the log of the server has more.")


def refusal(kind: str, message: str, limit: str | None = None) -> bytes:
    found = {"type": kind, "message": message} | ({} if limit is None else {"limit": limit})
    return json_line({"error": found})


def validation_message(error: ValidationError) -> str:
    """What is wrong first, and where."""
    first = error.errors(include_url=False, include_context=False)[0]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    text = first["msg"].removeprefix("Value error, ")
    return f"{where or 'the request'}: {text[:1].lower()}{text[1:]}."


def limit_memory(more: int) -> None:
    """From now on, this process may take so many bytes beside what it has."""
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[0])
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    wanted = pages * resource.getpagesize() + more
    if hard == resource.RLIM_INFINITY or wanted < hard:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
