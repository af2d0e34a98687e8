"""Against all vines of small sentences, Eisner's algorithm where nothing is far, and as bounds on projective trees."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import config

from zerogap.baselines.brute import all_trees, is_tree
from zerogap.errors import Infeasible, InputError, ScoreError, ScoreShapeError
from zerogap.oracles.trees.eisner import eisner_kernel
from zerogap.oracles.trees.projective_marginals import projective_max_marginals
from zerogap.oracles.vine.oracle import FAR_LEFT, FAR_RIGHT, ROOT, best_vine, best_vine_scores, vine_kernel, vine_max_marginals, vine_scores
from zerogap.testing.strategies import score_arrays


@functools.cache
def all_vines(n, width, single_root):
    """Projective trees, perhaps of many roots, with short arcs between words; what is under the root has it as its head, or a far word."""

    def labelled(heads, m):
        if m > len(heads):
            return [()]
        rest = labelled(heads, m + 1)
        if heads[m - 1] != 0:
            codes = [heads[m - 1]]
        else:
            far_left = any(m - h > width for h in range(1, n + 1))
            far_right = any(h - m > width for h in range(1, n + 1))
            codes = [ROOT] + [FAR_LEFT] * far_left + [FAR_RIGHT] * far_right
        return [(code, *others) for code in codes for others in rest]

    trees = all_trees(n, projective=True, single_root=False)
    short = [heads for heads in trees if all(h == 0 or abs(h - m) <= width for m, h in enumerate(heads, start=1))]
    vines = [vine for heads in short for vine in labelled(heads, 1)]
    return frozenset(vine for vine in vines if n == 0 or (vine.count(ROOT) == 1 if single_root else vine.count(ROOT) >= 1))


def place(near, far, m, code):
    """Where the score of the head of m is: an array and an index."""
    if code <= 0:
        return far, (-code, m)
    return near, (0, code, m - code) if code < m else (1, code, code - m)


def score_of(near, far, vine):
    return float(sum(array[index] for array, index in (place(near, far, m, code) for m, code in enumerate(vine, start=1))))


@functools.cache
def cells(n, width, single_root):
    """The vines as rows of places in the scores, near before far, laid flat."""
    size = 2 * (n + 1) * (width + 1)
    near, far = np.arange(size).reshape(2, n + 1, width + 1), np.arange(size, size + 3 * (n + 1)).reshape(3, n + 1)
    rows = []
    for vine in sorted(all_vines(n, width, single_root)):
        rows.append([array[index] for array, index in (place(near, far, m, code) for m, code in enumerate(vine, start=1))])
    return np.array(rows, dtype=np.int64).reshape(len(rows), n)


def by_definition(near, far, single_root):
    """The best score, and the best score with every near and every far arc."""
    n, width = near.shape[1] - 1, near.shape[2] - 1
    used = cells(n, width, single_root)
    flat = np.concatenate([near.ravel(), far.ravel()])
    totals = flat[used].sum(axis=1)
    best_with = np.full(flat.size, -np.inf)
    np.maximum.at(best_with, used, totals[:, None])
    return totals.max(initial=-np.inf), best_with[: near.size].reshape(near.shape), best_with[near.size :].reshape(far.shape)


def found(*arguments, **options):
    score, heads = best_vine(*arguments, **options)
    return score, heads.tolist()


def check_all(near, far, single_root):
    n, width = near.shape[1] - 1, near.shape[2] - 1
    best, near_best, far_best = by_definition(near, far, single_root)
    heads = np.full(n, -9, np.int64)
    assert vine_kernel(near, far, int(single_root), heads) == best
    if best > -np.inf:
        assert tuple(heads.tolist()) in all_vines(n, width, single_root)
        assert score_of(near, far, heads.tolist()) == best
    near_found, far_found = np.full(near.shape, np.nan), np.full(far.shape, np.nan)
    assert vine_max_marginals(near, far, int(single_root), near_found, far_found) == best
    assert near_found.tolist() == near_best.tolist()
    assert far_found.tolist() == far_best.tolist()


@st.composite
def scored(draw, max_words=5):
    n = draw(st.integers(0, max_words))
    width = draw(st.integers(0, n + 2))
    holes = draw(st.booleans())
    return draw(score_arrays((2, n + 1, width + 1), holes=holes)), draw(score_arrays((3, n + 1), holes=holes))


@given(scored(), st.booleans())
@settings(max_examples=400)
def test_it_is_a_best_vine_and_so_for_every_arc(scores, single_root):
    check_all(*scores, single_root)


@pytest.mark.parametrize("n", range(7))
@pytest.mark.parametrize("single_root", [True, False])
def test_every_width(n, single_root):
    rng = np.random.default_rng(n)
    for width in range(n + 1):
        for holes in (0.0, 0.1, 0.4):
            for _ in range(8):
                near = rng.integers(-3, 4, (2, n + 1, width + 1)).astype(np.float64)
                far = rng.integers(-3, 4, (3, n + 1)).astype(np.float64)
                near[rng.random(near.shape) < holes] = -np.inf
                far[rng.random(far.shape) < holes] = -np.inf
                check_all(near, far, single_root)


def mapped(heads, width):
    """The vine of a tree: long arcs between words become far ones."""
    codes = [h if h == 0 or abs(h - m) <= width else FAR_LEFT if h < m else FAR_RIGHT for m, h in enumerate(heads, start=1)]
    return tuple(codes)


@pytest.mark.parametrize("n", range(7))
@pytest.mark.parametrize("single_root", [True, False])
def test_every_projective_tree_has_its_vine(n, single_root):
    for width in range(n + 2):
        vines = all_vines(n, width, single_root)
        images = {mapped(heads, width) for heads in all_trees(n, projective=True, single_root=single_root)}
        assert images <= vines
        if width >= n - 1:  # nothing is far
            assert images == vines


@st.composite
def arcs_and_width(draw, max_words=5):
    n = draw(st.integers(0, max_words))
    return draw(score_arrays((n + 1, n + 1), holes=draw(st.booleans()))), draw(st.integers(0, n + 1))


@given(arcs_and_width(), st.booleans())
@settings(max_examples=200)
def test_no_tree_scores_higher_than_its_vine(scored_arcs, single_root):
    arcs, width = scored_arcs
    n = len(arcs) - 1
    near, far = vine_scores(arcs, width)
    for heads in all_trees(n, projective=True, single_root=single_root):
        assert sum(arcs[h, m] for m, h in enumerate(heads, start=1)) <= score_of(near, far, mapped(heads, width))
    is_bound(arcs, width, single_root)


def is_bound(arcs, width, single_root):
    """No projective tree, and none with some arc, is worth more than a best vine with what the arc becomes. Returns both best scores."""
    n = len(arcs) - 1
    near, far = vine_scores(arcs, width)
    of_trees, near_best, far_best = np.empty(arcs.shape), np.empty(near.shape), np.empty(far.shape)
    best_tree = projective_max_marginals(arcs, int(single_root), of_trees)
    best = vine_max_marginals(near, far, int(single_root), near_best, far_best)
    assert best >= best_tree
    assert best == vine_kernel(near, far, int(single_root), np.empty(n, np.int64))
    if best_tree > -np.inf:
        for m in range(1, n + 1):
            for h in range(n + 1):
                if h != m:
                    array, index = place(near_best, far_best, m, mapped([0] * (m - 1) + [h], width)[m - 1])
                    assert array[index] >= of_trees[h, m]
    if best > -np.inf:  # every word has some head in a best vine
        for m in range(1, n + 1):
            near_heads = [h for h in range(max(1, m - width), min(n, m + width) + 1) if h != m]
            places = [place(near_best, far_best, m, code) for code in (*near_heads, ROOT, FAR_LEFT, FAR_RIGHT)]
            assert max(array[index] for array, index in places) == best
    return best, best_tree


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 12, 25])
@pytest.mark.parametrize("single_root", [True, False])
def test_nothing_is_far_in_a_band_as_wide_as_the_sentence(n, single_root):
    rng = np.random.default_rng(n)
    for beyond in (-1, 0, 3):
        for holes in (0.0, 0.2):
            arcs = rng.integers(-8, 9, (n + 1, n + 1)) / 4
            arcs[rng.random(arcs.shape) < holes] = -np.inf
            heads, tree = np.empty(n, np.int64), np.empty(n, np.int64)
            near, far = vine_scores(arcs, n + beyond)
            assert (far[1:] == -np.inf).all()
            far[1:] = 5.0  # means nothing here
            best = vine_kernel(near, far, int(single_root), heads)
            assert best == eisner_kernel(arcs, int(single_root), tree)
            if best > -np.inf:
                assert is_tree(heads, projective=True, single_root=single_root)
            of_arcs, near_best, far_best = np.empty(arcs.shape), np.empty(near.shape), np.empty(far.shape)
            assert projective_max_marginals(arcs, int(single_root), of_arcs) == best
            assert vine_max_marginals(near, far, int(single_root), near_best, far_best) == best
            if best > -np.inf:
                assert far_best[0, 1:].tolist() == of_arcs[0, 1:].tolist()
                assert (far_best[1:] == -np.inf).all()
                expected = vine_scores(of_arcs, n + beyond)[0]
                assert near_best.tolist() == expected.tolist()


@pytest.mark.parametrize("single_root", [True, False])
def test_longer_sentences_are_bounded(single_root):
    rng = np.random.default_rng(5)
    for n in (10, 31, 60):
        arcs = rng.integers(-50, 51, (n + 1, n + 1)).astype(np.float64)
        arcs[rng.random(arcs.shape) < 0.3] = -np.inf
        bounds = [is_bound(arcs, width, single_root)[0] for width in (0, 1, 3, 8, n)]
        assert bounds == sorted(bounds, reverse=True)  # what a wider band knows more of


def test_chains_grow_longer_than_the_band():
    # 0 -> 3, and two chains of arcs to the next word: one component of nine words in a band of width 1
    near, far = np.full((2, 10, 2), -np.inf), np.full((3, 10), -np.inf)
    far[0, 3] = 1.0
    near[0, 3:9, 1] = near[1, 2:4, 1] = 1.0
    heads = np.empty(9, np.int64)
    assert vine_kernel(near, far, 1, heads) == 9.0
    assert heads.tolist() == [2, 3, 0, 3, 4, 5, 6, 7, 8]


def test_example_8_3_1():
    # the parse of figure 8-5, "As McGwire neared , fans went wild": with b = 3 only 6 -> 1 is far
    heads = (6, 3, 1, 6, 6, 0, 6)
    arcs = np.full((8, 8), -1.0)
    arcs[heads, range(1, 8)] = 1.0
    assert mapped(heads, 3) == (FAR_RIGHT, 3, 1, 6, 6, 0, 6)
    assert found(arcs, 3) == (7.0, [FAR_RIGHT, 3, 1, 6, 6, 0, 6])


def test_a_single_root_is_one():
    arcs = np.zeros((4, 4))
    arcs[0] = 2.0
    assert found(arcs, 0, single_root=False) == (6.0, [0, 0, 0])
    assert best_vine(arcs, 0)[0] == 2.0
    assert found(arcs, 0)[1].count(0) == 1
    arcs[0] = -2.0
    assert best_vine(arcs, 0, single_root=False)[0] == -2.0  # some word is under the root


def test_scores_of_far_arcs_are_the_best_of_them():
    arcs = np.arange(36.0).reshape(6, 6)
    near, far = vine_scores(arcs, 1)
    assert far[0].tolist() == [-np.inf, 1, 2, 3, 4, 5]
    assert far[1].tolist() == [-np.inf, -np.inf, -np.inf, arcs[1, 3], arcs[2, 4], arcs[3, 5]]
    assert far[2].tolist() == [-np.inf, arcs[5, 1], arcs[5, 2], arcs[5, 3], -np.inf, -np.inf]
    assert near[0, :, 1].tolist() == [-np.inf, arcs[1, 2], arcs[2, 3], arcs[3, 4], arcs[4, 5], -np.inf]
    assert near[1, :, 1].tolist() == [-np.inf, -np.inf, arcs[2, 1], arcs[3, 2], arcs[4, 3], arcs[5, 4]]
    assert (near[:, :, 0] == -np.inf).all()
    own = vine_scores(arcs, 1, left=[0, 1, 2, 3, 4, 5], right=np.full(6, -1.0))[1]
    assert own[1].tolist() == [0, 1, 2, 3, 4, 5]
    assert own[2].tolist() == [-1.0] * 6


def test_no_words_and_few():
    assert found(np.zeros((1, 1)), 3) == (0.0, [])
    assert found([[0, 4], [0, 0]], 0) == (4.0, [0])
    assert found([[0, 4, 1], [0, 0, 3], [0, 9, 0]], 1) == (10.0, [2, 0])
    best, near_best, far_best = best_vine_scores(np.zeros((1, 1)), 1)
    assert best == 0.0
    assert (near_best == -np.inf).all()
    assert (far_best == -np.inf).all()


def test_a_band_far_beyond_the_sentence_takes_no_room():
    assert found([[0, 4, 1], [0, 0, 3], [0, 9, 0]], 10**12) == (10.0, [2, 0])


def test_infeasible_says_why():
    arcs = np.zeros((4, 4))
    arcs[:, 2] = -np.inf
    with pytest.raises(Infeasible, match="word 2"):
        best_vine(arcs, 1)
    arcs = np.zeros((4, 4))
    arcs[0] = -np.inf
    with pytest.raises(Infeasible, match="root"):
        best_vine_scores(arcs, 1)
    crossing = np.full((5, 5), -np.inf)
    crossing[0, 2] = crossing[2, 4] = crossing[4, 1] = crossing[1, 3] = 0.0
    with pytest.raises(Infeasible, match="no vine"):
        best_vine(crossing, 4)


def test_what_is_not_accepted():
    with pytest.raises(InputError, match="width is -1"):
        best_vine(np.zeros((3, 3)), -1)
    with pytest.raises(InputError, match="width is 1.5"):
        vine_scores(np.zeros((3, 3)), 1.5)
    with pytest.raises(ScoreShapeError, match="left has shape"):
        vine_scores(np.zeros((3, 3)), 1, left=[0, 1])
    with pytest.raises(ScoreError, match="right"):
        vine_scores(np.zeros((3, 3)), 1, right=[0, np.nan, 1])
    near, far = vine_scores(np.zeros((3, 3)), 1)
    heads = np.empty(2, np.int64)
    for bad_near, bad_far in (
        (near[:, :2].copy(), far),
        (near, far[:2].copy()),
        (near, np.full((3, 3), np.nan)),
        (near[:, :, :0].copy(), far),
    ):
        assert np.isnan(vine_kernel(bad_near, bad_far, 1, heads))
        assert np.isnan(vine_max_marginals(bad_near, bad_far, 1, np.empty(bad_near.shape), np.empty(bad_far.shape)))
    near[0, 0, 0] = np.inf
    assert np.isnan(vine_kernel(near, far, 1, heads))
    near[0, 0, 0] = 0.0
    assert np.isnan(vine_max_marginals(near, far, 1, np.empty((2, 3, 1)), np.empty((3, 3))))


@pytest.mark.data
def test_real_sentences_are_bounded(data):
    import zerogap
    from zerogap.dependency.scoring.sentence import arcs_under, every_arc
    from zerogap.io.formats.conllu import read_conllu

    parser = zerogap.load("en").parser
    sentences = [record.sentence for record in read_conllu(data / "ud" / "en_ewt" / "dev.conllu")]
    sentences = [s for s in sentences if 2 <= len(s) <= 45][: 2 if config.DISABLE_JIT else 100]
    same = 0
    for sentence in sentences:
        encoded = parser.pruner.features.encode(sentence.columns, len(sentence))
        arcs = arcs_under(parser.pruner.features, parser.pruner, encoded, every_arc(len(sentence)))
        bounds = [is_bound(arcs, width, True) for width in (1, 3, 8)]
        assert bounds[0][0] >= bounds[1][0] >= bounds[2][0] >= bounds[2][1]
        same += bounds[2][0] == bounds[2][1]
    assert same > len(sentences) / 3
