"""`zerogap evaluate constituency`: how many brackets are right, as evalb counts them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from zerogap.errors import FormatError, InvalidStructure

if TYPE_CHECKING:
    from zerogap.constituency.evaluation import BracketScores


def evaluate_constituency_command(
    gold: Annotated[str, typer.Argument(help="The right trees, bracketed, .gz or not.", metavar="GOLD")],
    parsed: Annotated[str, typer.Argument(help="Trees of the same sentences in the same order, (()) for none.", metavar="PARSED")],
    longest: Annotated[
        int, typer.Option(help="Also count the sentences of at most so many words, punctuation left out; 0 for none.", min=0, metavar="N")
    ] = 40,
) -> None:
    """Count the labelled brackets that are right: precision, recall, F1, exact matches, crossing brackets and tags.

    Counted as evalb does with COLLINS.prm: without the top node, traces, punctuation and function tags; ADVP and PRT are the same.

    [bold]zerogap evaluate constituency test.mrg parsed.mrg[/bold]
    """
    from zerogap.constituency.evaluation import BracketScores, compare, sentence_length
    from zerogap.constituency.treebank.trees import Tree
    from zerogap.io.formats.brackets import numbered_trees
    from zerogap.io.formats.lines import read_lines, shown

    def read(path: str) -> list[tuple[int, Tree]]:
        lines = ((number, line.replace("(())", "(NONE (NONE NONE))")) for number, line in read_lines(path))
        return list(numbered_trees(lines, shown(path)))

    right, found = read(gold), read(parsed)
    if not right:
        raise FormatError(f"{gold} holds no trees: expected some such as (S (NP (NNS dogs)) (VP (VBP bark))).")
    if len(right) != len(found):
        raise FormatError(f"{gold} has {len(right):,} trees, {parsed} has {len(found):,}: expected the same sentences in both.")
    total, short = BracketScores(), BracketScores()
    for (line, tree), (other, parse) in zip(right, found, strict=True):
        try:
            scores = compare(tree, None if parse.label == "NONE" else parse)
        except InvalidStructure as error:
            raise FormatError(f"{gold}, line {line} and {parsed}, line {other}: {error}") from None
        total += scores
        if longest and sentence_length(tree) <= longest:
            short += scores
    print(table(total, short, longest))


ROWS: dict[str, Callable[[BracketScores], str]] = {
    "sentences": lambda s: f"{s.sentences:,}",
    "without a parse": lambda s: f"{s.sentences - s.parsed_sentences:,}",
    "labelled recall": lambda s: percent(s.recall),
    "labelled precision": lambda s: percent(s.precision),
    "labelled F1": lambda s: percent(s.f1),
    "exact match": lambda s: percent(s.exact_match),
    "crossing brackets": lambda s: f"{s.crossing / max(s.parsed_sentences, 1):.2f}",
    "no crossing": lambda s: percent(s.without_crossing / max(s.sentences, 1)),
    "tags": lambda s: percent(s.tag_accuracy),
}


def table(total: BracketScores, short: BracketScores, longest: int) -> str:
    """The rows of evalb's summary, for all sentences and for short ones."""
    columns = [total, short] if longest else [total]
    rows = [("", "all", f"<= {longest} words")[: len(columns) + 1]]
    for name, value in ROWS.items():
        rows.append((name, *(value(column) for column in columns)))
    return "\n".join("".join(cell.ljust(20) if i == 0 else cell.rjust(12) for i, cell in enumerate(row)).rstrip() for row in rows)


def percent(share: float) -> str:
    return f"{100 * share:.2f}"
