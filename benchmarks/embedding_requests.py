"""Embeddings over a vendor's wire beside httpx2 alone at the same concurrency, and the processor time of vectors that
the cache has.
"""

from __future__ import annotations

import base64
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
from rounds import Row, Setup, best, cpu_seconds
from wire import VECTORS

from abstractcore import EmbeddingCache, create_llm
from abstractcore.embeddings.batches import AT_ONCE
from abstractcore.ports import OperationResult
from abstractcore.schema import EmbedReply, Usage, Vectors

_COUNT = 10_000
_SENTENCE = "Light needs about eight minutes and twenty seconds from the sun to the earth, whatever it meets: "
_MOST_FOR_HITS = 0.3
_GOAL = 1 / 0.9
_RULES = {"items": VECTORS, "dimensions": 1536, "normalized": True}


def embedding_requests(setup: Setup) -> list[Row]:
    """10,000 texts in requests of 250, and the same from the cache."""
    count = _COUNT // 4 if setup.quick else _COUNT
    texts = [f"{_SENTENCE}{number}" for number in range(count)]
    url = f"{setup.url}/v1"
    llm = create_llm(
        "openai-compatible", "embedder", base_url=url, api_key="k", facts={"embedding": _RULES}, timeout=None
    )
    with tempfile.TemporaryDirectory() as folder, httpx2.Client() as client:
        cached = _cached(Path(folder), texts, url)
        times = best(
            {
                "ours": _seconds(lambda: llm.embed(texts).vectors),
                "bare": _seconds(lambda: _bare(client, f"{url}/embeddings", texts)),
                "hits": cpu_seconds(lambda: cached.embed(texts).vectors, 1),
            },
            max(3, setup.rounds // 2),
        )
    return [
        Row(f"{count:,} texts / httpx2 alone, {AT_ONCE} at once", times["ours"], times["bare"], _GOAL),
        Row(f"{count:,} vectors of the cache", times["hits"], goal=_MOST_FOR_HITS * count / _COUNT),
    ]


def _seconds(function: Callable[[], object]) -> Callable[[], float]:
    def batch() -> float:
        start = time.perf_counter()
        function()
        return time.perf_counter() - start

    return batch


def _bare(client: httpx2.Client, url: str, texts: list[str]) -> np.ndarray[Any, Any]:
    """Embeds texts as a program does that knows the server."""

    def request(begin: int) -> np.ndarray[Any, Any]:
        body = {"model": "embedder", "input": texts[begin : begin + VECTORS], "encoding_format": "base64"}
        response = client.post(url, json=body, headers={"authorization": "Bearer k"})
        rows = response.raise_for_status().json()["data"]
        return np.stack([np.frombuffer(base64.b64decode(row["embedding"]), "<f4") for row in rows])

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return np.concatenate(list(pool.map(request, range(0, len(texts), VECTORS))))


class _Vectors:
    """Answers without a request: vectors of 384 numbers, as the embedded model has them."""

    async def around_attempt(self, attempt: Any, next: Any) -> Any:
        rows = np.full((len(attempt.encoded.items), 384), 0.05, np.float32)
        return OperationResult(EmbedReply(Vectors(rows.tobytes(), 384), Usage(len(rows), 0)))


def _cached(folder: Path, texts: list[str], url: str) -> Any:
    cache = EmbeddingCache(folder / "vectors.db")
    rules = {"items": 250, "dimensions": 384, "normalized": True}
    llm = create_llm(
        "openai-compatible",
        "embedder",
        base_url=url,
        api_key="k",
        facts={"embedding": rules},
        embed_cache=cache,
        middleware=[_Vectors()],
        timeout=None,
    )
    llm.embed(texts)
    return llm
