"""Token counting by the provider's own endpoint, or as an estimate."""

from __future__ import annotations

import json

import pytest

from abstractcore import (
    AuthenticationError,
    BadRequestError,
    ModelNotFoundError,
    RequestTimeoutError,
    ServerError,
    create_llm,
)
from abstractcore.ports import Address, ModelProfile, Operation, ProviderSession
from abstractcore.registry import Registry
from abstractcore.schema import Encoded, ModelCall
from abstractcore_providers.common.endpoints import FixedEndpoint, NoAuth
from abstractcore_providers.common.openai_errors import error_in_answer
from abstractcore_providers.formats.openai_chat import OpenAIChat
from tests.chaos_server import HANG, PATIENCE_SECONDS, answer, failure


class Counting(OpenAIChat):
    """The chat format, of a vendor that counts."""

    @property
    def operations(self):
        return {"count_tokens": Operation("count_tokens", ModelCall, self._encode_count, self._decode_count)}

    def _encode_count(self, call) -> Encoded:
        encoded = self.encode(call)
        return Encoded(encoded.request.with_url("/count"), encoded.warnings)

    def _decode_count(self, response, call) -> int:
        try:
            data = json.loads(response.body)
            if "error" in data:
                raise error_in_answer(data)
            return data["tokens"]
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


def test_provider_without_token_counting_has_the_estimate_of_the_plan(call_style, connect, server):
    llm = connect(timeout=PATIENCE_SECONDS)
    for request in ({}, {"system_prompt": "Be brief."}, {"response_model": dict[str, int]}):
        counted = count(call_style, llm, "hi", **request)
        assert counted.estimated
        assert counted == llm.plan("hi", **request).estimated_input_tokens == count(call_style, llm, "hi", **request)
    assert server.requests == []


def body(status: int, data: object) -> object:
    return answer(json.dumps(data).encode(), status=status, content_type="application/json")


WITHOUT = {
    "llama.cpp": body(404, {"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}}),
    "vLLM": body(404, {"detail": "Not Found"}),
    "Azure": body(404, {"error": {"message": "Unknown request URL: POST /v1/responses/input_tokens", "type": "x"}}),
    "LM Studio": body(200, {"error": "Unexpected endpoint or method. (POST /v1/count)"}),
    "a page": answer(b"<html>Not Found</html>", status=404, content_type="text/html"),
    "a method": body(405, {"detail": "Method Not Allowed"}),
    "Bedrock": body(400, {"message": "The provided model doesn't support counting tokens."}),
    "Bedrock's documents": body(400, {"message": "Document input not supported for token counting"}),
}
"""What servers answer that do not count, in their own words: Bedrock's and Azure's as users report them."""


def test_server_without_a_route_for_counts_has_an_estimate_instead(call_style, llm, server):
    walked = 0
    for name, response in WITHOUT.items():
        server.script(response)
        counted = count(call_style, llm, "hi")
        assert counted.estimated, name
        assert counted == llm.plan("hi").estimated_input_tokens, name
        walked += 1
    assert (walked, len(server.requests)) == (8, 8)


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (
            body(404, {"error": {"message": "The model `m` does not exist", "code": "model_not_found"}}),
            ModelNotFoundError,
        ),
        (body(401, {"error": {"message": "wrong key"}}), AuthenticationError),
        (body(400, {"error": {"message": "messages: expected a list"}}), BadRequestError),
    ],
)
def test_error_of_a_server_that_counts_is_raised(call_style, llm, server, response, error):
    server.script(response)
    with pytest.raises(error):
        count(call_style, llm, "hi")


def test_count_of_a_call_as_data_is_that_of_its_arguments(call_style, llm, server):
    server.always(answer(b'{"tokens": 12}', content_type="application/json"))
    call = llm.build("hi")
    counted = llm.count_tokens_call(call) if call_style.name == "sync" else call_style.run(llm.acount_tokens_call(call))
    assert (counted, counted.estimated) == (12, False)
    assert llm.estimate_tokens(call) == llm.plan("hi").estimated_input_tokens
