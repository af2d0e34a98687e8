"""The features of parsers: those of McDonald et al. (2005), Carreras (2007) and Koo & Collins (2010), as templates.

`{word}` stands for the lemma where the data has lemmas, else for the form in small letters; `{tag}` for the fine tag where there is one,
else for the coarse one, which is `{pos}`. Templates that read a column that the data does not have are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from zerogap.dependency.sentence import Sentence

# Two words, and two tokens with their neighbours
NEIGHBOURS = """
arc: head.lower+mod.{pos}
arc: head.{pos}+mod.lower
arc: head.lower+mod.lower
arc: head.{pos}+head.{pos}[1]+mod.{pos}[-1]+mod.{pos}
arc: head.{pos}[-1]+head.{pos}+mod.{pos}[-1]+mod.{pos}
arc: head.{pos}+head.{pos}[1]+mod.{pos}+mod.{pos}[1]
arc: head.{pos}[-1]+head.{pos}+mod.{pos}+mod.{pos}[1]
arc: head.{tag}+mod.{tag}[-1]+mod.{tag}
arc: head.{tag}+mod.{tag}+mod.{tag}[1]
arc: head.{tag}[-1]+head.{tag}+mod.{tag}
arc: head.{tag}+head.{tag}[1]+mod.{tag}
"""
PRUNER = (
    """
arc: distance
arc: head.{pos}+distance
arc: mod.{pos}+distance
arc: head.lower
arc: mod.lower
arc: mod.lower+distance
arc: head.lower+distance
arc: head.{tag}+mod.{tag}
arc: head.{pos}+mod.{pos}+distance
"""
    + NEIGHBOURS
    + """
arc: head.{pos}+mod.{pos}+count({pos}={verb})
arc: head.{pos}+mod.{pos}+count({pos}={punctuation})
arc: head.{pos}+mod.lower+count({pos}={verb})
arc: head.{pos}+mod.lower+count({pos}={punctuation})
arc: head.{pos}+between.{pos}+mod.{pos}
"""
)

# Those with a star are for parsers that must look at all arcs and at few larger parts
STARRED_ARCS = """
arc: bias *
arc: distance *
arc: head.form+head.{tag} *
arc: head.form
arc: head.{word} *
arc: head.{tag}
arc: head.{pos}+distance *
arc: head.{tag}+distance *
arc: head.{word}+distance *
arc: mod.form+mod.{tag} *
arc: mod.form
arc: mod.{word} *
arc: mod.{tag}
arc: mod.{pos}+distance *
arc: mod.{tag}+distance *
arc: mod.{word}+distance *
arc: head.form+head.{tag}+mod.form+mod.{tag}
arc: head.{tag}+mod.form+mod.{tag} *
arc: head.form+mod.form+mod.{tag}
arc: head.form+head.{tag}+mod.{tag} *
arc: head.form+head.{tag}+mod.form
arc: head.form+mod.form
arc: head.{tag}+mod.{tag} *
arc: head.{pos}+mod.{pos} *
arc: head.{tag}+mod.{tag}+distance *
arc: head.{pos}+mod.{pos}+distance *
arc: head.{word}+mod.{word} *
arc: head.{word}+mod.{pos} *
arc: head.{pos}+mod.{word} *
arc: head.{word}+mod.{pos}+distance *
arc: head.{pos}+mod.{word}+distance *
arc: head.{word}+mod.{word}+distance
arc: head.feats+mod.feats
arc: head.{pos}+head.feats+mod.{pos}+mod.feats
arc: head.{pos}+mod.{pos}+mod.feats *
arc: head.{pos}+head.feats+mod.{pos} *
arc: head.{tag}+head.{tag}[1]+mod.{tag}[-1]+mod.{tag}
arc: head.{tag}[-1]+head.{tag}+mod.{tag}[-1]+mod.{tag}
arc: head.{tag}+head.{tag}[1]+mod.{tag}+mod.{tag}[1]
arc: head.{tag}[-1]+head.{tag}+mod.{tag}+mod.{tag}[1]
arc: head.{pos}+head.{pos}[1]+mod.{pos}[-1]+mod.{pos} *
arc: head.{pos}[-1]+head.{pos}+mod.{pos}[-1]+mod.{pos} *
arc: head.{pos}+head.{pos}[1]+mod.{pos}+mod.{pos}[1] *
arc: head.{pos}[-1]+head.{pos}+mod.{pos}+mod.{pos}[1] *
arc: head.{pos}+head.{pos}[1]+mod.{pos}+distance *
arc: head.{pos}[-1]+head.{pos}+mod.{pos}+distance *
arc: head.{pos}+mod.{pos}[-1]+mod.{pos}+distance *
arc: head.{pos}+mod.{pos}+mod.{pos}[1]+distance *
arc: head.{tag}[-1]+head.{tag}+mod.{tag} *
arc: head.{tag}+head.{tag}[1]+mod.{tag} *
arc: head.{tag}+mod.{tag}[-1]+mod.{tag} *
arc: head.{tag}+mod.{tag}+mod.{tag}[1] *
arc: head.{pos}+mod.{word}[-1]+mod.{pos} *
arc: head.{pos}+mod.{pos}+mod.{word}[1] *
arc: head.{word}[-1]+head.{pos}+mod.{pos} *
arc: head.{pos}+head.{word}[1]+mod.{pos} *
arc: head.{word}+mod.{pos}[-1]+mod.{pos}
arc: head.{word}+mod.{pos}+mod.{pos}[1]
arc: head.{pos}+head.{pos}[1]+mod.{word}
arc: head.{pos}[-1]+head.{pos}+mod.{word}
arc: head.{pos}+mod.{pos}+count({pos}={verb}) *
arc: head.{pos}+mod.{pos}+count({pos}={punctuation}) *
arc: head.{pos}+mod.{pos}+count({pos}={conjunction})
arc: head.{pos}+mod.{pos}+count({pos}={noun})
arc: head.{pos}+mod.{pos}+count({pos}={adposition})
arc: head.{pos}+mod.{word}+count({pos}={verb})
arc: head.{pos}+mod.{word}+count({pos}={punctuation}) *
arc: head.{word}+mod.{pos}+count({pos}={verb}) *
arc: head.{pos}+between.{pos}+mod.{pos} *
arc: head.{tag}+between.{pos}+mod.{tag}
arc: head.{word}+between.{pos}+mod.{pos}
arc: head.{pos}+between.{pos}+mod.{word}
"""
ARCS = STARRED_ARCS.replace(" *", "")
FEW_ARCS = "\n".join(line.removesuffix(" *") for line in STARRED_ARCS.split("\n") if line.endswith(" *"))

SIBLINGS = """
sibling: head.{pos}+sib.{pos}+mod.{pos}
sibling: head.{tag}+sib.{tag}+mod.{tag}
sibling: head.{pos}+sib.{pos}+mod.{pos}+distance
sibling: sib.{pos}+mod.{pos}
sibling: sib.{tag}+mod.{tag}
sibling: sib.{pos}+mod.{pos}+distance
sibling: head.{word}+sib.{pos}+mod.{pos}
sibling: head.{pos}+sib.{word}+mod.{pos}
sibling: head.{pos}+sib.{pos}+mod.{word}
sibling: head.{word}+sib.{word}+mod.{pos}
sibling: head.{word}+sib.{pos}+mod.{word}
sibling: head.{pos}+sib.{word}+mod.{word}
sibling: sib.{word}+mod.{word}
sibling: sib.{pos}+mod.{word}
sibling: sib.{word}+mod.{pos}
sibling: head.feats+sib.feats+mod.feats
sibling: head.{pos}+sib.{pos}+mod.{pos}+mod.{pos}[1]
sibling: head.{pos}+sib.{pos}+mod.{pos}[-1]+mod.{pos}
sibling: head.{pos}+sib.{pos}+sib.{pos}[1]+mod.{pos}
sibling: head.{pos}+sib.{pos}[-1]+sib.{pos}+mod.{pos}
stop: head.{pos}+sib.{pos}
stop: head.{tag}+sib.{tag}
stop: head.{word}+sib.{pos}
stop: head.{pos}+sib.{word}
stop: head.{word}+sib.{word}
"""

GRANDPARENTS = """
grandparent: grand.{pos}+head.{pos}+mod.{pos}
grandparent: grand.{tag}+head.{tag}+mod.{tag}
grandparent: grand.{pos}+mod.{pos}
grandparent: grand.{tag}+mod.{tag}
grandparent: grand.{word}+head.{pos}+mod.{pos}
grandparent: grand.{pos}+head.{word}+mod.{pos}
grandparent: grand.{pos}+head.{pos}+mod.{word}
grandparent: grand.{word}+head.{word}+mod.{pos}
grandparent: grand.{word}+head.{pos}+mod.{word}
grandparent: grand.{pos}+head.{word}+mod.{word}
grandparent: grand.{word}+mod.{word}
grandparent: grand.{word}+mod.{pos}
grandparent: grand.{pos}+mod.{word}
grandparent: grand.{pos}+head.{pos}+mod.{pos}+mod.{pos}[1]
grandparent: grand.{pos}+head.{pos}+mod.{pos}[-1]+mod.{pos}
grandparent: grand.{pos}+head.{pos}+head.{pos}[1]+mod.{pos}
grandparent: grand.{pos}+head.{pos}[-1]+head.{pos}+mod.{pos}
grandparent: grand.{pos}+grand.{pos}[1]+head.{pos}+mod.{pos}
grandparent: grand.{pos}[-1]+grand.{pos}+head.{pos}+mod.{pos}
"""

GRANDSIBLINGS = """
grandsibling: grand.{pos}+head.{pos}+sib.{pos}+mod.{pos}
grandsibling: grand.{tag}+head.{tag}+sib.{tag}+mod.{tag}
grandsibling: grand.{pos}+sib.{pos}+mod.{pos}
grandsibling: grand.{word}+head.{pos}+sib.{pos}+mod.{pos}
grandsibling: grand.{pos}+head.{word}+sib.{pos}+mod.{pos}
grandsibling: grand.{pos}+head.{pos}+sib.{word}+mod.{pos}
grandsibling: grand.{pos}+head.{pos}+sib.{pos}+mod.{word}
"""

LABELS = """
label: bias
label: head.{pos}+mod.{pos}+distance
label: head.{tag}+mod.{tag}
label: head.{word}
label: mod.{word}
label: mod.form
label: mod.{tag}
label: head.{tag}
label: mod.feats
label: head.{pos}+head.feats+mod.{pos}+mod.feats
label: head.{word}+mod.{pos}
label: head.{pos}+mod.{word}
label: head.{word}+mod.{word}
label: head.{word}+mod.{tag}
label: head.{tag}+mod.{word}
label: head.{pos}+mod.suffix3(form)
label: head.{pos}+mod.{pos}+mod.{pos}[1]
label: head.{pos}+mod.{pos}+mod.{pos}[-1]
label: head.{pos}+head.{pos}[1]+mod.{pos}
label: head.{pos}+head.{pos}[-1]+mod.{pos}
label: mod.{word}+mod.{word}[1]
label: mod.{word}+mod.{word}[-1]
label: mod.{pos}+mod.{word}[-1]
label: mod.{pos}+mod.{word}[1]
label: head.{pos}+mod.{pos}+count({pos}={punctuation})
label: head.{pos}+mod.{pos}+count({pos}={verb})
label: grand.{pos}+head.{pos}+mod.{pos}
label: grand.{word}+head.{pos}+mod.{pos}
label: head.{pos}+mod.{pos}+left.{pos}
label: head.{pos}+mod.{pos}+left.{word}
label: mod.{pos}+left.{word}
label: head.{word}+mod.{pos}+left.{word}
label: mod.{word}+left.{word}
label: head.{pos}+mod.{pos}+right.{pos}
label: mod.{pos}+right.{word}
label: head.{pos}+mod.{pos}+right.{word}
label: head.{pos}+mod.{pos}+left.{pos}+right.{pos}
label: head.{pos}+mod.{pos}+before.{pos}
label: head.{pos}+mod.{pos}+before.{word}
label: head.{pos}+mod.{pos}+after.{pos}
label: head.{pos}+mod.{pos}+after.{word}
label: head.{pos}+before.{pos}+mod.{pos}+after.{pos}
label: head.{word}+before.{pos}+mod.{pos}+after.{pos}
label: head.{pos}+before.{word}+mod.{word}
label: head.{pos}+mod.{word}+after.{word}
label: head.{tag}+before.{tag}+mod.{tag}
label: head.{tag}+mod.{tag}+after.{tag}
"""

ORDERS: dict[str, str] = {
    "first": ARCS,
    "sibling": ARCS + SIBLINGS,
    "grandparent": ARCS + GRANDPARENTS,
    "grandsibling": ARCS + SIBLINGS + GRANDPARENTS + GRANDSIBLINGS,
}

# Of families of factors (Qian & Liu 2013, section 4.3), by their names in `factors.families`; and of patterns, which tell each other apart
FACTORS: dict[str, str] = {
    "siblings": """
anysibling: head.{pos}+sib.{pos}+mod.{pos}
anysibling: head.{tag}+sib.{tag}+mod.{tag}
anysibling: sib.{pos}+mod.{pos}+distance
anysibling: head.{word}+sib.{pos}+mod.{pos}
anysibling: head.{pos}+sib.{word}+mod.{pos}
anysibling: head.{pos}+sib.{pos}+mod.{word}
anysibling: head.{word}+sib.{word}+mod.{pos}
anysibling: head.{word}+sib.{pos}+mod.{word}
anysibling: sib.{word}+mod.{word}
anysibling: sib.{pos}+mod.{word}
anysibling: sib.{word}+mod.{pos}
""",
    "grandchildren": """
grandchild: grand.{pos}+head.{pos}+mod.{pos}
grandchild: grand.{tag}+head.{tag}+mod.{tag}
grandchild: grand.{pos}+mod.{pos}+distance
grandchild: grand.{word}+head.{pos}+mod.{pos}
grandchild: grand.{pos}+head.{word}+mod.{pos}
grandchild: grand.{pos}+head.{pos}+mod.{word}
grandchild: grand.{word}+head.{word}+mod.{pos}
grandchild: grand.{pos}+head.{word}+mod.{word}
grandchild: grand.{word}+head.{pos}+mod.{word}
grandchild: grand.{word}+mod.{word}
grandchild: grand.{word}+mod.{pos}
grandchild: grand.{pos}+mod.{word}
""",
    "great-grandchildren": """
greatgrand: great.{pos}+grand.{pos}+head.{pos}+mod.{pos}
greatgrand: great.{tag}+grand.{tag}+head.{tag}+mod.{tag}
greatgrand: great.{pos}+mod.{pos}
greatgrand: great.{pos}+grand.{pos}+head.{word}+mod.{pos}
greatgrand: great.{pos}+grand.{word}+head.{pos}+mod.{pos}
""",
    "tri-siblings": """
trisibling: head.{pos}+third.{pos}+sib.{pos}+mod.{pos}
trisibling: head.{tag}+third.{tag}+sib.{tag}+mod.{tag}
trisibling: third.{pos}+sib.{pos}+mod.{pos}
trisibling: head.{word}+third.{pos}+sib.{pos}+mod.{pos}
""",
    "comb": """
comb: head.{pos}+each.{pos}
comb: head.{tag}+each.{tag}
comb: head.{word}+each.{pos}
comb: each.{word}
""",
}
PATTERNS = """
pattern: bias
pattern: head.{pos}+mod.{pos}
"""

UNIVERSAL = {"verb": "VERB", "punctuation": "PUNCT", "conjunction": "CCONJ", "noun": "NOUN", "adposition": "ADP"}


def known_columns(sentences: Sequence[Sentence]) -> frozenset[str]:
    """The columns in which most words of most sentences have something other than '_'; feats may be empty for many."""
    totals: dict[str, int] = {}
    words = 0
    for sentence in sentences:
        words += len(sentence)
        for name, column in sentence.columns.items():
            totals[name] = totals.get(name, 0) + sum(value != "_" for value in column)
    return frozenset(name for name, known in totals.items() if known > (0.05 if name == "feats" else 0.5) * words)


def fill_in(text: str, columns: frozenset[str]) -> tuple[str, ...]:
    """Templates for data with these columns."""
    pos = "upos" if "upos" in columns else "xpos" if "xpos" in columns else "suffix2(form)"
    names = {
        "word": "lemma" if "lemma" in columns else "lower",
        "pos": pos,
        "tag": "xpos" if "xpos" in columns else pos,
        **UNIVERSAL,
    }
    lines = [line for line in text.split("\n") if line and ("feats" in columns or "feats" not in line)]
    if pos != "upos":  # classes of tags are known by name in the universal set alone
        lines = [line for line in lines if "count(" not in line]
    return tuple(dict.fromkeys(line.format(**names) for line in lines))
