"""Training and trained models: what they score, what they learn about constraints, and what they refuse."""

import io
import itertools
import json
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerogap import sequence as seq
from zerogap.errors import AlphabetMismatch, FormatError, InputError, UnknownMethod
from zerogap.sequence.examples import Example
from zerogap.sequence.model import SequenceModel, group_of
from zerogap.sequence.training import DEFAULT_TEMPLATES, train

ALGORITHMS = ("crf", "crf-sgd", "perceptron")
SMALL = ("bias", "form[0]", "form[-1]")


def example(words, labels=None, constraints=()):
    return Example({"form": tuple(words.split())}, None if labels is None else tuple(labels.split()), tuple(constraints))


REFERENCES = [
    example("Smith , J. Parsing . 1999", "author author author title title date"),
    example("Doe , A. and Roe , B. On trees 2001", "author author author author author author author title title date"),
    example("", ""),
    example("1987 Smith , J. Trees", "date author author author title"),
    example("Anonymous", "author"),
]


def labels_of(model, unseen, **options):
    return seq.decode(model.problem(unseen, **options)).structure


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_separates_what_is_separable(algorithm):
    reports = []
    model = train(REFERENCES, algorithm=algorithm, l2=0.01, development=REFERENCES[:2], report=reports.append)
    for reference in REFERENCES:
        assert labels_of(model, reference) == reference.labels
    assert model.labels == ("author", "date", "title")
    assert model.templates == DEFAULT_TEMPLATES
    assert reports[-1].development_accuracy == 1.0
    assert [report.epoch for report in reports] == list(range(1, len(reports) + 1))
    assert reports[-1].objective <= reports[0].objective


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_same_input_same_bytes(algorithm, tmp_path):
    constraints = [seq.soft(seq.no_duplicate("date"), 1.0), seq.at_least_one("author")]
    for name in "ab":
        train(REFERENCES, algorithm=algorithm, epochs=3, seed=5, constraints=constraints).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_loaded_models_score_the_same(tmp_path):
    constraints = [seq.soft(seq.no_duplicate("date").called("one date"), 1.5), seq.at_least_one("author") | seq.precedes("author", "title")]
    model = train(REFERENCES, epochs=5, constraints=[*constraints, seq.regex(".* title .*")])
    model.save(tmp_path / "model.npz")
    loaded = SequenceModel.load(tmp_path / "model.npz")
    assert (loaded.labels, loaded.templates, loaded.constraints) == (model.labels, model.templates, model.constraints)
    assert loaded.penalties == model.penalties
    for reference in [*REFERENCES, example("never seen words , in 1999")]:
        ours, theirs = model.problem(reference), loaded.problem(reference)
        for name in ("emissions", "transitions", "start", "end", "penalties"):
            assert getattr(ours, name).tobytes() == getattr(theirs, name).tobytes()


def test_problem_scores_by_definition():
    model = train(REFERENCES, templates=SMALL, epochs=10)
    unseen = example("Smith , Unknown 1999")
    problem = model.problem(unseen)
    weight = {}
    for f in range(len(model.features.keys)):
        for p in range(model.features.row_start[f], model.features.row_start[f + 1]):
            weight[f, model.features.labels[p]] = model.weights[p]
    rows = model.features.rows(unseen.columns, len(unseen))
    y = ("author", "title", "title", "date")
    at = [model.labels.index(label) for label in y]
    expected = model.start[at[0]] + model.end[at[-1]] + sum(model.transitions[i, j] for i, j in itertools.pairwise(at))
    expected += sum(weight.get((f, label), 0.0) for row, label in zip(rows.tolist(), at, strict=True) for f in row)
    assert problem.score(y) == pytest.approx(expected)
    assert labels_of(model, REFERENCES[2]) == ()


def test_constraints_of_the_model_and_of_the_example():
    model = train(REFERENCES, constraints=[seq.exactly("date", 1)])
    unseen = example("Smith 1999 Trees 2001", constraints=[seq.at(0, "title")])
    assert labels_of(model, unseen).count("date") == 1
    assert labels_of(model, unseen)[0] == "title"
    assert labels_of(model, unseen, constraints=()) == ("author", "date", "title", "date")
    assert labels_of(model, unseen, constraints=[seq.at(1, "title")])[1] == "title"
    with pytest.raises(AlphabetMismatch, match="'editor' is neither a label nor a field"):
        model.problem(unseen, constraints=[seq.no_duplicate("editor")])


def bursts(count=40, seed=0):
    """Words of two kinds; exactly one x per sequence is an entity, which no local feature tells."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        words = random.choice(["x", "o"], size=6, p=[0.4, 0.6])
        words[random.integers(6)] = "x"
        first = int(np.flatnonzero(words == "x")[0])
        found.append(example(" ".join(words), " ".join("E" if t == first else "N" for t in range(6))))
    return found


def test_perceptron_learns_penalties_by_exact_decoding():
    constraint = seq.soft(seq.at_most("E", 1).called("one entity"), 0.5)
    model = train(bursts(), algorithm="perceptron", templates=("bias", "form[0]"), constraints=[constraint])
    assert model.penalties["one entity"] > 0.5
    assert model.constraints == (seq.soft(constraint, model.penalties["one entity"]),)
    kept = train(bursts(), algorithm="perceptron", templates=("bias", "form[0]"), constraints=[constraint], learn_penalties=False)
    assert kept.constraints == (constraint,)
    assert kept.penalties == {}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_useless_constraints_are_dropped(algorithm):
    """Gold labels always break it."""
    useless = seq.soft(seq.disallow("E"), 3.0)
    model = train(bursts(), algorithm=algorithm, templates=("bias", "form[0]", "form[-1]"), constraints=[useless])
    assert model.penalties["disallow(E)"] == 0.0 or algorithm == "perceptron"  # an average over all moments keeps a trace
    assert model.penalties["disallow(E)"] < 1.0
    if algorithm != "perceptron":
        assert model.constraints == ()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_example_constraints_share_a_penalty_by_name(algorithm):
    def with_spans(examples):
        return [
            Example(e.columns, e.labels, (seq.soft(seq.span(0, 2), 1.0), seq.soft(seq.span(2, 4).called("late"), 1.0))) for e in examples
        ]

    model = train(with_spans(bursts()), algorithm=algorithm, templates=("bias", "form[0]"))
    assert set(model.penalties) == {"spans", "late"}
    unseen = example(
        "x o x o", constraints=[seq.soft(seq.span(1, 3), 9.0), seq.soft(seq.at(0, "E").called("other"), 4.0), seq.at_least_one("N")]
    )
    found = model.problem(unseen).constraints
    learned = {constraint.kind: constraint.penalty for constraint in found}
    assert learned.get("spans", 0.0) == model.penalties["spans"]
    assert learned["at"] == 4.0  # not learned: as given
    assert learned["at_least_one"] is None
    assert model.problem(unseen, constraints=unseen.constraints).constraints == unseen.constraints


def test_hard_constraints_that_gold_breaks_do_not_stop_training():
    for algorithm in ALGORITHMS:
        model = train(REFERENCES, algorithm=algorithm, constraints=[seq.at_least_one("title")], epochs=5)
        assert "title" in labels_of(model, example("Anonymous"))


def test_groups():
    assert group_of(seq.soft(seq.no_duplicate("A"), 2.0)) == "no_duplicate(A)"
    assert group_of(seq.soft(seq.span(0, 1), 2.0), of_example=True) == "spans"
    assert group_of(seq.soft(seq.span(0, 1).called("chunk"), 2.0), of_example=True) == "chunk"


ENTITIES = [example("a B C d", "O B-X I-X O"), example("B d", "B-X O"), example("a C", "O B-X")]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_schemes_forbid_ill_formed_labellings(algorithm):
    model = train(ENTITIES, algorithm=algorithm, epochs=3)
    index = {label: i for i, label in enumerate(model.labels)}
    assert model.transitions[index["O"], index["I-X"]] == model.start[index["I-X"]] == -np.inf
    assert np.isfinite(model.weights).all()
    assert np.isfinite(model.end).all()


def test_schemes_are_found_or_checked():
    ill_formed = [example("a b", "I-X O")]
    assert np.isfinite(train(ill_formed, epochs=1).start).all()  # not asked for, and does not fit
    with pytest.raises(InputError, match=r"examples\[0\] has the label 'I-X' at 0, which is ill-formed there in the scheme 'BIO'"):
        train(ill_formed, scheme="BIO")
    with pytest.raises(InputError, match="scheme is 'IOB'"):
        train(ENTITIES, scheme="IOB")
    assert np.isfinite(train([example("a b", "B-X other")], epochs=1).start).all()
    single = train([example("a b c", "S-X B-X E-X"), example("a", "O")], epochs=1)
    assert single.end[single.labels.index("B-X")] == -np.inf
    with pytest.raises(InputError, match="ill-formed"):
        train([example("a", "B-X"), example("b c", "B-X E-X")], scheme="BIOES")


def test_bad_input():
    with pytest.raises(InputError, match="examples is empty"):
        train([])
    with pytest.raises(InputError, match=r"examples\[1\] has no labels"):
        train([REFERENCES[0], example("a b")])
    with pytest.raises(InputError, match="examples have no tokens"):
        train([example("", "")])
    with pytest.raises(InputError, match=r"examples\[0\] is a str"):
        train(["a b"])
    with pytest.raises(UnknownMethod, match="Did you mean 'perceptron'"):
        train(REFERENCES, algorithm="perceptrn")
    with pytest.raises(InputError, match="l2 is -1"):
        train(REFERENCES, l2=-1)
    with pytest.raises(InputError, match="epochs is 1.5"):
        train(REFERENCES, epochs=1.5)
    with pytest.raises(InputError, match="column 'pos' is not known"):
        train(REFERENCES, templates=["pos[0]"])
    for algorithm in ALGORITHMS:
        with pytest.raises(AlphabetMismatch, match="'autor' is neither a label nor a field. Did you mean 'author'"):
            train(REFERENCES, algorithm=algorithm, constraints=[seq.no_duplicate("autor")], epochs=1)
    with pytest.raises(InputError, match=r"constraints\[0\] is 'author'"):
        train(REFERENCES, constraints=["author"])


def test_rare_features_are_left_out():
    assert len(train(REFERENCES, min_count=3, epochs=1).features.keys) < len(train(REFERENCES, epochs=1).features.keys)
    nothing = train(REFERENCES, min_count=1000, epochs=1)
    assert len(nothing.features.keys) == 0
    assert len(labels_of(nothing, REFERENCES[0])) == 6


def saved(tmp_path):
    train(REFERENCES, templates=SMALL, epochs=2, constraints=[seq.soft(seq.no_duplicate("date"), 1.0)]).save(tmp_path / "m")
    return tmp_path / "m"


def rewritten(path, **changes):
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(arrays["header"].tobytes())
    for name, change in changes.items():
        if name in arrays:
            arrays[name] = change(arrays[name])
        else:
            header[name] = change(header[name])
    if "header" not in changes:
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path.with_suffix(".npz"), **arrays)
    return path.with_suffix(".npz")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"keys": lambda a: a[::-1]}, "keys are not ascending"),
        ({"keys": lambda a: a.astype(np.float64)}, "keys is float64"),
        ({"row_start": lambda a: a[:-1]}, "row_start has"),
        ({"row_start": lambda a: a + 1}, "row_start does not ascend"),
        ({"label_of_weight": lambda a: a + 2}, "label_of_weight has labels outside"),
        ({"weights": lambda a: a[1:]}, "weights has shape"),
        ({"weights": lambda a: a * np.nan}, "weights has entries that are not finite"),
        ({"transitions": lambda a: a[:2]}, "transitions has shape"),
        ({"start": lambda a: a + np.inf}, "start has entries that are not finite"),
        ({"header": lambda a: a[:-5]}, "header is not JSON"),
        ({"format": lambda v: "other"}, "format is 'other'"),
        ({"version": lambda v: 99}, "has version 99"),
        ({"labels": lambda v: v[:-1]}, "labels outside|has shape"),
        ({"labels": lambda v: [v[0]] * len(v)}, "same entry twice"),
        ({"templates": lambda v: ["form[", *v[1:]]}, "an offset, an integer"),
        ({"templates": lambda v: v[:1]}, "vocabularies has 1 lists: expected 0"),
        ({"vocabularies": lambda v: [[3]]}, "vocabularies"),
        ({"constraints": lambda v: [{"kind": "exec", "arguments": []}]}, "kind is 'exec'"),
        ({"constraints": lambda v: [{**v[0], "penalty": -1.0}] if v else [{"kind": 3}]}, "penalty is -1.0|kind"),
        ({"constraints": lambda v: [{"kind": "at_most", "arguments": ["date"]}]}, r"constraints\[0\]: at_most was given"),
        ({"constraints": lambda v: [{"kind": "at_most", "arguments": ["date", 10**12]}]}, "integers up to"),
        ({"constraints": lambda v: [{"kind": "not", "arguments": ["date"]}]}, r"constraints\[0\]: not was given"),
        ({"constraints": lambda v: [{"kind": "disallow", "arguments": ["editor"]}]}, "'editor' is neither"),
        ({"penalties": lambda v: {"a": -1.0}}, "expected numbers of at least 0"),
    ],
)
def test_tampered_files_are_refused(tmp_path, changes, message):
    path = rewritten(saved(tmp_path), **changes)
    with pytest.raises(FormatError, match=message):
        SequenceModel.load(path)


def test_other_files_are_refused(tmp_path):
    good = saved(tmp_path).read_bytes()
    contents = {"empty": b"", "text": b"not a model", "cut": good[: len(good) // 2], "zip": zipped({"a.txt": b"a"})}
    contents["pickle"] = npy_of(np.array([{"a": 1}], dtype=object))
    contents["array"] = npy_of(np.zeros(3))
    contents["pickled member"] = zipped({f"{name}.npy": npy_of(np.array([None], dtype=object)) for name in np.load(io.BytesIO(good)).files})
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FormatError):
            SequenceModel.load(tmp_path / name)
    with pytest.raises(FormatError, match="no such file"):
        SequenceModel.load(tmp_path / "nowhere")
    with pytest.raises(FormatError):
        SequenceModel.load(tmp_path)
    with pytest.raises(FormatError, match="cannot be written"):
        SequenceModel.load(tmp_path / "m").save(tmp_path / "no" / "folder")


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def npy_of(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


@given(st.integers(0, 10**9), st.integers(0, 255))
@settings(max_examples=60)
def test_a_changed_byte_is_refused_or_harmless(tmp_path_factory, place, byte):
    folder = tmp_path_factory.mktemp("model")
    content = bytearray(saved(folder).read_bytes())
    content[place % len(content)] = byte
    (folder / "changed").write_bytes(content)
    try:
        model = SequenceModel.load(folder / "changed")
    except FormatError:
        return
    model.emissions(REFERENCES[0])


def test_constraints_that_files_cannot_hold(tmp_path):
    from zerogap.problems.sequence.regex import compile_regex

    automaton = compile_regex(".*", ("author", "date", "title"))
    model = train(REFERENCES, constraints=[seq.accepted_by(automaton)], epochs=1)
    with pytest.raises(InputError, match="use regex"):
        model.save(tmp_path / "m")


@pytest.mark.data
def test_references(data):
    """Cora: what the papers' citations need."""

    def read(split):
        rows = [json.loads(line) for line in (data / "citations" / "cora" / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()]
        return [Example({"form": tuple(row["tokens"])}, tuple(row["labels"])) for row in rows]

    model, development = train(read("train"), epochs=40), read("dev")
    right = sum(a == b for e in development for a, b in zip(labels_of(model, e), e.labels, strict=True))
    assert right / sum(map(len, development)) > 0.94
