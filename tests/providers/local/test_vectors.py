"""The embedded embedding model: real weights, in this process."""

from __future__ import annotations

import asyncio
import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from abstractcore import LLM, Services, create_llm
from abstractcore.errors import (
    CallInterruptedError,
    ConfigurationError,
    ContextOverflowError,
    MissingExtraError,
    ModelCrashedError,
    StreamInterruptedError,
    UnsupportedOptionError,
)
from abstractcore.ports import Interruption
from abstractcore.stores.models import FileModelStore
from abstractcore.testing import AsyncCalls, CallStyle
from abstractcore_providers.local import vector_model
from abstractcore_providers.local.vector_model import MOST_TOKENS, VECTOR_MODELS, ModelKey, VectorModel
from tests.chaos_server import PATIENCE_SECONDS
from tests.forks import in_fork

pytestmark = pytest.mark.weights

MODEL = "local/all-minilm-l6-v2"
TEXTS = ["a cat", "The dog barked at the postman.", "word " * 200, "a dog", "Stocks fell sharply on Tuesday."]


@pytest.fixture(scope="module")
def services(models: FileModelStore) -> Any:
    services = Services(models=models, environment={})
    yield services
    services.close()


@pytest.fixture(scope="module")
def llm(services: Services) -> LLM:
    return create_llm(MODEL, threads=1, services=services)


def embedded(style: CallStyle, llm: LLM, texts: Any, **options: Any) -> Any:
    if isinstance(style, AsyncCalls):
        return style.run(llm.aembed(texts, **options))
    return llm.embed(texts, **options)


@pytest.mark.smoke
def test_texts_that_mean_the_same_are_near(llm: LLM):
    found = llm.embed(["a cat", "a kitten", "the central bank raised interest rates"])
    near, far = found.vectors[0] @ found.vectors[1], found.vectors[0] @ found.vectors[2]
    assert near > 0.6 > 0.3 > far
    assert found.model == "all-minilm-l6-v2"
    assert found.dimensions == 384
    assert found.cost == 0
    assert found.tokens == (4, 4, 8)
    assert found.usage.input == 16


def test_each_text_has_the_vector_that_it_has_alone(call_style: CallStyle, llm: LLM):
    together = embedded(call_style, llm, TEXTS).vectors
    alone = np.array([embedded(call_style, llm, [text]).vectors[0] for text in TEXTS])
    assert np.abs(together - alone).max() < 1e-5
    assert np.abs(np.linalg.norm(together, axis=1) - 1).max() < 1e-5
    backwards = embedded(call_style, llm, TEXTS[::-1]).vectors[::-1]
    assert np.abs(together - backwards).max() < 1e-5


def test_vector_is_the_mean_of_the_vectors_of_tokens(llm: LLM, models: FileModelStore):
    import onnxruntime
    import tokenizers

    folder = models.path("all-minilm-l6-v2")
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    ids = np.array([tokenizer.encode(TEXTS[1]).ids])
    given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    mean = session.run(None, given)[0][0].mean(axis=0)
    assert llm.embed_one(TEXTS[1]) @ mean / np.linalg.norm(mean) == pytest.approx(1, abs=1e-5)
    assert llm.embed([TEXTS[1]]).tokens == (ids.size,)


def test_text_that_is_too_long_is_an_error_with_its_tokens(call_style: CallStyle, llm: LLM):
    with pytest.raises(ContextOverflowError, match=r"inputs\[2\]: the text has 302 tokens, .* 256") as caught:
        embedded(call_style, llm, ["a", "b", "word " * 300])
    assert (caught.value.prompt_tokens, caught.value.context_tokens) == (302, 256)
    assert "truncate=True" in (caught.value.hint or "")


def test_text_that_is_cut_is_reported_and_has_the_vector_of_its_beginning(llm: LLM):
    found = llm.embed(["a cat", "word " * 300], truncate=True)
    assert found.truncated == (1,)
    assert found.tokens == (4, MOST_TOKENS)
    beginning = llm.embed(["word " * (MOST_TOKENS - 2)])
    assert beginning.truncated == ()
    assert np.abs(found.vectors[1] - beginning.vectors[0]).max() < 1e-5


@pytest.fixture(params=["auto", "group", "group with the model itself", "group with another first"])
def group(request: pytest.FixtureRequest, models: FileModelStore, tmp_path: Path) -> Any:
    """Groups with a member that names no model, of which the first one cannot be asked for vectors."""
    configuration = tmp_path / "config.toml"
    configuration.write_text('[auto]\nmodels = ["local"]\n')
    services = Services(
        models=models, environment={"ABSTRACTCORE_CONFIG": str(configuration), "ANTHROPIC_API_KEY": "k"}
    )
    names: Any = {
        "auto": "auto",
        "group": ["local"],
        "group with the model itself": ["local", MODEL],
        "group with another first": ["anthropic/claude-opus-5-5", "local"],
    }
    llm = create_llm(names[request.param], services=services, embed_cache=str(tmp_path / "vectors.db"))
    yield llm
    llm.close()
    services.close()


def test_group_embeds_by_the_embedded_embedding_model(call_style: CallStyle, group: LLM, llm: LLM):
    found = embedded(call_style, group, TEXTS[:2], purpose="query")
    assert np.array_equal(found.vectors, llm.embed(TEXTS[:2]).vectors)
    assert (found.provider, found.model, found.dimensions) == ("local", "all-minilm-l6-v2", 384)
    assert {warning.requested for warning in found.warnings} <= {"anthropic/claude-opus-5-5"}
    again = embedded(call_style, group, TEXTS[:2], purpose="query")
    assert again.cache_hits == 2
    ranked = group.rerank("feline", TEXTS[:2], method="embeddings")
    assert [each.index for each in ranked] == [0, 1]
    with pytest.raises(UnsupportedOptionError, match="local/all-minilm-l6-v2 has no vectors of 5 numbers"):
        embedded(call_style, group, TEXTS[:1], dimensions=5)


def test_closed_group_embeds_nothing(group: LLM):
    group.embed(["a"])
    group.close()
    with pytest.raises(ConfigurationError, match="closed"):
        group.embed(["a"])


@pytest.mark.parametrize("text", ["word " * 10_000, "w" * 60_000 + " end", " " * 30_000 + "words " * 400])
def test_long_text_is_cut_as_all_of_its_tokens_would_be(llm: LLM, monkeypatch: pytest.MonkeyPatch, text: str):
    found = llm.embed([text], truncate=True)
    monkeypatch.setattr("abstractcore_providers.local.vector_model._LONG_TEXT", len(text))
    again = llm.embed([text], truncate=True)
    assert (found.tokens, found.truncated) == (again.tokens, again.truncated)
    assert np.array_equal(found.vectors, again.vectors)


def test_model_without_a_name_embeds_by_the_embedded_embedding_model(services: Services):
    with create_llm(services=services) as chat, create_llm(MODEL, services=services) as named:
        found = chat.embed(["a cat"])
        assert found.model == "all-minilm-l6-v2"
        assert np.abs(found.vectors - named.embed(["a cat"]).vectors).max() < 1e-5
        ranked = chat.rerank("Who barks?", ["Cats purr.", "The dog barked."], method="embeddings")
        assert ranked[0].index == 1
    with pytest.raises(ConfigurationError, match="closed"):
        chat.embed(["a cat"])


def test_generating_with_it_is_an_error_that_says_what_it_does(llm: LLM):
    with pytest.raises(UnsupportedOptionError, match="is a model for embeddings") as caught:
        llm.generate("hi")
    assert "llm.embed" in (caught.value.hint or "")


def test_requests_are_records(services: Services):
    records: list[Any] = []
    with services.records.subscribe(records.append), create_llm(MODEL, services=services) as llm:
        llm.embed(["a cat", "a dog"])
        assert services.records.flush(PATIENCE_SECONDS)
    made = [record for record in records if getattr(record, "operation", "") == "embed"]
    assert [(record.model, record.usage.input) for record in made] == [("all-minilm-l6-v2", 8)]


def test_llms_of_a_process_share_a_model_until_the_last_one_is_closed(services: Services):
    def loaded() -> int:
        gc.collect()
        return len(VECTOR_MODELS)

    before = loaded()
    first, second = (create_llm(MODEL, threads=2, services=services) for _ in range(2))
    first.embed(["a"])
    second.embed(["b"])
    assert loaded() == before + 1
    first.close()
    assert loaded() == before + 1
    second.close()
    assert loaded() == before


def test_threads_that_begin_at_once_load_one_model(services: Services):
    llms = [create_llm(MODEL, threads=3, services=services) for _ in range(6)]
    before = len(VECTOR_MODELS)
    with ThreadPoolExecutor(6) as pool:
        rows = list(pool.map(lambda llm: llm.embed(TEXTS).vectors, llms))
    assert len(VECTOR_MODELS) == before + 1
    assert all(np.array_equal(rows[0], each) for each in rows[1:])


@pytest.mark.process
def test_forked_process_loads_its_own_model(llm: LLM):
    expected = llm.embed_one("a cat")

    def child() -> None:
        assert np.abs(llm.embed_one("a cat") - expected).max() < 1e-5
        llm.close()
        gc.collect()

    in_fork(child)
    assert np.array_equal(llm.embed_one("a cat"), expected)


def test_interrupted_call_ends_while_it_computes(llm: LLM, monkeypatch: pytest.MonkeyPatch):
    interruption, batches = Interruption(), 0
    compute = VectorModel._compute

    def counted(model: VectorModel, *arguments: Any) -> Any:
        nonlocal batches
        batches += 1
        interruption.set()
        return compute(model, *arguments)

    monkeypatch.setattr(VectorModel, "_compute", counted)
    with pytest.raises(CallInterruptedError):
        llm.embed(["word " * 200] * 50, interruption=interruption)
    assert batches == 1


def test_cancelled_task_ends_the_work(llm: LLM, monkeypatch: pytest.MonkeyPatch):
    begun, ended = threading.Event(), threading.Event()
    embed, outcomes = VectorModel.embed, []

    def watched(model: VectorModel, *arguments: Any, **options: Any) -> Any:
        begun.set()
        try:
            outcomes.append(embed(model, *arguments, **options))
        except Exception as error:
            outcomes.append(type(error))
            raise
        finally:
            ended.set()

    async def cancelled() -> None:
        task = asyncio.ensure_future(llm.aembed(["word " * 200] * 2000))
        await asyncio.to_thread(begun.wait, PATIENCE_SECONDS)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    monkeypatch.setattr(VectorModel, "embed", watched)
    asyncio.run(cancelled())
    assert ended.wait(PATIENCE_SECONDS)
    assert outcomes[0] is StreamInterruptedError


def test_missing_packages_are_an_error_before_weights_are_downloaded(monkeypatch: pytest.MonkeyPatch):
    class NoStore:
        def path(self, name: str) -> Path:
            raise AssertionError("nothing is downloaded")

    monkeypatch.setattr(vector_model, "_PACKAGES", ("onnxruntime", "no_such_package", "numpy"))
    services: Any = Services(models=NoStore(), environment={})  # type: ignore[arg-type]
    with create_llm(MODEL, services=services) as llm, pytest.raises(MissingExtraError) as caught:
        llm.embed(["a"])
    assert "no_such_package" in caught.value.message
    assert "tokenizers" in (caught.value.hint or "")
    services.close()


def test_weights_that_do_not_load_are_an_error_with_a_hint(tmp_path: Path):
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(ModelCrashedError, match="could not be loaded") as caught:
        VECTOR_MODELS.get(ModelKey(tmp_path, 1))
    assert "models remove" in (caught.value.hint or "")
