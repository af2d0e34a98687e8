"""The command in this process, and a small pipeline to run it with."""

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from zerogap.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs the command: (exit code, standard output, standard error)."""

    def call(*arguments, stdin=""):
        monkeypatch.setattr(sys, "argv", ["zerogap", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin if isinstance(stdin, bytes) else stdin.encode())))
        code = 0
        try:
            main()
        except SystemExit as left:
            code = left.code or 0
        output, errors = capsys.readouterr()
        assert "Traceback" not in errors
        return SimpleNamespace(code=code, output=output, errors=errors)

    return call


@pytest.fixture(scope="session")
def toy(tmp_path_factory):
    """The folder of a pipeline that was trained on the examples."""
    from zerogap.dependency.training.parser import train
    from zerogap.pipeline.treebanks import Skipped, read_tagged, read_trees
    from zerogap.sequence.tagger.training import train_tagger

    folder, path = tmp_path_factory.mktemp("toy"), str(EXAMPLES / "trees-train.conllu")
    trees = read_trees(path, on_error="stop", single_root=True, columns=("form", "upos", "xpos"), skipped=Skipped())
    train(trees, epochs=3).save(folder / "parser.npz")
    train_tagger(read_tagged(path, on_error="stop", skipped=Skipped())).save(folder / "tagger.npz")
    return folder


@pytest.fixture(scope="session")
def trees():
    """The treebanks that come with the library: for training, and for a test."""
    return EXAMPLES / "trees-train.conllu", EXAMPLES / "trees-test.conllu"


@pytest.fixture
def options_of(tmp_path):
    """Writes files, and gives the options that name them: {"lm": text} is --lm FILE."""

    def written(files):
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        return [part for name in files for part in (f"--{name}", tmp_path / name)]

    return written
