"""Counts of what the server has done, as Prometheus reads them."""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zerogap.serve.pool import Pool

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # upper ends of the buckets of a histogram
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(slots=True)
class Metrics:
    started: float = field(default_factory=time.time)
    requests: Counter[tuple[str, int]] = field(default_factory=Counter)  # by path and status
    buckets: dict[str, list[int]] = field(default_factory=dict)  # by path
    seconds: dict[str, float] = field(default_factory=dict)  # their sum, by path
    refused: Counter[str] = field(default_factory=Counter)  # by limit
    lines: int = 0  # of batches
    active: int = 0

    def count(self, path: str, status: int, seconds: float) -> None:
        self.requests[path, status] += 1
        self.buckets.setdefault(path, [0] * (len(SECONDS) + 1))[bisect_left(SECONDS, seconds)] += 1
        self.seconds[path] = self.seconds.get(path, 0.0) + seconds

    def text(self, pool: Pool) -> str:
        rows: list[str] = []

        def family(name: str, kind: str, help: str, values: list[tuple[str, float]]) -> None:
            rows.extend([f"# HELP zerogap_{name} {help}", f"# TYPE zerogap_{name} {kind}"])
            rows.extend(f"zerogap_{name}{labels} {value:.12g}" for labels, value in values)

        requests = [(f'{{path="{path}",status="{status}"}}', float(n)) for (path, status), n in sorted(self.requests.items())]
        family("requests_total", "counter", "Requests that were answered.", requests)
        family(
            "refused_total", "counter", "Requests beyond a limit.", [(f'{{limit="{name}"}}', n) for name, n in sorted(self.refused.items())]
        )
        rows.extend(["# HELP zerogap_request_seconds Time to the answer.", "# TYPE zerogap_request_seconds histogram"])
        for path, counts in sorted(self.buckets.items()):
            total = 0
            for end, n in zip([*map(str, SECONDS), "+Inf"], counts, strict=True):
                total += n
                rows.append(f'zerogap_request_seconds_bucket{{path="{path}",le="{end}"}} {total}')
            rows.append(f'zerogap_request_seconds_sum{{path="{path}"}} {self.seconds[path]:g}')
            rows.append(f'zerogap_request_seconds_count{{path="{path}"}} {total}')
        family("batch_lines_total", "counter", "Lines of batches that were answered.", [("", self.lines)])
        family("requests_active", "gauge", "Requests in progress.", [("", self.active)])
        family("workers", "gauge", "Worker processes.", [('{state="busy"}', len(pool.busy)), ('{state="free"}', len(pool.free))])
        family("workers_hired_total", "counter", "Workers that were started.", [("", pool.hired)])
        family("workers_ended_total", "counter", "Workers that were ended because they were late.", [("", pool.ended)])
        family("workers_lost_total", "counter", "Workers that ended by themselves.", [("", pool.lost)])
        pids = {"server": [os.getpid()], "workers": [worker.pid for worker in (*pool.free, *pool.busy)]}
        memory = [(f'{{process="{name}"}}', float(sum(map(resident, found)))) for name, found in pids.items()]
        family("resident_bytes", "gauge", "Memory; workers share the models, which are counted in each.", memory)
        family("uptime_seconds", "gauge", "Seconds since the start.", [("", time.time() - self.started)])
        return "\n".join(rows) + "\n"


def resident(pid: int) -> int:
    """Bytes of a process that are in memory; 0 if it is gone."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
