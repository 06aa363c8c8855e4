"""Vectors by the names of AbstractCore."""

from __future__ import annotations

import numpy as np
import pytest

from abstractcore import EmbeddingManager
from tests.chaos_server import ScriptedServer
from tests.embedding_server import DIMENSIONS, embeddings, texts_in, vector_of


@pytest.fixture
def server():
    with ScriptedServer() as made:
        made.always_by(embeddings)
        yield made


@pytest.fixture
def manager(server, tmp_path):
    made = EmbeddingManager(
        "embedder", "openai-compatible", cache_dir=tmp_path, base_url=f"{server.url}/v1", api_key="k"
    )
    yield made
    made.cache.close()


def test_methods_do_what_their_names_say(manager, server):
    assert manager.embed("a") == vector_of("a")
    assert manager.embed_batch(["a", "b"]) == [vector_of("a"), vector_of("b")]
    assert manager.embed_batch([]) == []
    assert np.linalg.norm(manager.embed_normalized("a")) == pytest.approx(1)
    cosine = np.dot(vector_of("a"), vector_of("b"))
    cosine /= np.linalg.norm(vector_of("a")) * np.linalg.norm(vector_of("b"))
    assert manager.compute_similarity("a", "b") == pytest.approx(cosine, abs=1e-6)
    assert manager.compute_similarity("a", "a") == pytest.approx(1)
    matrix = manager.compute_similarities_matrix(["a", "b"], ["a", "b", "c"])
    assert np.shape(matrix) == (2, 3)
    assert matrix[0][1] == pytest.approx(cosine, abs=1e-6)
    assert np.shape(manager.compute_similarities_matrix(["a", "b"])) == (2, 2)
    assert manager.find_similar_clusters(["a", "b", "a", "c", "a"], threshold=0.99) == [[0, 2, 4]]
    assert manager.get_dimension() == DIMENSIONS
    assert texts_in(server) == [["a"], ["b"], ["c"], ["dimension"]]


def test_statistics_count_what_the_file_had(manager, tmp_path):
    manager.embed_batch(["a", "b"])
    manager.embed("a")
    assert manager.get_cache_stats() == {
        "entries": 2,
        "hits": 1,
        "misses": 2,
        "path": str(tmp_path / "embeddings.db"),
    }
