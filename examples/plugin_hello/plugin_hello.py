"""An example of everything a plugin can register. Copy it, keep the hook you need, and delete the rest."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from abstractcore import CallRecord, Capture, MediaPart, ToolCall, ToolResult, ToolSpec
from abstractcore.ports import CapabilityServices, Conversion, Fallback, MediaContext, Recognised
from abstractcore.registry import hookimpl
from abstractcore_providers import Preset


@hookimpl
def register_providers() -> list[Preset]:  # create_llm("hello/any-model")
    return [Preset("hello", "a server with OpenAI's format", "http://localhost:8642/v1", "HELLO_KEY", key_needed=False)]


class GuestLists:  # generate("Who comes?", media=["party.guests"])
    name, fallbacks = "guests", (Fallback("text", {"text"}),)

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        ours = declared == "text/x-guests" if declared else name.endswith(".guests")
        return Recognised("document", "text/x-guests") if ours else None

    def check(self, part: MediaPart) -> None: ...

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        return Conversion("These people come: " + part.blob.read().decode(), "guest list")


@hookimpl
def register_media_handlers() -> list[GuestLists]:
    return [GuestLists()]


class Greetings:  # create_llm(..., hello_word="Hi").capability("hello")("Ann")
    name, summary = "hello", "greets people"

    def connect(self, options: Mapping[str, str], services: CapabilityServices) -> Callable[[str], str]:
        return lambda name: f"{options.get('hello_word', 'Hello')}, {name}!"


@hookimpl
def register_capabilities() -> list[Greetings]:
    return [Greetings()]


class Greeters:  # generate("Greet Ann.", tools=["greeters"])
    name, summary = "greeters", "tools that greet"

    def tools(self) -> list[ToolSpec]:
        return [ToolSpec("greet", "Greets somebody.", {"type": "object", "properties": {"name": {"type": "string"}}})]

    async def call(self, call: ToolCall) -> ToolResult:
        return ToolResult.text(call.id, f"Hello, {(call.arguments or {}).get('name')}!")


@hookimpl
def register_tools() -> list[Greeters]:
    return [Greeters()]


class CallLog:  # notified of every call
    name = "call-log"
    capture: Capture = "off"

    def __call__(self, record: CallRecord) -> None:
        logging.getLogger("hello").warning("%s/%s: %s", record.provider, record.model, record.outcome)


@hookimpl
def register_trace_subscribers() -> list[CallLog]:
    return [CallLog()]
