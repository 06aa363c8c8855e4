"""Hosted tools beside functions, which models of different generations accept differently.

Checked against `ToolConfig` of google-genai, ai.google.dev/gemini-api/docs/tool-combination, and the measurements in
pydantic-ai's Google model (`_get_tool_config`).
"""

import json
from typing import Any

import pytest
from google.genai import types

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import (
    AudioPart,
    Blob,
    DocumentPart,
    HostedTool,
    ImagePart,
    Message,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
)
from abstractcore_providers.formats.gemini import Gemini, GenerateContentDialect
from tests.providers.formats.gemini.wire import GEMINI, body_of, call, check_types, request

NEWER = Gemini(GenerateContentDialect(server_side_calls=True))
OLDER = Gemini(GenerateContentDialect(hosted_with_functions=False))
FUNCTION, SEARCH = ToolSpec("f"), HostedTool("web_search")
BOTH = call(tools=(FUNCTION,), hosted_tools=(SEARCH,))


def test_hosted_tools_beside_functions_ask_for_their_calls_where_models_require_it():
    body = body_of(BOTH, NEWER)
    assert body["tools"] == [{"functionDeclarations": [{"name": "f"}]}, {"googleSearch": {}}]
    assert body["toolConfig"] == {"includeServerSideToolInvocations": True}
    assert types.ToolConfig.model_validate(body["toolConfig"]).include_server_side_tool_invocations
    check_types(body)
    chosen = body_of(BOTH.with_(tool_choice=ToolChoice("required")), NEWER)
    assert chosen["toolConfig"] == {
        "functionCallingConfig": {"mode": "ANY"},
        "includeServerSideToolInvocations": True,
    }


def test_hosted_tool_in_the_provider_options_counts_too():
    options: dict[str, Any] = {"google": {"tools": [{"url_context": {}}]}}
    body = body_of(call(tools=(FUNCTION,), provider_options=options), NEWER)
    assert body["toolConfig"] == {"includeServerSideToolInvocations": True}


@pytest.mark.parametrize(
    "asked",
    [
        call(tools=(FUNCTION,)),
        call(hosted_tools=(SEARCH,)),
        call(tools=(FUNCTION,), hosted_tools=(HostedTool("computer_use"),)),
    ],
    ids=["functions alone", "hosted alone", "computer use"],
)
def test_other_calls_do_not_ask(asked: Any):
    assert "toolConfig" not in body_of(asked, NEWER)


def test_user_can_refuse_the_calls_of_hosted_tools():
    options: Any = {"google": {"toolConfig": {"includeServerSideToolInvocations": False}}}
    asked = BOTH.with_(provider_options=options)
    assert body_of(asked, NEWER)["toolConfig"] == {"includeServerSideToolInvocations": False}
    assert NEWER.parse(NEWER.encode(asked).request).call.provider_options == options


def test_older_models_and_vertex_are_not_asked():
    assert "toolConfig" not in body_of(BOTH)


def test_implied_field_is_no_option_of_a_clients_request():
    assert NEWER.parse(NEWER.encode(BOTH).request).call == BOTH
    config = {"include_server_side_tool_invocations": True}
    alone = {"contents": [{"parts": [{"text": "hi"}]}], "tool_config": config}
    kept = {"google": {"toolConfig": {"includeServerSideToolInvocations": True}}}
    assert NEWER.parse(request(alone)).call.provider_options == kept


def test_older_model_refuses_hosted_tools_beside_functions_with_a_hint():
    with pytest.raises(
        UnsupportedContentError, match=r"hosted_tools\[0\]: m accepts hosted tools, .* or functions"
    ) as caught:
        OLDER.encode(BOTH)
    assert "Leave out one of them" in (caught.value.hint or "")
    assert body_of(call(hosted_tools=(SEARCH,)), OLDER)["tools"] == [{"googleSearch": {}}]
    assert body_of(call(tools=(FUNCTION,)), OLDER)["tools"] == [{"functionDeclarations": [{"name": "f"}]}]


@pytest.mark.parametrize(
    ("choice", "code"),
    [
        (ToolChoice("auto"), "no_effect"),
        (ToolChoice("none"), "unsupported_option"),
        (ToolChoice("required"), "unsupported_option"),
        (ToolChoice("tool", "f"), "unsupported_option"),
    ],
    ids=lambda value: getattr(value, "mode", ""),
)
def test_tool_choice_without_functions_is_left_out_with_a_warning(choice: ToolChoice, code: str):
    """The API refuses it: "Function calling config is set without function_declarations"."""
    encoded = GEMINI.encode(call(hosted_tools=(SEARCH,), tool_choice=choice))
    assert "toolConfig" not in json.loads(encoded.request.body)
    assert [(warning.code, warning.path) for warning in encoded.warnings] == [(code, "tool_choice")]


@pytest.mark.parametrize(
    ("part", "inside"),
    [
        (ImagePart(Blob.from_bytes(b"x", "image/webp")), True),
        (DocumentPart(Blob.from_bytes(b"x", "application/pdf")), True),
        (ImagePart(Blob.from_bytes(b"x", "image/heic")), False),
        (DocumentPart(Blob.from_bytes(b"x", "application/msword")), False),
        (AudioPart(Blob.from_bytes(b"x", "audio/wav")), False),
    ],
    ids=lambda value: value.blob.media_type if hasattr(value, "blob") else "",
)
def test_only_files_of_the_documented_types_are_inside_results(part: Any, inside: bool):
    """ai.google.dev/gemini-api/docs/function-calling, "Multimodal function responses"."""
    messages = (Message.user("hi"), Message.assistant(ToolCall("c", "f")), Message.tool(ToolResult("c", (part,))))
    result, *beside = body_of(call(*messages))["contents"][-1]["parts"]
    assert ("parts" in result["functionResponse"]) is inside
    assert bool(beside) is not inside
