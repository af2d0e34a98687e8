"""Solutions, certificates, and the independent code that checks them. No oracle, no compiler, no solver is used here."""

from zerogap.proof.certificate import Certificate, CutDuals, DynamicProgram, Leaf, Leaves, Multipliers
from zerogap.proof.solution import Solution, Status, Trace

__all__ = ["Certificate", "CutDuals", "DynamicProgram", "Leaf", "Leaves", "Multipliers", "Solution", "Status", "Trace"]
