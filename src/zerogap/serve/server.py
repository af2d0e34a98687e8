"""Starts the server: loads what is needed, forks the nursery, and hands the socket to uvicorn."""

from __future__ import annotations

import gc
import socket
import threading
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from zerogap.errors import InputError
from zerogap.pipeline.any_problem import methods_for
from zerogap.pipeline.in_order import processors
from zerogap.serve import nursery
from zerogap.serve.guard import Guard, is_loopback
from zerogap.serve.limits import Limits
from zerogap.serve.models import Models
from zerogap.serve.tasks import Context, proof
from zerogap.serve.worker import work

SAMPLE = "Time flies like an arrow."
SHUTDOWN = 10  # seconds for requests that are in progress
# what decoders import when they are first used: workers should share it
USED = (
    "zerogap.constituency.decoders", "zerogap.dependency.dual_decomposition", "zerogap.dependency.factor_decoding",
    "zerogap.dependency.price_and_cut", "zerogap.dependency.scored_cascade", "zerogap.hypergraph.decoders", "zerogap.sequence.decoders",
    "zerogap.translation.decoders", "highspy",
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
    """Imports and compiles what workers use, so that they share it; what /health says of the models."""
    for name in USED:
        import_module(name)
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
    from zerogap.constituency.decoders import METHODS
    from zerogap.constituency.lexical_model import LexicalModel
    from zerogap.pipeline.lexical_pair import LexicalPair

    return ["auto"] if isinstance(parser.model, LexicalModel | LexicalPair) else list(METHODS)


def translation_methods(kind: str) -> list[str]:
    from zerogap.translation import phrase_decoders, syntax_decoders

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


def build(models: Models, limits: Limits, address: Address, *, workers: int | None = None) -> Guard:
    """The application, with its nursery forked. To be called while there is one thread, or from a process that has forked well before."""
    from zerogap.serve.app import application
    from zerogap.serve.pool import Pool

    about = prepare(models, limits)
    context = Context(models, limits)
    gc.collect()
    gc.freeze()  # what is there now is shared with the workers as long as nobody writes to it
    home = nursery.start(lambda connection: work(connection, context))
    regular = processors() if workers is None else workers
    pool = Pool(home, limits, regular, max(4 * regular, 8))
    names_only = address.is_local and address.token is None
    return application(pool, limits, about, token=address.token, local_names_only=names_only)


def serve(models: Models, limits: Limits, address: Address, *, workers: int | None = None, log: bool = False, ready: Any = None) -> None:
    """Answers requests until it is told to stop: then those in progress are answered, and no others."""
    import uvicorn

    connection = listening(address)
    if threading.active_count() > 1:
        raise InputError("the server is started from a process with threads: expected one without, since it forks.")
    app = build(models, limits, address, workers=workers)
    config = uvicorn.Config(
        app, log_level="info" if log else "warning", access_log=log, server_header=False, timeout_graceful_shutdown=SHUTDOWN,
        timeout_keep_alive=30, backlog=1024,
    )  # fmt: skip
    server = uvicorn.Server(config)
    if ready is not None:
        ready(connection.getsockname()[1])
    server.run(sockets=[connection])
