"""Encoding calls as requests: parts, options, warnings, refusals."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from abstractcore.errors import InvalidInputError, ServerError, UnsupportedContentError
from abstractcore.schema import (
    AudioPart,
    Blob,
    CachePoint,
    Citation,
    DocumentPart,
    HostedTool,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    Message,
    ModelCall,
    OpaquePart,
    OutputSchema,
    ReasoningPart,
    Sampling,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
    VideoPart,
)
from abstractcore.testing import check_call_losses, check_encode_again
from abstractcore_providers.formats.openai_responses import OpenAIResponses
from tests.providers.formats.openai_responses.generated import PROVIDER
from tests.providers.formats.openai_responses.wire import (
    RESPONSES,
    answered,
    body_of,
    call,
    function_call,
    message,
    parsed,
    parts,
    response,
)

ORIGIN = f"{PROVIDER}/m"
ASK = Message.user("hi")


def paths(call: ModelCall) -> dict[str, Any]:
    """The paths of the warnings, each with what was sent instead."""
    return {warning.path: warning.sent for warning in RESPONSES.encode(call).warnings}


def items(*messages: Message, **fields: Any) -> list[Any]:
    return body_of(call(*messages, **fields))["input"]


def test_call_is_sent_to_responses_without_store():
    encoded = RESPONSES.encode(call())
    assert encoded.request.url == "/responses"
    assert body_of(call()) == {
        "model": "m",
        "input": [{"role": "user", "content": "hi"}],
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }


def test_non_thinking_model_is_not_asked_for_encrypted_reasoning():
    plain = OpenAIResponses(encrypted_reasoning=False)
    request = plain.encode(call()).request
    assert "include" not in json.loads(request.body)
    assert plain.encode(plain.parse(request).call).request == request


def test_system_messages_are_instructions_or_stay_in_place():
    given_call = call(Message.system("one"), ASK, Message.system("two"), ASK)
    body = body_of(given_call)
    assert body["instructions"] == "one"
    assert [item["role"] for item in body["input"]] == ["user", "system", "user"]
    assert RESPONSES.parse(RESPONSES.encode(given_call).request).call.messages == given_call.messages
    assert body_of(call(Message.system("alone")))["input"] == [{"role": "system", "content": "alone"}]


@pytest.mark.parametrize(
    ("part", "written"),
    [
        (ImagePart(Blob.from_bytes(b"a", "image/png")), {"image_url": "data:image/png;base64,YQ=="}),
        (ImagePart(Blob.from_url("https://a/b", "image/png"), "low"), {"image_url": "https://a/b", "detail": "low"}),
        (ImagePart(Blob.from_provider_file(PROVIDER, "file-1", "image/png")), {"file_id": "file-1"}),
        (
            DocumentPart(Blob.from_bytes(b"a", "application/pdf", name="a.pdf")),
            {"filename": "a.pdf", "file_data": "data:application/pdf;base64,YQ=="},
        ),
        (
            DocumentPart(Blob.from_bytes(b"a", "text/markdown")),
            {"filename": "document.txt", "file_data": "data:text/markdown;base64,YQ=="},
        ),
        (DocumentPart(Blob.from_url("https://a/b.pdf", "application/pdf")), {"file_url": "https://a/b.pdf"}),
        (DocumentPart(Blob.from_provider_file(PROVIDER, "file-1", "application/pdf")), {"file_id": "file-1"}),
        (AudioPart(Blob.from_bytes(b"a", "audio/mpeg")), {"input_audio": {"data": "YQ==", "format": "mp3"}}),
    ],
)
def test_files_are_encoded_in_every_form(part: Any, written: dict[str, Any]):
    (content,) = items(Message("user", (part,)))[0]["content"]
    assert {key: value for key, value in content.items() if key != "type"} == written


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (VideoPart(Blob.from_bytes(b"a", "video/mp4")), "does not support video"),
        (AudioPart(Blob.from_bytes(b"a", "audio/flac")), "does not support audio/flac"),
        (ImagePart(Blob.from_provider_file("x", "f", "image/png")), "stored by 'x'"),
        (ImagePart(Blob.from_artifact("0" * 64, "image/png", 1)), "not available"),
    ],
)
def test_unsupported_content_is_refused_with_its_path(part: Any, said: str):
    with pytest.raises(UnsupportedContentError, match=said) as caught:
        RESPONSES.encode(call(Message("user", (TextPart("look"), part))))
    assert "messages[0].parts[1]" in caught.value.message


def test_image_in_a_tool_result_is_sent():
    result = ToolResult("c", (TextPart("see"), ImagePart(Blob.from_url("https://a/b", "image/png"))))
    (_, _, output) = items(ASK, Message.assistant(ToolCall("c", "f")), Message.tool(result))
    assert output == {
        "type": "function_call_output",
        "call_id": "c",
        "output": [{"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": "https://a/b"}],
    }


def test_audio_in_a_tool_result_is_refused_with_its_path():
    result = ToolResult("c", (AudioPart(Blob.from_bytes(b"a", "audio/wav")),))
    with pytest.raises(UnsupportedContentError, match=r"messages\[2\]\.parts\[0\]\.content\[0\].*'c'"):
        RESPONSES.encode(call(ASK, Message.assistant(ToolCall("c", "f")), Message.tool(result)))


def test_invalid_ids_are_replaced_in_calls_and_results():
    turn = (Message.assistant(ToolCall("x" * 65, "f")), Message.tool(ToolResult.text("x" * 65, "a")))
    again = (Message.assistant(ToolCall("c", "f")), Message.tool(ToolResult.text("c", "b")))
    written = items(ASK, *turn, ASK, *again, ASK, *again)
    assert [item["call_id"] for item in written if "call_id" in item] == [
        "call_1_0",
        "call_1_0",
        "c",
        "c",
        "call_7_0",
        "call_7_0",
    ]


def test_reasoning_is_sent_back_unchanged():
    output: list[Any] = [
        {
            "type": "reasoning",
            "id": "rs_abc",
            "summary": [{"type": "summary_text", "text": "one"}, {"type": "summary_text", "text": "two"}],
            "encrypted_content": "gAAA",
        },
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "a"}},
        {"type": "reasoning", "id": "rs_abd", "summary": [], "encrypted_content": "gAAB"},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{ }"},
        {"type": "function_call", "call_id": "c2", "name": "f", "arguments": ""},
    ]
    said = answered(*output).message()
    assert said is not None
    results = Message.tool(ToolResult.text("c1", "a"), ToolResult.text("c2", "b"))
    assert items(ASK, said, results)[1:6] == output
    assert paths(call(ASK, said, results)) == {}


def test_reasoning_of_another_model_is_left_out():
    thoughts = (
        ReasoningPart("a", "rs_1", "gAAA", "another/m"),
        ReasoningPart("b", "rs_2", None, ORIGIN),
        ReasoningPart("c", None, None, ORIGIN),
        TextPart("hi"),
    )
    conversation = (ASK, Message("assistant", thoughts))
    left = {f"messages[1].parts[{index}]": None for index in range(3)}
    assert paths(call(*conversation)) == left
    stored = call(*conversation, provider_options={PROVIDER: {"store": True}})
    assert list(paths(stored)) == ["messages[1].parts[0]", "messages[1].parts[2]"]


@pytest.mark.parametrize("encrypted", [{}, {"encrypted_content": "gAAA"}])
def test_raw_reasoning_is_sent_back_as_item_content(encrypted: dict[str, str]):
    texts = [{"type": "reasoning_text", "text": "one"}, {"type": "reasoning_text", "text": "two"}]
    item = {"type": "reasoning", "id": "rs_abc", "summary": [], "content": texts, **encrypted}
    said = answered(item, message()).message()
    assert said is not None
    assert items(ASK, said)[1] == item
    assert paths(call(ASK, said)) == {}
    assert paths(call(ASK, said, model="another"))["messages[1].parts[0]"] is None


def test_stored_messages_and_calls_are_sent_back_by_id():
    content = [
        {"type": "output_text", "text": "a", "annotations": [], "logprobs": []},
        {"type": "output_text", "text": "b", "annotations": [], "logprobs": []},
    ]
    output = [message(content=content), function_call("c1", status="completed", namespace="n")]
    said = answered(*output, store=True).message()
    assert said is not None
    sent = items(ASK, said, Message.tool(ToolResult.text("c1", "a")))
    assert sent[1:3] == [output[0], {name: value for name, value in output[1].items() if name != "status"}]


def test_computer_action_and_screenshot_survive_a_round_trip():
    action = {
        "type": "computer_call",
        "id": "cu_1",
        "call_id": "c",
        "status": "completed",
        "pending_safety_checks": [{"id": "check", "code": "malicious_instructions"}],
        "actions": [{"type": "click", "x": 1, "y": 2, "button": "left"}, {"type": "wait"}],
    }
    said = answered(action).message()
    assert said is not None
    screen = ImagePart(
        Blob.from_url("https://a/b.png", "image/png"), provider_options={PROVIDER: {"detail": "original"}}
    )
    checked = {PROVIDER: {"acknowledged_safety_checks": [{"id": "check"}]}}
    given = call(ASK, said, Message.tool(ToolResult("c", (screen,), provider_options=checked)))
    assert body_of(given)["input"][1:] == [
        action,
        {
            "type": "computer_call_output",
            "call_id": "c",
            "output": {"type": "computer_screenshot", "image_url": "https://a/b.png", "detail": "original"},
            "acknowledged_safety_checks": [{"id": "check"}],
        },
    ]
    assert paths(given) == {}
    check_call_losses(RESPONSES, given)
    check_encode_again(RESPONSES, given)


def test_screenshot_is_exactly_one_image():
    call_ = {"type": "computer_call", "id": "cu_1", "call_id": "c", "action": {"type": "wait"}}
    said = answered(call_).message()
    assert said is not None
    image = ImagePart(Blob.from_url("https://a/b.png", "image/png"), "high", CachePoint())
    for content in ((), (TextPart("done"),), (image, image)):
        with pytest.raises(UnsupportedContentError, match=r"messages\[2\]\.parts\[0\]\.content: .* one image"):
            RESPONSES.encode(call(ASK, said, Message.tool(ToolResult("c", content))))
    result = ToolResult("c", (image,), is_error=True, cache=CachePoint())
    place = "messages[2].parts[0]"
    lost = {f"{place}.is_error", f"{place}.cache", f"{place}.content[0].detail", f"{place}.content[0].cache"}
    assert set(paths(call(ASK, said, Message.tool(result)))) == lost
    check_call_losses(RESPONSES, call(ASK, said, Message.tool(result)))


def test_hosted_tool_results_are_texts_with_citations():
    search = {
        "type": "web_search_call",
        "id": "ws",
        "status": "completed",
        "action": {"type": "search", "queries": ["a"], "sources": [{"type": "url", "url": "https://a"}]},
    }
    files = {
        "type": "file_search_call",
        "id": "fs",
        "status": "completed",
        "queries": ["b"],
        "results": [{"file_id": "f1", "filename": "b.txt", "text": "one"}, {"file_id": "f2", "text": "two"}],
    }
    said = answered(search, files, message()).message()
    assert said is not None
    asked, sources, _, results, _ = said.parts
    assert isinstance(asked, HostedToolCall)
    assert isinstance(sources, HostedToolResult)
    assert isinstance(results, HostedToolResult)
    assert json.loads(asked.arguments_text) == {"action": {"type": "search", "queries": ["a"]}}
    assert sources.content == (TextPart("https://a\n", (Citation("https://a"),)),)
    kind = {"type": "file_citation"}
    found = (Citation("f1", "b.txt", None, 0, 3, kind), Citation("f2", None, None, 3, 6, kind))
    assert results.content == (TextPart("onetwo", found),)
    assert items(ASK, said)[1:3] == [search, files]
    assert paths(call(ASK, said)) == {}


def test_assistant_message_options_have_no_object():
    said = Message("assistant", (TextPart("a", provider_options={"another": {"b": 1}}),), {PROVIDER: {"c": 1}})
    given_call = Message("user", (TextPart("a", provider_options={PROVIDER: {"d": 1}}),), {PROVIDER: {"e": 1}})
    given = call(given_call, said)
    assert items(given_call, said)[0] == {
        "role": "user",
        "content": [{"type": "input_text", "text": "a", "d": 1}],
        "e": 1,
    }
    assert set(paths(given)) == {
        f"messages[1].provider_options.{PROVIDER}",
        "messages[1].parts[0].provider_options.another",
    }
    check_call_losses(RESPONSES, given)


@pytest.mark.parametrize("option", ["previous_response_id", "conversation"])
def test_stored_conversation_is_not_repeated(option: str):
    options = {PROVIDER: {option: "kept_1"}}
    assert body_of(call(provider_options=options))[option] == "kept_1"
    with pytest.raises(InvalidInputError) as caught:
        RESPONSES.encode(call(ASK, Message.assistant("hi"), ASK, provider_options=options))
    assert caught.value.path == f"provider_options.{PROVIDER}.{option}"


@pytest.mark.parametrize(
    "item",
    [
        {"type": "file_search_call", "id": "fs", "status": "completed", "queries": ["a"], "results": [{"text": "b"}]},
        {"type": "code_interpreter_call", "id": "ci", "container_id": "c", "code": "1", "outputs": None},
        {"type": "image_generation_call", "id": "ig", "status": "completed", "result": "AAAA", "output_format": "webp"},
        {"type": "image_generation_call", "id": "ig", "status": "failed", "result": None},
        {"type": "mcp_call", "id": "m", "server_label": "s", "name": "n", "arguments": "{}", "error": {"code": 1}},
        {"type": "compaction", "id": "cmp", "encrypted_content": "gAAA"},
    ],
)
def test_opaque_item_is_sent_back_unchanged(item: dict[str, Any]):
    said = answered(item, message()).message()
    assert said is not None
    assert items(ASK, said)[1] == item


def test_phase_of_a_message_is_sent_back():
    said = answered(message("a", phase="commentary"), message("b", phase="final_answer")).message()
    assert said is not None
    assert items(ASK, said)[1:] == [
        {"role": "assistant", "content": "a", "phase": "commentary"},
        {"role": "assistant", "content": "b", "phase": "final_answer"},
    ]


def test_hosted_calls_and_opaque_parts_of_other_providers_are_left_out():
    foreign = (HostedToolCall("h", "web_search"), OpaquePart("x", "kind", {"type": "kind"}), TextPart("hi"))
    own_but_unknown = OpaquePart(PROVIDER, "function_call", {"type": "function_call"})
    conversation = call(ASK, Message("assistant", (*foreign, own_but_unknown)))
    assert set(paths(conversation)) == {f"messages[1].parts[{index}]" for index in (0, 1, 3)}


def test_approval_item_is_a_separate_item():
    answer = OpaquePart(PROVIDER, "mcp_approval_response", {"type": "mcp_approval_response", "approve": True})
    assert items(ASK, Message("user", (answer,)))[1] == answer.data
    with pytest.raises(UnsupportedContentError, match=r"messages\[1\]\.parts"):
        RESPONSES.encode(call(ASK, Message("user", (TextPart("yes"), answer))))


def test_adjacent_assistant_messages_are_merged_with_a_warning():
    conversation = call(ASK, Message.assistant("one"), Message("assistant", (TextPart("two"),)))
    assert [item["content"] for item in body_of(conversation)["input"]] == ["hi", "onetwo"]
    assert set(paths(conversation)) == {"messages[1].parts", "messages[2]"}


@pytest.mark.parametrize(
    ("ttl", "written", "warned"),
    [(None, {}, False), (1800, {"ttl": "30m"}, False), (43200, {"ttl": "12h"}, False), (300, {}, True)],
)
def test_cache_point_is_a_breakpoint(ttl: int | None, written: dict[str, str], warned: bool):
    conversation = call(Message("user", (TextPart("hi", cache=CachePoint(ttl)),)))
    (content,) = body_of(conversation)["input"][0]["content"]
    assert content["prompt_cache_breakpoint"] == {"mode": "explicit", **written}
    assert ("messages[0].parts[0].cache.ttl" in paths(conversation)) is warned


def test_cache_point_after_a_result_is_on_its_last_content():
    result = ToolResult("c", (TextPart("a"),), cache=CachePoint())
    conversation = call(ASK, Message.assistant(ToolCall("c", "f")), Message.tool(result))
    assert body_of(conversation)["input"][2]["output"] == [
        {"type": "input_text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}}
    ]
    assert paths(conversation) == {}


def test_unsupported_options_have_a_warning():
    given = call(
        ASK,
        Message.assistant(TextPart("a", cache=CachePoint()), ToolCall("c", "f", signature="s")),
        Message.tool(ToolResult.text("c", "no", is_error=True)),
        tools=(ToolSpec("f", cache=CachePoint()),),
        sampling=Sampling(top_k=1, seed=2, stop=("x",), presence_penalty=0.5, frequency_penalty=0.5),
        thinking=1000,
        modalities=("text", "image"),
        provider_options={"another": {"a": 1}},
    )
    assert set(paths(given)) == {
        "messages[1].parts[0].cache",
        "messages[1].parts[1].signature",
        "messages[2].parts[0].is_error",
        "tools[0].cache",
        "sampling.top_k",
        "sampling.seed",
        "sampling.stop",
        "sampling.presence_penalty",
        "sampling.frequency_penalty",
        "thinking",
        "modalities",
        "provider_options.another",
    }


def test_options_have_the_formats_field_names():
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    body = body_of(
        call(
            tools=(ToolSpec("f", "does f", schema),),
            hosted_tools=(HostedTool("code_interpreter"), HostedTool("computer_use", {"type": "computer_use_preview"})),
            tool_choice=ToolChoice("tool", "f"),
            parallel_tool_calls=False,
            sampling=Sampling(50, 0.5, 0.9, top_logprobs=3),
            output=OutputSchema("answer", schema, "an answer"),
            thinking="off",
            stream=True,
        )
    )
    assert body | {"input": None} == {
        "model": "m",
        "input": None,
        "max_output_tokens": 50,
        "temperature": 0.5,
        "top_p": 0.9,
        "top_logprobs": 3,
        "tools": [
            {"type": "function", "name": "f", "description": "does f", "parameters": schema, "strict": None},
            {"type": "code_interpreter", "container": {"type": "auto"}},
            {"type": "computer_use_preview"},
        ],
        "tool_choice": {"type": "function", "name": "f"},
        "parallel_tool_calls": False,
        "text": {
            "format": {
                "type": "json_schema",
                "name": "answer",
                "description": "an answer",
                "schema": schema,
                "strict": True,
            }
        },
        "reasoning": {"effort": "none"},
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content", "message.output_text.logprobs"],
    }


def test_provider_options_are_merged():
    options = {
        "previous_response_id": "resp_1",
        "store": True,
        "include": ["web_search_call.action.sources"],
        "reasoning": {"summary": "auto"},
        "text": {"verbosity": "low"},
        "tools": [{"type": "image_generation"}],
        "tool_choice": {"type": "image_generation"},
    }
    given = call(tools=(ToolSpec("f"),), thinking="low", provider_options={PROVIDER: options})
    body = body_of(given)
    assert (body["previous_response_id"], body["store"]) == ("resp_1", True)
    assert body["include"] == ["web_search_call.action.sources", "reasoning.encrypted_content"]
    assert body["reasoning"] == {"effort": "low", "summary": "auto"}
    assert body["text"] == {"verbosity": "low"}
    assert [tool["type"] for tool in body["tools"]] == ["function", "image_generation"]
    assert body["tool_choice"] == {"type": "image_generation"}
    assert RESPONSES.parse(RESPONSES.encode(given).request).call == given


@pytest.mark.parametrize(
    ("option", "place"),
    [
        ({"temperature": 1}, "temperature"),
        ({"instructions": "a"}, "instructions"),
        ({"background": "yes"}, "background"),
        ({"background": True, "store": False}, "store"),
        ({"reasoning": {"effort": "low"}}, "reasoning.effort"),
        ({"reasoning": 1}, "reasoning"),
        ({"text": {"format": {"type": "json_schema"}}}, "text.format"),
        ({"tools": [{"type": "function"}]}, "tools[0]"),
        ({"tools": [{"type": "mcp"}, {"type": "web_search"}]}, "tools[1]"),
        ({"tools": 1}, "tools"),
        ({"tool_choice": "auto"}, "tool_choice"),
        ({"include": 1}, "include"),
    ],
)
def test_provider_option_with_a_call_field_is_refused(option: Any, place: str):
    with pytest.raises(InvalidInputError) as caught:
        RESPONSES.encode(call(provider_options={PROVIDER: option}))
    assert caught.value.path == f"provider_options.{PROVIDER}.{place}"


@pytest.mark.parametrize("stream", [False, True])
def test_background_call_is_stored_by_the_provider(stream: bool):
    given = call(stream=stream, provider_options={PROVIDER: {"background": True}})
    body = body_of(given)
    assert (body["background"], "store" in body) == (True, False)
    assert RESPONSES.parse(RESPONSES.encode(given).request).call == given


def test_hosted_tool_of_another_type_is_refused():
    with pytest.raises(InvalidInputError) as caught:
        RESPONSES.encode(call(hosted_tools=(HostedTool("web_search", {"type": "file_search"}),)))
    assert caught.value.path == "hosted_tools[0].options.type"


def test_token_count_request_has_everything_that_counts():
    given = call(Message.system("s"), ASK, tools=(ToolSpec("f"),), sampling=Sampling(50, 0.5), stream=True)
    encoded = RESPONSES.operations["count_tokens"].encode(given)
    assert encoded.request.url == "/responses/input_tokens"
    assert set(RESPONSES.parse(encoded.request).call.tools) == {ToolSpec("f")}
    assert set(json.loads(encoded.request.body)) == {"model", "instructions", "input", "tools"}
    counted = response({"object": "response.input_tokens", "input_tokens": 11})
    assert RESPONSES.operations["count_tokens"].decode(counted, given) == 11


@pytest.mark.parametrize("body", [b"{", b"[]", b"{}", b'{"input_tokens": -1}', b'{"input_tokens": "5"}'])
def test_invalid_token_count_is_an_error(body: bytes):
    with pytest.raises(ServerError):
        RESPONSES.operations["count_tokens"].decode(response(body), None)


def test_invalid_reply_is_an_error():
    wrong: list[Callable[[], Any]] = [
        lambda: RESPONSES.decode(response(b"<html>")),
        lambda: RESPONSES.decode(response({"object": "list"})),
        lambda: answered(status="failed", error={"code": "server_error", "message": "m"}),
        lambda: parts({"type": "image_generation_call", "id": "a", "result": "!"}),
    ]
    for decode in wrong:
        with pytest.raises(ServerError):
            decode()


def test_developer_messages_are_system_messages():
    assert parsed({"role": "developer", "content": "a"}, {"role": "user", "content": "b"}).messages[0].role == "system"


@pytest.mark.parametrize(
    ("fields", "path", "sent"),
    [
        ({"provider_options": {PROVIDER: {"store": False}}}, f"provider_options.{PROVIDER}", None),
        (
            {"provider_options": {PROVIDER: {"store": False, "user": "u"}}},
            f"provider_options.{PROVIDER}",
            {"user": "u"},
        ),
        ({"hosted_tools": (HostedTool("web_search", {"type": "web_search"}),)}, "hosted_tools[0].options", None),
    ],
)
def test_redundant_option_has_a_warning(fields: dict[str, Any], path: str, sent: Any):
    (warning,) = RESPONSES.encode(call(**fields)).warnings
    assert (warning.code, warning.path, warning.sent) == ("no_effect", path, sent)
    check_call_losses(RESPONSES, call(**fields))
    check_encode_again(RESPONSES, call(**fields))
