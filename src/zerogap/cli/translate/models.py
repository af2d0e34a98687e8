"""The options that name a translation model, and what they load: for `zerogap translate` and `zerogap audit`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from zerogap._lazy import on_call
from zerogap.cli.terminal import check_choices, progress
from zerogap.errors import FormatError
from zerogap.io.formats.brackets import tree_from_text
from zerogap.io.formats.lines import read_lines
from zerogap.io.translation.arpa import load_language_model
from zerogap.io.translation.kenlm_files import is_kenlm_binary, load_kenlm
from zerogap.io.translation.moses_ini import load_moses_config
from zerogap.io.translation.phrase_tables import load_phrase_table
from zerogap.io.translation.scfg import load_syntax_weights, read_grammar
from zerogap.io.translation.tree_rules import node_of, read_tree_rules
from zerogap.io.translation.weights import SCORES, load_phrase_weights, weights_of_file
from zerogap.problems.translation.phrases import REORDERINGS
from zerogap.translation.forests.grammar import MAX_SPAN

if TYPE_CHECKING:
    from zerogap.problems.translation.language_model import LanguageModel
    from zerogap.translation.translators import Asked, Translator

# imported when called: they load Numba, which the process that starts a server's workers does without
tree_translator, grammar_translator, phrase_translator = (
    on_call(f"zerogap.translation.translators:{name}") for name in ("tree_translator", "grammar_translator", "phrase_translator")
)
SPACES = re.compile(r"[ \t\r\n\f\v]+")  # not others: a word may hold one, as phrase tables have it


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """Where a model is, as the command line says it."""

    phrase_table: Path | None
    grammar: Path | None
    language_model: Path | None
    weights: Path | None
    config: Path | None
    distortion_limit: int | None = None
    reordering: str = "limit"
    max_span: int | None = None
    strict: bool = False
    tree_rules: Path | None = None

    @property
    def kind(self) -> str:
        return "trees" if self.tree_rules is not None else "grammar" if self.grammar is not None else "phrases"

    @property
    def given(self) -> bool:
        """Whether any file is named."""
        return any((self.phrase_table, self.grammar, self.tree_rules, self.language_model, self.weights, self.config))

    def check(self) -> None:
        """Finds what is missing or too much before anything is read."""
        check_choices(("--reordering", self.reordering, REORDERINGS))
        if self.config is not None:
            if self.phrase_table or self.grammar or self.tree_rules or self.language_model or self.weights:
                others = "--phrase-table, --grammar, --tree-rules, --lm, --weights"
                raise typer.BadParameter(f"--config names all of the model: expected no {others} with it.")
        elif sum(path is not None for path in (self.phrase_table, self.grammar, self.tree_rules)) != 1:
            raise typer.BadParameter("expected one of --phrase-table, --grammar, --tree-rules and --config.")
        elif self.language_model is None or self.weights is None:
            lacking = [name for name, path in (("--lm", self.language_model), ("--weights", self.weights)) if path is None]
            raise typer.BadParameter(f"expected {' and '.join(lacking)} as well.")
        if self.kind != "phrases" and (self.distortion_limit is not None or self.reordering != "limit"):
            raise typer.BadParameter("--distortion-limit and --reordering are for phrases, --max-span is for grammars.")
        if self.kind == "trees" and self.max_span is not None:
            raise typer.BadParameter("--max-span is for grammars: a rule over trees covers what its fragment says.")
        if self.kind == "phrases" and (self.max_span is not None or self.strict):
            raise typer.BadParameter("--max-span and --strict are for grammars, --distortion-limit is for phrases.")
        for path in (self.phrase_table, self.grammar, self.tree_rules, self.language_model, self.weights, self.config):
            if path is not None and not path.is_file() and not path.is_fifo():
                raise FormatError(f"{path} cannot be read: {'it is a folder' if path.is_dir() else 'no such file'}.")

    def load(self, sentences: Sequence[Sequence[str]] | None) -> Translator:
        """The model, with as much of its table or grammar as the sentences need; without sentences, all of it."""
        if self.tree_rules is not None:
            return self.load_tree_rules()
        return self.load_grammar(sentences) if self.grammar is not None else self.load_phrases(sentences)

    def load_tree_rules(self) -> Translator:
        assert self.tree_rules is not None
        assert self.weights is not None
        assert self.language_model is not None
        weights = load_syntax_weights(self.weights)
        with progress(f"reading {self.tree_rules.name}") as steps:
            rules = read_tree_rules(self.tree_rules)
            steps.advance(f"reading {self.language_model.name}")
            language_model = any_language_model(self.language_model)
        return tree_translator(rules, weights, language_model, lambda text: node_of(tree_from_text(text)), strict=self.strict)

    def load_grammar(self, sentences: Sequence[Sequence[str]] | None) -> Translator:
        assert self.grammar is not None
        assert self.weights is not None
        assert self.language_model is not None
        weights = load_syntax_weights(self.weights)
        if self.max_span is not None:
            weights[MAX_SPAN] = float(self.max_span)
        with progress(f"reading {self.grammar.name}") as steps:
            grammar = read_grammar(self.grammar, sentences=sentences)
            steps.advance(f"reading {self.language_model.name}")
            language_model = any_language_model(self.language_model)
        return grammar_translator(grammar, weights, language_model, strict=self.strict)

    def load_phrases(self, sentences: Sequence[Sequence[str]] | None) -> Translator:
        names: tuple[str, ...] = ()  # of Moses
        if self.config is not None:
            found = load_moses_config(self.config)
            table_path, model_path, weights = found.phrase_table, found.language_model, found.weights
        else:
            assert self.phrase_table is not None
            assert self.language_model is not None
            assert self.weights is not None
            table_path, model_path, weights = self.phrase_table, self.language_model, load_phrase_weights(self.weights)
            names = SCORES if "phrase" in weights_of_file(self.weights) else ()
        if self.distortion_limit is not None:
            weights = replace(weights, distortion_limit=None if self.distortion_limit < 0 else self.distortion_limit)
        if is_kenlm_binary(model_path):
            raise FormatError(f"{model_path} is a binary language model: expected one in the ARPA format for phrases.")
        with progress(f"reading {table_path.name}") as steps:
            table = load_phrase_table(table_path, sentences=sentences)
            steps.advance(f"reading {model_path.name}")
            language_model = load_language_model(model_path)
        return phrase_translator(table, weights, language_model, names=names, reordering=self.reordering)

    def table_path(self) -> Path | None:
        """The phrase table, also if a configuration names it."""
        return load_moses_config(self.config).phrase_table if self.config is not None else self.phrase_table


def any_language_model(path: Path) -> LanguageModel | Asked:
    """From the ARPA format, or a binary file of KenLM."""
    return load_kenlm(path) if is_kenlm_binary(path) else load_language_model(path)


def read_sentences(path: str | os.PathLike[str]) -> list[list[str]]:
    """The words of every line; an empty line has none."""
    lines = (line.removeprefix("\ufeff") if number == 1 else line for number, line in read_lines(path))
    return [[word for word in SPACES.split(line) if word] for line in lines]
