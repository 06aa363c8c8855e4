"""The provider `google-interactions`."""

import json
from typing import Any

import pytest

from abstractcore import ModelCall, create_llm
from abstractcore.errors import AuthenticationError, InvalidInputError
from abstractcore.ports import ProviderConfig, ProviderSession
from abstractcore.schema import Message, ModelReply, ReasoningPart, TextPart
from abstractcore_providers.formats.gemini_interactions import ENCODABLE, GeminiInteractions
from abstractcore_providers.vendors.google import GoogleInteractionsProvider
from abstractcore_providers.vendors.google.provider import GEMINI_URL
from tests.providers.serving import serving
from tests.providers.sessions import Services, address, headers

REPLY = ModelReply(
    (ReasoningPart("Hm.", "c2ln"), TextPart("Grüße 😀")),
    "stop",
    model="gemini-3.8-flash",
    provider="google-interactions",
)


def connect(model: str = "gemini-3.8-flash", **environment: str) -> ProviderSession:
    services: Any = Services(environment)
    return GoogleInteractionsProvider().connect(ProviderConfig("google-interactions", model), services)


@pytest.mark.parametrize("name", ["GEMINI_API_KEY", "GOOGLE_API_KEY"])
def test_key_address_and_header_are_those_of_google(name: str):
    session = connect(**{name: "k"})
    assert address(session).url == GEMINI_URL
    assert headers(session) == {"x-goog-api-key": "k"}
    assert session.transpiler == GeminiInteractions()


def test_missing_key_names_the_variable():
    with pytest.raises(AuthenticationError, match="GEMINI_API_KEY"):
        connect()


def test_request_has_the_model_in_its_body():
    session = connect("models/gemini-3.8-flash", GEMINI_API_KEY="k")
    request = session.transpiler.encode(ModelCall(session.model, (Message.user("hi"),), "google-interactions")).request
    assert request.url == "/interactions"
    assert b'"model":"gemini-3.8-flash"' in request.body


@pytest.mark.parametrize(
    ("model", "levels"),
    [
        ("gemini-3.8-flash", ("low", "medium", "high")),
        ("gemini-3-flash-preview", ("minimal", "low", "medium", "high")),
        ("gemini-2.5-flash", ("low", "medium", "high")),
    ],
)
def test_thinking_has_levels_and_no_budget(model: str, levels: tuple[str, ...]):
    thinking = connect(model, GEMINI_API_KEY="k").profile.thinking
    assert thinking is not None
    assert (thinking.levels, thinking.budget, thinking.can_be_off) == (levels, None, False)


@pytest.mark.parametrize("model", ["nano-banana-pro-preview", "lyria-3.5", "gemini-omni-1.2-flash"])
def test_models_of_other_lines_are_unknown_and_sent_as_they_are(model: str):
    session = connect(model, GEMINI_API_KEY="k")
    assert not session.profile.known
    assert session.profile.thinking is None
    assert session.profile.encodable == ENCODABLE


def test_agents_are_named_as_such_and_streamed_in_the_background(services: Any):
    llm = create_llm("google-interactions", model="deep-research-preview-04-2026", api_key="k", services=services)
    session = connect("deep-research-preview-04-2026", GEMINI_API_KEY="k")
    call = llm.build("Research TPUs.").with_(stream=True)
    body = json.loads(session.transpiler.encode(call).request.body)
    assert {name: body.get(name) for name in ("agent", "model", "background", "stream")} == {
        "agent": "deep-research-preview-04-2026",
        "model": None,
        "background": True,
        "stream": True,
    }
    with pytest.raises(InvalidInputError, match="a background call returns no reply") as caught:
        llm.generate("Research TPUs.")
    assert "llm.stream" in (caught.value.hint or "")
    asked = llm.build("Research TPUs.", provider_options={"google-interactions": {"background": True}})
    body = json.loads(session.transpiler.encode(asked).request.body)
    assert (body["background"], "stream" in body) == (True, False)


def test_agent_that_answers_at_once_needs_no_stream():
    session = connect("antigravity-preview-09-2026", GEMINI_API_KEY="k")
    options = {"google-interactions": {"environment": "remote"}}
    call = ModelCall(session.model, (Message.user("hi"),), "google-interactions", provider_options=options)
    body = json.loads(session.transpiler.encode(call).request.body)
    assert (body["agent"], body["environment"], "background" in body) == (session.model, "remote", False)


def test_calls_are_answered_whole_and_streamed(call_style: Any, services: Any):
    with serving(GeminiInteractions(), "text/event-stream", REPLY) as server:
        llm = create_llm(
            "google-interactions", model="gemini-3.8-flash", base_url=server.url, api_key="k", services=services
        )
        assert call_style.generate(llm, "hi").content == "Grüße 😀"
        with call_style.stream(llm, "hi") as stream:
            list(stream)
        assert stream.response.reply.parts[0] == ReasoningPart(
            "Hm.", "c2ln", origin="google-interactions/gemini-3.8-flash"
        )
        assert stream.response.content == "Grüße 😀"
        assert server.paths == ["/v1beta/interactions"] * 2
        assert [call.stream for call in server.calls] == [False, True]
