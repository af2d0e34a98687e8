import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from zerogap.learning.averaging import Averaged

changes = st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(-3, 3)), max_size=4), max_size=6)


@given(changes)
def test_lazy_average_is_the_mean_of_all_moments(moments):
    averaged, plain, seen = Averaged(np.ones(3)), np.ones(3), []
    for added in moments:
        averaged.add(np.array([place for place, _ in added], dtype=np.int64), np.array([float(amount) for _, amount in added]))
        for place, amount in added:
            plain[place] += amount
        averaged.tick()
        seen.append(plain.copy())
    np.testing.assert_allclose(averaged.average(), np.mean(seen, axis=0) if seen else np.ones(3), atol=1e-12)
    np.testing.assert_allclose(averaged.weights, plain)
