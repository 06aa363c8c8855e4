"""Every model in the catalogue is sent its richest calls: its vendor refuses none, and nothing is dropped in silence.

The vendors are strict fakes, which refuse what a model's row says is refused.
"""

import base64
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from abstractcore import LLM, create_llm
from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import CallWarning, HostedTool, Message
from tests.providers.catalogue_rows import rows
from tests.providers.strict_fakes import cohere_chat, gemini, gemini_interactions, ollama, openai_chat, openai_responses
from tests.providers.strict_fakes.calls import TOOLS, Answer, RichCall, rich_calls, without_output_tool
from tests.providers.strict_fakes.fake import TEXT, Fake, Row, refused
from tests.providers.strict_fakes.in_memory import InMemoryVendors
from tests.tiers import smoke

pytestmark = pytest.mark.exhaustive

FAKES: dict[str, Fake] = {
    "google": gemini.FAKE,
    "google-interactions": gemini_interactions.FAKE,
    "vertex": gemini.FAKE,
    "cohere": cohere_chat.FAKE,
    "ollama": ollama.FAKE,
    "openai-responses": openai_responses.FAKE,
    **{name: openai_chat.fake(name) for name in openai_chat.PRESETS if rows(name)},
}
NOT_OF_CHATS = {"transcription", "embedding", "reranking"}
MODELS = [(p, model) for p in FAKES for model, row in rows(p).items() if NOT_OF_CHATS.isdisjoint(row)]
"""Those that chat: others have endpoints of their own."""
NOT_OPTIONS = ("system_prompt", "messages", "prompt", "media", "response_model")
"""The content of a call."""
NEEDED: dict[str, dict[str, Any]] = {"vertex": {"project": "p", "access_token": "t"}}


OTHER_FACTS = ("context_tokens", "source", "checked", "retires", "replaced_by")
"""Facts on which none of these calls depends, as their files are small: the other fields of a profile decide them."""
NOT_OF_CALLS = {"model", "like", "prices", *OTHER_FACTS}


def first_alike() -> Iterator[tuple[str, str, str]]:
    """Yields each model with the first one at its provider whose row says the same about calls."""
    found: dict[tuple[str, str], str] = {}
    for provider, model in MODELS:
        row = rows(provider)[model]
        facts = {name: value for name, value in row.items() if name not in NOT_OF_CALLS}
        facts = {name: value for name, value in facts.items() if not name.endswith(("source", "sources", "checked"))}
        yield provider, model, found.setdefault((provider, json.dumps(facts, sort_keys=True)), model)


FIRST = [(provider, model) for provider, model, first in first_alike() if model == first]
ALIKE = [(provider, model, first) for provider, model, first in first_alike() if model != first]


@pytest.fixture(scope="module")
def services() -> Iterator[InMemoryVendors]:
    """A vendor for each provider."""
    services = InMemoryVendors(FAKES)
    yield services
    services.close()


@pytest.mark.parametrize(
    ("provider", "model"), smoke(FIRST, dict(reversed(FIRST)).items()), ids=["/".join(each) for each in FIRST]
)
def test_nothing_is_refused_and_what_is_dropped_has_a_warning(services: InMemoryVendors, provider: str, model: str):
    row, vendor = rows(provider)[model], services.vendors[provider]
    vendor.row = row
    llm = made(services, provider, model)
    for call in rich_calls(row):
        if must_be_moved(call, row):
            with pytest.raises(UnsupportedContentError, match="Put it into a user message"):
                _answered(llm, call, stream=False)
            continue
        plain = _answered(llm, call, stream=False)
        body = vendor.bodies[-1]
        check_arrival(call, row, body, plain.warnings, FAKES[provider])
        streamed = _answered(llm, call, stream=True)
        assert streamed.warnings == plain.warnings
        assert FAKES[provider].sent(vendor.bodies[-1]) == FAKES[provider].sent(body)


@pytest.mark.parametrize(("provider", "model", "first"), ALIKE, ids=[f"{p}/{model}" for p, model, _ in ALIKE])
def test_model_with_the_facts_of_another_is_sent_the_same(
    services: InMemoryVendors, provider: str, model: str, first: str
):
    """So what holds for the richest calls of that one holds for its own."""
    profile, other = (services.catalogue.profile(provider, name) for name in (model, first))
    assert replace(profile, **{name: getattr(other, name) for name in OTHER_FACTS}) == other
    vendor = services.vendors[provider]
    vendor.row = rows(provider)[model]
    calls = [call for call in rich_calls(vendor.row) if not must_be_moved(call, vendor.row)]
    for call in (calls[1], calls[-1]):
        bodies: list[str] = []
        for name in (model, first):
            _answered(made(services, provider, name), call, stream=False)
            bodies.append(json.dumps(vendor.bodies[-1]).replace(json.dumps(name), '"the model"'))
        assert bodies[0] == bodies[1], call.name


def must_be_moved(call: RichCall, row: Row) -> bool:
    """Whether the file of a call is in a result, where the model does not accept it."""
    return call.name.endswith("as a result") and row.get("media_after_results") is False


def made(services: InMemoryVendors, provider: str, model: str) -> LLM:
    options = NEEDED.get(provider, {})
    return create_llm(
        provider, model=model, base_url=services.url(provider), api_key="k", services=services, timeout=None, **options
    )


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
    services: InMemoryVendors, provider: str, model: str
):
    row, vendor = rows(provider)[model], services.vendors[provider]
    vendor.row = row
    llm, search = made(services, provider, model), HostedTool("web_search")
    if row.get("tools") != "never":
        _answered(llm, RichCall("hosted", {"tools": [search], "tool_choice": "required"}), stream=False)
        assert "googleSearch" in json.dumps(vendor.bodies[-1]["tools"])
    both = RichCall("both", {"tools": [*TOOLS, search], "tool_choice": "required", "thinking": "low"})
    if row.get("tools") != "never" and row.get("settings", {}).get("hosted_with_functions", True):
        _answered(llm, both, stream=False)
        assert len(vendor.bodies[-1]["tools"]) == 2
        return
    before = len(vendor.bodies)
    with pytest.raises(UnsupportedContentError, match=r"tools"):
        llm.generate("hi", **both.arguments)
    assert len(vendor.bodies) == before


@pytest.mark.parametrize("provider", FAKES)
def test_prefill_that_the_row_excludes_is_refused_before_sending(services: InMemoryVendors, provider: str):
    messages = [Message.user("hi"), Message.assistant("So")]
    for model in (model for of, model in MODELS if of == provider):
        llm = made(services, provider, model)
        if rows(provider)[model].get("accepts_prefill", True):
            assert list(llm.plan(messages=messages)) == [], model
            continue
        with pytest.raises(InvalidInputError, match="does not support prefill"):
            pytest.fail(f"the prefill is accepted: {model}: {llm.plan(messages=messages)}")
