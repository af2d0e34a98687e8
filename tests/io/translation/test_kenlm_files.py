"""Models of KenLM against the same ones read as ARPA."""

import base64
import itertools
import zlib

import pytest

from zerogap.errors import FormatError
from zerogap.io.translation.arpa import load_language_model
from zerogap.io.translation.kenlm_files import MAGIC, is_kenlm_binary, load_kenlm
from zerogap.io.translation.scfg import read_grammar
from zerogap.translation.translators import grammar_translator

kenlm = pytest.importorskip("kenlm")

ARPA = """\\data\\
ngram 1=6
ngram 2=6
ngram 3=3

\\1-grams:
-99\t<s>\t-0.5
-1\t</s>\t0
-2\t<unk>\t0
-1.25\tthe\t-0.25
-1\tdog\t-0.125
-1.5\tbarks\t-0.75

\\2-grams:
-0.5\t<s> the\t-0.5
-0.25\tthe dog\t-0.25
-0.375\tdog barks\t-0.125
-0.5\tbarks </s>
-2\tdog the\t0
-1.75\tthe </s>

\\3-grams:
-0.125\t<s> the dog
-0.25\tthe dog barks
-0.0625\tdog barks </s>

\\end\\
"""


# the same model as build_binary of KenLM writes it, packed and in base 64
BINARIES = {
    "trie":
    "eNrLzU0sUMjJVcgoKSmw0tfPzkhNTMtMzUnRS87P1U/OT0lVSMsvyk0sUShLLSrOzM9TMOViQIAGeyCxnxFI/AcCkAgjVIYZTB6wZ4KKgTAbVI4NRQ0EsELp"
    "gjrFvZZtpQxcOd8/1hY/yNZe9FRqjbr1kqCC9VlPAuZv2bSJIT0o7t53JK0HQA5BcI8dArkJyY37UeUXAPkN+5gQ2oF8h/0sqOr3sTKgAjYG7ADoh/8gvzkB"
    "NcoDaQUg5wcQ/wkDcYA4AWjSN5CgGdAaoIoF62FaeZD8/oaXgeGCOJAtj2y4TWleth2DTTEQ6wOJkoxUhqTEouxihpT8dAYAStlMBA==",
    "probing":
    "eNrLzU0sUMjJVcgoKSmw0tfPzkhNTMtMzUnRS87P1U/OT0lVSMsvyk0sUShLLSrOzM9TMOViQIAGeyCxnxFI/AcCkAgjVIYZTB6wRxZjQ6OZGVABSFx70VOp"
    "NerWS0ByQQXrs54EzN/CiqZu0yaG9KC4e99ZgGyunO8fa4sfZDOhqSmoU9xr2VYKtxsHOADyBAPDsUMgf0D9A+QvANIN+6D8fRB/OOyHaeL4xJTRstFYGChv"
    "B1LXWPT2Q211TSvEDIb9CrFT9nVNsNEGssHm7VrG3Ce1at82oDl2IPPEznt9XleTJcHA8GA/xD7SwJre2yLMiWlrYO5vzkk5+jXmeTmQuRdZndqXdr4/thPz"
    "QHbua3knHSh3YDrIvTaledl2DDbFQKwPJEoyUhlS8tMZkhKLsosZAEHZbyE=",
}  # fmt: skip


@pytest.fixture
def both(tmp_path):
    path = tmp_path / "lm.arpa"
    path.write_text(ARPA)
    return load_language_model(path), load_kenlm(path)


def test_the_same_scores(both):
    arpa, asked = both
    model = asked.language_model(["the", "dog", "barks", "unheard", "of"])
    assert model.order == 3
    for n in range(5):
        for words in itertools.product(["the", "dog", "barks", "unheard"], repeat=n):
            assert model.score(words) == pytest.approx(arpa.score(words), abs=1e-5)
            assert model.score(words) == pytest.approx(asked.model.score(" ".join(words)), abs=1e-5)


def test_a_part_of_the_vocabulary(both):
    arpa, asked = both
    model = asked.language_model(["dog"])
    assert model.words == ("<s>", "</s>", "<unk>", "dog")
    for n in range(4):
        assert model.score(["dog"] * n) == pytest.approx(arpa.score(["dog"] * n), abs=1e-5)


@pytest.mark.parametrize("kind", BINARIES)
def test_binary_files(tmp_path, kind):
    path = tmp_path / "lm.binary"
    path.write_bytes(zlib.decompress(base64.b64decode(BINARIES[kind])))
    assert is_kenlm_binary(path)
    (tmp_path / "lm.arpa").write_text(ARPA)
    arpa, model = load_language_model(tmp_path / "lm.arpa"), load_kenlm(path).language_model(["the", "dog", "barks", "unheard"])
    assert model.order == 3
    for n in range(5):
        for words in itertools.product(["the", "dog", "barks", "unheard"], repeat=n):
            assert model.score(words) == pytest.approx(arpa.score(words), abs=1e-5)


def test_what_is_not_a_model(tmp_path):
    path = tmp_path / "lm.bin"
    path.write_bytes(MAGIC + b" format version 5\n" + bytes(100))
    assert is_kenlm_binary(path)
    assert not is_kenlm_binary(tmp_path / "none")
    with pytest.raises(FormatError, match="cannot be read as a language model of KenLM"):
        load_kenlm(path)


def test_translation_by_a_model_that_is_asked(both, tmp_path):
    rules = tmp_path / "rules"
    rules.write_text("[S] ||| [X,1] ||| [X,1] ||| p=0\n[S] ||| [S,1] [X,2] ||| [S,1] [X,2] ||| p=0\n[X] ||| a ||| the ||| p=0\n"
                     "[X] ||| b ||| dog ||| p=-1\n[X] ||| b ||| barks ||| p=0\n")  # fmt: skip
    grammar = read_grammar(rules, sentences=[["a", "b", "c"]])
    weights = {"p": 1.0, "lm": 1.0, "oov": -1.0}
    found = []
    for model in both:
        translator = grammar_translator(grammar, weights, model)
        problem = translator.problem(["a", "b", "c"])
        solution = translator.decode(problem)
        found.append((translator.text(problem, solution.structure), solution.score))
        features = translator.features(problem, solution.structure)
        assert sum(weights.get(name, 0.0) * value for name, (value,) in features.items()) == pytest.approx(solution.score, abs=1e-6)
    assert found[0][0] == found[1][0]
    assert found[0][1] == pytest.approx(found[1][1], abs=1e-5)
