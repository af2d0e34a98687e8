"""Draws the pictures of the documentation when it is built, with the library itself: a page that shows `pictures/NAME.svg` has one here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    for name, draw in PICTURES.items():
        files.append(File.generated(config, f"pictures/{name}.svg", content=draw().svg))
    return files


def joint_gap() -> Any:
    """The run of Rush 2014, example 4.2.1."""
    import zerogap

    problem = zerogap.load_problem(ROOT / "examples" / "united.json")
    return zerogap.constituency.decode(problem, method="dual-decomposition", step="constant", scale=1.0).plot()


PICTURES: dict[str, Callable[[], Any]] = {"joint-gap": joint_gap}
