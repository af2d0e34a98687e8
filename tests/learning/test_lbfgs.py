"""Minima that are known, and SciPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from zerogap.learning.lbfgs import minimise

TIGHT = {"max_iterations": 500, "gradient_tolerance": 1e-9, "value_tolerance": 0.0}


@given(st.integers(1, 8), st.integers(0, 10_000))
def test_quadratics(size, seed):
    random = np.random.default_rng(seed)
    half = random.normal(size=(size, size))
    matrix, target = half @ half.T + 0.1 * np.eye(size), random.normal(size=size)

    def function(x):
        return 0.5 * float(x @ matrix @ x) - float(target @ x), matrix @ x - target

    found = minimise(function, np.zeros(size), **TIGHT)
    assert found.converged
    np.testing.assert_allclose(found.x, np.linalg.solve(matrix, target), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("memory", [1, 6])
def test_rosenbrock(memory):
    found = minimise(lambda x: (float(optimize.rosen(x)), optimize.rosen_der(x)), np.array([-1.2, 1.0, -0.5, 2.0]), memory=memory, **TIGHT)
    assert found.converged
    np.testing.assert_allclose(found.x, 1.0, atol=1e-6)


def test_logistic_regression_as_scipy():
    random = np.random.default_rng(3)
    inputs, signs = random.normal(size=(200, 10)), random.choice([-1.0, 1.0], size=200)

    def function(x):
        margins = signs * (inputs @ x)
        gradient = -(inputs * (signs / (1.0 + np.exp(margins)))[:, None]).sum(axis=0) + 0.1 * x
        return float(np.logaddexp(0.0, -margins).sum() + 0.05 * x @ x), gradient

    values = []
    found = minimise(function, np.zeros(10), report=lambda iteration, value, x: values.append(value), **TIGHT)
    theirs = optimize.minimize(function, np.zeros(10), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-10})
    assert found.value == pytest.approx(theirs.fun, rel=1e-10)
    assert found.evaluations <= 3 * theirs.nfev
    assert values == sorted(values, reverse=True)


def test_ends():
    found = minimise(lambda x: (float(optimize.rosen(x)), optimize.rosen_der(x)), np.array([-1.2, 1.0]), max_iterations=3)
    assert not found.converged
    assert found.iterations == 3
    still = minimise(lambda x: (1.0, np.zeros_like(x)), np.ones(2))
    assert (still.iterations, still.evaluations, still.converged) == (0, 1, True)
    liar = minimise(lambda x: (float(x @ x), -2.0 * x), np.ones(2))  # the gradient points the wrong way: nothing lower is found
    assert liar.value == 2.0
    wall = minimise(lambda x: (float(x[0] - np.log(x[0])) if x[0] > 0 else np.nan, 1.0 - 1.0 / x), np.array([1e-3]), **TIGHT)
    assert wall.x[0] == pytest.approx(1.0)
