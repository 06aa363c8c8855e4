"""OpenAI-compatible vendors accept every call: strict fakes refuse what is not in their API references."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from abstractcore import LLM, create_llm
from abstractcore.errors import BadRequestError
from abstractcore_providers.vendors.openai_compatible import VENDORS
from tests.providers.catalogue_rows import header, rows
from tests.providers.strict_fakes import openai_chat
from tests.providers.strict_fakes.calls import SAMPLING, rich_calls
from tests.providers.strict_fakes.compatible_vendors import PUBLISHED, fake
from tests.providers.strict_fakes.fake import TEXT, Fake
from tests.providers.strict_fakes.in_memory import InMemoryVendors

ANY_SERVER = {"lmstudio", "vllm", "llama-cpp", "openai-compatible"}
"""Servers whose dialects `test_encode.py` and `test_dialects.py` of the format check."""


def test_every_vendor_without_models_of_its_own_in_the_catalogue_has_a_strict_fake():
    """Those with models are called in tests/providers/test_richest_calls.py."""
    assert (
        set(PUBLISHED)
        == {preset.name for preset in VENDORS if preset.dialect.has_chat and not rows(preset.name)} - ANY_SERVER
    )
    assert len(PUBLISHED) == 22
    assert all(published.page for published in PUBLISHED.values())


@pytest.fixture(scope="module")
def services() -> Iterator[InMemoryVendors]:
    services = InMemoryVendors({name: fake(name) for name in PUBLISHED})
    yield services
    services.close()


def made(services: InMemoryVendors, provider: str, at: str = "") -> LLM:
    url = services.url(at or provider)
    return create_llm(provider, model="m", base_url=url, api_key="k", services=services, max_retries=0)


def answered(llm: LLM, arguments: dict[str, Any], *, streamed: bool) -> Any:
    if not streamed:
        return llm.generate(**arguments)
    with llm.stream(**arguments) as stream:
        list(stream)
    return stream.response


@pytest.mark.parametrize("name", PUBLISHED)
def test_nothing_is_refused_and_what_is_left_out_has_a_warning(services: InMemoryVendors, name: str):
    llm, vendor = made(services, name), services.vendors[name]
    count = 0
    for call in rich_calls(header(name)["unknown"]):
        for streamed in (False, True):
            count += 1
            response = answered(llm, {"prompt": "hi", **call.arguments}, streamed=streamed)
            assert response.content == TEXT, call.name
            arrived = vendor.fake.sent(vendor.bodies[-1])
            for option in SAMPLING.keys() & call.arguments.keys():
                warned = any(re.search(rf"\b{option}\b", warning.path) for warning in response.warnings)
                assert warned != (arrived.get(option) == call.arguments[option]), f"{option} in {call.name}"
    assert count >= 30


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_fake_refuses_a_field_that_is_not_published(services: InMemoryVendors, name: str):
    with pytest.raises(BadRequestError, match="unknown fields"):
        made(services, name).generate("hi", provider_options={name: {"no_such_field": 1}})


def looping(name: str) -> Fake:
    """The fake of a vendor whose first answer reasons and calls a tool."""
    called = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    message = {"role": "assistant", "content": "", "reasoning_content": "Look.", "tool_calls": [called]}
    bodies: list[Any] = []

    def is_streamed(path: str, body: Any) -> bool:
        bodies.append(body)
        return body.get("stream", False)

    def answer(stream: bool) -> tuple[str, bytes]:
        if any(each["role"] == "tool" for each in bodies[-1]["messages"]):
            return openai_chat.answer(stream)
        head = {"id": "c", "created": 1, "model": "m", "object": "chat.completion"}
        if not stream:
            choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
            return "application/json", json.dumps({**head, "choices": [choice]}).encode()
        deltas = [{"reasoning_content": "Look."}, {"tool_calls": [{**called, "index": 0}]}]
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": "tool_calls"})
        chunks = [json.dumps({**head, "object": "chat.completion.chunk", "choices": [each]}) for each in choices]
        return "text/event-stream", "".join(f"data: {chunk}\n\n" for chunk in [*chunks, "[DONE]"]).encode()

    return replace(fake(name), answer=answer, is_streamed=is_streamed)


def weather() -> str:
    """Returns the weather."""
    return "sunny"


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "provider", ["moonshot", "openai-compatible", "deepseek", "dashscope", "litellm", "portkey", "huggingface"]
)
def test_tool_loop_with_moonshot_returns_the_reasoning_that_it_requires(provider: str, streamed: bool):
    """Moonshot's own API, and behind gateways: a call without its reasoning is status 400."""
    services = InMemoryVendors({"moonshot": looping("moonshot")})
    llm = made(services, provider, at="moonshot")
    arguments = {"prompt": "hi", "tools": [weather], "run_tools": True}
    assert answered(llm, arguments, streamed=streamed).content == TEXT
    (_, answer, _) = services.vendors["moonshot"].bodies[-1]["messages"]
    assert answer["reasoning_content"] == "Look."
    services.close()
