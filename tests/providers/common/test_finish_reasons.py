"""Finish reasons: unknown and missing ones."""

from __future__ import annotations

import json

import pytest

from abstractcore.schema import FinishReason, ModelReply, TextPart, ToolCall
from abstractcore_providers.common.response_bodies import FinishReasons, calls_tools
from abstractcore_providers.formats.registered import FORMATS
from tests.providers.published import provider_of, response_of

REASONS = FinishReasons({"end": "stop", "wrong_call": "unknown"}, {})
FIELDS = {"finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "status"}
NO_WORD: dict[tuple[str, str], FinishReason] = {
    ("ollama", "tool_call"): "tool_calls",
    ("openai_responses", "text"): "stop",
    ("openai_responses", "tool_call"): "tool_calls",
}
"""Formats in which the parts say it: Ollama has one word for both ends, OpenAI's responses have a status only."""


@pytest.mark.parametrize(
    ("word", "calls", "expected"),
    [
        ("end", False, "stop"),
        ("end", True, "stop"),
        ("wrong_call", True, "unknown"),
        ("new_word", True, "tool_calls"),
        ("new_word", False, "unknown"),
        (None, True, "unknown"),
        ("", True, "unknown"),
        (None, False, "unknown"),
    ],
)
def test_unknown_finish_reason_with_tool_calls_is_tool_calls(word: str | None, calls: bool, expected: FinishReason):
    assert REASONS.read(word, calls=calls) == expected


def test_hosted_tool_calls_do_not_need_results():
    assert not calls_tools([TextPart("a")])
    assert calls_tools([TextPart("a"), ToolCall("a", "f")])


def decoded(format: str, reply: ModelReply, word: str | None) -> ModelReply:
    """What is read of the body of `reply` with this word for why it ended."""
    transpiler = FORMATS[format]()
    body = json.loads(transpiler.render(reply).body)
    for place in (body, *body.get("choices", ()), *body.get("candidates", ())):
        place.update(dict.fromkeys(FIELDS & place.keys(), word))
    return transpiler.decode(response_of(body))


@pytest.mark.parametrize("format", FORMATS)
def test_unknown_finish_reason_without_tool_calls_is_kept(format: str):
    reply = ModelReply((TextPart("a"),), "stop", model="m", provider=provider_of(format))
    read = decoded(format, reply, "a_new_word")
    assert (read.finish_reason, read.raw_finish_reason) == ("unknown", "a_new_word")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("part", [TextPart("a"), ToolCall("a", "f")], ids=["text", "call"])
def test_missing_finish_reason_is_unknown(format: str, part: TextPart | ToolCall):
    reply = ModelReply((part,), "stop", model="m", provider=provider_of(format))
    read = decoded(format, reply, None)
    assert (read.finish_reason, read.raw_finish_reason) == (NO_WORD.get((format, part.type), "unknown"), None)
