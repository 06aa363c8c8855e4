"""Items of `messages=[...]`: messages, responses, tool results, and messages in OpenAI's format."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionMessage

from abstractcore import (
    AudioPart,
    Blob,
    DocumentPart,
    ImagePart,
    InvalidInputError,
    Message,
    ModelReply,
    ReasoningPart,
    SchemaError,
    Services,
    TextPart,
    ToolCall,
    ToolPolicy,
    ToolResult,
    create_llm,
)
from abstractcore.registry import Registry
from abstractcore.testing import ScriptedReply
from abstractcore_providers.scripted import ScriptedProvider
from tests.chaos_server import completion
from tests.junk import cycle, junk, nested, outcome

PNG = b"\x89PNG\r\n\x1a\n picture"
PDF = b"%PDF-1.7 document"
WAV = b"RIFF\0\0\0\0WAVEfmt sound"
WEATHER, NEWS = ToolCall("c1", "weather", '{"city": "Ulm"}'), ToolCall("c2", "news")

PICTURE = ImagePart(Blob.from_bytes(PNG, "image/png"))


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def built(*messages: Any) -> tuple[Message, ...]:
    """The conversation that these make, of a provider that does not speak OpenAI's format."""
    return create_llm("scripted", replies=[]).build(messages=list(messages)).messages


# Responses and tool results


def test_response_is_the_assistant_turn_of_the_next_call(call_style):
    asks = ModelReply((ReasoningPart("Hm.", signature="s"), TextPart("Let me look."), WEATHER, NEWS), "tool_calls")
    llm = create_llm("scripted", replies=[asks, "Sunny and calm."])
    history = [Message.user("What is it like in Ulm?")]
    response = call_style.generate(llm, messages=history)
    weather, news = response.tool_calls
    answered = [*history, response, news.result("nothing new"), weather.result("sunny")]
    assert call_style.generate(llm, messages=answered).content == "Sunny and calm."
    assert llm.calls[1].messages == (
        *history,
        Message("assistant", response.parts),
        Message.tool(ToolResult.text("c1", "sunny"), ToolResult.text("c2", "nothing new")),
    )


def test_response_message_equals_the_response_in_messages(call_style):
    llm = create_llm("scripted", replies=["one"])
    response = call_style.generate(llm, "hi")
    assert response.message == Message.assistant("one")
    assert built(Message.user("hi"), response) == built(Message.user("hi"), response.message)
    assert built(response, Message.user("go on")) == built(response.reply, Message.user("go on"))


def test_response_of_a_tool_loop_is_all_its_rounds_in_the_next_call(call_style):
    def weather(city: str) -> str:
        return f"sunny in {city}"

    calls = [ScriptedReply.tool_call("weather", {"city": city}) for city in ("Ulm", "Oslo")]
    llm = create_llm("scripted", replies=[*calls, "Sunny in both.", "Yes."])
    question = Message.user("Is it sunny?")
    response = call_style.generate(llm, messages=[question], tools=[weather], run_tools=True)
    call_style.generate(llm, "Sure?", messages=[question, response])
    sent = llm.calls[-1].messages
    assert sent == (question, *response.messages, Message.user("Sure?"))
    assert [message.role for message in sent] == ["user", "assistant", "tool", "assistant", "tool", "assistant", "user"]


def test_response_of_a_loop_that_reached_its_limit_can_be_continued(call_style):
    def weather(city: str) -> str:
        return f"sunny in {city}"

    asks = ScriptedReply.tool_call("weather", {"city": "Ulm"})
    llm = create_llm("scripted", replies=[asks, asks, "Sunny."])
    policy = ToolPolicy(max_rounds=2)
    response = call_style.generate(llm, "Sunny?", tools=[weather], run_tools=policy)
    assert call_style.generate(llm, "So?", messages=[Message.user("Sunny?"), response]).content == "Sunny."
    assert "not run: the limit" in llm.calls[-1].messages[-2].parts[0].as_text


def test_empty_answer_has_no_message(call_style):
    llm = create_llm("scripted", replies=[ModelReply((), "length")])
    response = call_style.generate(llm, "hi")
    with pytest.raises(SchemaError, match=r"the answer is empty \(it ended with 'length'\)"):
        _ = response.message
    with pytest.raises(InvalidInputError, match="the answer is empty") as caught:
        llm.build("go on", messages=[Message.user("hi"), response])
    assert caught.value.path == "messages[1]"


def test_tool_results_may_be_parts_messages_or_given_by_call_id():
    asks = Message.assistant(WEATHER, NEWS)
    merged = Message.tool(ToolResult.text("c1", "sunny"), ToolResult.text("c2", "none"))
    for results in (
        [WEATHER.result("sunny"), NEWS.result("none")],
        [NEWS.result("none"), WEATHER.result("sunny")],
        [Message.tool("c1", "sunny"), Message.tool("c2", "none")],
        [Message.tool(WEATHER.result("sunny"), NEWS.result("none"))],
        [Message.tool("c2", "none"), {"role": "tool", "tool_call_id": "c1", "content": "sunny"}],
    ):
        assert built(asks, *results) == (asks, merged)


def test_tool_result_holds_texts_and_files_or_an_error():
    image = ImagePart(Blob.from_bytes(PNG, "image/png"))
    assert WEATHER.result("see: ", image) == ToolResult("c1", (TextPart("see: "), image))
    assert WEATHER.result() == ToolResult("c1", ())
    assert WEATHER.result("no such city", is_error=True) == ToolResult.text("c1", "no such city", is_error=True)
    assert Message.tool("c1", "no", is_error=True) == Message.tool(ToolResult.text("c1", "no", is_error=True))


def test_invalid_tool_result_content_hints_at_json_dumps():
    with pytest.raises(SchemaError, match=r"content\[1\]: .*got dict\. Write data as text: json\.dumps"):
        WEATHER.result("a", {"degrees": 21})  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match=r"content\[0\]: expected text or a media part, got int"):
        Message.tool("c1", 21)  # type: ignore[call-overload]
    with pytest.raises(SchemaError, match="is_error: needs a call id"):
        Message.tool(WEATHER.result("a"), is_error=True)  # type: ignore[call-overload]


def test_tool_result_without_its_call_names_the_message():
    with pytest.raises(InvalidInputError, match="no such call") as caught:
        built(Message.user("hi"), WEATHER.result("sunny"))
    assert caught.value.path == "messages[1]"


# Messages as OpenAI writes them


def function(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments_text}}


OPENAI: list[tuple[list[dict[str, Any]], list[Message]]] = [
    ([{"role": "developer", "content": "Be brief."}], [Message.system("Be brief.")]),
    (
        [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}],
        [Message.user("ab")],
    ),
    (
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {
                        "type": "image_url",
                        "image_url": {"url": f"data:image/png;base64,{encoded(PNG)}", "detail": "low"},
                    },
                    {"type": "image_url", "image_url": {"url": "https://host.test/a.png"}},
                    {"type": "input_audio", "input_audio": {"data": encoded(WAV), "format": "wav"}},
                    {
                        "type": "file",
                        "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{encoded(PDF)}"},
                    },
                ],
            }
        ],
        [
            Message.user(
                "What is this?",
                ImagePart(Blob.from_bytes(PNG, "image/png"), "low"),
                ImagePart(Blob.from_url("https://host.test/a.png", "image/*")),
                AudioPart(Blob.from_bytes(WAV, "audio/wav")),
                DocumentPart(Blob.from_bytes(PDF, "application/pdf", name="a.pdf")),
            )
        ],
    ),
    ([{"role": "assistant", "content": None, "refusal": "I cannot."}], [Message.assistant("I cannot.")]),
    (
        [
            {"role": "assistant", "content": "Let me look.", "tool_calls": [function(WEATHER), function(NEWS)]},
            {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "none"}]},
            {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
        ],
        [
            Message.assistant("Let me look.", WEATHER, NEWS),
            Message.tool(ToolResult.text("c1", "sunny"), ToolResult.text("c2", "none")),
        ],
    ),
]


@pytest.mark.parametrize(("theirs", "ours"), OPENAI, ids=["developer", "text", "media", "refusal", "tools"])
def test_openai_messages_are_converted(theirs: list[dict[str, Any]], ours: list[Message]):
    assert built(*theirs) == tuple(ours)
    frozen = [MappingProxyType({**message, "content": as_tuple(message["content"])}) for message in theirs]
    assert built(*frozen) == tuple(ours)


def as_tuple(content: Any) -> Any:
    return tuple(content) if isinstance(content, list) else content


def test_mapping_content_may_be_strings_and_parts():
    assert built({"role": "user", "content": ["What is this?", PICTURE]}) == (Message.user("What is this?", PICTURE),)
    answer = {"role": "assistant", "content": (ReasoningPart("Hm.", signature="s"), "Four.", WEATHER)}
    assert built(answer)[0].parts == (ReasoningPart("Hm.", signature="s"), TextPart("Four."), WEATHER)


def test_openai_messages_mix_with_messages_and_answer_their_tool_calls():
    history = [Message.user("hi"), Message.assistant(WEATHER), {"role": "tool", "tool_call_id": "c1", "content": "ok"}]
    assert built(*history, {"role": "user", "content": "and?"})[2:] == (
        Message.tool(ToolResult.text("c1", "ok")),
        Message.user("and?"),
    )


def reply_of_openai() -> ChatCompletionMessage:
    """Returns OpenAI's message object of an answer that calls a tool and cites a source."""
    note = {"url": "https://host.test", "title": "T", "start_index": 0, "end_index": 3}
    message = {
        "role": "assistant",
        "content": "Let me look.",
        "annotations": [{"type": "url_citation", "url_citation": note}],
        "tool_calls": [function(WEATHER)],
        "refusal": None,
    }
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    body = {"id": "i", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return ChatCompletion.model_validate(body).choices[0].message


def test_message_objects_of_the_openai_package_are_accepted_whole_or_as_fields():
    message = reply_of_openai()
    result = {"role": "tool", "tool_call_id": "c1", "content": "sunny"}
    whole = built(message, result)
    assert whole[0].tool_calls == (WEATHER,)
    assert whole[0].text == "Let me look."
    (citation,) = whole[0].parts[0].citations  # type: ignore[union-attr]
    assert (citation.source, citation.title, citation.start, citation.end) == ("https://host.test", "T", 0, 3)
    assert whole[0].provider_options == {}
    pieces = built({"role": "assistant", "content": message.content, "tool_calls": message.tool_calls}, result)
    assert pieces == (Message.assistant("Let me look.", WEATHER), whole[1])


def test_audio_id_of_an_openai_answer_is_kept():
    audio = {"id": "a1", "data": encoded(WAV), "expires_at": 1, "transcript": "Hello."}
    message = ChatCompletionMessage.model_validate({"role": "assistant", "content": None, "audio": audio})
    (found,) = built(message)
    assert found.parts == (AudioPart(Blob.from_bytes(WAV, "audio/wav"), "Hello.", "a1"),)


def test_vendor_fields_are_sent_back_to_an_openai_compatible_server(call_style, server, connect):
    server.script(completion())
    message = {"role": "user", "content": [{"type": "text", "text": "hi", "x": 1}], "name": "ann"}
    response = call_style.generate(connect(), messages=[message])
    assert server.requests[0].json["messages"] == [message]
    assert response.warnings == ()


def test_vendor_fields_become_openai_provider_options_for_other_providers(services):
    llm = create_llm("anthropic", model="claude-opus-4-5", api_key="k", services=services)
    call = llm.build(messages=[{"role": "user", "content": "hi", "name": "ann"}])
    assert call.messages == (Message("user", (TextPart("hi"),), {"openai": {"name": "ann"}}),)


USER = {"role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("message", "path", "what"),
    [
        (
            {"role": "robot", "content": "a"},
            "messages[1].role",
            r"unknown role 'robot'\. Use system, developer, user, assistant, tool\.",
        ),
        ({"role": 3, "content": "a"}, "messages[1].role", "expected text, got int"),
        ({"content": "a"}, "messages[1]", "with a role"),
        ({"role": "user"}, "messages[1]", "the user message is empty"),
        ({"role": "assistant", "content": None}, "messages[1]", "the assistant message is empty"),
        ({"role": "user", "content": 3}, "messages[1].content", "expected text or a list of parts, got int"),
        ({"role": "user", "content": ["hi", {}]}, "messages[1].content[0]", "expected an object, got str"),
        ({"role": "system", "content": [PICTURE]}, "messages[1].parts[0]", "a ImagePart is not allowed here"),
        (
            {"role": "user", "content": [{"type": "input_text", "text": "a"}]},
            "messages[1].content[0].type",
            r"unknown content part 'input_text'\. Use text, image_url, input_audio or file\.",
        ),
        (
            {
                "role": "user",
                "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": "https://a"}],
            },
            "messages[1].content[1].image_url",
            "expected an object, got str",
        ),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,@@"}}]},
            "messages[1].content[0].image_url.url",
            "not base64",
        ),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a", "colour": "red"}}]},
            "messages[1].content[0].image_url.colour",
            "'colour' is not supported here",
        ),
        (
            {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "", "format": "ogg"}}]},
            "messages[1].content[0].input_audio.format",
            "use 'wav' or 'mp3'",
        ),
        ({"role": "tool", "content": "a"}, "messages[1].tool_call_id", "expected text, got NoneType"),
        (
            {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": {}}}]},
            "messages[1].tool_calls[0].function.arguments",
            "expected text, got dict",
        ),
        ({"role": "user", "content": [cycle()]}, None, "nested deeper than 100 levels"),
        ({"role": "user", "content": nested(100_000)}, None, "nested deeper than 100 levels"),
        (ChatCompletionMessage, "messages[1]", "expected a Message, a response, a tool result or a mapping"),
        ("hi", "messages[1]", "expected a Message, a response, a tool result or a mapping"),
    ],
)
def test_invalid_message_is_refused_with_its_path(message: Any, path: str | None, what: str):
    with pytest.raises(InvalidInputError, match=what) as caught:
        built(USER, message)
    assert path is None or caught.value.path == path


@pytest.mark.parametrize("messages", [USER, Message.user("hi"), ModelReply((TextPart("a"),))])
def test_single_message_hints_at_a_list(messages: Any):
    with pytest.raises(InvalidInputError, match=r"expected a list, .*messages=\[\.\.\.\]"):
        create_llm("scripted", replies=[]).build(messages=messages)


@pytest.mark.parametrize("name", ["role", "content", "tool_calls", "audio", "annotations", "tool_call_id", "refusal"])
def test_message_field_of_any_type_is_accepted_or_refused_with_a_typed_error(name: str):
    for thing in junk().values():
        for role in ("user", "assistant", "tool"):
            message: Mapping[str, Any] = {"role": role, "content": "a", "tool_call_id": "c1", name: thing}
            _, error = outcome(lambda message=message: built(Message.assistant(WEATHER), message), InvalidInputError)
            assert error is None or error.path.startswith("messages[1]")


def test_media_type_of_a_data_url_precedes_its_parameters():
    url = f"data:image/png;name=a.png;base64,{encoded(PNG)}"
    (message,) = built({"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]})
    assert message.parts == (PICTURE,)


@pytest.mark.parametrize("provider", ["scripted", "openrouter"])
def test_non_json_value_is_refused_with_its_path(provider: str):
    llm = create_llm(provider, model="m", api_key="none")
    for thing in junk().values():
        for message in (
            {"role": "user", "content": [{"type": thing}]},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a/b", "detail": thing}}]},
            {"role": "assistant", "content": "a", "reasoning_details": [{"type": "reasoning.text", "data": thing}]},
            {"role": "assistant", "content": "a", "reasoning_details": [{"format": thing}]},
            *([{"role": "user", "content": [], thing: "a"}] if thing.__hash__ else []),
        ):
            _, error = outcome(lambda message=message: llm.build(messages=[message]), InvalidInputError)
            assert error is None or error.path.startswith("messages[0]")


def test_mixing_parts_with_openai_parts_is_refused_with_a_hint():
    with pytest.raises(InvalidInputError, match="all as parts of AbstractCore") as caught:
        built({"role": "user", "content": [PICTURE, {"type": "text", "text": "a"}]})
    assert caught.value.path == "messages[0].content[0]"


class Broken:
    """An object whose own code fails."""

    def model_dump(self) -> dict[str, Any]:
        raise RuntimeError("broken")


def test_exception_in_model_dump_becomes_a_typed_error():
    with pytest.raises(InvalidInputError, match=r"Broken\.model_dump\(\) failed: broken") as caught:
        built(USER, {"role": "assistant", "tool_calls": [Broken()]})
    assert caught.value.path == "messages[1].tool_calls[0]"


def test_without_the_wire_format_text_messages_work_and_others_name_it():
    registry = Registry()
    registry.add_provider(ScriptedProvider())
    llm = create_llm("scripted", replies=["a"], services=Services(registry=registry, environment={}))
    assert llm.build(messages=[USER]).messages == (Message.user("hi"),)
    with pytest.raises(InvalidInputError, match="no wire format is called 'openai_chat'"):
        llm.build(messages=[{"role": "developer", "content": "hi"}])


def test_handwritten_reply_mapping_is_not_mistaken_for_a_response():
    with pytest.raises(InvalidInputError, match="a response"):
        built(USER, ScriptedReply.text("hi"))
