"""xAI's rows and requests, against the types and messages of xAI's own package."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, get_args

import pytest
from google.protobuf.json_format import ParseDict
from xai_sdk.cost import cost_usd_from_usage
from xai_sdk.proto import chat_pb2, usage_pb2
from xai_sdk.service_tier import ServiceTierMap
from xai_sdk.types.chat import ReasoningEffort, ToolMode
from xai_sdk.types.model import ChatModel

from abstractcore.ports import ProviderConfig
from abstractcore.schema import Message, ModelCall, Sampling, ThinkingLevel, ToolChoice, ToolSpec, WireResponse
from abstractcore_providers.plugin import register_providers
from tests.providers.catalogue_rows import header, rows
from tests.providers.published import JSON_TYPE
from tests.providers.sessions import CATALOGUE, Services, lowered

XAI = next(provider for provider in register_providers() if provider.name == "xai")
EFFORTS = set(get_args(ReasoningEffort))
REST_ONLY = {"stream", "stream_options"}
"""Fields of the HTTP API that the package's calls have as methods."""
RENAMED = {"max_completion_tokens": "max_tokens"}
"""Newer names of the HTTP API, which accepts both (docs.x.ai/docs/api-reference)."""
SCALARS = ("temperature", "top_p", "max_tokens", "seed", "stop", "frequency_penalty", "presence_penalty")


def sent(model: str, **fields: Any) -> dict[str, Any]:
    """The body of a request."""
    session = XAI.connect(ProviderConfig("xai", model, "https://host.example", "k"), Services())
    call = ModelCall(model, (Message.user("hi"),), "xai", **fields)
    return json.loads(session.transpiler.encode(lowered(session, call).call).request.body)


@pytest.mark.parametrize("model", get_args(ChatModel))
def test_every_model_of_the_package_is_known(model: str):
    assert CATALOGUE.entry("xai", model).match == "model"


@pytest.mark.parametrize("level", get_args(ThinkingLevel))
def test_every_effort_is_one_of_the_package(level: ThinkingLevel):
    found = {model: sent(model, thinking=level).get("reasoning_effort") for model in rows("xai")}
    assert set(found.values()) <= EFFORTS | {None}


def test_every_effort_of_the_package_can_be_asked_for():
    levels = {"off": "none", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh"}
    assert set(levels.values()) == EFFORTS
    for level, effort in levels.items():
        model = "grok-4.3" if level == "off" else "grok-4.7"
        assert sent(model, thinking=level)["reasoning_effort"] == effort
        assert chat_pb2.ReasoningEffort.Value(f"EFFORT_{effort.upper()}")


@pytest.mark.parametrize("model", ["grok-4.7", "grok-4.20-0309-non-reasoning"])
def test_fields_of_the_richest_request_are_those_of_the_package(model: str):
    sampling = Sampling(
        temperature=0.5,
        top_p=0.9,
        max_output_tokens=99,
        seed=7,
        stop=("x",),
        frequency_penalty=0.1,
        presence_penalty=0.2,
        top_logprobs=3,
    )
    tools = (ToolSpec("f", "does", {"type": "object", "properties": {}}),)
    found = sent(model, sampling=sampling, tools=tools, tool_choice=ToolChoice("required"))
    body = {RENAMED.get(name, name): value for name, value in found.items()}
    names = {field.name for field in chat_pb2.GetCompletionsRequest.DESCRIPTOR.fields}
    assert body.keys() - names - REST_ONLY == set()
    assert body["tool_choice"] in get_args(ToolMode)
    values = {name: body[name] for name in SCALARS if name in body}
    message = ParseDict(values, chat_pb2.GetCompletionsRequest())
    assert {"temperature", "top_p", "seed"} <= values.keys()
    assert message.max_tokens == 99
    assert list(message.stop) == values.get("stop", [])


def test_tiers_with_a_price_are_those_of_the_package():
    tiers = {
        tier
        for conditions in header("xai")["prices"]["sets"].values()
        for condition in conditions
        for tier in condition.get("tier", ())
    }
    assert tiers - {"batch"} <= set(ServiceTierMap)


@pytest.mark.parametrize("ticks", [0, 1, 37_756_000, 12_345_678_901])
def test_reported_cost_is_what_the_package_reads(ticks: int):
    session = XAI.connect(ProviderConfig("xai", "grok-4.7", "https://host.example", "k"), Services())
    message = {"role": "assistant", "content": "hi"}
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7, "cost_in_usd_ticks": ticks}
    body = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "grok-4.7",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": usage,
    }
    reply = session.transpiler.decode(WireResponse(200, JSON_TYPE, json.dumps(body).encode()))
    assert reply.usage is not None
    assert reply.usage.billing is not None
    theirs = cost_usd_from_usage(usage_pb2.SamplingUsage(cost_in_usd_ticks=ticks))
    assert theirs is not None
    assert reply.usage.billing.cost == Decimal(ticks).scaleb(-10)
    assert float(reply.usage.billing.cost) == pytest.approx(theirs)
