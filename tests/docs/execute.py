"""Runs notebooks from top to bottom, and with --write keeps their new outputs.

    python tests/docs/execute.py [--write] examples/notebooks/*.ipynb

Needs the extra `notebooks`, and imports it only to run: tests are collected without. Cells with the tag `varies` print times, or
counts that change when a solver is tuned; all others print the same every time.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any


def executed(path: Path) -> Any:
    """The notebook with the outputs of a new run, and without what differs from run to run for no reason."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(path.parent)}}
    # what is printed arrives in pieces, more of them on a busy machine: joined, it is the same every time
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=where, coalesce_streams=True).execute()
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            if "image/svg+xml" in output.get("data", {}):
                output["data"]["text/plain"] = "<Picture>"  # its text is the picture again
    return notebook


def texts(notebook: Any) -> list[tuple[str, list[str]]]:
    """The source of every cell that prints the same every time, and what it printed."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "code" and "varies" not in cell.metadata.get("tags", ()):
            found.append((cell.source, [str(output.get("text", output.get("data", {}).get("text/plain"))) for output in cell.outputs]))
    return found


def main() -> None:
    import nbformat

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="keep the new outputs")
    given = parser.parse_args()
    for path in given.notebooks:
        begin = time.perf_counter()
        notebook = executed(path)
        print(f"{time.perf_counter() - begin:6.1f} s  {path.name}", flush=True)
        if given.write:
            nbformat.write(notebook, path)


if __name__ == "__main__":
    main()
