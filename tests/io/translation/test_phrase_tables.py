"""Phrase tables and weights: read as they are, refused with the line that is wrong."""

import gzip
import math

import pytest

from zerogap.errors import FormatError, InputError
from zerogap.io.translation.phrase_tables import load_phrase_table
from zerogap.io.translation.weights import load_phrase_weights, weights_of_file
from zerogap.problems.translation.language_model import LanguageModel
from zerogap.translation.phrases.model import PhraseModel
from zerogap.translation.phrases.table import LOWEST, Phrase, PhraseTable, PhraseWeights

TABLE = """das ||| the ||| 0.5 0.25 1 0.125 ||| 0-0 ||| 2 4 2
das ||| that ||| 0.5 0 1 1
das haus ||| the house ||| 1 1 1 1 ||| 0-0 1-1
haus ||| house ||| 1 1 0.5 1
"""


@pytest.fixture
def write(tmp_path):
    def written(text, name="file"):
        path = tmp_path / name
        if name.endswith(".gz"):
            path.write_bytes(gzip.compress(text.encode()))
        else:
            path.write_text(text)
        return path

    return written


@pytest.mark.parametrize("name", ["table", "table.gz"])
def test_a_table(write, name):
    table = load_phrase_table(write(TABLE, name))
    assert table.targets["das"] == (
        Phrase(("the",), tuple(map(math.log, (0.5, 0.25, 1, 0.125)))),
        Phrase(("that",), (math.log(0.5), LOWEST, 0.0, 0.0)),
    )
    assert (len(table), table.longest, table.n_scores) == (4, 2, 4)


def test_only_what_sentences_need(write):
    path = write(TABLE)
    assert set(load_phrase_table(path, sentences=[["ein", "haus"]]).targets) == {"haus"}
    assert set(load_phrase_table(path, sentences=[["das", "haus"]]).targets) == {"das", "das haus", "haus"}
    assert set(load_phrase_table(path, sentences=[["das", "haus"]], longest=1).targets) == {"das", "haus"}
    assert len(load_phrase_table(path, sentences=[])) == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("das ||| the", "line 5: 2 fields, expected source \\|\\|\\| target \\|\\|\\| scores"),
        ("ein ||| a ||| 1 1 1", "line 5: 3 scores, expected 4 as before"),
        ("ein ||| a ||| 1 x 1 1", "line 5: 'x' is not a score"),
        ("ein ||| a ||| 1 -1 1 1", "line 5: '-1' is not a score: expected a probability, 0 or more"),
        ("ein ||| a ||| 1 nan 1 1", "line 5: 'nan' is not a score"),
        ("ein |||  ||| 1 1 1 1", "line 5: no target words"),
        (" ||| a ||| 1 1 1 1", "line 5: no source words"),
        ("das ||| the ||| 1 1 1 1", "line 5: 'das' has the target 'the' twice"),
    ],
)
def test_what_is_wrong_with_a_table_is_named(write, line, message):
    with pytest.raises(FormatError, match=message):
        load_phrase_table(write(TABLE + line + "\n"))


WEIGHTS = """# comment
[phrase]
p_f_given_e       0.1   # the first
lex_f_given_e     0.2
p_e_given_f       0.3
lex_e_given_f     0.4
lm                0.5
words             0.6
phrases          -0.7
distortion        0.8
distortion_limit  6

[hiero]
oov              -2.5
"""
MOSES = """[input-factors]
0

[mapping]
0 T 0

[distortion-limit]
6

[feature]
UnknownWordPenalty
KENLM name=LM0 factor=0 path=lm.arpa order=3

[weight]
UnknownWordPenalty0= 1
WordPenalty0= -0.6
PhrasePenalty0= -0.7
PhraseDictionaryMemory0= 0.1 0.2 0.3 0.4
Distortion0= 0.8
LM0= 0.5
"""
SAME = PhraseWeights((0.1, 0.2, 0.3, 0.4), 0.5, 0.6, -0.7, 0.8, 6)


def test_weights(write):
    path = write(WEIGHTS)
    assert load_phrase_weights(path) == SAME
    assert weights_of_file(path)["hiero"] == {"oov": (-2.5,)}
    assert load_phrase_weights(write(WEIGHTS.replace("distortion_limit  6\n", ""))).distortion_limit is None


def test_weights_of_moses(write):
    assert load_phrase_weights(write(MOSES)) == SAME
    assert load_phrase_weights(write(MOSES.replace("limit]\n6", "limit]\n-1"))).distortion_limit is None
    assert load_phrase_weights(write(MOSES.replace("[distortion-limit]\n6\n", ""))).distortion_limit == 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lm 0.5\n", "line 1: 'lm 0.5' before any section"),
        (WEIGHTS.replace("lm  ", "ln  "), "line 7: 'ln' with 1 numbers, expected one of each of"),
        (WEIGHTS.replace("lm                0.5\n", ""), "has no 'lm' in \\[phrase\\]"),
        (WEIGHTS.replace("0.5", "0.5 0.5"), "line 7: 'lm' with 2 numbers"),
        (WEIGHTS.replace("0.5", "inf"), "line 7: .* expected finite weights"),
        (WEIGHTS.replace("words  ", "lm  "), "line 8: 'lm' stands twice"),
        (WEIGHTS.replace("  6\n", "  2.5\n"), "line 11: distortion_limit is 2.5"),
        ("[other]\nx 1\n", "has sections other: expected \\[phrase\\]"),
        (MOSES.replace("LM0= 0.5", ""), "has no LM0"),
        (MOSES.replace("LM0= 0.5", "LM0= 0.5\nLexicalReordering0= 1"), "weighs 'LexicalReordering0': zerogap knows"),
        (MOSES.replace("PhraseDictionaryMemory0= 0.1 0.2 0.3 0.4", ""), "has 0 phrase tables"),
    ],
)
def test_what_is_wrong_with_weights_is_named(write, text, message):
    with pytest.raises(FormatError, match=message):
        load_phrase_weights(write(text))


def test_wrong_weights_are_refused():
    with pytest.raises(InputError, match=r"scores\[1\] is nan"):
        PhraseWeights((0.1, math.nan), 1.0)
    with pytest.raises(InputError, match="distortion_limit is -2"):
        PhraseWeights((0.1,), 1.0, distortion_limit=-2)


def test_unknown_words_are_passed_through(write):
    from zerogap.io.translation.arpa import read_language_model

    text = "\\data\\\nngram 1=4\n\\1-grams:\n-1 <s>\n-1 </s>\n-1 <unk>\n-1 the\n\\end\\\n"
    model = read_language_model(enumerate(text.splitlines(), start=1))
    assert isinstance(model, LanguageModel)
    phrases = PhraseModel(load_phrase_table(write(TABLE)), SAME, model)
    problem = phrases.problem(["das", "neue", "haus"])
    assert [problem.targets[p] for p in range(len(problem.starts))] == [("the",), ("that",), ("neue",), ("house",)]
    assert problem.scores[2] == pytest.approx(LOWEST + 0.6 - 0.7, abs=1e-6)
    with pytest.raises(InputError, match="4 weights of phrase scores: expected 1"):
        PhraseModel(PhraseTable({"a": (Phrase(("b",), (0.0,)),)}, 1), SAME, model)
