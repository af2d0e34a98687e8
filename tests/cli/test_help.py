"""The help of the commands: short options, and no method missing."""

import re

import pytest
import typer

from zerogap import __version__
from zerogap.cli.main import app
from zerogap.pipeline import stages
from zerogap.sequence.decoding import methods as sequence_methods
from zerogap.translation.forests import decoding as forest_decoding
from zerogap.translation.phrases import decoding as phrase_decoding

TABLES = {
    "parse": stages.METHODS,
    "label": sequence_methods.METHODS,
    "translate": {**phrase_decoding.METHODS, **forest_decoding.METHODS},
}


@pytest.mark.parametrize("command", TABLES)
def test_the_help_of_method_lists_the_table(command):
    given = typer.main.get_command(app).commands[command]
    (option,) = (parameter for parameter in given.params if parameter.name == "method")
    listed = re.split(r"[\s,;:.]+", option.help)
    assert not [name for name in TABLES[command] if name not in listed]


@pytest.mark.parametrize("command", [[], ["parse"], ["train", "dependency"]])
def test_short_help(run, command):
    found = run(*command, "-h")
    assert (found.code, found.output) == (0, run(*command, "--help").output)


def test_short_version(run):
    assert run("-V").output == run("--version").output == f"zerogap {__version__}\n"


def test_many_options_are_in_groups():
    for name, command in typer.main.get_command(app).commands.items():
        alone = [option.name for option in command.params if getattr(option, "rich_help_panel", None) is None]
        assert len(alone) < 12, name
