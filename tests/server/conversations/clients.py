"""Clients of every API of the server: the vendors' own packages, which return the history as agents do with them."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import anthropic
import cohere
import ollama
import openai
from google import genai
from google.genai import types
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

PARAMETERS: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}
NAMES = ("weather", "news")
"""The tools of every request."""


@dataclass(frozen=True)
class Got:
    """What a client has read of one reply. `calls` are the ids, names and arguments of tool calls, `fields` the fields
    of the reply that the API has for itself; `raw` is the reply as the package reads it.
    """

    text: str
    thinking: str
    model: str | None
    id: str | None
    calls: list[tuple[str | None, str, Any]]
    raw: Any = field(repr=False)


class Conversation:
    """A conversation of one client with one model. `name` is the format of the client's API, `thinking` the fields of
    a request that asks for thinking, which those of this conversation do if it `thinks`.
    """

    name: ClassVar[str]
    thinking: ClassVar[Mapping[str, Any]]

    def __init__(self, package: Any, model: str, *, thinks: bool = False) -> None:
        self.package = package
        self.model = model
        self.history: list[Any] = []
        self.more: Mapping[str, Any] = self.thinking if thinks else {}

    def ask(self, text: str, *, stream: bool) -> Got:
        """Adds a user's message, and returns the reply, which joins the history."""
        self.history.append(self.user(text))
        return self._next(stream)

    def answer(self, got: Got, *, stream: bool) -> Got:
        """Returns the results of the calls of a reply; returns the next reply."""
        self.history += self.results(got)
        return self._next(stream)

    def _next(self, stream: bool) -> Got:
        got, turn = self.stream(self.package) if stream else self.whole(self.package)
        self.history += turn
        return got

    def user(self, text: str) -> Any:
        """Returns a user's message."""
        return {"role": "user", "content": text}

    def results(self, got: Got) -> list[Any]:
        """Returns the messages with the results of all calls."""
        raise NotImplementedError

    @staticmethod
    def opened(url: str) -> Any:
        """Returns the package's client of a server, for `with`; making one takes longer than a reply."""
        raise NotImplementedError

    def whole(self, client: Any) -> tuple[Got, list[Any]]:
        """Returns a whole reply, and what it adds to the history."""
        raise NotImplementedError

    def stream(self, client: Any) -> tuple[Got, list[Any]]:
        """Returns a streamed reply, and what it adds to the history."""
        raise NotImplementedError

    def check_types(self, got: Got) -> None:
        """Checks a reply with the types of the package, unless it does so itself when it reads one."""


class Chat(Conversation):
    """The openai package, Chat Completions."""

    name = "openai_chat"
    thinking: ClassVar[Mapping[str, Any]] = {"reasoning_effort": "high"}

    @staticmethod
    def opened(url: str) -> Any:
        return openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)

    def _request(self) -> dict[str, Any]:
        tools = [{"type": "function", "function": {"name": name, "parameters": PARAMETERS}} for name in NAMES]
        return {"model": self.model, "messages": self.history, "tools": tools, **self.more}

    def whole(self, client: openai.OpenAI) -> tuple[Got, list[Any]]:
        return self._got(client.chat.completions.create(**self._request()))

    def stream(self, client: openai.OpenAI) -> tuple[Got, list[Any]]:
        with client.chat.completions.stream(**self._request()) as stream:
            for _ in stream:
                pass
            return self._got(stream.get_final_completion())

    def _got(self, raw: Any) -> tuple[Got, list[Any]]:
        message = raw.choices[0].message
        calls = [(call.id, call.function.name, _parsed(call.function.arguments)) for call in message.tool_calls or ()]
        thinking = (message.model_extra or {}).get("reasoning_content") or ""
        sent = message.model_dump(exclude_none=True, exclude={"parsed"})
        for call in sent.get("tool_calls", ()):
            call.pop("index", None)
            call["function"].pop("parsed_arguments", None)
        return Got(message.content or "", thinking, raw.model, raw.id, calls, raw), [sent]

    def check_types(self, got: Got) -> None:
        ChatCompletion.model_validate(got.raw.model_dump(exclude_unset=True))

    def results(self, got: Got) -> list[Any]:
        return [{"role": "tool", "tool_call_id": id, "content": "20 C"} for id, _, _ in got.calls]


class Responses(Conversation):
    """The openai package, Responses, without a stored state, as Codex has it."""

    name = "openai_responses"
    thinking: ClassVar[Mapping[str, Any]] = {"reasoning": {"effort": "high"}}

    @staticmethod
    def opened(url: str) -> Any:
        return openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)

    def _request(self) -> dict[str, Any]:
        tools = [{"type": "function", "name": name, "parameters": PARAMETERS, "strict": False} for name in NAMES]
        include = ["reasoning.encrypted_content"]
        request = {"model": self.model, "input": self.history, "tools": tools, "store": False}
        return {**request, "include": include, **self.more}

    def whole(self, client: openai.OpenAI) -> tuple[Got, list[Any]]:
        return self._got(client.responses.create(**self._request()))

    def stream(self, client: openai.OpenAI) -> tuple[Got, list[Any]]:
        with client.responses.stream(**self._request()) as stream:
            for _ in stream:
                pass
            return self._got(stream.get_final_response())

    def _got(self, raw: Any) -> tuple[Got, list[Any]]:
        functions = [item for item in raw.output if item.type == "function_call"]
        calls = [(each.call_id, each.name, _parsed(each.arguments)) for each in functions]
        summaries = [text.text for item in raw.output if item.type == "reasoning" for text in item.summary]
        sent = [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in raw.output]
        return Got(raw.output_text, "".join(summaries), raw.model, raw.id, calls, raw), sent

    def check_types(self, got: Got) -> None:
        Response.model_validate(got.raw.model_dump(exclude_unset=True))

    def results(self, got: Got) -> list[Any]:
        return [{"type": "function_call_output", "call_id": id, "output": "20 C"} for id, _, _ in got.calls]


class Messages(Conversation):
    """The anthropic package, as Claude Code uses it."""

    name = "anthropic_messages"
    thinking: ClassVar[Mapping[str, Any]] = {"thinking": {"type": "enabled", "budget_tokens": 2000}}

    @staticmethod
    def opened(url: str) -> Any:
        return anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)

    def _request(self) -> dict[str, Any]:
        tools = [{"name": name, "input_schema": PARAMETERS} for name in NAMES]
        request = {"model": self.model, "messages": self.history, "tools": tools}
        return {**request, "max_tokens": 8000, **self.more}

    def whole(self, client: anthropic.Anthropic) -> tuple[Got, list[Any]]:
        return self._got(client.messages.create(**self._request()))

    def stream(self, client: anthropic.Anthropic) -> tuple[Got, list[Any]]:
        with client.messages.stream(**self._request()) as stream:
            for _ in stream:
                pass
            return self._got(stream.get_final_message())

    def _got(self, raw: Any) -> tuple[Got, list[Any]]:
        calls = [(block.id, block.name, block.input) for block in raw.content if block.type == "tool_use"]
        text = "".join(block.text for block in raw.content if block.type == "text")
        thinking = "".join(block.thinking for block in raw.content if block.type == "thinking")
        content = [block.model_dump(exclude_none=True, exclude={"parsed_output"}) for block in raw.content]
        return Got(text, thinking, raw.model, raw.id, calls, raw), [{"role": "assistant", "content": content}]

    def check_types(self, got: Got) -> None:
        anthropic.types.Message.model_validate(got.raw.model_dump(exclude_unset=True))

    def results(self, got: Got) -> list[Any]:
        content = [{"type": "tool_result", "tool_use_id": id, "content": "20 C"} for id, _, _ in got.calls]
        return [{"role": "user", "content": content}]


class Gemini(Conversation):
    """The google-genai package."""

    name = "gemini"
    thinking: ClassVar[Mapping[str, Any]] = {
        "thinking_config": types.ThinkingConfig(thinking_budget=2000, include_thoughts=True)
    }

    def user(self, text: str) -> Any:
        return types.Content(role="user", parts=[types.Part(text=text)])

    @staticmethod
    def opened(url: str) -> Any:
        return genai.Client(api_key="none", http_options=types.HttpOptions(base_url=url))

    def _request(self) -> dict[str, Any]:
        functions = [types.FunctionDeclaration(name=name, parameters_json_schema=PARAMETERS) for name in NAMES]
        tools = [types.Tool(function_declarations=functions)]
        off = types.AutomaticFunctionCallingConfig(disable=True)
        config = types.GenerateContentConfig(tools=tools, automatic_function_calling=off, **self.more)
        return {"model": self.model, "contents": self.history, "config": config}

    def whole(self, client: genai.Client) -> tuple[Got, list[Any]]:
        return self._got([client.models.generate_content(**self._request())])

    def stream(self, client: genai.Client) -> tuple[Got, list[Any]]:
        return self._got([*client.models.generate_content_stream(**self._request())])

    def _got(self, chunks: list[types.GenerateContentResponse]) -> tuple[Got, list[Any]]:
        contents = [each.candidates[0].content for each in chunks if each.candidates]
        parts = [part for content in contents if content is not None for part in content.parts or ()]
        calls = [part.function_call for part in parts if part.function_call is not None]
        text = "".join(part.text for part in parts if part.text and not part.thought)
        thinking = "".join(part.text for part in parts if part.text and part.thought)
        found: list[Any] = [(call.id, call.name, call.args or {}) for call in calls]
        got = Got(text, thinking, chunks[-1].model_version, chunks[-1].response_id, found, chunks)
        return got, [types.Content(role="model", parts=parts)]

    def results(self, got: Got) -> list[Any]:
        answers = [types.FunctionResponse(id=id, name=name, response={"result": "20 C"}) for id, name, _ in got.calls]
        return [types.Content(role="user", parts=[types.Part(function_response=each) for each in answers])]


class Ollama(Conversation):
    """The ollama package, whose messages have no ids of calls."""

    name = "ollama"
    thinking: ClassVar[Mapping[str, Any]] = {"think": "high"}

    @staticmethod
    @contextlib.contextmanager
    def opened(url: str) -> Iterator[ollama.Client]:
        client = ollama.Client(host=url)
        with contextlib.closing(client):
            yield client

    def _request(self) -> dict[str, Any]:
        tools = [{"type": "function", "function": {"name": name, "parameters": PARAMETERS}} for name in NAMES]
        return {"model": self.model, "messages": self.history, "tools": tools, **self.more}

    def whole(self, client: ollama.Client) -> tuple[Got, list[Any]]:
        return self._got([client.chat(**self._request())])

    def stream(self, client: ollama.Client) -> tuple[Got, list[Any]]:
        return self._got([*client.chat(**self._request(), stream=True)])

    def _got(self, lines: list[ollama.ChatResponse]) -> tuple[Got, list[Any]]:
        messages = [line.message for line in lines]
        calls = [call for message in messages for call in message.tool_calls or ()]
        text = "".join(message.content or "" for message in messages)
        thinking = "".join(message.thinking or "" for message in messages)
        sent = ollama.Message(role="assistant", content=text, thinking=thinking or None, tool_calls=calls or None)
        found: list[Any] = [(None, call.function.name, dict(call.function.arguments)) for call in calls]
        return Got(text, thinking, lines[-1].model, None, found, lines), [sent]

    def results(self, got: Got) -> list[Any]:
        return [{"role": "tool", "tool_name": name, "content": "20 C"} for _, name, _ in got.calls]


class Cohere(Conversation):
    """The cohere package."""

    name = "cohere_chat"
    thinking: ClassVar[Mapping[str, Any]] = {"thinking": cohere.Thinking(type="enabled", token_budget=2000)}

    @staticmethod
    def opened(url: str) -> Any:
        return cohere.ClientV2(api_key="none", base_url=url)

    def _request(self) -> dict[str, Any]:
        tools = [{"type": "function", "function": {"name": name, "parameters": PARAMETERS}} for name in NAMES]
        request = {"model": self.model, "messages": self.history, "tools": tools}
        return {**request, "request_options": {"max_retries": 0}, **self.more}

    def whole(self, client: cohere.ClientV2) -> tuple[Got, list[Any]]:
        raw = client.chat(**self._request())
        return self._got(raw.id, raw.message.model_dump(exclude_none=True), raw)

    def stream(self, client: cohere.ClientV2) -> tuple[Got, list[Any]]:
        events = [event.model_dump(exclude_none=True) for event in client.chat_stream(**self._request())]
        content: list[Any] = []
        calls: list[Any] = []
        for event in events:
            delta = event.get("delta", {}).get("message", {})
            if event["type"] == "content-start":
                content.append(delta["content"])
            elif event["type"] == "content-delta":
                kind = content[-1]["type"]
                content[-1][kind] = content[-1].get(kind, "") + delta["content"][kind]
            elif event["type"] == "tool-call-start":
                calls.append(delta["tool_calls"])
            elif event["type"] == "tool-call-delta":
                calls[-1]["function"]["arguments"] += delta["tool_calls"]["function"]["arguments"]
        message = {"role": "assistant", "content": content or None, "tool_calls": calls or None}
        message = {name: value for name, value in message.items() if value is not None}
        return self._got(events[0].get("id"), message, events)

    def _got(self, id: str | None, message: Mapping[str, Any], raw: Any) -> tuple[Got, list[Any]]:
        content, calls = message.get("content") or [], message.get("tool_calls") or []
        found: list[Any] = [
            (call["id"], call["function"]["name"], _parsed(call["function"]["arguments"])) for call in calls
        ]
        text = "".join(item["text"] for item in content if item["type"] == "text")
        thinking = "".join(item["thinking"] for item in content if item["type"] == "thinking")
        return Got(text, thinking, None, id, found, raw), [dict(message)]

    def check_types(self, got: Got) -> None:
        if not isinstance(got.raw, list):
            cohere.V2ChatResponse.model_validate(got.raw.model_dump(exclude_unset=True))

    def results(self, got: Got) -> list[Any]:
        return [{"role": "tool", "tool_call_id": id, "content": "20 C"} for id, _, _ in got.calls]


CLIENTS: tuple[type[Conversation], ...] = (Chat, Responses, Messages, Gemini, Ollama, Cohere)


def _parsed(arguments: str) -> Any:
    """Returns arguments as an agent parses them."""
    return json.loads(arguments) if arguments else {}
