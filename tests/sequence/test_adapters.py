"""Scores of other libraries, with stand-ins for their objects."""

import numpy as np
import pytest
from hypothesis import given

import zerogap
from zerogap.errors import AlphabetMismatch, Infeasible, InputError, ScoreError, ScoreShapeError
from zerogap.sequence import at_least_one, no_duplicate, soft
from zerogap.sequence.adapters import Labelled, constrain_doc, constrain_logits, problem_from_logits
from zerogap.testing.strategies import score_arrays

BIO = ("O", "B-PER", "I-PER")
BILUO = ("O", "B-PER", "I-PER", "L-PER", "U-PER")


class Tensor:
    """As torch's: no array before it is detached, on the CPU and of a precision that NumPy has."""

    def __init__(self, values, steps=()):
        self.values, self.steps = values, steps

    def detach(self):
        return Tensor(self.values, (*self.steps, "detach"))

    def cpu(self):
        return Tensor(self.values, (*self.steps, "cpu"))

    def double(self):
        return Tensor(self.values, (*self.steps, "double"))

    def numpy(self):
        assert self.steps == ("detach", "cpu", "double")
        return np.array(self.values, dtype=np.float64)

    def __array__(self, *_, **__):
        raise TypeError("can't convert a tensor that requires grad")


class Span:
    def __init__(self, doc, start, end, label=""):
        self.start, self.end, self.label = start, end, label


class Doc(list):
    ents = ()

    def __getitem__(self, key):
        return Span(self, key.start, key.stop)


@given(score_arrays((4, 3), holes=False))
def test_without_constraints_it_is_argmax(logits):
    found = constrain_logits(logits, BIO)
    assert [logits[t, BIO.index(label)] for t, label in enumerate(found)] == logits.max(axis=1).tolist()


def test_tensors_batches_and_configurations():
    batch = [[[9.0, 0, 0], [0, 2, 1]], [[0, 0, 3.0], [0, 4, 0]]]
    id2label = {"0": "O", "1": "B-PER", "2": "I-PER"}
    assert constrain_logits(Tensor(batch), id2label) == [["O", "B-PER"], ["I-PER", "B-PER"]]
    assert constrain_logits(Tensor(batch), id2label, scheme="BIO") == [["O", "B-PER"], ["O", "B-PER"]]
    assert constrain_logits(np.float32(batch), id2label, mask=Tensor([[1, 0], [1, 1]])) == [["O"], ["I-PER", "B-PER"]]
    assert constrain_logits(batch, id2label, word_ids=[[None, 0], [0, 0]]) == [["B-PER"], ["I-PER"]]
    assert constrain_logits(np.zeros((0, 3)), BIO) == []
    assert constrain_logits(np.zeros((0, 4, 3)), BIO) == []


def test_a_masked_first_piece_leaves_the_next():
    assert constrain_logits([[9.0, 0, 0], [0, 9, 0]], BIO, word_ids=[0, 0], mask=[0, 1]) == ["B-PER"]


def test_penalties_are_in_units_of_log_probability():
    logits = np.log([[0.9, 0.1, 1e-9]]) + 100.0
    assert constrain_logits(logits, BIO, [soft(at_least_one("PER"), 2.1)]) == ["O"]
    assert constrain_logits(logits, BIO, [soft(at_least_one("PER"), 2.3)]) == ["B-PER"]  # log(9) is 2.197


def test_the_proof():
    found = constrain_logits([[0, 2.0, 1], [0, 3, 0]], BIO, [no_duplicate("PER")], scheme="BIO", proof=True)
    assert isinstance(found, Labelled)
    assert found.labels == ["O", "B-PER"]
    assert "so it is optimal" in str(zerogap.verify(found.problem, found.solution))
    assert constrain_logits([[[0, 2.0, 1]]], BIO, proof=True)[0].labels == ["B-PER"]
    with pytest.raises(Infeasible, match="at_least_one"):
        constrain_logits([[0.0, -np.inf, -np.inf]], BIO, [at_least_one("PER")])


def test_biluo():
    logits = np.eye(5)[[1, 3, 4, 1, 3]] * 5.0
    assert constrain_logits(logits, BILUO, scheme="BILUO") == ["B-PER", "L-PER", "U-PER", "B-PER", "L-PER"]
    assert constrain_logits(logits[:3], BILUO, [no_duplicate("PER")], scheme="BILUO") == ["B-PER", "L-PER", "O"]
    assert problem_from_logits(logits, BILUO).labels == ("O", "B-PER", "I-PER", "E-PER", "S-PER")
    assert problem_from_logits([[0.0, 0.0]], ("L-size", "U-boat")).labels == ("L-size", "U-boat")  # no scheme
    with pytest.raises(InputError, match="BILUO or BIOES, not both"):
        constrain_logits([[0.0] * 3], ("B-X", "L-X", "E-X"))


def test_transitions_are_added():
    same = np.where(np.eye(3) == 1, 0.0, -10.0)
    assert constrain_logits([[0, 1.0, 0], [0.5, 0, 0]], BIO, transitions=same) == ["B-PER", "B-PER"]
    assert constrain_logits([[0, 1.0, 0], [0.5, 0, 0]], BIO, transitions=same, scheme="BIO") == ["B-PER", "B-PER"]
    for scheme in (None, "BIO"):
        with pytest.raises(ScoreShapeError, match="transitions has shape"):
            constrain_logits([[0, 1.0, 0]], BIO, transitions=[[1.0]], scheme=scheme)


def test_documents():
    doc = Doc(["Bob", "Smith", "met", "Ann"])
    scores = np.eye(5)[[1, 3, 0, 4]]
    assert constrain_doc(doc, scores, BILUO) == ["B-PER", "L-PER", "O", "U-PER"]
    assert doc.ents == ()
    constrain_doc(doc, scores, BILUO, set_ents=True)
    assert [(span.start, span.end, span.label) for span in doc.ents] == [(0, 2, "PER"), (3, 4, "PER")]
    found = constrain_doc(doc, scores, BILUO, [no_duplicate("PER")], set_ents=True, proof=True)
    assert found.labels == ["B-PER", "L-PER", "O", "O"]
    assert len(doc.ents) == 1
    assert constrain_doc(doc, np.eye(2)[[0, 1, 1, 0]], ("name", "O")) == ["name", "O", "O", "name"]
    assert constrain_doc(doc, np.eye(3)[[2, 1, 0, 2]], BIO) == ["O", "B-PER", "O", "O"]
    with pytest.raises(ScoreShapeError, match=r"scores has shape \(1, 2\), the document has 4 tokens"):
        constrain_doc(doc, [[1.0, 2.0]], ("name", "O"))


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (([[1.0, 2.0]], BIO), {}, ScoreShapeError, r"logits has shape \(1, 2\), labels has 3 names: expected \(tokens, 3\)"),
        (([1.0], BIO), {}, ScoreShapeError, r"logits has shape \(1,\): expected"),
        (([[1.0], [1.0, 2.0]], BIO), {}, ScoreShapeError, "rows of the same length"),
        ((None, BIO), {}, ScoreShapeError, "logits"),
        (([[np.nan, 0, 0]], BIO), {}, ScoreError, r"logits\[0, 0\] is nan"),
        (([[0, np.inf, 0]], BIO), {}, ScoreError, r"logits\[0, 1\] is inf"),
        (([[-np.inf] * 3], BIO), {}, ScoreError, r"logits\[0\] is -inf for every label"),
        (([[0.0] * 3], {0: "O", 2: "X", 3: "Y"}), {}, InputError, r"keys \[0, 2, 3\]: expected 0 to 2"),
        (([[0.0] * 3], {"O": 0, "X": 1, "Y": 2}), {}, InputError, "as in id2label"),
        (([[0.0] * 3], "OBI"), {}, InputError, "expected names"),
        (([[0.0] * 3], (1, 2, 3)), {}, InputError, "expected names"),
        (([[0.0] * 3], ("O", "O", "B")), {}, InputError, "2 different"),
        (([[0.0] * 3], BIO), {"scheme": "IOB"}, InputError, "scheme is 'IOB': expected None, 'BIO'"),
        (([[0.0] * 3], BIO), {"mask": [1, 1]}, ScoreShapeError, r"mask has shape \(2,\): expected \(1,\)"),
        (([[0.0] * 3], BIO), {"word_ids": [0, 1]}, InputError, "word_ids has 2 entries: expected 1"),
        (([[[0.0] * 3]], BIO), {"word_ids": [[0], [1]]}, InputError, "word_ids has 2 rows: expected 1"),
        (([[0.0] * 3], BIO, [no_duplicate("PERS")]), {}, AlphabetMismatch, "Did you mean 'PER'"),
        (([[0.0] * 3], BIO), {"method": "magic"}, InputError, "Known: auto"),
    ],
)
def test_what_is_refused(arguments, options, error, message):
    with pytest.raises(error, match=message):
        constrain_logits(*arguments, **options)
