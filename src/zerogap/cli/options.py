"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Columns = Annotated[
    str | None,
    typer.Option(
        help="Names of the columns, such as form,pos,label; '_' for one that is not used. By default the first is the form, one between"
        " is pos, and the last is the label, if there is one.",
        metavar="NAMES",
        rich_help_panel="Input",
    ),
]
Comments = Annotated[
    bool,
    typer.Option("--comments", help="In column files, lines before a sentence that begin with # are comments.", rich_help_panel="Input"),
]
Format = Annotated[str, typer.Option(help="auto, columns or jsonl. auto goes by the suffix and the first line.", metavar="FORMAT")]
Method = Annotated[
    str,
    typer.Option(
        help="How to decode: auto, relaxation, intersection, lagrangian, dual-decomposition, column-generation or ilp.",
        metavar="METHOD",
        rich_help_panel="Search",
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        help="Seconds for each sequence; then the best labels so far are taken, and a sequence without any is left out.",
        min=0.0,
        metavar="SECONDS",
        rich_help_panel="Search",
    ),
]
Constraints = Annotated[
    Path | None,
    typer.Option(
        help="A .yaml or .toml file of constraints, in place of those that the model has.", metavar="FILE", rich_help_panel="Model"
    ),
]
NoConstraints = Annotated[
    bool, typer.Option("--no-constraints", help="Leave all constraints out, also those of single sequences.", rich_help_panel="Model")
]
OnInfeasible = Annotated[
    str,
    typer.Option(
        help="What to do with a sequence whose constraints cannot hold together: stop, skip (leave it out), or unconstrained (label it"
        " without constraints).",
        metavar="WHAT",
        rich_help_panel="Search",
    ),
]
Pipeline = Annotated[
    str,
    typer.Option(
        "--model",
        help="A pipeline by its name, or a folder with parser.npz and tagger.npz, or a parser.",
        metavar="NAME|PATH",
        rich_help_panel="Model",
    ),
]
TaggerOption = Annotated[
    str | None,
    typer.Option(
        "--tagger",
        help="Another tagger: a file, or the name or folder of a pipeline that has one.",
        metavar="NAME|PATH",
        rich_help_panel="Model",
    ),
]
Constituency = Annotated[
    Path | None,
    typer.Option(
        help="Constituency trees, by this model of `zerogap train constituency` or this grammar as text.",
        metavar="MODEL",
        rich_help_panel="Model",
    ),
]
Glue = Annotated[
    bool,
    typer.Option(
        "--glue", help="With --constituency: where the grammar has no parse, put pieces beside each other.", rich_help_panel="Model"
    ),
]
Tags = Annotated[
    str,
    typer.Option(
        "--tags",
        help="keep: tags that a file has stay, the tagger fills in those that are missing. predict: all are the tagger's.",
        metavar="WHAT",
        rich_help_panel="Input",
    ),
]
OnError = Annotated[
    str,
    typer.Option(
        "--on-error",
        help="What to do with a sentence that is malformed: stop, or skip (leave it out).",
        metavar="WHAT",
        rich_help_panel="Input",
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="local or ray: a job over all files that INPUT names (corpus/*.gz), written as shards to a folder; see zerogap run.",
        metavar="ENGINE",
        rich_help_panel="Running",
    ),
]
Threads = Annotated[
    int | None, typer.Option(help="As many as there are processors unless given.", min=1, metavar="N", rich_help_panel="Running")
]


def names_of(columns: str | None) -> tuple[str, ...] | None:
    return None if columns is None else tuple(name.strip() for name in columns.split(","))
