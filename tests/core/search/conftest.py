"""A provider whose model embeds texts as counts of their words, so that equal words are near each other."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from hashlib import blake2b

import pytest

from abstractcore import Services, create_llm
from abstractcore.ports import Address, ModelProfile, Price, ProviderSession
from abstractcore.schema import Vectors, WireRequest
from abstractcore_providers.common.endpoints import FixedEndpoint, NoAuth
from abstractcore_providers.formats.openai_chat import OpenAIChat

DIMENSIONS = 256


class WordVectors:
    """The transport of the model, and what it was asked. `fail_after` is the number of texts before it fails."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.fail_after: int | None = None

    async def open(self, request: WireRequest, timeout: float) -> JsonBody:
        texts = json.loads(request.body)["input"]
        if self.fail_after is not None and len(self.texts) + len(texts) > self.fail_after:
            return JsonBody(500, {"error": {"message": "the model has crashed"}})
        self.texts += texts
        data = [{"index": n, "embedding": vector(text)} for n, text in enumerate(texts)]
        tokens = sum(len(text.split()) for text in texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return JsonBody(200, {"data": data, "model": json.loads(request.body)["model"], "usage": usage})

    async def close(self) -> None:
        """Has no connections."""


class JsonBody:
    """A response that is there at once."""

    def __init__(self, status: int, data: object) -> None:
        self.status = status
        self.headers: Mapping[str, str] = {"content-type": "application/json"}
        self._left = json.dumps(data).encode()

    async def read(self) -> bytes:
        data, self._left = self._left, b""
        return data

    async def close(self) -> None:
        self._left = b""

    def abort(self) -> None:
        self._left = b""


def vector(text: str) -> list[float]:
    numbers = [0.0] * DIMENSIONS
    for word, count in Counter(re.findall(r"\w+", text.lower())).items():
        place = int.from_bytes(blake2b(word.encode(), digest_size=4).digest(), "big")
        numbers[place % DIMENSIONS] += count
    numbers[0] += 0.01  # no vector is zero
    return Vectors.of([numbers]).lists()[0]


class WordProvider:
    """The provider `words`, with any model: its name is in the responses."""

    name, summary, options = "words", "counts words", {}

    def __init__(self) -> None:
        self.transport = WordVectors()

    def connect(self, config, services) -> ProviderSession:
        address = Address("http://words.invalid/v1", NoAuth(), transport=self.transport)
        profile = ModelProfile()
        return ProviderSession(config.model or "m", OpenAIChat(), FixedEndpoint(address), profile, price=Price(1, 1))


@pytest.fixture
def words(services: Services) -> WordVectors:
    """The transport of the provider `words`."""
    provider = WordProvider()
    services.registry.add_provider(provider)
    return provider.transport


@pytest.fixture
def llm(services: Services, words: WordVectors):
    return create_llm("words", services=services)
