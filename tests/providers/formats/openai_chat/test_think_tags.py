"""Reasoning in think tags, from servers that do not separate it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.schema import ModelReply, ReasoningPart, TextPart, accumulate, deltas_of
from abstractcore_providers.formats.openai_chat import ChatDialect, OpenAIChat
from abstractcore_providers.formats.openai_chat.dialect import COMPATIBLE, LLAMA_CPP
from tests.properties import examples
from tests.providers.formats.openai_chat.wire import chunk, decoded, events, response

CHAT = OpenAIChat(COMPATIBLE)
CASES = {
    "<think>Hm.</think>\n\nYes.": ("Hm.", "\n\nYes."),
    "\n<think>\nHm.\n</think>Yes.": ("\nHm.\n", "Yes."),
    "<think></think>Yes.": ("", "Yes."),
    "<think>if a </b: 1 < 2</think>Yes.": ("if a </b: 1 < 2", "Yes."),
    "<think>Hm.</think>Say </think> <think>twice</think>.": ("Hm.", "Say </think> <think>twice</think>."),
    "<think>cut off at the lim": ("cut off at the lim", ""),
    "<think>cut off in the tag</thi": ("cut off in the tag</thi", ""),
    "Yes. <think>is a tag</think>": ("", "Yes. <think>is a tag</think>"),
    "<thinking>is another tag</thinking>": ("", "<thinking>is another tag</thinking>"),
    "<thi": ("", "<thi"),
    "<": ("", "<"),
    "  ": ("", "  "),
    "</think>Yes.": ("", "</think>Yes."),
}


def parts(reasoning: str, text: str) -> tuple[ReasoningPart | TextPart, ...]:
    both = (ReasoningPart(reasoning, '{"field":"think_tags"}', origin="openai-compatible/m"), TextPart(text))
    return tuple(part for part in both if part.text)


def streamed(pieces: list[str], chat: OpenAIChat = CHAT) -> ModelReply:
    return accumulate(decoded([events([*(chunk(content=piece) for piece in pieces), chunk("stop")])], chat))


@pytest.mark.parametrize("text", CASES)
def test_text_in_think_tags_is_reasoning(text: str):
    body = {"model": "m", "choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    assert CHAT.decode(response(body)).parts == parts(*CASES[text])


@pytest.mark.parametrize("text", CASES)
def test_think_tags_split_anywhere_are_reasoning(text: str):
    for size in (1, 2, 3, len(text)):
        pieces = [text[place : place + size] for place in range(0, len(text), size)]
        assert streamed(pieces).parts == parts(*CASES[text])


@examples(60)
@given(st.lists(st.sampled_from(["<think>", "</think>", "<", "</", "think", ">", " ", "a", "\n"]), max_size=8))
def test_stream_and_body_agree_on_every_text(pieces: list[str]):
    body = {"model": "m", "choices": [{"message": {"content": "".join(pieces)}, "finish_reason": "stop"}]}
    assert streamed(pieces).parts == CHAT.decode(response(body)).parts


def test_separate_reasoning_field_disables_think_tags():
    message = {"content": "<think> is a tag.", "reasoning_content": ""}
    body = {"model": "m", "choices": [{"message": message, "finish_reason": "stop"}]}
    assert CHAT.decode(response(body)).parts == parts("", "<think> is a tag.")


@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("dialect", [COMPATIBLE, LLAMA_CPP], ids=lambda dialect: dialect.provider)
def test_answer_that_looks_like_reasoning_is_rendered_as_answer(text: str, dialect: ChatDialect):
    chat = OpenAIChat(dialect)
    reply = ModelReply((TextPart(text),), "stop", model="m", provider=dialect.provider)
    assert chat.decode(response(chat.render(reply).body)).parts == reply.parts
    renderer = chat.renderer()
    stream = b"".join(renderer.feed(delta) for delta in deltas_of(reply)) + renderer.finish()
    assert accumulate(decoded([stream], chat)).parts == reply.parts


def test_openai_itself_never_uses_think_tags():
    body = {"model": "m", "choices": [{"message": {"content": "<think>a</think>b"}, "finish_reason": "stop"}]}
    assert OpenAIChat().decode(response(json.dumps(body).encode())).parts == (TextPart("<think>a</think>b"),)
    assert streamed(["<think>a</think>b"], OpenAIChat()).parts == (TextPart("<think>a</think>b"),)
