"""The features of the passes of a cascade, and of what chooses among the trees that they leave; see `templates`."""

from __future__ import annotations

from zerogap.dependency.parser.templates import NEIGHBOURS

DICTIONARY_TEMPLATES = """
arc: head.{pos}+mod.{pos}
"""

# Of the passes of a cascade (Rush 2014, section 8.5.2): those of a vine read nothing between its arcs, which are short
VINE = """
arc: distance
arc: head.{pos}+distance
arc: mod.{pos}+distance
arc: mod.lower+distance
arc: head.lower+distance
arc: head.{tag}+mod.{tag}
arc: head.{pos}+mod.{pos}+distance
arc: head.lower+mod.{pos}
arc: head.{pos}+mod.lower
arc: head.{pos}+head.{pos}[1]+mod.{pos}[-1]+mod.{pos}
arc: head.{pos}[-1]+head.{pos}+mod.{pos}[-1]+mod.{pos}
arc: head.{pos}+head.{pos}[1]+mod.{pos}+mod.{pos}[1]
arc: head.{pos}[-1]+head.{pos}+mod.{pos}+mod.{pos}[1]
arc: head.{pos}+mod.{pos}[-1]+mod.{pos}+distance
arc: head.{pos}+mod.{pos}+mod.{pos}[1]+distance
arc: head.{pos}[-1]+head.{pos}+mod.{pos}+distance
arc: head.{pos}+head.{pos}[1]+mod.{pos}+distance
outer: mod.{pos}
outer: mod.{tag}
outer: mod.lower
outer: mod.{pos}[-1]+mod.{pos}
outer: mod.{pos}+mod.{pos}[1]
outer: mod.{pos}[-1]+mod.{pos}+mod.{pos}[1]
outer: mod.{pos}[-2]+mod.{pos}[-1]+mod.{pos}
outer: mod.{pos}+mod.{pos}[1]+mod.{pos}[2]
outer: mod.{pos}[-3]+mod.{pos}
outer: mod.{pos}+mod.{pos}[3]
outer: mod.lower+mod.{pos}[1]
outer: mod.{pos}[-1]+mod.lower
"""

# Of a cascade that begins with rows of weights (`dependency.cascade.rows`), and of a first-order pass on top of them: what reads two tokens
ROWS = """
arc: head.{tag}+mod.{tag}+distance
arc: head.{tag}+mod.{tag}+count({pos}={verb})
arc: head.{tag}+mod.{tag}+count({pos}={punctuation})
arc: mod.{tag}+distance
arc: head.{tag}+distance
arc: mod.lower+distance
arc: head.lower+distance
arc: mod.{pos}[-1]+mod.{pos}+mod.{pos}[1]+distance
arc: head.{pos}[-1]+head.{pos}+head.{pos}[1]+distance
arc: mod.{pos}+mod.{pos}[1]+mod.{pos}[2]+distance
arc: mod.{pos}[-2]+mod.{pos}[-1]+mod.{pos}+distance
arc: mod.{pos}[-1]+mod.{pos}+mod.{pos}[1]+mod.{pos}[2]+distance
arc: mod.{pos}[-2]+mod.{pos}[-1]+mod.{pos}+mod.{pos}[1]+distance
arc: head.{pos}[-2]+head.{pos}[-1]+head.{pos}+distance
arc: head.{pos}+head.{pos}[1]+head.{pos}[2]+distance
arc: mod.{tag}+mod.lower[1]+distance
arc: mod.lower[-1]+mod.{tag}+distance
"""
PAIRS = (
    NEIGHBOURS
    + """
arc: head.{pos}+mod.lower+count({pos}={verb})
arc: head.{pos}+mod.lower+count({pos}={punctuation})
arc: head.form+head.{tag}+mod.form+mod.{tag}
arc: head.{word}+mod.{word}
arc: head.{word}+mod.{pos}+distance
arc: head.{pos}+mod.{word}+distance
arc: head.feats+mod.feats
arc: head.{pos}+mod.{pos}[-1]+mod.{pos}+distance
arc: head.{pos}+between.{pos}+mod.{pos}
"""
)

BASIC_SIBLINGS = """
sibling: head.{pos}+sib.{pos}+mod.{pos}
sibling: head.{tag}+sib.{tag}+mod.{tag}
sibling: sib.{pos}+mod.{pos}+distance
sibling: head.{pos}+sib.{word}+mod.{pos}
sibling: head.{pos}+sib.{pos}+mod.{word}
sibling: head.{word}+sib.{pos}+mod.{pos}
sibling: sib.{word}+mod.{pos}
sibling: sib.{pos}+mod.{word}
"""

# Of what chooses among the trees that the passes of a cascade leave, on top of their scores: what these have not read, and what is worth
# its time on the development part of English-EWT
LAST_SIBLINGS = """
sibling: head.{pos}+sib.{pos}+mod.{pos}
sibling: head.{tag}+sib.{tag}+mod.{tag}
sibling: sib.{pos}+mod.{pos}
sibling: sib.{pos}+mod.{pos}+distance
sibling: sib.{word}+mod.{pos}
sibling: sib.{pos}+mod.{word}
sibling: sib.{word}+mod.{word}
sibling: head.{pos}+sib.{pos}+mod.{word}
sibling: head.{pos}+sib.{word}+mod.{pos}
sibling: head.{pos}+sib.{pos}+mod.{pos}[-1]+mod.{pos}
sibling: head.{pos}+sib.{pos}[-1]+sib.{pos}+mod.{pos}
stop: head.{tag}+sib.{tag}
stop: head.{word}+sib.{pos}
stop: head.{word}+sib.{word}
"""
LAST_GRANDPARENTS = """
grandparent: grand.{pos}+mod.{pos}
grandparent: grand.{tag}+mod.{tag}
grandparent: grand.{tag}+head.{tag}+mod.{tag}
grandparent: grand.{pos}+mod.{word}
grandparent: grand.{word}+mod.{word}
grandparent: grand.{word}+head.{pos}+mod.{pos}
grandparent: grand.{pos}+head.{pos}+mod.{word}
grandparent: grand.{word}+head.{pos}+mod.{word}
grandparent: grand.{pos}+head.{pos}+mod.{pos}+mod.{pos}[1]
grandparent: grand.{pos}+head.{pos}+mod.{pos}[-1]+mod.{pos}
grandparent: grand.{pos}+head.{pos}+head.{pos}[1]+mod.{pos}
grandparent: grand.{pos}+grand.{pos}[1]+head.{pos}+mod.{pos}
grandparent: grand.{pos}[-1]+grand.{pos}+head.{pos}+mod.{pos}
grandsibling: grand.{pos}+head.{pos}+sib.{pos}+mod.{pos}
grandsibling: grand.{pos}+head.{pos}+sib.{pos}+mod.{word}
grandsibling: grand.{word}+head.{pos}+sib.{pos}+mod.{pos}
grandsibling: grand.{pos}+head.{pos}+sib.{word}+mod.{pos}
"""
LAST: dict[str, str] = {
    "sibling": LAST_SIBLINGS,
    "grandsibling": LAST_SIBLINGS + LAST_GRANDPARENTS,
}
