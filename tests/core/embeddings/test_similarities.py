"""Vectors compared: with NumPy, without it, and in blocks."""

from __future__ import annotations

import builtins
import copy
import pickle
import tracemalloc

import numpy as np
import pytest

from abstractcore import Embeddings, InvalidInputError, NearVector, SimilarPair
from abstractcore.embeddings import results, vector_math
from abstractcore.schema import Vectors

ROWS = [[3.0, 0.0], [0.0, 2.0], [1.0, 1.0], [1.0, 1.1], [-5.0, 0.0]]


def embeddings(rows=ROWS, normalized=None):
    return Embeddings(Vectors.of(rows), "p", "m", normalized)


@pytest.fixture(params=["numpy", "python"])
def way(request, monkeypatch):
    """With and without NumPy; what compares is the same."""
    if request.param == "python":
        imported = builtins.__import__

        def without(name, *arguments, **given):
            if name == "numpy":
                raise ImportError(name)
            return imported(name, *arguments, **given)

        monkeypatch.setattr(builtins, "__import__", without)
    return request.param


def test_vectors_are_an_array_or_lists(way):
    assert isinstance(embeddings().vectors, np.ndarray if way == "numpy" else list)
    assert next(list(row) for row in embeddings().vectors) == [3.0, 0.0]


def test_similarities_are_cosines(way):
    found = embeddings().similarities()
    assert len(found) == 5
    assert [round(float(each), 3) for each in found[0]] == [1.0, 0.0, 0.707, 0.673, -1.0]
    one = embeddings().similarities([1.0, 0.0])
    assert [round(float(each), 3) for each in one[0]] == [1.0, 0.0, 0.707, 0.673, -1.0]
    both = embeddings().similarities(embeddings([[0.0, 1.0]]), [[1.0, 0.0], [0.0, 7.0]])
    assert [round(float(each), 3) for each in both[0]] == [0.0, 1.0]


def test_nearest_are_the_most_similar_others(way):
    found = embeddings().nearest(2)
    assert [[each.position for each in row] for row in found] == [[2, 3], [3, 2], [3, 0], [2, 1], [1, 3]]
    assert isinstance(found[0][0], NearVector)
    (row,) = embeddings().nearest(9, [2.0, 0.0])
    assert [each.position for each in row] == [0, 2, 3, 1, 4]
    assert round(row[0].score, 6) == 1.0
    assert embeddings([[1.0, 0.0]]).nearest(3) == [[]]


def test_duplicates_are_pairs_the_most_similar_first(way):
    pairs = embeddings([*ROWS, [2.0, 2.0]]).duplicates(0.99)
    assert [(first, second) for first, second, _ in pairs] == [(2, 5), (2, 3), (3, 5)]
    assert isinstance(pairs[0], SimilarPair)
    assert pairs[0].score >= pairs[-1].score >= 0.99
    assert embeddings().duplicates(1) == []


def test_clusters_are_connected_by_similarity(way):
    assert embeddings().clusters(0.99) == [[2, 3]]
    assert embeddings().clusters(0.7) == [[0, 1, 2, 3]]
    assert embeddings().clusters(0.99, min_size=1) == [[2, 3], [0], [1], [4]]


@pytest.mark.parametrize(
    ("compare", "message"),
    [
        (lambda e: e.similarities([1.0, 2.0, 3.0]), "a: expected vectors of 2 numbers, got 3"),
        (lambda e: e.similarities(None, embeddings([[1.0] * 3])), "b: expected vectors of 2 numbers, got 3"),
        (lambda e: e.similarities(["a"]), "a: expected embeddings or numbers"),
        (lambda e: e.similarities([[1.0, 2.0], [1.0]]), "a: expected"),
        (lambda e: e.nearest(0), "k: expected a number of at least 1, got 0"),
        (lambda e: e.nearest(True), "k: expected"),
        (lambda e: e.duplicates(2), "threshold: expected a number from -1 to 1, got 2"),
        (lambda e: e.clusters("high"), "threshold: expected"),
    ],
)
def test_invalid_arguments_are_named(way, compare, message):
    with pytest.raises(InvalidInputError, match=message):
        compare(embeddings())


def test_blocks_give_what_one_matrix_gives(monkeypatch):
    rows = np.random.default_rng(3).normal(size=(200, 6))
    made = embeddings(rows.tolist())
    whole = made.nearest(5), made.duplicates(0.8), made.clusters(0.9)
    monkeypatch.setattr(vector_math, "_MOST_NUMBERS", 1000)
    again = made.nearest(5), made.duplicates(0.8), made.clusters(0.9)
    assert [[each.position for each in row] for row in whole[0]] == [
        [each.position for each in row] for row in again[0]
    ]
    assert [pair[:2] for pair in whole[1]] == [pair[:2] for pair in again[1]]
    assert whole[2] == again[2]


@pytest.mark.parametrize("threshold", [0.2, 0.6, 0.9])
def test_arrays_and_lists_have_the_same_clusters(monkeypatch, threshold):
    rows = np.random.default_rng(4).normal(size=(120, 5)).tolist()
    monkeypatch.setattr(vector_math, "_MOST_NUMBERS", 700)
    of_arrays = embeddings(rows).clusters(threshold, min_size=1)
    monkeypatch.setattr(vector_math, "numpy_or_none", lambda: None)
    assert embeddings(rows).clusters(threshold, min_size=1) == of_arrays


def test_clusters_of_vectors_that_are_all_alike_list_no_pairs(monkeypatch):
    monkeypatch.setattr(vector_math, "SimilarPair", None)
    assert embeddings([[1.0, 0.001 * number] for number in range(3000)]).clusters(0.9) == [[*range(3000)]]


def test_blocks_stay_small(monkeypatch):
    sizes: list[int] = []
    monkeypatch.setattr(
        vector_math, "products", lambda left, right: sizes.append(len(left) * len(right)) or left @ right.T
    )
    assert len(embeddings([*np.eye(3000, 4).tolist(), [1.0, 1, 1, 1]]).nearest(1)) == 3001
    assert max(sizes) <= vector_math._MOST_NUMBERS
    assert len(sizes) > 1
    sizes.clear()
    assert embeddings(np.eye(3000, 4).tolist()).clusters(0.9) == []  # zeros are like nothing
    assert max(sizes) <= vector_math._MOST_NUMBERS


def test_matrix_that_does_not_fit_into_memory_is_an_error(monkeypatch):
    many = embeddings(np.ones((50_000, 1)).tolist())
    with pytest.raises(InvalidInputError, match=r"50,000 x 50,000 similarities does not fit.*Use nearest"):
        many.similarities()
    assert many.similarities(many.vectors[:2]).shape == (2, 50_000)

    def full(left, right):
        raise MemoryError

    monkeypatch.setattr(results, "products", full)
    with pytest.raises(InvalidInputError, match="1 x 50,000 similarities does not fit"):
        many.similarities([1.0])


def test_more_pairs_than_anyone_reads_are_an_error(monkeypatch):
    monkeypatch.setattr(results, "_MOST_PAIRS", 45)
    assert len(embeddings(np.ones((10, 2)).tolist()).duplicates()) == 45
    with pytest.raises(InvalidInputError, match=r"threshold: more than 45 pairs.*use clusters"):
        embeddings(np.ones((11, 2)).tolist()).duplicates()


def test_unit_rows_need_no_wider_numbers():
    rows = np.random.default_rng(5).normal(size=(20_000, 64)).astype(np.float32)
    tracemalloc.start()
    try:
        found = vector_math.unit_rows(rows)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.dtype == np.float32
    assert most < 1.5 * rows.nbytes
    assert np.array_equal(found, (rows / np.sqrt((rows.astype(float) ** 2).sum(1))[:, None]).astype(np.float32))


def test_zeros_are_left_as_they_are(way):
    assert vector_math.normalized(Vectors.of([[0.0, 0.0], [3.0, 4.0]])).lists()[0] == [0.0, 0.0]


def test_copies_are_equal():
    made = embeddings()
    for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert again.data == made.data
        assert repr(again) == repr(made) == "<Embeddings: 5 of 2 dimensions by p/m>"
