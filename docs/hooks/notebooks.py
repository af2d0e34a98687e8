"""Notebooks become pages of the site as they are kept, outputs and all; their pictures become files beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).parents[2] / "examples" / "notebooks"


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        for name, content in pages(path):
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    return files


def pages(path: Path) -> Iterator[tuple[str, str]]:
    """The pictures of a notebook and then its page: names and contents."""
    lines: list[str] = []
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            lines += [source, ""]
            continue
        lines += ["```python", source, "```", ""]
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/svg+xml" in data:
                name = f"{path.stem}-{number}.svg"
                yield name, "".join(data["image/svg+xml"])
                lines += [f"![What the cell draws]({name})", ""]
            else:
                lines += ["```text", "".join(output.get("text", data.get("text/plain", ""))).rstrip("\n"), "```", ""]
    lines += ["---", "", f"This page is `examples/notebooks/{path.name}`, which you can open and run.", ""]
    yield f"{path.stem}.md", "\n".join(lines)
