"""Constituency parsing: treebank trees, weighted grammars and their parsers, alone or together with a tagger."""

from typing import TYPE_CHECKING

from zerogap._lazy import lazy
from zerogap.constituency.problem import JointProblem
from zerogap.structures.grammar import Grammar, grammar

if TYPE_CHECKING:
    from zerogap.constituency.cleaning import cleaned
    from zerogap.constituency.decoders import decode, decode_many
    from zerogap.constituency.evaluation import evaluate
    from zerogap.constituency.pcfg import PcfgModel, train
    from zerogap.constituency.pcfg_files import load_pcfg, save_pcfg
    from zerogap.constituency.trees import Tree

__all__ = [
    "Grammar",
    "JointProblem",
    "PcfgModel",
    "Tree",
    "cleaned",
    "decode",
    "decode_many",
    "evaluate",
    "grammar",
    "load_pcfg",
    "save_pcfg",
    "train",
]

HOMES = {
    "cleaned": "cleaning", "decode": "decoders", "decode_many": "decoders", "evaluate": "evaluation", "PcfgModel": "pcfg", "train": "pcfg",
    "load_pcfg": "pcfg_files", "save_pcfg": "pcfg_files", "Tree": "trees",
}  # fmt: skip

__getattr__, _ = lazy(__name__, {name: f"zerogap.constituency.{module}" for name, module in HOMES.items()})
