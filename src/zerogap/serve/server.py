"""Starts the server: forks the nursery, which loads what is needed, and hands the socket to uvicorn."""

from __future__ import annotations

import gc
import json
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from mmap import mmap
from typing import Any

from zerogap.errors import InputError, NotCompiled, ZerogapError
from zerogap.pipeline.any_problem import methods_for
from zerogap.relax.parallel import processors
from zerogap.serve import nursery
from zerogap.serve.guard import is_loopback
from zerogap.serve.limits import Limits
from zerogap.serve.models import Models
from zerogap.serve.pool import Pool
from zerogap.serve.starting import Starting
from zerogap.serve.tasks import Context, proof
from zerogap.serve.worker import work

SAMPLE = "Time flies like an arrow."
SHUTDOWN = 10  # seconds for requests that are in progress
# what loading a model and decoding with it imports, some of it when it is first used: workers should share it
USED = {
    "parse": (
        "zerogap.pipeline.loading", "zerogap.dependency.cascade.passes", "zerogap.dependency.decoding.methods",
        "zerogap.dependency.decoding.agreement.decoder", "zerogap.dependency.decoding.agreement.one_call",
    ),
    "label": ("zerogap.sequence.model", "zerogap.sequence.decoding.methods"),
    "trees": ("zerogap.pipeline.tree_parsers", "zerogap.constituency.joint.decoding"),
    "translate": ("zerogap.translation.translators", "zerogap.translation.decoding"),
}  # fmt: skip
# problems of other kinds may be decoded too
OTHERS = (
    "zerogap.dependency.decoding.factors.decoder", "zerogap.dependency.decoding.price_and_cut.decoder", "zerogap.hypergraph.decoding",
    "highspy",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen. Anywhere but on this machine, a token is needed, or the word that there is none."""

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = field(default=None, repr=False)
    no_token: bool = False

    def __post_init__(self) -> None:
        if self.token is not None and not (self.token.isascii() and self.token.isprintable() and self.token.strip() == self.token != ""):
            raise InputError("the token has blanks at its ends, or characters that a header cannot have: expected printable ASCII.")
        if not self.is_local and self.token is None and not self.no_token:
            raise InputError(
                f"host is {self.host!r}, which others can reach, and there is no token: expected one (ZEROGAP_TOKEN, --token-file),"
                " or --no-token if everybody may ask."
            )

    @property
    def is_local(self) -> bool:
        return self.host == "localhost" or is_loopback(self.host)

    @property
    def url(self) -> str:
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}/"


def prepare(models: Models, limits: Limits) -> dict[str, Any]:
    """Imports what workers use, so that they share it; what /health says of the models."""
    from zerogap.pipeline.kernels import NEEDED, missing  # with the compiler, which the server itself does not need

    for task in models.tasks:
        for name in USED.get(task, ()):
            import_module(name)
    if lacking := missing(task for task in models.tasks if task in NEEDED):
        raise NotCompiled(f"{lacking[0]} is not compiled yet.")
    about: dict[str, Any] = {"tasks": models.tasks, "methods": {}, "limits": {name: getattr(limits, name) for name in limits.__slots__}}
    if models.parse is not None:
        parsed = models.parse(SAMPLE, threads=1)
        sentence = parsed[0]
        proof(sentence.problem, sentence.solution)
        sentence.plot()
        about["methods"]["parse"] = methods_for(sentence.problem)
        about["parser"] = {"order": models.parse.parser.order, **getattr(models.parse.parser, "about", {})}
    if models.label is not None:
        from zerogap.sequence.examples import Example

        about["methods"]["label"] = methods_for(models.label.problem(Example({"form": ("a",)})))
        about["labels"] = list(models.label.labels)
    if models.trees is not None:
        about["methods"]["trees"] = tree_methods(models.trees)
    if models.translate is not None:
        about["methods"]["translate"] = translation_methods(models.translate.kind)
    return about


def tree_methods(parser: Any) -> list[str]:
    from zerogap.constituency.joint.decoding import METHODS
    from zerogap.constituency.lexical.model import LexicalModel
    from zerogap.constituency.lexical.pair import LexicalPair

    return ["auto"] if isinstance(parser.model, LexicalModel | LexicalPair) else list(METHODS)


def translation_methods(kind: str) -> list[str]:
    from zerogap.translation.forests import decoding as syntax_decoders
    from zerogap.translation.phrases import decoding as phrase_decoders

    return list((syntax_decoders if kind == "grammar" else phrase_decoders).METHODS)


def listening(address: Address) -> socket.socket:
    """The socket; InputError if the address cannot be had."""
    try:
        family, kind, _, _, where = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        found = socket.socket(family, kind)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(where)
        found.listen(1024)
    except OSError as error:
        raise InputError(f"cannot listen at {address.host}, port {address.port}: {error.strerror or error}.") from None
    return found


def import_others() -> bool:
    """Imports what problems of all kinds take; whether some of the kernels are not compiled."""
    from zerogap.kernels import is_cached, kernels_of

    for name in (*OTHERS, *(name for names in USED.values() for name in names)):
        import_module(name)
    return not all(is_cached(value) for name in list(sys.modules) if name.startswith("zerogap.") for value in kernels_of(name).values())


def loader(load: Callable[[], Models], limits: Limits, found: list[Context], refusing: mmap) -> Callable[[], bytes]:
    """What the nursery does before it forks: loads, and says what came of it."""

    def loaded() -> bytes:
        from zerogap.kernels import refuse_while  # with the compiler, which the server itself does not need

        refuse_while(lambda: bool(refusing[0]))
        try:
            models = load()
            about = prepare(models, limits)
        except NotCompiled:
            return json.dumps({"not_compiled": True}).encode()
        except ZerogapError as error:
            return json.dumps({"error": [type(error).__name__, str(error)]}).encode()
        except OSError as error:
            return json.dumps({"error": ["FormatError", str(error)]}).encode()
        except Exception:
            traceback.print_exc(file=sys.stderr)
            return b""
        refuse_while(lambda: True)
        lacking = import_others()
        refuse_while(lambda: bool(refusing[0]))
        found.append(Context(models, limits))
        gc.collect()
        gc.freeze()  # what is there now is shared with the workers as long as nobody writes to it
        return json.dumps({"about": about, "lacking": lacking}).encode()

    return loaded


def begin(load: Callable[[], Models], tasks: Sequence[str], limits: Limits, *, workers: int | None = None) -> Starting:
    """Forks the nursery, so it is to be called while there is one thread. `tasks` are those that there will be models for."""
    found: list[Context] = []
    refusing = mmap(-1, 1)  # shared with all that are forked
    refusing[0] = 1
    home = nursery.start(lambda connection: work(connection, found[0]), loader(load, limits, found, refusing))
    regular = processors() if workers is None else workers
    pool = Pool(home, limits, regular, max(4 * regular, 8))
    return Starting(pool, tuple(tasks), refusing)


def serve(
    load: Callable[[], Models],
    tasks: Sequence[str],
    limits: Limits,
    address: Address,
    *,
    workers: int | None = None,
    log: bool = False,
    ready: Callable[[int], object] | None = None,
) -> None:
    """Answers requests until it is told to stop: then those in progress are answered, and no others."""
    import uvicorn

    from zerogap.serve.app import application

    connection = listening(address)
    if threading.active_count() > 1:
        raise InputError("the server is started from a process with threads: expected one without, since it forks.")
    starting = begin(load, tasks, limits, workers=workers)
    names_only = address.is_local and address.token is None
    app = application(starting, limits, token=address.token, local_names_only=names_only)
    config = uvicorn.Config(
        app, log_level="info" if log else "warning", access_log=log, server_header=False, timeout_graceful_shutdown=SHUTDOWN,
        timeout_keep_alive=30, backlog=1024,
    )  # fmt: skip
    server = uvicorn.Server(config)
    if ready is not None:
        starting.ready = lambda: ready(connection.getsockname()[1])
    starting.failed = lambda: setattr(server, "should_exit", True)
    server.run(sockets=[connection])
    if starting.failure is not None:
        raise starting.failure
