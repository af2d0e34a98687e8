"""What it costs to begin: `import zerogap`, the command, and the first use of every kernel.

    python benchmarks/startup.py

Targets: `import zerogap` under 0.3 s. Each row is a process of its own, the median of several.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time


def seconds(code: str, repeats: int, **environment: str) -> float:
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, **environment}, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


DOCTOR = "import sys; sys.argv = ['zerogap', 'doctor']; from zerogap.cli.main import main; main()"


def main() -> None:
    bare = seconds("pass", 9)
    print(f"{'python alone':44}{bare:8.3f} s")
    for name, code in (
        ("import numpy", "import numpy"),
        ("import zerogap", "import zerogap"),
        ("import zerogap.proof.verify", "import zerogap.proof.verify"),
        ("zerogap --version", "import sys; sys.argv = ['zerogap', '--version']; from zerogap.cli.main import main; main()"),
    ):
        print(f"{name:44}{seconds(code, 9) - bare:8.3f} s more")
    seconds(DOCTOR, 1)
    print(f"{'zerogap doctor, kernels compiled before':44}{seconds(DOCTOR, 3):8.3f} s")
    with tempfile.TemporaryDirectory() as cache:
        print(f"{'zerogap doctor, first time on a machine':44}{seconds(DOCTOR, 1, NUMBA_CACHE_DIR=cache):8.3f} s")


if __name__ == "__main__":
    main()
