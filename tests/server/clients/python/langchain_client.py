"""langchain-openai: an answer, a stream, a tool call, an object, an error."""

from __future__ import annotations

import json
import sys

import openai
from langchain_openai import ChatOpenAI
from pydantic import BaseModel


class City(BaseModel):
    """A city and its country."""

    name: str
    country: str


def weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"It rains in {city}."


chat = ChatOpenAI(model="scripted", base_url=sys.argv[1], api_key="unused", max_retries=0)
whole = chat.invoke("Say hello.")
streamed = list(chat.stream("Say hello."))
called = chat.bind_tools([weather]).invoke("How is the weather in Oslo?")
city = chat.with_structured_output(City).invoke("Which city is it?")
try:
    chat.invoke("Say hello.")
    error = None
except openai.RateLimitError as caught:
    error = caught.status_code
print(
    json.dumps(
        {
            "whole": [whole.content, whole.usage_metadata["input_tokens"], whole.usage_metadata["output_tokens"]],
            "stream": [chunk.content for chunk in streamed if chunk.content],
            "tool": [[call["name"], call["args"]] for call in called.tool_calls],
            "object": city.model_dump(),
            "error": error,
        }
    )
)
