import math
import xml.etree.ElementTree as ET

import pytest

from zerogap.plot.gap import ticks
from zerogap.proof import DynamicProgram, Solution, Trace


@pytest.mark.parametrize(
    ("bounds", "scores"),
    [((), ()), ((1.0,), (1.0,)), ((3.0, 2.0), (-math.inf, 2.0)), ((math.inf,), (-math.inf,)), (tuple(range(100, 0, -1)), (0.0,) * 100)],
)
def test_every_trace_can_be_drawn(bounds, scores, tmp_path):
    solution = Solution((1,), 1.0, 1.0, DynamicProgram(), Trace(bounds, scores, (0.0,) * len(bounds)))
    picture = solution.plot()
    picture.save(tmp_path / "gap.svg")
    root = ET.fromstring((tmp_path / "gap.svg").read_text())
    assert root.tag.endswith("svg")
    assert "nan" not in picture.svg
    assert picture._repr_svg_() == picture.svg


def test_ticks_are_round():
    assert ticks(0.0, 10.0) == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    assert ticks(-0.013, 0.021) == [-0.01, 0.0, 0.01, 0.02]
    assert ticks(1.0, 1.0) == [1.0]
