"""An option that the model refuses: shown by a plan, refused by a strict call, reported in a response."""

from __future__ import annotations

import json
from typing import ClassVar

import pytest

from abstractcore import ModelCall, Sampling, UnsupportedOptionError, create_llm
from abstractcore.ports import Address, ModelProfile, ProviderSession
from abstractcore.schema import Encoded
from abstractcore_providers.common.endpoints import FixedEndpoint, NoAuth
from abstractcore_providers.common.operations import count_tokens
from abstractcore_providers.formats.openai_chat import OpenAIChat
from tests.chaos_server import answer, completion
from tests.media_doubles import TEXT, registry

LEFT_OUT = ("unsupported_option", "sampling.temperature", 0.5, None)


class Counting(OpenAIChat):
    """The chat format, of a vendor that counts tokens. Keeps the calls that it encodes."""

    encoded: ClassVar[list[ModelCall]] = []

    def encode(self, call) -> Encoded:
        self.encoded.append(call)
        return super().encode(call)

    @property
    def operations(self):
        return {"count_tokens": count_tokens(self.encode, lambda response: json.loads(response.body)["tokens"])}


class Vendor:
    name, summary, options = "vendor", "a model without temperature", {}

    def __init__(self, url: str, transpiler: Counting) -> None:
        self.url, self.transpiler = url, transpiler

    def connect(self, config, services) -> ProviderSession:
        endpoint = FixedEndpoint(Address(self.url, NoAuth()))
        profile = ModelProfile(sampling=Sampling(max_output_tokens=77), refused=frozenset({"temperature"}))
        return ProviderSession("m", self.transpiler, endpoint, profile)


@pytest.fixture
def transpiler():
    made = Counting()
    made.encoded.clear()
    return made


@pytest.fixture
def llm(server, services, transpiler):
    services._registry = registry()
    services._registry.add_provider(Vendor(f"{server.url}/v1", transpiler))
    return create_llm("vendor", services=services)


def shown(warnings):
    return [(warning.code, warning.path, warning.requested, warning.sent) for warning in warnings]


def test_request_is_of_the_lowered_call_and_the_response_has_its_warning(call_style, llm, server):
    server.always(completion())
    response = call_style.generate(llm, "hi", temperature=0.5, top_p=0.5)
    (request,) = server.requests
    assert "temperature" not in request.json
    assert (request.json["top_p"], request.json["max_completion_tokens"]) == (0.5, 77)
    assert shown(response.warnings) == [LEFT_OUT]


def test_plan_has_the_warnings_known_before_files_are_converted(call_style, llm, server):
    server.always(completion())
    request = {"temperature": 0.5, "media": [TEXT]}
    plan = llm.plan("hi", **request)
    assert server.requests == []
    response = call_style.generate(llm, "hi", **request)
    assert shown(plan.warnings) == [LEFT_OUT]
    assert [*plan.warnings, "guessed"] == [*response.warnings[:1], *(each.code for each in response.warnings[1:])]
    assert [decision.route for decision in plan] == [decision.route for decision in plan.media] == ["inline"]
    assert list(plan[:1]) == list(plan.media)


def test_strict_call_and_strict_plan_are_refused_before_encoding(call_style, llm, server, transpiler):
    message = r"vendor/m: temperature=0\.5 is left out: m does not accept temperature"
    with pytest.raises(UnsupportedOptionError, match=message) as of_call:
        call_style.generate(llm, "hi", temperature=0.5, strict=True)
    with pytest.raises(UnsupportedOptionError) as of_plan:
        llm.plan("hi", temperature=0.5, strict=True)
    assert str(of_plan.value) == str(of_call.value)
    assert (of_plan.value.provider, of_plan.value.model) == ("vendor", "m")
    assert (transpiler.encoded, server.requests) == ([], [])
    assert llm.plan("hi", top_p=0.5, strict=True).warnings == ()


def test_strict_token_count_ignores_unsupported_sampling(call_style, llm, server):
    server.always(answer(b'{"tokens": 12}', content_type="application/json"))
    request = {"temperature": 0.5, "strict": True}
    count = (
        llm.count_tokens("hi", **request)
        if call_style.name == "sync"
        else call_style.run(llm.acount_tokens("hi", **request))
    )
    assert count == 12
