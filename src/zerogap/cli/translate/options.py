"""Options that name a translation model, and those that say what translations must and must not be."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

BAR = "|||"  # between phrases

PhraseTableOption = Annotated[
    Path | None,
    typer.Option(
        "--phrase-table",
        help="Phrases as Moses has them: source ||| target ||| scores, .gz or not.",
        metavar="FILE",
        rich_help_panel="Model",
    ),
]
GrammarOption = Annotated[
    Path | None,
    typer.Option(
        "--grammar",
        help="In place of phrases, rules: [X] ||| source ||| target ||| name=value ..., .gz or not.",
        metavar="FILE",
        rich_help_panel="Model",
    ),
]
TreeRulesOption = Annotated[
    Path | None,
    typer.Option(
        "--tree-rules",
        help="In place of phrases, rules over parse trees: (NP (DT the) \\[NN,1]) ||| \\[1] le ||| name=value ..., .gz or not."
        " Every line of the input is then a tree in brackets.",
        metavar="FILE",
        rich_help_panel="Model",
    ),
]
LanguageModelOption = Annotated[
    Path | None,
    typer.Option(
        "--lm",
        help="A language model in the ARPA format, .gz or not; for grammars, also a binary one of KenLM.",
        metavar="FILE",
        rich_help_panel="Model",
    ),
]
WeightsOption = Annotated[
    Path | None,
    typer.Option(
        "--weights",
        help="The weight of every feature: names and numbers in a section \\[phrase] or \\[hiero], or the \\[weight] of a moses.ini.",
        metavar="FILE",
        rich_help_panel="Model",
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", help="A moses.ini, in place of --phrase-table, --lm and --weights.", metavar="FILE", rich_help_panel="Model"),
]
DistortionLimit = Annotated[
    int | None,
    typer.Option(
        "--distortion-limit",
        help="Words that a jump may pass, in place of what the weights say; -1 for no limit.",
        min=-1,
        rich_help_panel="Model",
    ),
]
Reordering = Annotated[
    str,
    typer.Option(
        "--reordering",
        help="limit: every jump is within the limit. moses: besides, no phrase may begin where the way back to the first untranslated word"
        " would be too far, as Moses has it.",
        metavar="RULE",
        rich_help_panel="Model",
    ),
]
MaxSpan = Annotated[
    int | None,
    typer.Option(
        "--max-span", help="Source words that one rule may cover, in place of what the weights say.", min=1, rich_help_panel="Model"
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="With a grammar: words without a rule are not passed through.", rich_help_panel="Model")
]
MarkupOption = Annotated[
    str,
    typer.Option(
        "--markup",
        help='How to read <n translation="...">words</n>, <zone>, <monotone> and <wall/> in the input: text (they are words), exclusive'
        " (the given translations are the only ones of their words), inclusive (they compete with those of the table).",
        metavar="HOW",
        rich_help_panel="Input",
    ),
]
RequireOption = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        help="Words that every translation must have, in this order; may be given again.",
        metavar="WORDS",
        rich_help_panel="Input",
    ),
]
ForbidOption = Annotated[
    list[str] | None,
    typer.Option(
        "--forbid",
        help="Words that no translation may have, one after the other; may be given again.",
        metavar="WORDS",
        rich_help_panel="Input",
    ),
]
RequiredFile = Annotated[
    Path | None,
    typer.Option(
        "--required",
        help=f"A line for every line of the input: the phrases that its translation must have, parted by {BAR}.",
        metavar="FILE",
        rich_help_panel="Input",
    ),
]
ForbiddenFile = Annotated[
    Path | None,
    typer.Option("--forbidden", help="The same for phrases that its translation must not have.", metavar="FILE", rich_help_panel="Input"),
]
