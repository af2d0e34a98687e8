import numpy as np

from zerogap.learning.sgd import Scaled, descend


def least_squares(targets):
    """loss_i(x) = (x[place_i] - target_i)^2 / 2, which touches one place at a time."""

    def step(scaled, i, rate):
        place, target = targets[i]
        error = scaled.scale * scaled.values[place] - target
        scaled.values[place] -= rate / scaled.scale * error
        return 0.5 * error * error

    return step


def test_descends_to_the_regularised_minimum():
    targets = [(i % 3, float(i % 3) + 0.1 * (i % 5)) for i in range(300)]
    found = descend(least_squares(targets), 4, len(targets), l2=5.0, epochs=40)
    for place in range(3):
        own = [target for p, target in targets if p == place]
        assert abs(found[place] - sum(own) / (len(own) + 5.0)) < 0.02
    assert found[3] == 0.0


def test_same_seed_same_numbers_and_reports():
    targets = [(0, 1.0), (1, -1.0), (0, 2.0)]
    seen = []
    first = descend(least_squares(targets), 2, 3, l2=1.0, epochs=5, seed=7, report=lambda epoch, loss, point: seen.append((epoch, loss)))
    again = descend(least_squares(targets), 2, 3, l2=1.0, epochs=5, seed=7)
    assert first.tobytes() == again.tobytes()
    assert [epoch for epoch, _ in seen] == [1, 2, 3, 4, 5]
    assert descend(least_squares([]), 2, 0, l2=1.0, epochs=2).tolist() == [0.0, 0.0]


def test_scale_stays_away_from_nothing():
    scaled = Scaled(np.array([1.0, -2.0]))
    for _ in range(40):
        scaled.shrink(0.5)
    np.testing.assert_allclose(scaled.point(), np.array([1.0, -2.0]) * 0.5**40)
    assert scaled.scale > 1e-9
