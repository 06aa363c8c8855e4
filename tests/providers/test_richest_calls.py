"""Every model in the catalogue is sent its richest calls: its vendor refuses none, and nothing is dropped in silence.

The vendors are strict fakes, which refuse what a model's row says is refused.
"""

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import pytest

from abstractcore import LLM, Services, create_llm
from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.registry import Registry
from abstractcore.schema import CallWarning, HostedTool, Message
from abstractcore_providers.plugin import register_catalogues, register_providers
from tests.providers.catalogue_rows import rows
from tests.providers.strict_fakes import cohere_chat, gemini, gemini_interactions, ollama, openai_chat, openai_responses
from tests.providers.strict_fakes.calls import TOOLS, Answer, RichCall, rich_calls, without_output_tool
from tests.providers.strict_fakes.fake import TEXT, Fake, Row, StrictServer, refused, strict_server

FAKES: dict[str, Fake] = {
    "google": gemini.FAKE,
    "google-interactions": gemini_interactions.FAKE,
    "vertex": gemini.FAKE,
    "cohere": cohere_chat.FAKE,
    "ollama": ollama.FAKE,
    "openai-responses": openai_responses.FAKE,
    **{name: openai_chat.fake(name) for name in openai_chat.PRESETS if rows(name)},
}
MODELS = [(p, model) for p in FAKES for model, row in rows(p).items() if "transcription" not in row]
"""Those that chat: a transcriber has an endpoint of its own."""
NOT_OPTIONS = ("system_prompt", "messages", "prompt", "media", "response_model")
"""The content of a call."""
NEEDED: dict[str, dict[str, Any]] = {"vertex": {"project": "p", "access_token": "t"}}


@pytest.fixture(scope="module")
def servers() -> Iterator[Mapping[str, StrictServer]]:
    """A server for each provider."""
    with ExitStack() as stack:
        yield {provider: stack.enter_context(strict_server(fake)) for provider, fake in FAKES.items()}


@pytest.fixture(scope="module")
def services() -> Iterator[Services]:
    """The providers and their models, without handlers, which would inspect the files."""
    registry = Registry()
    for provider in register_providers():
        registry.add_provider(provider)
    for file in register_catalogues():
        registry.add_catalogue(file)
    services = Services(registry=registry, environment={})
    yield services
    services.close()


@pytest.mark.parametrize(("provider", "model"), MODELS, ids=["/".join(each) for each in MODELS])
def test_nothing_is_refused_and_what_is_dropped_has_a_warning(
    servers: Mapping[str, StrictServer], services: Services, provider: str, model: str
):
    row, server = rows(provider)[model], servers[provider]
    server.row = row
    llm = made(server, services, provider, model)
    for call in rich_calls(row):
        if call.name.endswith("as a result") and row.get("media_after_results") is False:
            with pytest.raises(UnsupportedContentError, match="Put it into a user message"):
                _answered(llm, call, stream=False)
            continue
        plain = _answered(llm, call, stream=False)
        body = server.bodies[-1]
        check_arrival(call, row, body, plain.warnings, FAKES[provider])
        streamed = _answered(llm, call, stream=True)
        assert streamed.warnings == plain.warnings
        assert FAKES[provider].sent(server.bodies[-1]) == FAKES[provider].sent(body)


def made(server: StrictServer, services: Services, provider: str, model: str) -> LLM:
    options = NEEDED.get(provider, {})
    return create_llm(provider, model=model, base_url=server.url, api_key="k", services=services, **options)


def _answered(llm: LLM, call: RichCall, *, stream: bool) -> Any:
    arguments = {"prompt": "hi", **call.arguments}
    if not stream:
        response = llm.generate(**arguments)
    else:
        with llm.stream(**arguments) as pieces:
            list(pieces)
        response = pieces.response
    assert response.content == TEXT
    if "response_model" in arguments:
        assert response.output == Answer("Rome")
    return response


def check_arrival(call: RichCall, row: Row, body: Any, warnings: Sequence[CallWarning], fake: Fake) -> None:
    """Checks that each option arrives, or has a warning; one that the row accepts and the format has must arrive."""
    arrived, where = without_output_tool(fake.sent(body)), f"{call.name}: {[warning.path for warning in warnings]}"
    for name, value in options_of(call).items():
        if name == "thinking":
            assert arrived.get(name) in accepted_thinking(call, row, value, fake), where
            needs_warning = arrived.get(name) != value and not is_translated(row, value)
        else:
            needs_warning = arrived.get(name) != value or name in row.get("no_effect", ())
            assert not needs_warning or not must_arrive(call, row, name, value, fake), f"{name} in {where}"
        if name == "thinking" and (row.get("thinking") or {}).get("budget_within_output"):
            assert is_warned(name, warnings) or not isinstance(value, int) or not needs_warning, where
        elif name in ("output", "tools"):
            assert is_warned(name, warnings) or not needs_warning, f"{name} in {where}, whose schema may be rewritten"
        else:
            assert is_warned(name, warnings) == needs_warning, f"{name} in {where}"
    assert base64.b64encode(call.file).decode() in json.dumps(body), where


def options_of(call: RichCall) -> dict[str, Any]:
    """The options of a call as they would be in its request."""
    options = {name: value for name, value in call.arguments.items() if name not in NOT_OPTIONS}
    if "tools" in options:
        options["tools"] = [tool.name for tool in options["tools"]]
    if "response_model" in call.arguments:
        options["output"] = True
    return options


def must_arrive(call: RichCall, row: Row, name: str, value: Any, fake: Fake) -> bool:
    if name not in fake.options or name in row.get("no_effect", ()) or refused(row, {name: value}):
        return False
    if name == "output":
        if row.get("structured_output") in ("json", "none"):
            return False
        return "tools" not in call.arguments or row.get("output_with_tools") is not False
    if name in row.get("refused_with_thinking", ()):
        return False
    if any(name in pair and set(pair) <= set(call.arguments) for pair in row.get("refused_together", ())):
        return False
    if name == "tool_choice" and value == "required":
        return row.get("forced_tools") in (None, "always")
    return name != "tool_choice" or value != "auto"


def accepted_thinking(call: RichCall, row: Row, asked: Any, fake: Fake) -> list[Any]:
    """What may be sent for thinking: the value itself, or where the model does not have it, any that it has."""
    if "tools" in call.arguments and row.get("tools") in ("without_thinking", "thinking_unset"):
        return ["off"] if row["tools"] == "without_thinking" else [None]
    takes = row.get("thinking")
    if takes is None:
        return [asked, *fake.thinking]
    levels, budget = takes.get("levels", []), takes.get("budget")
    if asked == "off" and takes.get("can_be_off", True):
        return ["off"] if levels or budget else ["off", None]
    if asked in levels:
        return [asked]
    if levels and isinstance(asked, str):
        return levels
    if takes.get("budget_within_output"):
        return ["off", *range(budget[0], budget[1] + 1)]
    if budget is not None:
        return [min(max(asked, budget[0]), budget[1])] if isinstance(asked, int) else range(budget[0], budget[1] + 1)
    return levels or [None]


def is_translated(row: Row, asked: Any) -> bool:
    """Whether a value for thinking becomes another one of the same meaning."""
    takes = row.get("thinking")
    if takes is None:
        return False
    if asked == "off":
        return not takes.get("levels") and takes.get("budget") is None and takes.get("can_be_off", True)
    return isinstance(asked, str) and takes.get("budget") is not None and not takes.get("levels")


def is_warned(name: str, warnings: Sequence[CallWarning]) -> bool:
    return any(re.match(rf"(sampling\.)?{name}($|[.\[])", warning.path) for warning in warnings)


@pytest.mark.parametrize(("provider", "model"), [each for each in MODELS if FAKES[each[0]] is gemini.FAKE], ids=str)
def test_hosted_tools_are_sent_beside_functions_or_refused_before_sending(
    servers: Mapping[str, StrictServer], services: Services, provider: str, model: str
):
    row, server = rows(provider)[model], servers[provider]
    server.row = row
    llm, search = made(server, services, provider, model), HostedTool("web_search")
    if row.get("tools") != "never":
        _answered(llm, RichCall("hosted", {"tools": [search], "tool_choice": "required"}), stream=False)
        assert "googleSearch" in json.dumps(server.bodies[-1]["tools"])
    both = RichCall("both", {"tools": [*TOOLS, search], "tool_choice": "required", "thinking": "low"})
    if row.get("tools") != "never" and row.get("settings", {}).get("hosted_with_functions", True):
        _answered(llm, both, stream=False)
        assert len(server.bodies[-1]["tools"]) == 2
        return
    before = len(server.bodies)
    with pytest.raises(UnsupportedContentError, match=r"tools"):
        llm.generate("hi", **both.arguments)
    assert len(server.bodies) == before


@pytest.mark.parametrize(("provider", "model"), MODELS, ids=str)
def test_prefill_that_the_row_excludes_is_refused_before_sending(
    servers: Mapping[str, StrictServer], services: Services, provider: str, model: str
):
    llm = made(servers[provider], services, provider, model)
    messages = [Message.user("hi"), Message.assistant("So")]
    if rows(provider)[model].get("accepts_prefill", True):
        assert list(llm.plan(messages=messages)) == []
        return
    with pytest.raises(InvalidInputError, match="does not support prefill"):
        llm.plan(messages=messages)
