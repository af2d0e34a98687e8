"""Small files that readers read, and bits of their languages: what mutations start from and put in."""

from __future__ import annotations

CONLLU = (
    b"# sent_id = 1\n# text = I don't.\n1\tI\ti\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    b"2\tdo\tdo\tAUX\tVBP\t_\t0\troot\t_\t_\n3\tn't\tnot\tPART\tRB\t_\t2\tadvmod\t2:advmod\t_\n3.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n",
    b"1\ta\t_\t_\t_\t_\t2\t_\t_\t_\r\n2\tb\t_\t_\t_\t_\t0\t_\t_\t_\r\n\r\n1\tc\t_\t_\t_\t_\t_\t_\t_\t_\r\n\r\n# end",
    b"1\ta\t_\tA\tB\t_\t2\tx\t2\ty\n2\tb\t_\tA\tB\t_\t0\tx\t0\ty\n\n",
)
COLUMNS = (b"New B-LOC\nYork I-LOC\n\nHello O\n", b"a\tN\tO\nb c\tV\tO\n\n-DOCSTART- -X- O\n\nd\tN\tB-X\n", b"\xef\xbb\xbfa O\n")
JSONL = (
    b'{"tokens": ["M.", "1986."], "labels": ["author", "date"], "id": 7}\n{"form": ["a"], "pos": ["N"]}\n',
    b'{"tokens":["a","b"],"constraints":[{"no_duplicate":["x"]}],"labels":null}\n',
)
TEXT = (b"Who goes there? Mr. Smith doesn't. 3.5 p.m.\n\nNew paragraph\nhere (e.g. this).", "Größe \u201cquoted\u201d… x".encode())
BRACKETS = (b"( (S (NP-SBJ-1 (NNP Rolls)) (VP (VBD was))\n (. .)))", b"(X (Y a)) (X b c)\n()")
ARPA = (
    b"\\data\\\nngram 1=4\nngram 2=2\n\n\\1-grams:\n-99\t<s>\t-0.5\n-1.0\t</s>\n-2.0\t<unk>\n-0.5\ta\t-0.25\n\n"
    b"\\2-grams:\n-0.3\t<s> a\n-0.2\ta </s>\n\n\\end\\\n",
    b"\\data\\\nngram 1=3\n\\1-grams:\n-1 a\n-99 <s>\n-1 </s>\n\\end\\",
)
GRAMMARS = (
    b"%start S\nS -> NP VP [0.9] | VP [0.1]\nNP -> \"a\" [1]\nVP -> 'b' | NP\n",
    b"%scores log\n%symbols T\nS -> T T T [-1]\n# c\nT -> {''} [0]\n{''} -> 'x'",
)
SYNCHRONOUS = (
    b"[S] ||| [X,1] ||| [X,1] ||| glue=0\n[X] ||| le [X,1] van [X,2] ||| [2] 's [1] ||| p=1 ||| 0-0\n",
    b"[X] ||| a ||| b ||| 1.5 -2\n",
)
WEIGHTS = (
    b"[phrase]\np_f_given_e 0.2 # c\nlex_f_given_e 0.1\np_e_given_f 0.3\nlex_e_given_f 0.1\nlm 0.5\nphrase 1\nword -1\n",
    b"[weight]\nPhrasePenalty0= 0.2\nWordPenalty0= -0.4\nDistortion0= 0.3\nLM0= 0.5\nUnknownWordPenalty0= 1\n"
    b"TranslationModel0= 0.2 0.2 0.2 0.2\n[distortion-limit]\n6\n",
    b"[hiero]\nlm 1\nwords 2\n",
)
MOSES = (
    b"[feature]\nKENLM name=LM0 path=a.arpa order=3\nPhraseDictionaryMemory name=TranslationModel0 num-features=4 path=t\n"
    b"Distortion\nWordPenalty\nPhrasePenalty\nUnknownWordPenalty\n[stack]\n100\n" + WEIGHTS[1],
)
TABLES = (
    b"das ||| the ||| 0.5 0.25 1 0.125 ||| 0-0 ||| 2 4 2\ndas haus ||| the house ||| 1 1 1 1 ||| 0-0 1-1\n",
    b"le dug ||| a dog ||| .5 .5 .5 .5 ||| 1-1 0-0",
)
OPENFST = (b"0 1 a 0.5\n1 1 b\n1 0.25\n", b"0 0 a a\n0 1 b b Infinity\n1", b"0\n")
YAML = (
    b"constraints:\n  - no_duplicate: [author, title]\n  - precedes: [author, title]\n    penalty: 2.0\n  - regex: 'author* title?'\n",
    b"constraints:\n- at_most: {title: 2}\n- any_of:\n  - at: {position: 1, label: O}\n  - not:\n      exactly: {O: 0}\n",
)
TOML = (
    b'[[constraints]]\nno_duplicate = ["author"]\n[[constraints]]\nprecedes = ["a", "b"]\npenalty = 2.0\n',
    b'constraints = [{regex = "a{2,3}|b*"}]\n',
)
FORESTS = (
    b'{"format": "zerogap-forest", "version": 1, "root": 1, "vertices": [["X", 0, 1], ["S", 0, 1]],'
    b' "edges": [{"head": 0, "target": ["dog"], "score": -1.5}, {"head": 1, "target": ["the", 0], "score": 0.5}]}',
)
JOBS = (
    b'task = "parse"\ninput = ["a*.conllu"]\noutput = "out"\nlimit = 3\nshard_size = 10\n[parse]\nmodel = "en"\n',
    b'task = "decode"\ninput = "a"\noutput = "b"\npart = "1/2"\n',
)
