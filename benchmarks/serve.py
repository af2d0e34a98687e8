"""How fast the server is: requests per second, times of answers at half that load, and memory over many requests.

    python benchmarks/serve.py                     all three, about two minutes
    python benchmarks/serve.py --requests 100000   memory over so many
    python benchmarks/serve.py --seconds 5 --connections 16
    python benchmarks/serve.py --page              only the page: from an empty tab of chromium to the first tree

Server, workers and the client share the processors of this machine, over loopback. The client writes requests that were made
before and looks only for the end of the answers. Every request is a different sentence of 3 to 9 words, so that nothing can be remembered.
Besides requests per second, processor time for each is told: on a machine that does other things too, it is what can be compared.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
STORY = (
    "time fruit flies like an arrow the dog barks quickly when people walk home after work in old towns she reads long letters"
    " from friends abroad he never saw that green house again nobody knows why rain falls"
)


def sentences(n: int, seed: int = 1) -> list[str]:
    draw, words = random.Random(seed), STORY.split()
    return [" ".join(draw.choices(words, k=draw.randint(2, 8))).capitalize() + "." for _ in range(n)]


def request_bytes(text: str) -> bytes:
    body = json.dumps({"text": text}).encode()
    head = f"POST /parse HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Client(asyncio.Protocol):
    """One connection that is kept; one request at a time."""

    def __init__(self) -> None:
        self.buffer = b""
        self.waiting: asyncio.Future[int] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, body = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        if length is not None and len(body) >= int(length[1]):
            self.buffer = b""
            assert self.waiting is not None
            self.waiting.set_result(int(head[9:12]))

    def ask(self, request: bytes) -> asyncio.Future[int]:
        self.waiting = asyncio.get_running_loop().create_future()
        self.transport.write(request)  # type: ignore[attr-defined]
        return self.waiting


async def connected(port: int, n: int) -> list[Client]:
    loop = asyncio.get_running_loop()
    return [(await loop.create_connection(Client, "127.0.0.1", port))[1] for _ in range(n)]


async def closed_loop(port: int, connections: int, requests: list[bytes], seconds: float | None = None) -> tuple[int, float, int]:
    """As fast as answers come: how many, in how many seconds, and how many were not 200."""
    clients = await connected(port, connections)
    left = iter(requests)
    done = wrong = 0
    begin = time.perf_counter()

    async def run(client: Client) -> None:
        nonlocal done, wrong
        for request in left:
            wrong += await client.ask(request) != 200
            done += 1
            if seconds is not None and time.perf_counter() - begin > seconds:
                return

    await asyncio.gather(*map(run, clients))
    return done, time.perf_counter() - begin, wrong


async def open_loop(port: int, connections: int, requests: list[bytes], rate: float) -> tuple[list[float], int]:
    """At a fixed rate, whatever the server does: seconds from when each request was due to its answer."""
    free: asyncio.Queue[Client] = asyncio.Queue()
    for client in await connected(port, connections):
        free.put_nowait(client)
    times: list[float] = []
    wrong = 0
    begin = time.perf_counter() + 0.1

    async def one(request: bytes, due: float) -> None:
        nonlocal wrong
        client = await free.get()
        wrong += await client.ask(request) != 200
        times.append(time.perf_counter() - due)
        free.put_nowait(client)

    tasks = []
    for i, request in enumerate(requests):
        due = begin + i / rate
        await asyncio.sleep(max(due - time.perf_counter(), 0.0))
        tasks.append(asyncio.create_task(one(request, due)))
    await asyncio.gather(*tasks)
    return sorted(times), wrong


def family(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for task in os.listdir(f"/proc/{pid}/task"):
        for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
            found += family(int(child))
    return found


def processor_seconds(pid: int) -> tuple[float, float]:
    """Of the server, and of its workers; the clock is coarse, so measurements should take seconds."""
    fields = [Path(f"/proc/{p}/stat").read_text().rpartition(")")[2].split() for p in family(pid)]
    each = [(int(found[11]) + int(found[12])) / TICKS for found in fields]
    return each[0], sum(each[1:])


def private_bytes(pid: int) -> int:
    """What server and workers have in memory, shared pages counted once in all."""
    total = 0
    for p in family(pid):
        with contextlib.suppress(OSError):  # a worker may leave meanwhile
            for line in Path(f"/proc/{p}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
    return total


def started(workers: int | None) -> tuple[subprocess.Popen[str], int, float]:
    command = [sys.executable, "-m", "zerogap.cli.main", "serve", "--port", "0", "--max-requests", "512"]
    begin = time.perf_counter()
    process = subprocess.Popen(command + ([] if workers is None else ["--workers", str(workers)]), stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    port = int(line.split("127.0.0.1:")[1].split("/")[0])
    return process, port, time.perf_counter() - begin


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=10.0, help="of the measurement of throughput, and of that of times")
    options.add_argument("--connections", type=int, default=16)
    options.add_argument("--requests", type=int, default=20_000, help="for memory")
    options.add_argument("--rate", type=float, default=250.0, help="requests per second for the times: half the target")
    options.add_argument("--workers", type=int)
    options.add_argument("--page", action="store_true", help="measure the page instead; needs chromium and playwright")
    given = options.parse_args()
    process, port, seconds = started(given.workers)
    try:
        print(f"started in {seconds:.1f} s; {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
        if given.page:
            times = page_times(port)
            print(f"page to first tree: {' '.join(f'{seconds:.2f}' for seconds in times)} s (target 1.5)")
            return
        requests = [request_bytes(text) for text in sentences(int(given.seconds * 5000))]
        asyncio.run(closed_loop(port, given.connections, requests[:500]))  # warm
        before, mine = processor_seconds(process.pid), time.process_time()
        done, elapsed, wrong = asyncio.run(closed_loop(port, given.connections, requests, given.seconds))
        server, workers = (1000 * (b - a) / done for a, b in zip(before, processor_seconds(process.pid), strict=True))
        client = 1000 * (time.process_time() - mine) / done
        print(f"throughput: {done / elapsed:,.0f} requests/s ({done:,} in {elapsed:.1f} s, {wrong} not 200; target 500)")
        print(f"  processor a request: server {server:.2f} ms, workers {workers:.2f} ms, this client {client:.2f} ms;")
        alone, together = 2000 / (server + workers), 2000 / (server + workers + client)
        print(f"  so two processors to themselves give {alone:,.0f}, shared with this client {together:,.0f} requests/s")
        times, wrong = asyncio.run(open_loop(port, 64, requests[: int(given.rate * given.seconds)], given.rate))
        at = {share: 1000 * times[min(int(share * len(times)), len(times) - 1)] for share in (0.5, 0.9, 0.99, 0.999)}
        shown = ", ".join(f"p{100 * share:g} {value:.1f} ms" for share, value in at.items())
        print(f"times at {given.rate:g} requests/s: {shown} ({len(times):,} requests, {wrong} not 200; target p99 50 ms)")
        memory(process.pid, port, given.connections, given.requests)
        text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
        print("; ".join(line.removeprefix("zerogap_") for line in text.splitlines() if line.startswith("zerogap_workers_")))
    finally:
        process.terminate()
        process.wait()


def page_times(port: int, n: int = 7) -> list[float]:
    """Seconds from going to the address until a tree is drawn; every time in a browser without a cache."""
    from playwright.sync_api import sync_playwright

    found = []
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for _ in range(n):
            page = browser.new_context().new_page()
            begin = time.perf_counter()
            page.goto(f"http://127.0.0.1:{port}/", wait_until="commit")
            page.wait_for_selector(".picture svg .arc", state="attached")
            found.append(time.perf_counter() - begin)
            page.context.close()
        browser.close()
    return found


def memory(pid: int, port: int, connections: int, n: int) -> None:
    """Megabytes after every tenth of the requests; the first tenth fills caches."""
    found = []
    for part in range(10):
        requests = [request_bytes(text) for text in sentences(n // 10, seed=part + 2)]
        asyncio.run(closed_loop(port, connections, requests))
        found.append(private_bytes(pid) / 2**20)
    growth = found[-1] - found[0]
    print(f"memory over {n:,} requests, MB after every tenth: {' '.join(f'{value:.1f}' for value in found)}")
    print(f"  {growth:+.1f} MB after the first tenth, {1e6 * growth / (0.9 * n):+.1f} bytes a request")


if __name__ == "__main__":
    main()
