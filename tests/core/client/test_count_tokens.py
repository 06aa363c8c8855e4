"""Token counting by the provider's own endpoint."""

from __future__ import annotations

import json

import pytest

from abstractcore import RequestTimeoutError, ServerError, UnsupportedOptionError, create_llm
from abstractcore.ports import Address, ModelProfile, Operation, ProviderSession
from abstractcore.registry import Registry
from abstractcore.schema import Encoded
from abstractcore_providers.common.endpoints import FixedEndpoint, NoAuth
from abstractcore_providers.formats.openai_chat import OpenAIChat
from tests.chaos_server import HANG, PATIENCE_SECONDS, answer, failure


class Counting(OpenAIChat):
    """The chat format, of a vendor that counts."""

    @property
    def operations(self):
        return {"count_tokens": lambda: Operation("count_tokens", self._encode_count, self._decode_count)}

    def _encode_count(self, call) -> Encoded:
        encoded = self.encode(call)
        return Encoded(encoded.request.with_url("/count"), encoded.warnings)

    def _decode_count(self, response) -> int:
        try:
            return json.loads(response.body)["tokens"]
        except (ValueError, KeyError):
            raise ServerError("the answer holds no count") from None


class Vendor:
    name, summary, options = "vendor", "counts", {}

    def __init__(self, url: str) -> None:
        self.url = url

    def connect(self, config, services) -> ProviderSession:
        return ProviderSession("m", Counting(), FixedEndpoint(Address(self.url, NoAuth())), ModelProfile())


@pytest.fixture
def llm(server, services):
    services._registry = Registry()
    services._registry.add_provider(Vendor(f"{server.url}/v1"))
    return create_llm("vendor", services=services)


def count(call_style, llm, *arguments, **options) -> int:
    if call_style.name == "sync":
        return llm.count_tokens(*arguments, **options)
    return call_style.run(llm.acount_tokens(*arguments, **options))


def test_count_tokens_accepts_the_arguments_of_generate_and_counts_the_schema(call_style, llm, server):
    server.script(answer(b'{"tokens": 12}', content_type="application/json"))
    request = {"response_model": dict[str, int], "stream": True, "temperature": 0.5}
    assert count(call_style, llm, "hi", **request) == 12
    (counted,) = server.requests
    assert counted.json["response_format"]["json_schema"]["schema"]["type"] == "object"
    assert list(llm.plan("hi", **request)) == []


def test_count_tokens_counts_what_generate_would_send(call_style, llm, server, services):
    server.script(answer(b'{"tokens": 12}', content_type="application/json"))
    records = []
    with services.records.subscribe(records.append):
        assert count(call_style, llm, "hi", system_prompt="Be brief.", temperature=0.5) == 12
    (request,) = server.requests
    assert request.target == "/v1/count"
    assert [message["content"] for message in request.json["messages"]] == ["Be brief.", "hi"]
    (found,) = records
    assert (found.operation, found.outcome, found.reply, found.result) == ("count_tokens", "done", None, None)


def test_failed_count_is_retried(call_style, llm, server, services):
    services.random = lambda: 0.0
    server.script(failure(429, retry_after="0"))
    server.script(answer(b'{"tokens": 3}', content_type="application/json"))
    assert count(call_style, llm, "hi") == 3


def test_response_without_a_count_is_a_located_error(call_style, llm, server):
    server.always(answer(b"{}", content_type="application/json"))
    with pytest.raises(ServerError, match="vendor/m: the answer holds no count") as caught:
        count(call_style, create_llm("vendor", services=llm._pipelines.services, max_retries=0), "hi")
    assert [attempt.status for attempt in caught.value.attempts] == [200]


def test_count_tokens_obeys_the_deadline(call_style, llm, server):
    server.script(HANG)
    with pytest.raises(RequestTimeoutError):
        count(call_style, llm, "hi", timeout=0.2)


def test_provider_without_token_counting_is_refused_before_sending(call_style, connect, server):
    with pytest.raises(UnsupportedOptionError, match="has no token-counting endpoint"):
        count(call_style, connect(timeout=PATIENCE_SECONDS), "hi")
    assert server.requests == []
