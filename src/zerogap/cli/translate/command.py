"""`zerogap translate`: sentences in, their best translations out, and what is proven of each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zerogap.cli.options import Engine, Threads
from zerogap.cli.translate import options as translation


def translate_command(
    input: Annotated[str, typer.Argument(help="A sentence on every line, its words parted by blanks; .gz or not; - for standard input.")],
    phrase_table: translation.PhraseTableOption = None,
    grammar: translation.GrammarOption = None,
    tree_rules: translation.TreeRulesOption = None,
    lm: translation.LanguageModelOption = None,
    weights: translation.WeightsOption = None,
    config: translation.ConfigOption = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write here instead of to standard output.", metavar="FILE", rich_help_panel="Output"),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Write status, score, bound and gap of every line into this table.", metavar="FILE.tsv", rich_help_panel="Output"
        ),
    ] = None,
    certificates: Annotated[
        Path | None,
        typer.Option(
            help="Write a line of JSON for every sentence: problem, solution and certificate.",
            metavar="FILE.jsonl",
            rich_help_panel="Output",
        ),
    ] = None,
    nbest: Annotated[
        int,
        typer.Option(
            "--nbest", help="Write the K best derivations of every sentence, as Moses does.", min=1, metavar="K", rich_help_panel="Output"
        ),
    ] = 1,
    nbest_file: Annotated[
        Path | None,
        typer.Option(
            "--nbest-file",
            help="Write n-best lists here, and best translations as usual. Without it, lists are the output.",
            rich_help_panel="Output",
        ),
    ] = None,
    segments: Annotated[
        bool,
        typer.Option(
            "--segments", "-t", help="After every phrase, show which source words it translates, as |0-1|.", rich_help_panel="Output"
        ),
    ] = False,
    alignment: Annotated[
        Path | None,
        typer.Option(
            help="Write which source word goes with which target word, as 0-0 1-2, from the phrase table.",
            metavar="FILE",
            rich_help_panel="Output",
        ),
    ] = None,
    markup: translation.MarkupOption = "text",
    require: translation.RequireOption = None,
    forbid: translation.ForbidOption = None,
    required: translation.RequiredFile = None,
    forbidden: translation.ForbiddenFile = None,
    distortion_limit: translation.DistortionLimit = None,
    reordering: translation.Reordering = "limit",
    max_span: translation.MaxSpan = None,
    strict: translation.Strict = False,
    method: Annotated[
        str,
        typer.Option(
            help="How to search; auto proves every sentence in its time. By phrases, also optimal-beam, staged-beam, lr-tight,"
            " chang-collins, a-star, ilp, lagrangian, beam; by rules, optimal-beam,"
            " relaxation, lagrangian, intersection, cube-pruning, ilp.",
            metavar="METHOD",
            rich_help_panel="Search",
        ),
    ] = "auto",
    stack: Annotated[
        int | None,
        typer.Option(help="Hypotheses in a stack of beam search, 100 unless given.", min=1, metavar="N", rich_help_panel="Search"),
    ] = None,
    pop_limit: Annotated[
        int | None,
        typer.Option(
            help="With a grammar: candidates at a vertex in cube pruning, 200 unless given.", min=1, metavar="N", rich_help_panel="Search"
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            help="Seconds for each sentence; then the best translation so far is taken, and its gap is told.",
            min=0.0,
            metavar="SECONDS",
            rich_help_panel="Search",
        ),
    ] = None,
    on_error: Annotated[
        str,
        typer.Option(
            help="What to do with a sentence that no derivation covers within the limits: stop, or empty (an empty line).",
            metavar="WHAT",
            rich_help_panel="Input",
        ),
    ] = "stop",
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show on standard error how the gap of every sentence closed.", rich_help_panel="Output")
    ] = False,
    engine: Engine = None,
    threads: Threads = None,
) -> None:
    """Translate by phrases or by a grammar, and prove that no translation scores higher under the model.

    A model is a phrase table, a synchronous grammar or rules over parse trees, a language model, and weights. Lines stay in order,
    empty ones stay empty. Input is tokenised as the model is; of a table or grammar, only what the input needs is kept.

    [bold]zerogap translate test.de --phrase-table table.gz --lm lm.arpa.gz --weights weights.txt -o test.en[/bold]

    [bold]cat test.de | zerogap translate - --config moses.ini --segments[/bold]

    [bold]zerogap translate test.zh --grammar rules.gz --lm lm.arpa.gz --weights weights.txt --time-limit 10 --report gaps.tsv[/bold]

    [bold]zerogap translate trees.de --tree-rules rules.gz --lm lm.arpa.gz --weights weights.txt[/bold]

    [bold]zerogap translate test.de --config moses.ini --nbest 100 --nbest-file test.nbest -o test.en[/bold]

    [bold]zerogap translate test.de --config moses.ini --method beam --stack 1000 --report beam.tsv[/bold]

    [bold]zerogap translate terms.de --config moses.ini --markup exclusive --forbid "house" --required terms.en[/bold]

    [bold]zerogap translate "corpus/*.de.gz" --phrase-table table.gz --lm lm.arpa.gz --weights weights.txt --engine local -o out[/bold]

    Weights are lines of a name and a number: in \\[phrase] p_f_given_e, lex_f_given_e, p_e_given_f, lex_e_given_f (of the logarithms of
    the four scores), lm, words, phrases, distortion, and distortion_limit; in \\[hiero] the features of the rules, lm, words, and max_span.

    Then check: [bold]zerogap verify proofs.jsonl[/bold] (with --certificates), [bold]zerogap evaluate translation test.ref test.en[/bold],
    and [bold]zerogap audit moses.nbest --report gaps.tsv[/bold] to see what another decoder missed.

    The exit code is 3 if a gap was left open.
    """
    given = locals()
    from zerogap.cli.translate.lines import TranslateOptions, run

    run(TranslateOptions(**given))
