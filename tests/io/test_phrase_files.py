"""What comes with phrase tables: alignments, moses.ini, marked sentences, constraints; what is in them, and what is wrong with them."""

import pytest

from zerogap.errors import FormatError, InputError
from zerogap.io.translation.markup import parse_marked
from zerogap.io.translation.moses_ini import load_moses_config
from zerogap.io.translation.phrase_alignments import load_phrase_alignments
from zerogap.problems.translation.files import constraints_from_json, constraints_to_json
from zerogap.problems.translation.phrase_constraints import Constraints, Fixed, Wall, Zone
from zerogap.translation.phrases.markup import constraints_of
from zerogap.translation.phrases.table import PhraseWeights

TABLE = """das haus ||| the house ||| 0.5 0.25 0.5 1 ||| 0-0 1-1 ||| 3 3 2
haus ||| home ||| 1 1 1 0 ||| 0-0
maus ||| mouse ||| 1 1 1 1 ||| 0-0
"""
INI = """[input-factors]
0
[mapping]
0 T 0
[distortion-limit]
{limit}
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
Distortion
PhraseDictionaryMemory name=TranslationModel0 num-features=4 path=table.gz input-factor=0 output-factor=0
KENLM name=LM0 factor=0 path=lm.arpa order=3
[weight]
UnknownWordPenalty0= 1
WordPenalty0= -0.5
PhrasePenalty0= 0.2
TranslationModel0= 0.2 0.2 0.2 0.2
Distortion0= 0.3
LM0= 0.5
[stack]
50
"""


def test_alignments_within_phrases(tmp_path):
    path = tmp_path / "table"
    path.write_text(TABLE)
    assert load_phrase_alignments(path, [["das", "haus"]]) == {("das haus", "the house"): "0-0 1-1", ("haus", "home"): "0-0"}
    path.write_text("haus ||| home ||| 1 1 1 1\n")
    with pytest.raises(FormatError, match="line 1: '' in the fourth field, expected a word alignment such as 0-0 1-1"):
        load_phrase_alignments(path, [["haus"]])
    path.write_text("haus ||| home ||| 1 1 1 1 ||| 0-1\n")
    with pytest.raises(FormatError, match="line 1: the link 0-1 is outside of the phrase"):
        load_phrase_alignments(path, [["haus"]])


def test_a_moses_ini(tmp_path):
    (tmp_path / "table.gz").write_bytes(b"")
    path = tmp_path / "moses.ini"
    path.write_text(INI.format(limit=6))
    config = load_moses_config(path)
    assert config.phrase_table == tmp_path / "table.gz"
    assert config.stack == 50
    assert config.weights == PhraseWeights((0.2,) * 4, 0.5, 0.5, 0.2, 0.3, 6, -100.0)
    path.write_text(INI.format(limit=-1))
    assert load_moses_config(path).weights.distortion_limit is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Distortion\n", "LexicalReordering name=LR0\n", "line 11: the feature 'LexicalReordering', expected PhraseDictionaryMemory"),
        ("KENLM name=LM0", "Distortion name=LM0", "has no KENLM or SRILM"),
        ("PhraseDictionaryMemory", "PhraseDictionaryCompact", "is a binary phrase table"),
        (" path=table.gz", "", "PhraseDictionaryMemory has no path="),
        ("LM0= 0.5\n", "", "has no LM0 in [weight]"),
        ("TranslationModel0= 0.2 0.2 0.2 0.2\n", "", "has 0 phrase tables in [weight]"),
        ("LM0= 0.5", "LM0= inf", "expected finite weights"),
    ],
)
def test_what_a_moses_ini_cannot_have(tmp_path, old, new, message):
    path = tmp_path / "moses.ini"
    path.write_text(INI.format(limit=6).replace(old, new))
    with pytest.raises(FormatError) as caught:
        load_moses_config(path)
    assert message in str(caught.value)


def test_marked_sentences():
    span = '<n translation="a house||a home" prob="0.75||0.25">ein haus</n>'
    line = f"das <zone> ist {span} <wall/> , </zone> ja <wall/> <monotone>a b</monotone>"
    marked = parse_marked(line, "line 1")
    assert " ".join(marked.words) == "das ist ein haus , ja a b"
    weights = PhraseWeights((1.0, 1.0), 1.0, words=0.5, phrases=0.25)
    constraints = constraints_of(marked, weights, required=[("x",)], forbidden=[("y", "z")])
    assert constraints.zones == (Zone(1, 5), Zone(6, 8, monotone=True))
    assert constraints.walls == (Wall(4, 1, 5), Wall(6))
    fixed = constraints.fixed[0]
    assert (fixed.start, fixed.end, fixed.targets, fixed.exclusive) == (2, 4, (("a", "house"), ("a", "home")), True)
    assert fixed.scores[0] == pytest.approx(-0.28768 + 1.25, abs=1e-5)
    assert not constraints_of(marked, weights, exclusive=False).fixed[0].exclusive
    assert constraints_from_json(constraints_to_json(constraints), "c") == constraints


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a < b", "a < that is not part of a tag, expected &lt;"),
        ('<n translation="x">a', "<n> is not closed, expected </n>"),
        ("a </n>", "</n> closes what is not open"),
        ("<zone> a </n>", "expected </zone>"),
        ("<zone> </zone>", "no words between <zone> and </zone>"),
        ("<n>a</n>", 'says nothing, expected translation="..."'),
        ('<n translation="x">a <m translation="y">b</m></n>', "within another span"),
        ('<n translation="x||">a</n>', "<n> has an empty translation"),
        ('<n translation="x||x">a</n>', "has a translation twice"),
        ('<n translation="x||y" prob="0.5">a</n>', "expected 2 probabilities"),
        ('<n translation="x" prob="2">a</n>', "expected 1 probabilities"),
        ("<n translation=x>a</n>", "is not a tag"),
        ('<n translation="x"/>', "has no words, expected <wall/>"),
    ],
)
def test_tags_that_are_wrong(line, message):
    with pytest.raises(FormatError) as caught:
        parse_marked(line, "in.txt, line 7")
    assert str(caught.value).startswith("in.txt, line 7: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"walls": [[1]]}, r"c.walls\[0\] is \[1\]: expected \[an integer, an integer, null or an integer\]"),
        ({"require": []}, "c.require is not known: expected required, forbidden"),
        ({"zones": [[0, 1, 1]]}, r"c.zones\[0\] is 1: expected true or false"),
        ({"required": ["a"]}, r"c.required\[0\] is 'a': expected a list"),
    ],
)
def test_constraints_that_are_none(value, message):
    with pytest.raises(FormatError, match=message):
        constraints_from_json(value, "c")


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (Constraints(required=("a b",)), r"required\[0\] is 'a b': expected a tuple of target words"),
        (Constraints(zones=(Zone(1, 3),)), r"zones\[0\] spans 1 to 3: expected words from 0 to 2"),
        (Constraints(walls=(Wall(3),)), r"walls\[0\] is before word 3"),
        (Constraints(fixed=(Fixed(0, 1, (("a",),), (0.0, 1.0)),)), r"fixed\[0\] has 1 targets and 2 scores"),
        (
            Constraints(fixed=(Fixed(0, 2, (("a",),), (0.0,)), Fixed(1, 2, (("b",),), (0.0,)))),
            r"fixed\[1\] and fixed\[0\] both translate word 1",
        ),
    ],
)
def test_constraints_that_do_not_fit_a_sentence(constraints, message):
    from zerogap.problems.translation.phrase_constraints import check_constraints

    with pytest.raises(InputError, match=message):
        check_constraints(constraints, 2)
