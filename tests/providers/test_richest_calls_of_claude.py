"""Every model at Anthropic and Bedrock is sent its richest calls: none is refused, nothing is dropped in silence.

The vendors are strict fakes, which refuse what a model's row says is refused.
"""

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from abstractcore import LLM, create_llm
from abstractcore.errors import BadRequestError
from abstractcore.schema import (
    CachePoint,
    CallWarning,
    HostedTool,
    Message,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)
from tests.providers.catalogue_rows import rows
from tests.providers.strict_fakes import anthropic_messages, bedrock_converse, claude
from tests.providers.strict_fakes.calls import TOOLS, Answer, RichCall, rich_calls, without_output_tool
from tests.providers.strict_fakes.fake import TEXT, Fake, Row
from tests.providers.strict_fakes.in_memory import InMemoryVendors
from tests.tiers import smoke

pytestmark = pytest.mark.exhaustive

FAKES: dict[str, Fake] = {
    "anthropic": anthropic_messages.FAKE,
    "bedrock": bedrock_converse.FAKE,
    "bedrock-anthropic": anthropic_messages.FAKE,
    "vertex-anthropic": anthropic_messages.FAKE_OF_VERTEX,
}
MODELS = [
    (provider, model)
    for provider in FAKES
    for model, row in rows(provider).items()
    if not {"embedding", "reranking"} & row.keys()
]
DOORS = ("anthropic", "bedrock-anthropic", "vertex-anthropic")
CLAUDES = [(provider, name) for provider in DOORS for name in rows(provider)]
CLAUDES += [("bedrock", name) for name in rows("bedrock") if name.startswith("anthropic.")]
PLACES: dict[str, dict[str, Any]] = {
    "bedrock": {"region": "us-east-1"},
    "vertex-anthropic": {"project": "p", "access_token": "t"},
}
CONTENT = ("system_prompt", "messages", "prompt", "media", "response_model")
USED = [
    Message.user("a"),
    Message.assistant(ToolCall("c1", "f", "{}")),
    Message.tool(ToolResult.text("c1", "8")),
    Message.user("b"),
]
_DEFAULTS = {"temperature": 1, "top_p": 1, "presence_penalty": 0, "frequency_penalty": 0}


@pytest.fixture(scope="module")
def services() -> Iterator[InMemoryVendors]:
    """Both vendors."""
    services = InMemoryVendors(FAKES)
    yield services
    services.close()


def made(services: InMemoryVendors, provider: str, model: str, **more: Any) -> LLM:
    services.vendors[provider].row = rows(provider)[model]
    given: dict[str, Any] = {"base_url": services.url(provider), "api_key": "k", "max_retries": 0, "timeout": None}
    return create_llm(provider, model=model, services=services, **given, **PLACES.get(provider, {}), **more)


def answered(llm: LLM, arguments: Mapping[str, Any], *, stream: bool = False) -> Any:
    given = {"prompt": "hi", **arguments}
    if stream:
        with llm.stream(**given) as pieces:
            list(pieces)
        response = pieces.response
    else:
        response = llm.generate(**given)
    assert response.content == TEXT
    if "response_model" in given:
        assert response.output == Answer("Rome")
    return response


@pytest.mark.parametrize(
    ("provider", "model"), smoke(MODELS, dict(reversed(MODELS)).items()), ids=["/".join(each) for each in MODELS]
)
def test_nothing_is_refused_and_what_is_dropped_has_a_warning(services: InMemoryVendors, provider: str, model: str):
    row, vendor, fake = rows(provider)[model], services.vendors[provider], FAKES[provider]
    llm = made(services, provider, model)
    for call in rich_calls(row):
        plain = answered(llm, call.arguments)
        body = vendor.bodies[-1]
        check_arrival(call, row, body, plain.warnings, fake)
        streamed = answered(llm, call.arguments, stream=True)
        assert streamed.warnings == plain.warnings
        assert fake.sent(vendor.bodies[-1]) == fake.sent(body)


def check_arrival(call: RichCall, row: Row, body: Any, warnings: Sequence[CallWarning], fake: Fake) -> None:
    """Checks that each option arrives or has a warning, and that one that the row accepts arrives."""
    arrived, where = without_output_tool(fake.sent(body)), f"{call.name}: {[warning.path for warning in warnings]}"
    options = {name: value for name, value in call.arguments.items() if name not in CONTENT}
    if "tools" in options:
        options["tools"] = [tool.name for tool in options["tools"]]
    if "response_model" in call.arguments:
        options["output"] = True
    refused = refused_by(row, options, body, arrived, fake)
    for name, value in options.items():
        changed = arrived.get(name) != value
        if name == "thinking" and is_translated(row, value, arrived.get(name)):
            continue
        assert is_warned(name, warnings) == changed, f"{name} in {where}"
        assert not changed or name in refused, f"{name} in {where}"
    raw, data = json.dumps(body), call.file
    assert base64.b64encode(data).decode() in raw or data.decode(errors="replace") in raw, where


def refused_by(row: Row, options: Mapping[str, Any], body: Any, arrived: Mapping[str, Any], fake: Fake) -> set[str]:
    """The options that need not arrive: those that the format does not have, or the row refuses in this request."""
    thinking = body.get("thinking") or body.get(bedrock_converse.FIELDS, {}).get("thinking")
    if thinking is None and arrived.get("thinking") not in (None, "off"):
        thinking = {"type": "adaptive"}
    found = {name for name in options if name not in fake.options}
    found |= claude.refused_options(row, options, thinking)
    found |= set(row.get("refused_with_level", {}).get(arrived.get("thinking"), ()))
    for pair in row.get("refused_together", ()):
        found |= set(pair) if set(pair) <= options.keys() else set()
    if not accepts_thinking(row, options.get("thinking")):
        found.add("thinking")
    if options.get("tool_choice") == "required" and list(claude.forced_refusal(row, thinking)):
        found.add("tool_choice")
    settings = row.get("settings") or {}
    if options.get("tool_choice") == "none" and fake is FAKES["bedrock"] and not settings.get("tool_choice_none"):
        found |= {"tool_choice", "tools"}
    if not settings.get("top_k_field", "top_k"):
        found.add("top_k")
    if "output" in options and row.get("structured_output") == "none":
        found.add("output")
    return found | ({"cache"} if row.get("cache_points") == 0 else set())


def accepts_thinking(row: Row, asked: Any) -> bool:
    takes = row.get("thinking")
    if takes is None:
        return bool((row.get("settings") or {}).get("thinking_field", "thinking")) and not isinstance(asked, int)
    if asked == "off":
        return takes.get("can_be_off", True) and bool(takes.get("levels") or takes.get("budget"))
    if isinstance(asked, int):
        return takes.get("budget") is not None
    return asked in takes.get("levels", ())


def is_translated(row: Row, asked: Any, sent: Any) -> bool:
    """Whether a value for thinking became another one of the same meaning."""
    takes = row.get("thinking")
    if takes is None:
        return False
    if asked == "off":
        return sent is None and not takes.get("levels") and takes.get("budget") is None
    return isinstance(asked, str) and isinstance(sent, int) and not takes.get("levels")


def is_warned(name: str, warnings: Sequence[CallWarning]) -> bool:
    below = "" if name == "output" else r"|[.\[]"
    return any(re.match(rf"(sampling\.)?{name}($%s)" % below, warning.path) for warning in warnings)


@pytest.mark.parametrize(("provider", "model"), CLAUDES, ids=["/".join(each) for each in CLAUDES])
@pytest.mark.parametrize("thinking", [None, "off", "low", 5000])
def test_replayed_thinking_is_not_refused_if_its_conversation_changed(
    services: InMemoryVendors, provider: str, model: str, thinking: Any
):
    llm = made(services, provider, model)
    thought = ReasoningPart("so", "c2ln", origin=f"{provider}/{model}")
    messages = [Message.user("a"), Message.assistant(thought, TextPart("b")), Message.user("c")]
    for stream in (False, True):
        answered(llm, {"messages": messages, "system_prompt": "new", "thinking": thinking}, stream=stream)
    assert ("c2ln" in json.dumps(services.vendors[provider].bodies[-1])) or thinking == "off"


def test_the_fake_refuses_replayed_thinking_without_block_binding(services: InMemoryVendors):
    llm = made(services, "anthropic", "claude-opus-5-5", facts={"settings": {"block_binding": False}})
    thought = ReasoningPart("so", "c2ln", origin="anthropic/claude-opus-5-5")
    with pytest.raises(BadRequestError, match="bound to a different conversation"):
        llm.generate("c", messages=[Message.user("a"), Message.assistant(thought, TextPart("b"))])


@pytest.mark.parametrize(("provider", "model"), MODELS, ids=["/".join(each) for each in MODELS])
def test_a_conversation_with_tool_calls_goes_on_without_tools(services: InMemoryVendors, provider: str, model: str):
    if rows(provider)[model].get("tools") == "never":
        pytest.skip("the model has no tools")
    llm = made(services, provider, model)
    answered(llm, {"messages": USED, "prompt": None})
    answered(llm, {"messages": USED, "prompt": None, "tools": TOOLS, "tool_choice": "none"})
    assert "toolConfig" in services.vendors[provider].bodies[-1] or provider != "bedrock"


@pytest.mark.parametrize(("provider", "model"), CLAUDES, ids=["/".join(each) for each in CLAUDES])
def test_cache_points_of_an_hour_and_five_of_them_are_fitted(services: InMemoryVendors, provider: str, model: str):
    llm = made(services, provider, model)
    parts = [TextPart(f"{number}", cache=CachePoint(3600)) for number in range(5)]
    tools = [replace(tool, cache=CachePoint(3600)) for tool in TOOLS]
    response = answered(llm, {"messages": [Message.user(*parts)], "prompt": None, "tools": tools})
    most = rows(provider)[model].get("cache_points", 4)
    assert len([each for each in response.warnings if each.code == "cache_left_out"]) == 7 - most


@pytest.mark.parametrize("model", rows("anthropic"))
def test_computer_use_is_the_tool_of_the_model(services: InMemoryVendors, model: str):
    llm = made(services, "anthropic", model)
    old = {"display_width_px": 1024, "display_height_px": 768}
    response = answered(llm, {"tools": [HostedTool("computer_use", old)]})
    (tool,) = services.vendors["anthropic"].bodies[-1]["tools"]
    assert tool["type"] == rows("anthropic")[model]["settings"]["computer_tool"]
    assert bool(old.keys() & tool.keys()) != bool(is_warned("hosted_tools", response.warnings))


@pytest.mark.parametrize("version", ["2023-06-01", "2026-10-21"])
@pytest.mark.parametrize("model", rows("anthropic"))
def test_each_version_of_the_api_gets_what_it_accepts(services: InMemoryVendors, model: str, version: str):
    llm = made(services, "anthropic", model, api_version=version)
    response = answered(llm, {"temperature": 0.5})
    row = rows("anthropic")[model]
    accepted = version == "2023-06-01" and "temperature" not in row.get("refused", ())
    assert services.vendors["anthropic"].bodies[-1].get("temperature") == (0.5 if accepted else None)
    assert is_warned("temperature", response.warnings) != accepted
