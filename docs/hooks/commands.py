"""The page of commands is made from their own help: `zerogap --help` and the site cannot differ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

PLACE = "<!-- commands -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    return markdown.replace(PLACE, "\n".join(command_lines())) if PLACE in markdown else markdown


def command_lines() -> Iterator[str]:
    import typer

    from zerogap.cli.main import app

    yield from described(typer.main.get_command(app), ["zerogap"])


def described(command: Any, path: list[str]) -> Iterator[str]:
    """A heading, what the command does, and a table of what it takes; then the same of its own commands."""
    inner = getattr(command, "commands", {})
    if len(path) > 1 and not (inner and not command.params):
        yield from [f"{'#' * min(len(path), 3)} `{' '.join(path)}`", "", plain(command.help or ""), ""]
        taken = [row for parameter in command.params if not getattr(parameter, "hidden", False) for row in [parameter_row(parameter)]]
        if taken:
            yield from ["| | |", "| --- | --- |", *taken, ""]
    for name in command.list_commands(None) if inner else ():
        yield from described(inner[name], [*path, name])


def parameter_row(parameter: Any) -> str:
    names = (
        f"`{parameter.name.upper()}`" if parameter.param_type_name == "argument" else ", ".join(f"`{name}`" for name in spelled(parameter))
    )
    said = plain(getattr(parameter, "help", "") or "").replace("\n", " ").replace("|", "\\|")
    default = parameter.default
    shown = f" Default: `{default}`." if default not in (None, False, True, ()) and not callable(default) and "efault" not in said else ""
    return f"| {names} | {said}{shown} |"


def spelled(parameter: Any) -> list[str]:
    """The names of an option, with what stands after it."""
    value = "" if getattr(parameter, "is_flag", False) else f" {parameter.metavar or 'VALUE'}"
    return [f"{name}{value}" for name in (*parameter.opts, *parameter.secondary_opts)]


def plain(text: str) -> str:
    """What is bold in a terminal is code here: whole paragraphs of it are one block."""
    marked = re.sub(r"(?:^|(?<=\n\n))(?:\[bold\][^\[]*\[/bold\](?:\n\n|$))+", block, text.strip())
    return re.sub(r"\[/?[a-z ]+\]", "", re.sub(r"\[bold\](.*?)\[/bold\]", r"`\1`", marked)).strip()


def block(found: re.Match[str]) -> str:
    lines = re.findall(r"\[bold\](.*?)\[/bold\]", found[0], flags=re.DOTALL)
    return "\n".join(["```sh", *lines, "```", "", ""])
