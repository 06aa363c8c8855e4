"""A strict fake of chat completions, at OpenAI and at the vendors that are compatible with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from groq.types.chat.completion_create_params import CompletionCreateParams as GroqParams
from mistralai.client.models import ChatCompletionRequest, ChatCompletionStreamRequest
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from pydantic import TypeAdapter, ValidationError

from abstractcore_providers.vendors.openai_compatible import VENDORS
from tests.providers.strict_fakes.fake import TEXT, Fake, Row
from tests.providers.strict_fakes.openai_options import error, refusals

PRESETS = {preset.name: preset for preset in VENDORS if preset.dialect.has_chat}
_SAME = ("temperature", "top_p", "top_k", "seed", "presence_penalty", "frequency_penalty", "parallel_tool_calls")


def _of_openai(body: Any) -> None:
    adapter = _STREAMED if body.get("stream") else _PLAIN
    adapter.validate_python({**body, "messages": []})


def _of_groq(body: Any) -> None:
    _GROQ.validate_python({**body, "messages": []})


def _of_mistral(body: Any) -> None:
    kind = ChatCompletionStreamRequest if body.get("stream") else ChatCompletionRequest
    unknown = body.keys() - {field.alias or name for name, field in kind.model_fields.items()}
    assert not unknown, f"fields that Mistral's client does not have: {unknown}"
    kind.model_validate(body)


_PLAIN: TypeAdapter[Any] = TypeAdapter(CompletionCreateParamsNonStreaming)
_STREAMED: TypeAdapter[Any] = TypeAdapter(CompletionCreateParamsStreaming)
_GROQ: TypeAdapter[Any] = TypeAdapter(GroqParams)
_VALIDATORS: dict[str, Callable[[Any], None]] = {
    "openai": _of_openai,
    "azure": _of_openai,
    "groq": _of_groq,
    "mistral": _of_mistral,
}
"""Requests are of the types that the vendors' own clients have, where there is one."""


def sent(body: Any) -> dict[str, Any]:
    """The options in a request of any vendor."""
    options: dict[str, Any] = {name: body[name] for name in _SAME if name in body}
    if "stop" in body:
        options["stop"] = body["stop"]
    for name, ours in (
        ("max_tokens", "max_output_tokens"),
        ("max_completion_tokens", "max_output_tokens"),
        ("random_seed", "seed"),
    ):
        if name in body:
            options[ours] = body[name]
    if "logprobs" in body:
        options["top_logprobs"] = body.get("top_logprobs", body["logprobs"])
    thinking = _thinking(body)
    if thinking is not None:
        options["thinking"] = thinking
    if "response_format" in body:
        options["output"] = body["response_format"]["type"] == "json_schema" or "json"
    if "tool_choice" in body:
        options["tool_choice"] = body["tool_choice"] if isinstance(body["tool_choice"], str) else "tool"
    if "tools" in body:
        options["tools"] = [tool["function"]["name"] for tool in body["tools"]]
    if any(name in json.dumps(body) for name in ("prompt_cache_breakpoint", "cache_control")):
        options["cache"] = True
    return options


def _thinking(body: Any) -> Any:
    """The thinking that is asked for, in the field of any of the vendors."""
    reasoning = body.get("reasoning", {})
    if body.get("thinking", {}).get("type") == "disabled" or reasoning.get("enabled") is False:
        return "off"
    asked = body.get("reasoning_effort", reasoning.get("effort", reasoning.get("max_tokens")))
    return {"none": "off", "default": "medium"}.get(asked, asked)


def _refusal(name: str, row: Row, path: str, body: Any) -> str | None:
    return next(_refusals(name, row, body), None)


def _refusals(name: str, row: Row, body: Any) -> Iterator[str]:
    if name in _VALIDATORS:
        try:
            _VALIDATORS[name](body)
        except ValidationError as invalid:
            yield str(invalid)
    yield from refusals(row, sent(body))
    accepts = row.get("accepts", [])
    text = json.dumps(body["messages"])
    points = text.count('"prompt_cache_breakpoint"') + json.dumps(body).count('"cache_control"')
    if points > row.get("cache_points", 0):
        yield "cache points: too many"
    if '"image_url"' in text and not any(each.startswith("image") for each in [*accepts, *row.get("assumed", [])]):
        yield "Invalid content type. image_url is only supported by certain models."
    if '"input_audio"' in text and not any(each.startswith("audio") for each in accepts):
        yield "Invalid content type. input_audio is only supported by certain models."


def answer(stream: bool) -> tuple[str, bytes]:
    """A whole answer, or a stream of chunks."""
    usage = {"prompt_tokens": 5, "completion_tokens": 4, "total_tokens": 9}
    common = {"id": "c", "created": 1, "model": "m"}
    if not stream:
        choice = {"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}
        body = {**common, "object": "chat.completion", "choices": [choice], "usage": usage}
        return "application/json", json.dumps(body).encode()
    chunks = [
        {**common, "choices": [{"index": 0, "delta": {"role": "assistant", "content": TEXT}, "finish_reason": None}]},
        {**common, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {**common, "choices": [], "usage": usage},
    ]
    events = [f"data: {json.dumps({'object': 'chat.completion.chunk', **chunk})}\n\n" for chunk in chunks]
    return "text/event-stream", "".join([*events, "data: [DONE]\n\n"]).encode()


def fake(name: str) -> Fake:
    """The fake of a vendor; its dialect says which options its API has."""
    dialect = PRESETS[name].dialect
    own = {"max_output_tokens", "tools", "tool_choice", "output", *(dialect.options - {"parallel_tool_calls"})}
    own |= {"parallel_tool_calls"} & dialect.options
    return Fake(
        partial(_refusal, name),
        sent,
        frozenset(own),
        answer,
        error,
        lambda path, body: body.get("stream", False),
        (None, *(dialect.thinking.levels if dialect.thinking else ())),
    )
