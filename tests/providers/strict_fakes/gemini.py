"""A strict fake of generateContent: the Gemini API and Vertex AI.

Messages are those that the API gives, as pydantic-ai and google-gemini/cookbook#1290 quote them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from google.genai import types
from pydantic import ValidationError

from tests.providers.strict_fakes.fake import TEXT, Fake, Row, refused, thinking_refusal

_SAMPLING = {
    "maxOutputTokens": "max_output_tokens",
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "seed": "seed",
    "stopSequences": "stop",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
    "logprobs": "top_logprobs",
}
_MODES = {"ANY": "required", "AUTO": "auto", "NONE": "none"}
_HOSTED = {"googleSearch", "urlContext", "fileSearch", "codeExecution"}
_FLAG = "includeServerSideToolInvocations"
_IN_RESULTS = ["image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"]
"""ai.google.dev/gemini-api/docs/function-calling, "Multimodal function responses"."""
_KNOWN = {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig"}


def sent(body: Any) -> dict[str, Any]:
    """The options in a request."""
    config = body.get("generationConfig", {})
    options: dict[str, Any] = {ours: config[theirs] for theirs, ours in _SAMPLING.items() if theirs in config}
    if "thinkingConfig" in config:
        options["thinking"] = _thinking(config["thinkingConfig"])
    if "responseJsonSchema" in config:
        options["output"] = True
    choice = body.get("toolConfig", {}).get("functionCallingConfig")
    if choice is not None:
        options["tool_choice"] = _MODES[choice["mode"]]
    if _functions(body):
        options["tools"] = [function["name"] for function in _functions(body)]
    return options


def _thinking(config: Any) -> Any:
    if "thinkingLevel" in config:
        return config["thinkingLevel"].lower()
    return config["thinkingBudget"] or "off"


def _functions(body: Any) -> list[Any]:
    return [function for tool in body.get("tools", ()) for function in tool.get("functionDeclarations", ())]


def refusal(row: Row, path: str, body: Any) -> str | None:
    """The message of the API's 400, None for a request that the model accepts."""
    return next(_refusals(row, body), None)


def _refusals(row: Row, body: Any) -> Iterator[str]:
    yield from _malformed(body)
    options = sent(body)
    for name in refused(row, options):
        yield "Penalty is not enabled for this model" if "penalty" in name else f"{name} is out of range"
    thinking = thinking_refusal(row, options.get("thinking"))
    if thinking is not None:
        yield thinking
    yield from _of_tools(row, body, options)
    if body["contents"][-1]["role"] == "model" and not row.get("accepts_prefill", True):
        yield "Prefilled model turns are not supported."
    yield from _of_files(row, body)
    if row.get("settings", {}).get("signed_calls"):
        yield from _unsigned(body)


def _malformed(body: Any) -> Iterator[str]:
    if set(body) - _KNOWN:
        yield f"Invalid JSON payload received. Unknown name {sorted(set(body) - _KNOWN)}"
    try:
        for content in [*body["contents"], body.get("systemInstruction", {"parts": []})]:
            types.Content.model_validate(content)
        types.GenerationConfig.model_validate(body.get("generationConfig", {}))
        settings = {name: body[name] for name in ("tools", "toolConfig") if name in body}
        types.GenerateContentConfig.model_validate(settings)
    except ValidationError as error:
        yield f"Invalid JSON payload received. {error}"


def _of_tools(row: Row, body: Any, options: Any) -> Iterator[str]:
    settings = row.get("settings", {})
    hosted = any(name in _HOSTED for tool in body.get("tools", ()) for name in tool)
    functions, asks = "tools" in options, _FLAG in body.get("toolConfig", {})
    if (functions or hosted) and row.get("tools") == "never":
        yield "Function calling is not enabled for this model"
    if "tool_choice" in options and not functions:
        yield "Function calling config is set without function_declarations"
    if "output" in options and row.get("structured_output") == "none":
        yield "JSON mode is not enabled for this model"
    if "output" in options and (functions or hosted) and row.get("output_with_tools") is False:
        yield "Function calling with a response mime type: 'application/json' is unsupported"
    if hosted and functions and settings.get("hosted_with_functions") is False:
        yield "Tool use with function calling is unsupported"
    if asks and not settings.get("server_side_calls"):
        yield "Tool call context circulation is not enabled"
    if hosted and functions and settings.get("server_side_calls") and not asks:
        yield f"Please enable tool_config.{_FLAG} to use built-in tools with function calling."


def _of_files(row: Row, body: Any) -> Iterator[str]:
    inside = row.get("settings", {}).get("media_in_results", _IN_RESULTS)
    for content in body["contents"]:
        for part in content["parts"]:
            media_type = part.get("inlineData", {}).get("mimeType")
            if media_type is not None and media_type not in row.get("accepts", [media_type]):
                yield f"Unsupported MIME type: {media_type}"
            for file in part.get("functionResponse", {}).get("parts", ()):
                if file["inlineData"]["mimeType"] not in inside:
                    yield f"Unsupported MIME type in a function response: {file['inlineData']['mimeType']}"


def _unsigned(body: Any) -> Iterator[str]:
    for content in body["contents"]:
        calls = [part for part in content["parts"] if "functionCall" in part]
        if calls and "thoughtSignature" not in calls[0]:
            yield "Function call is missing a thought_signature in functionCall parts."


def answer(stream: bool) -> tuple[str, bytes]:
    """A whole answer, or a stream of one chunk."""
    candidate = {"content": {"role": "model", "parts": [{"text": TEXT}]}, "finishReason": "STOP"}
    counts = {"promptTokenCount": 5, "candidatesTokenCount": 4, "totalTokenCount": 9}
    body = json.dumps({"candidates": [candidate], "usageMetadata": counts, "responseId": "r"})
    if stream:
        return "text/event-stream", f"data: {body}\r\n\r\n".encode()
    return "application/json", body.encode()


FAKE = Fake(
    refusal,
    sent,
    frozenset({*_SAMPLING.values(), "thinking", "tool_choice", "tools", "output"}),
    answer,
    lambda message: {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}},
    lambda path, body: ":streamGenerateContent" in path,
    ("xhigh",),
)
