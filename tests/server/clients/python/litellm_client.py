"""litellm as a client of two of the APIs: an answer, a stream, a tool call, an error."""

from __future__ import annotations

import json
import sys

import litellm

litellm.suppress_debug_info = True
URL = sys.argv[1].removesuffix("/v1")
HELLO = [{"role": "user", "content": "Say hello."}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tell the weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def results(model: str, base: str) -> dict[str, object]:
    """What the client makes of a whole answer, a stream, a tool call and an error."""
    given = {"model": model, "api_base": base, "api_key": "unused", "messages": HELLO, "num_retries": 0}
    whole = litellm.completion(**given)
    streamed = [chunk.choices[0].delta.content for chunk in litellm.completion(**given, stream=True)]
    called = litellm.completion(**given, tools=[WEATHER]).choices[0].message.tool_calls
    try:
        litellm.completion(**given)
        error = None
    except litellm.RateLimitError as caught:
        error = caught.status_code
    return {
        "whole": [whole.choices[0].message.content, whole.usage.prompt_tokens, whole.usage.completion_tokens],
        "stream": [text for text in streamed if text],
        "tool": [[call.function.name, json.loads(call.function.arguments)] for call in called],
        "error": error,
    }


print(json.dumps({"openai": results("openai/scripted", f"{URL}/v1"), "anthropic": results("anthropic/scripted", URL)}))
