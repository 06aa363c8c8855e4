"""A format writes the same bytes for every model: rules of single models are applied before encoding."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.ports import Transpiler
from abstractcore.schema import ModelCall, ReasoningPart, WireRequest, to_data
from abstractcore_providers.formats.openai_chat import OpenAIChat
from abstractcore_providers.plugin import register_wire_formats
from abstractcore_providers.vendors.openai_compatible import VENDORS
from tests.properties import examples
from tests.providers.catalogue_rows import models
from tests.providers.formats.anthropic_messages import generated as anthropic
from tests.providers.formats.bedrock_converse import generated as bedrock
from tests.providers.formats.cohere_chat import generated as cohere
from tests.providers.formats.gemini import generated as gemini
from tests.providers.formats.gemini_interactions import generated as interactions
from tests.providers.formats.ollama import generated as ollama
from tests.providers.formats.openai_chat import generated as chat
from tests.providers.formats.openai_responses import generated as responses
from tests.tiers import smoke

pytestmark = pytest.mark.exhaustive

FORMATS = {each.name: each.transpiler for each in register_wire_formats()}
WITH_RULES = [each for each in VENDORS if models(each.name) and each.dialect.has_chat]
VENDORS_OF_CHAT = {f"openai_chat, {each.name}": OpenAIChat(each.dialect) for each in WITH_RULES}
TRANSPILERS: Mapping[str, Transpiler] = {name: make() for name, make in FORMATS.items()} | VENDORS_OF_CHAT
CALLS: Mapping[str, Callable[[], SearchStrategy[ModelCall]]] = {
    "anthropic_messages": anthropic.calls,
    "bedrock_converse": bedrock.calls,
    "cohere_chat": cohere.calls,
    "gemini": gemini.calls,
    "gemini_interactions": interactions.calls,
    "ollama": ollama.calls,
    "openai_chat": chat.calls,
    "openai_responses": responses.calls,
}
_NAMES = [
    *(name for vendor in ("openai", "openrouter", "xai", "deepseek") for name in models(vendor)),
    *models("anthropic"),
    *models("bedrock"),
    *("gpt-4o", "chatgpt-4o-latest", "gemini-2.5-pro", "gemini-3-pro", "command-a", "qwen3", "mistral-large-latest"),
]
NAMES = list(dict.fromkeys(_NAMES))


def named(call: ModelCall, model: str) -> ModelCall:
    """The same call to another model, which also wrote the first model's turns."""
    before, after = f"{call.provider}/{call.model}", f"{call.provider}/{model}"

    def owned(part: Any) -> Any:
        return replace(part, origin=after) if isinstance(part, ReasoningPart) and part.origin == before else part

    messages = (replace(message, parts=tuple(map(owned, message.parts))) for message in call.messages)
    return call.with_(model=model, messages=tuple(messages))


def written(transpiler: Transpiler, call: ModelCall) -> Any:
    """The request without the model's name, and its warnings; or the error's type and path."""
    try:
        encoded = transpiler.encode(call)
    except (InvalidInputError, UnsupportedContentError) as error:
        return type(error), getattr(error, "path", None)
    warnings = [(each.code, each.path, each.requested, each.sent) for each in encoded.warnings]
    return without_name(encoded.request, call.model), warnings


def without_origins(found: Any, call: ModelCall) -> Any:
    """What was written, with warnings as text without the model's name: it is in those about reasoning."""
    request, warnings = found
    if not isinstance(warnings, list):
        return found
    text = json.dumps([[code, path, to_data(requested), to_data(sent)] for code, path, requested, sent in warnings])
    return request, text.replace(f"{call.provider}/{call.model}", "ORIGIN")


def without_name(request: WireRequest, model: str) -> tuple[str, bytes | str, Mapping[str, str]]:
    names = (quote(model, safe=""), quote(model, safe="/@:"))
    url = request.url
    for name in names:
        url = url.replace(f"/{name}", "/MODEL")
    body = json.loads(request.body)
    if body.get("model") == model:
        field = json.dumps(model).encode()
        return url, request.body.replace(b'"model":' + field, b'"model":"MODEL"', 1), request.headers
    return url, request.body, request.headers


@pytest.mark.parametrize("format", smoke(TRANSPILERS, ["ollama"]))
@examples(20)
@given(st.data())
def test_request_does_not_depend_on_the_model_name(format: str, data: st.DataObject):
    transpiler, call = TRANSPILERS[format], data.draw(CALLS[format.partition(",")[0]]())
    first, *others = (named(call, model) for model in NAMES)
    expected = written(transpiler, first)
    for other in others:
        found = written(transpiler, other)
        if found != expected:
            assert without_origins(found, other) == without_origins(expected, first), other.model


def test_every_format_is_tested():
    assert CALLS.keys() == FORMATS.keys()
    assert len(VENDORS_OF_CHAT) == 11
