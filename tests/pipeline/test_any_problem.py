"""Which decoder a problem of any kind is given to."""

import subprocess
import sys

SESSION = """
import sys
from zerogap import dependency
from zerogap.pipeline.any_problem import decoder_of, knows_k_best, methods_for
problem = dependency.Problem([[0, 1], [0, 0]])
assert decoder_of(problem) is dependency.decode
assert knows_k_best(problem) and methods_for(problem)[0] == "auto"
others = {name for name in sys.modules if name.startswith(("zerogap.oracles.parses", "zerogap.oracles.phrases", "zerogap.oracles.labels"))}
assert not others, others
"""


def test_only_the_decoder_that_is_asked_for_is_imported():
    """The kernels of the others would be compiled for nothing."""
    done = subprocess.run([sys.executable, "-c", SESSION], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
