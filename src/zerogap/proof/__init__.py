"""Solutions, certificates, and the independent code that checks them. No oracle, no compiler, no solver is used here."""

from zerogap.proof.certificate import (
    Agreement,
    Certificate,
    CutDuals,
    DynamicProgram,
    Intersection,
    Leaf,
    Leaves,
    Multipliers,
    Unsatisfiable,
)
from zerogap.proof.solution import Solution, Status, Trace

__all__ = [
    "Agreement", "Certificate", "CutDuals", "DynamicProgram", "Intersection", "Leaf", "Leaves", "Multipliers", "Solution", "Status",
    "Trace", "Unsatisfiable",
]  # fmt: skip
