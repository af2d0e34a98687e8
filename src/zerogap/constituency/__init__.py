"""Constituency parsing: treebank trees, weighted grammars and their parsers, alone or together with a tagger."""

from typing import TYPE_CHECKING

from zerogap._lazy import lazy
from zerogap.constituency.problem import JointProblem
from zerogap.structures.grammar import Grammar, grammar

if TYPE_CHECKING:
    from zerogap.constituency.cleaning import cleaned
    from zerogap.constituency.decoders import decode, decode_many
    from zerogap.constituency.evaluation import evaluate
    from zerogap.constituency.joint_model import JointModel, train_joint
    from zerogap.constituency.lexical_agreement import LexicalAgreement, TagScores
    from zerogap.constituency.lexical_decoders import decode_lexical
    from zerogap.constituency.lexical_joint import decode_agreement
    from zerogap.constituency.lexical_model import train_lexical
    from zerogap.constituency.lexical_problem import LexicalProblem
    from zerogap.constituency.pcfg import PcfgModel, train
    from zerogap.constituency.pcfg_files import load_pcfg, save_pcfg
    from zerogap.constituency.trees import Tree

__all__ = [
    "Grammar",
    "JointModel",
    "JointProblem",
    "LexicalAgreement",
    "LexicalProblem",
    "PcfgModel",
    "TagScores",
    "Tree",
    "cleaned",
    "decode",
    "decode_agreement",
    "decode_lexical",
    "decode_many",
    "evaluate",
    "grammar",
    "load_pcfg",
    "save_pcfg",
    "train",
    "train_joint",
    "train_lexical",
]

HOMES = {
    "cleaned": "cleaning", "decode": "decoders", "decode_many": "decoders", "evaluate": "evaluation", "PcfgModel": "pcfg", "train": "pcfg",
    "load_pcfg": "pcfg_files", "save_pcfg": "pcfg_files", "Tree": "trees", "JointModel": "joint_model", "train_joint": "joint_model",
    "LexicalAgreement": "lexical_agreement", "TagScores": "lexical_agreement",
    "LexicalProblem": "lexical_problem", "decode_agreement": "lexical_joint",
    "decode_lexical": "lexical_decoders", "train_lexical": "lexical_model",
}  # fmt: skip

__getattr__, _ = lazy(__name__, {name: f"zerogap.constituency.{module}" for name, module in HOMES.items()})
