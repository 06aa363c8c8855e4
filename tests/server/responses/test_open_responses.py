"""The scenarios of the Open Responses compliance suite, with the specification's own types (openresponses-types).

https://github.com/openresponses/openresponses/blob/main/src/lib/compliance-tests.ts, specification 2026-04-24.
Its runner is not published as a package, so that its requests are written here after their descriptions.
"""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import httpx2
import openresponses_types as specification
import pytest
from PIL import Image
from pydantic import BaseModel

from abstractcore.testing import ScriptedReply
from tests.server.serving import Served

EVENTS: dict[str, type[BaseModel]] = {
    str(next(iter(kind.model_fields["type"].annotation))): kind
    for name, kind in vars(specification).items()
    if name.endswith("StreamingEvent")
}
"""The specification's types of events, by the value of their field `type`."""
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a place now",
    "parameters": {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]},
}


def message(role: str, content: Any) -> dict[str, Any]:
    """Returns an item of `input`."""
    return {"type": "message", "role": role, "content": content}


def red_square() -> str:
    """Returns a picture as a data URL."""
    file = io.BytesIO()
    Image.new("RGB", (32, 32), "red").save(file, "PNG")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"


def answer(http: httpx2.Client, **body: Any) -> Any:
    """Returns a whole answer, checked against the specification's type."""
    response = http.post("/v1/responses", json={"model": "scripted", **body})
    assert response.status_code == 200, response.text
    return specification.ResponseResource.model_validate_json(response.content)


def events(http: httpx2.Client, **body: Any) -> list[Any]:
    """Returns the events of a streamed answer, each checked against its type; the last line may be `[DONE]`."""
    response = http.post("/v1/responses", json={"model": "scripted", "stream": True, **body})
    assert response.status_code == 200, response.text
    data = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: ")]
    found = [json.loads(each) for each in data if each != "[DONE]"]
    return [EVENTS[each["type"]].model_validate(each) for each in found]


def types_of(found: list[Any]) -> list[str]:
    """Returns the types of events."""
    return [str(event.type) for event in found]


@pytest.mark.parametrize(
    "items",
    [
        [message("user", "Say hello in three words.")],
        [message("system", "You are a pirate."), message("user", "Say hello.")],
        [message("user", "My name is Ada."), message("assistant", "Hello Ada."), message("user", "What is my name?")],
        [
            message(
                "user",
                [
                    {"type": "input_text", "text": "What do you see?"},
                    {"type": "input_image", "image_url": red_square()},
                ],
            )
        ],
    ],
    ids=["basic-response", "system-prompt", "multi-turn", "image-input"],
)
def test_whole_answer(served: Served, http: httpx2.Client, items: list[Any]):
    served.script(ScriptedReply.text("Ahoy, my friend."))
    response = answer(http, input=items)
    assert response.status == "completed"
    assert [item.content[0].text for item in response.output] == ["Ahoy, my friend."]


def test_streaming_response(served: Served, http: httpx2.Client):
    served.script(ScriptedReply.chunks(["1, 2", ", 3"]))
    found = events(http, input=[message("user", "Count to three.")])
    assert types_of(found) == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [event.sequence_number for event in found] == list(range(len(found)))
    assert found[-1].response.status == "completed"


def test_tool_calling(served: Served, http: httpx2.Client):
    served.script(ScriptedReply.tool_call("get_weather", {"location": "Brest"}))
    response = answer(http, input=[message("user", "The weather in Brest?")], tools=[WEATHER])
    (call,) = response.output
    assert (call.type, call.name, json.loads(call.arguments)) == ("function_call", "get_weather", {"location": "Brest"})
    assert response.tools[0].root.name == "get_weather"


def test_tool_calling_streaming(served: Served, http: httpx2.Client):
    served.script(ScriptedReply.tool_call("get_weather", {"location": "Brest"}))
    found = events(http, input=[message("user", "The weather in Brest?")], tools=[WEATHER])
    types = types_of(found)
    assert types.count("response.function_call_arguments.delta") >= 1
    assert types.count("response.function_call_arguments.done") == 1
    added, done = (
        next(event for event in found if event.type == name)
        for name in (
            "response.output_item.added",
            "response.output_item.done",
        )
    )
    assert added.item.type == done.item.type == "function_call"
    assert json.loads(done.item.arguments) == {"location": "Brest"}
