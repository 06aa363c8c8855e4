"""Models that embed and rank, as GGUF files with random weights: llama.cpp beside the same computed by NumPy."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from abstractcore import Services, create_llm
from abstractcore.errors import ContextOverflowError, UnsupportedOptionError
from abstractcore.stores.models import FileModelStore
from abstractcore_providers.local.gguf import GGUFModel, read_gguf
from tests.providers.local.gguf_files import CONTEXT, MEAN, RANK, Weights, gguf, write_model

TEXTS = ["a cat purrs", "the stock market fell", "dog"]
EMBEDDING = Weights()
RANKING = Weights(ranks=True)


@pytest.fixture(scope="module")
def services() -> Iterator[Services]:
    pytest.importorskip("xllamacpp")
    services = Services(environment={})
    yield services
    services.registry.provider("local").close()
    services.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("weights")


@pytest.fixture(scope="module")
def embedder(folder: Path, services: Services) -> Any:
    file = write_model(folder / "embeds.gguf", EMBEDDING)
    return create_llm("local", model=str(file), threads=1, services=services)


@pytest.fixture(scope="module")
def ranker(folder: Path, services: Services) -> Any:
    file = write_model(folder / "ranks.gguf", RANKING, RANK)
    return create_llm("local", model=str(file), threads=1, services=services)


@pytest.mark.process
def test_vectors_are_those_of_the_weights(embedder: Any):
    found = embedder.embed(TEXTS)
    for text, vector in zip(TEXTS, found.vectors, strict=True):
        assert vector @ EMBEDDING.vector(text) == pytest.approx(1, abs=1e-4), text
    assert found.usage.input == sum(len(text.split()) + 2 for text in TEXTS)
    assert found.cost == 0


@pytest.mark.process
def test_file_that_does_not_say_how_vectors_are_pooled_has_their_mean(folder: Path, services: Services):
    file = write_model(folder / "unpooled.gguf", EMBEDDING, None)
    with create_llm("local", model=str(file), threads=1, services=services) as llm:
        assert llm.embed_one("dog") @ EMBEDDING.vector("dog") == pytest.approx(1, abs=1e-4)


@pytest.mark.process
def test_ranking_is_that_of_the_weights(ranker: Any):
    ranked = ranker.rerank("who purrs", TEXTS)
    expected = {index: RANKING.score("who purrs", text) for index, text in enumerate(TEXTS)}
    assert [each.index for each in ranked] == sorted(expected, key=lambda index: -expected[index])
    assert [each.score for each in ranked] == pytest.approx([expected[each.index] for each in ranked], abs=0.01)


@pytest.mark.process
def test_what_a_model_does_not_do_is_an_error_that_says_what_it_does(embedder: Any, ranker: Any):
    with pytest.raises(UnsupportedOptionError, match=r"embeds texts, .* no operation 'chat'"):
        embedder.generate("hi")
    with pytest.raises(UnsupportedOptionError, match=r"embeds texts, .* no operation 'rerank'") as caught:
        embedder.rerank("who purrs", TEXTS)
    assert "method='embeddings'" in (caught.value.hint or "")
    with pytest.raises(UnsupportedOptionError, match=r"ranks documents, .* no operation 'embed'") as caught:
        ranker.embed(TEXTS)
    assert "llm.rerank" in (caught.value.hint or "")


@pytest.mark.process
def test_text_that_does_not_fit_is_an_error_with_its_tokens(embedder: Any):
    with pytest.raises(ContextOverflowError, match=r"inputs\[1\]: a text has 102 tokens") as caught:
        embedder.embed(["cat", "cat " * 100])
    assert (caught.value.prompt_tokens, caught.value.context_tokens) == (102, CONTEXT)


@pytest.mark.process
@pytest.mark.weights
def test_model_that_answers_does_not_embed(models: FileModelStore):
    services = Services(models=models, environment={})
    llm = create_llm("local/smollm2-135m-instruct", context_size=512, threads=1, services=services)
    with llm, pytest.raises(UnsupportedOptionError, match=r"is a model that answers, .* 'embed'") as caught:
        llm.embed(["a"])
    assert "create_llm().embed" in (caught.value.hint or "")
    services.registry.provider("local").close()
    services.close()


def facts_of(tmp_path: Path, facts: dict[str, Any], weights: Any = EMBEDDING) -> GGUFModel:
    file = tmp_path / "model.gguf"
    file.write_bytes(gguf({"general.architecture": "x", "x.context_length": 512, **facts}, weights))
    return read_gguf(file)


def test_file_says_what_its_model_does(tmp_path: Path):
    assert facts_of(tmp_path, {}) == GGUFModel("chat", 512)
    assert facts_of(tmp_path, {"x.pooling_type": 0}) == GGUFModel("chat", 512)
    assert facts_of(tmp_path, {"x.pooling_type": MEAN}) == GGUFModel("embedding", 512, is_pooled=True)
    assert facts_of(tmp_path, {"x.attention.causal": False}) == GGUFModel("embedding", 512)
    assert facts_of(tmp_path, {"x.pooling_type": RANK}) == GGUFModel("reranking", 512, is_pooled=True)
    assert facts_of(tmp_path, {"x.attention.causal": False}, RANKING) == GGUFModel("reranking", 512, is_pooled=True)
    assert facts_of(tmp_path, {"x.context_length": "many"}) == GGUFModel("chat", None)


def test_file_that_is_cut_or_damaged_is_left_to_llama_cpp(tmp_path: Path):
    whole = gguf({"general.architecture": "x", "x.pooling_type": MEAN, "names": ["a", "b"]}, EMBEDDING)
    end_of_header = whole.index(EMBEDDING["token_embd.weight"].tobytes()[:16])
    file = tmp_path / "model.gguf"
    for size in range(0, end_of_header - 64, 7):
        file.write_bytes(whole[:size])
        assert read_gguf(file) == GGUFModel()
    endless = b"GGUF" + struct.pack("<IQQ", 3, 2**60, 2**60) + b"\xff" * 64
    nested = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q1sI", 1, b"a", 9) + struct.pack("<IQ", 9, 1) * 5000
    for content in (endless, nested, b"GGUF", b""):
        file.write_bytes(content)
        assert read_gguf(file) == GGUFModel()
