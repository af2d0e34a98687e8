"""Constituency parsing: treebank trees, weighted grammars and their parsers, alone or together with a tagger."""

from typing import TYPE_CHECKING

from zerogap._lazy import lazy
from zerogap.problems.constituency.joint import JointProblem
from zerogap.structures.grammar import Grammar, grammar

if TYPE_CHECKING:
    from zerogap.constituency.evaluation import evaluate
    from zerogap.constituency.grammars.files import load_pcfg, save_pcfg
    from zerogap.constituency.grammars.pcfg import PcfgModel, train
    from zerogap.constituency.joint.decoding import decode, decode_many
    from zerogap.constituency.joint.model import JointModel, train_joint
    from zerogap.constituency.lexical.agreement import decode_agreement
    from zerogap.constituency.lexical.decoding import decode_lexical
    from zerogap.constituency.lexical.model import train_lexical
    from zerogap.constituency.treebank.cleaning import cleaned
    from zerogap.constituency.treebank.trees import Tree
    from zerogap.problems.constituency.lexical import LexicalProblem
    from zerogap.problems.constituency.lexical_agreement import LexicalAgreement, TagScores

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

__getattr__, _ = lazy(
    __name__,
    {
        "cleaned": "zerogap.constituency.treebank.cleaning",
        "decode": "zerogap.constituency.joint.decoding",
        "decode_many": "zerogap.constituency.joint.decoding",
        "evaluate": "zerogap.constituency.evaluation",
        "PcfgModel": "zerogap.constituency.grammars.pcfg",
        "train": "zerogap.constituency.grammars.pcfg",
        "load_pcfg": "zerogap.constituency.grammars.files",
        "save_pcfg": "zerogap.constituency.grammars.files",
        "Tree": "zerogap.constituency.treebank.trees",
        "JointModel": "zerogap.constituency.joint.model",
        "train_joint": "zerogap.constituency.joint.model",
        "LexicalAgreement": "zerogap.problems.constituency.lexical_agreement",
        "TagScores": "zerogap.problems.constituency.lexical_agreement",
        "LexicalProblem": "zerogap.problems.constituency.lexical",
        "decode_agreement": "zerogap.constituency.lexical.agreement",
        "decode_lexical": "zerogap.constituency.lexical.decoding",
        "train_lexical": "zerogap.constituency.lexical.model",
    },
)
