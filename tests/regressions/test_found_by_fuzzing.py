"""What fuzzing found, each as small as it gets."""

import numpy as np
import pytest

from zerogap import dependency, sequence
from zerogap.batch import load_job
from zerogap.errors import FormatError, InputError
from zerogap.io.formats.conllu import read_conllu
from zerogap.io.formats.lines import Piece
from zerogap.io.formats.openfst import read_openfst
from zerogap.io.rules.files import load_constraints
from zerogap.io.translation.arpa import load_language_model
from zerogap.io.translation.forests import forest_from_json
from zerogap.io.translation.moses_ini import load_moses_config
from zerogap.io.translation.phrase_alignments import load_phrase_alignments
from zerogap.io.translation.weights import weights_of_file
from zerogap.problems.files import problem_from_json
from zerogap.problems.translation.forest import from_rules
from zerogap.problems.translation.forest_problem import LOG_OF_10, SyntaxProblem
from zerogap.proof.certificate import Multipliers
from zerogap.proof.translation.forests import syntax_bound
from zerogap.proof.verify import verify
from zerogap.testing import reader_seeds
from zerogap.translation.forests.decoding import decode_forest
from zerogap.translation.language_models import Ngrams, build_language_model
from zerogap.translation.phrases.decoding import decode_phrases


def test_prices_that_grow_for_ever_stay_exact():
    """Without any tree, dual decomposition has no end: its last prices were too large for sums that are exact."""
    arcs = np.full((3, 3), -np.inf)
    arcs[0, 1] = arcs[0, 2] = arcs[1, 2] = 0.0
    siblings = np.zeros((3, 3, 3))
    siblings[1, 1, 2] = -np.inf  # 2 cannot depend on 1, and only one word may depend on the root
    problem = dependency.Problem(arcs, siblings=siblings)
    solution = dependency.decode(problem, method="dual-decomposition")
    assert solution.structure is None
    verify(problem, solution)


def test_what_the_checker_leaves_out_counts():
    """Hyperedges that cannot be above the claimed bound are left out; the bound of the rest was taken for that of all."""
    one = np.array([[0], [1], [2], [3], [4]])
    model = build_language_model(
        ["<s>", "</s>", "<unk>", "b", "c"],
        [
            Ngrams(one, np.array([0.0, 0.0, -2.0, 0.0, -4.0]), np.array([0.0, np.nan, np.nan, 0.0, 0.0])),
            Ngrams(np.array([[3, 4]]), np.array([-2.0]), np.array([1.0])),
            Ngrams(np.array([[3, 4, 1]]), np.array([0.0]), np.array([np.nan])),
        ],
    )
    rules = [(0, ["c", "z"], 1.0), (1, [0], 3.0), (1, ["b", 0], 0.0), (2, ["c"], 0.0), (2, [1, "c"], 1.0)]
    problem = SyntaxProblem(from_rules(rules, root=2)[0], model, weight=1 / LOG_OF_10)
    prices = Multipliers((-4.0, -4.0, 0.0, -4.0, 0.0, 0.0, 0.0, 0.0))
    assert syntax_bound(problem, prices, -4.0) == -4.0 == problem.score((3,))


def test_what_was_read_before_an_empty_phrase_is_not_forgotten():
    """The state of the model after words and an empty piece is that after the words."""
    one = np.array([[0], [1], [2], [3]])
    model = build_language_model(
        ["<s>", "</s>", "<unk>", "c"],
        [
            Ngrams(one, np.array([0.0, 0.0, -3.0, 0.0]), np.array([0.0, np.nan, 0.0, -2.0])),
            Ngrams(np.empty((0, 2), dtype=np.int64), np.empty(0), np.empty(0)),
        ],
    )
    problem = SyntaxProblem(from_rules([(0, [], 0.0), (1, ["c", "c", 0], 0.0), (1, ["z"], 0.0)], root=1)[0], model, weight=1 / LOG_OF_10)
    for method in ("auto", "optimal-beam", "intersection"):
        solution = decode_forest(problem, method=method)
        assert solution.score == -3.0
        verify(problem, solution)


@pytest.mark.parametrize("method", ["auto", "lr-tight", "chang-collins", "lagrangian", "a-star"])
def test_words_that_lead_to_the_same_state_are_not_one(method):
    """After a required word is there, other words do not change the state of what looks for it; the lattice took them for one."""
    scores = {"<s>": -2.0, "</s>": -2.0, "<unk>": -4.0, "a": -4.0, "c": -1.0}
    value = {
        "format": "zerogap-problem", "version": 1, "kind": "phrases", "source": ["x", "y", "z"], "distortion": 0.5, "resolution": 2.0**-10,
        "phrases": [[0, 2, ["c", "new"], "-inf"], [0, 2, ["new"], 1.0], [0, 3, ["c", "a", "c"], -1.0], [2, 3, ["a", "c"], 1.0]],
        "language_model": {"order": 1, "words": list(scores), "ngrams": [[[i, score] for i, score in enumerate(scores.values())]]},
        "constraints": {"required": [["a"]]},
    }  # fmt: skip
    problem = problem_from_json(value)
    solution = decode_phrases(problem, method=method)
    assert solution.score == -9.0
    assert solution.bound == -9.0 or method == "lagrangian"
    verify(problem, solution)


def test_a_sequence_of_no_tokens_without_labels():
    value = {"format": "zerogap-problem", "version": 1, "kind": "sequence", "emissions": [], "start": [3, 0], "end": [0, 0]}
    assert problem_from_json(value).emissions.shape == (0, 2)
    with pytest.raises(InputError):
        problem_from_json({**value, "end": [0]})


def test_a_carriage_return_in_a_cell():
    with pytest.raises(FormatError, match="line 1"):
        list(read_conllu(Piece("a", b"1\ta\t_\t_\t_\t_\t9\t_\t_\t_\n2\tb\t_\t_\t_\t_\t0\t_\t1\t\ry")))


@pytest.mark.parametrize("count", [b"2147483648", b"9999999999999999999"])
def test_n_grams_that_are_only_announced(count):
    with pytest.raises(FormatError, match="as announced"):
        load_language_model(Piece("a", b"\\data\\\nngram 1=" + count + b"\n\n\\1-grams:\n"))


def test_penalties_beyond_float64():
    with pytest.raises(InputError, match="penalty"):
        sequence.soft(sequence.disallow("A"), 10**400)
    text = b"constraints:\n  - no_duplicate: [title]\n    penalty: " + b"1" * 400 + b"\n"
    with pytest.raises(InputError, match="penalty"):
        load_constraints(Piece("a.yaml", text))


def test_automata_that_are_no_text(tmp_path):
    with pytest.raises(FormatError, match="cannot be read"):
        read_openfst(tmp_path / "missing.fst")
    with pytest.raises(FormatError, match="not UTF-8"):
        read_openfst(Piece("a.fst", b"0 1 \xff\n"))


@pytest.mark.parametrize("vertex", [2**31, 2**63, 10**19])
@pytest.mark.parametrize("place", ["root", "head", "target"])
def test_vertices_beyond_all_arrays(vertex, place):
    value = {"format": "zerogap-forest", "version": 1, "root": 0, "edges": [{"head": 0, "target": ["a", 1]}, {"head": 1, "target": ["b"]}]}
    if place == "root":
        value["root"] = vertex
    else:
        value["edges"][0][place] = vertex if place == "head" else [vertex]
    with pytest.raises(FormatError, match="names vertex"):
        forest_from_json(value)


def test_paths_that_no_file_can_have():
    text = b"[feature]\nKENLM path=" + b"1" * 5000 + b"\nPhraseDictionaryMemory path=t\n" + reader_seeds.WEIGHTS[1]
    assert len(load_moses_config(Piece("moses.ini", text)).language_model.name) == 5000


def test_links_beyond_all_phrases():
    line = b"das ||| the ||| 0.5 0.5 0.5 0.5 ||| " + b"9" * 5000 + b"-0\n"
    with pytest.raises(FormatError, match="expected a word alignment"):
        load_phrase_alignments(Piece("table", line), [["das"]])


def test_integers_that_cannot_be_shown():
    for name in ("a.toml", "job.toml"):
        with pytest.raises(FormatError, match="more than 64 bits"):
            (load_job if name == "job.toml" else load_constraints)(Piece(name, b"task = 0x" + b"1" * 5000))


def test_a_weight_that_is_an_equals_sign():
    assert weights_of_file(Piece("a", b"[t]\n=\n")) == {"t": {"": ()}}
