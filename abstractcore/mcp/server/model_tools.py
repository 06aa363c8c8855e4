"""The tools of a model: ask, transcribe, describe and extract.

JSON Schemas of clients: what could block the server is refused or removed before answers are validated with them.
"""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Annotated, Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar, cast
from urllib.parse import unquote

from pydantic import Field

from ...concurrency import AsyncRuntime
from ...errors import (
    AbstractCoreError,
    InvalidInputError,
    MediaError,
    SchemaError,
    ToolFailed,
    UnsupportedContentError,
)
from ...ports import ToolContext
from ...schema import GenerateResponse, TextDelta, ToolLabel
from ...schema.base_error import one_line, shown
from ...tools.results import ToolOutput
from ...tools.tool import Tool
from .files import FileAccess, FileArgument
from .offered_tools import OfferedTool

_SCHEMA_MAPS = ("$defs", "definitions", "dependentSchemas", "properties")
"""Keywords whose values have schemas by names of the user's own."""
_DATA = ("const", "default", "enum", "examples", "required", "dependentRequired")
_SAME_VALUE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies")
_NOT_INSIDE = frozenset((*_SAME_VALUE, *_DATA, "$defs", "definitions"))
"""Keywords whose schemas are applied to the value itself; all others with schemas are for values in it."""
_UNEVALUATED = ("unevaluatedItems", "unevaluatedProperties")
_LONGEST = 65_536
_DEPTH = 30
_MOST_STEPS = 100_000


def safe_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a schema with which validation takes time in proportion to the answer. Raises `InvalidInputError` for
    one that is very long or whose alternatives multiply, and for references that are not to a place in the schema.

    Regular expressions become texts in descriptions: one could take exponential time over a text that a client chose.
    """
    size = len(json.dumps(schema))
    if size > _LONGEST:
        hint = "Extract in several calls, each with a part of the schema."
        raise InvalidInputError(
            f"it has {size:,} characters as JSON; the limit is {_LONGEST:,}", path="schema", hint=hint
        )
    if _Steps(schema).of(schema, _DEPTH) > _MOST_STEPS:
        raise InvalidInputError(
            "its validation could take exponential time: alternatives refer to each other, or to one place many times",
            path="schema",
            hint="Refer to each definition once for a value, without recursion in anyOf, oneOf or allOf.",
        )
    return _without_patterns(schema)


class _Steps:
    """Counts the schemas that are applied along one path into a value, at most `_MOST_STEPS` and one."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._known: dict[tuple[int, int], int] = {}

    def of(self, schema: Any, depth: int) -> int:
        """Returns the number of steps for a value with `depth` levels below it."""
        if not isinstance(schema, Mapping):
            return 1
        node = cast("Mapping[str, Any]", schema)
        key = id(node), depth
        if key not in self._known:
            self._known[key] = _MOST_STEPS + 1  # of a schema that is applied to the value while it is applied to it
            self._known[key] = min(self._count(node, depth), _MOST_STEPS + 1)
        return self._known[key]

    def _count(self, node: Mapping[str, Any], depth: int) -> int:
        same = 1 + sum(self.of(each, depth) for name in _SAME_VALUE for each in _schemas(name, node.get(name)))
        if isinstance(node.get("$ref"), str):
            same += self.of(self._target(node["$ref"]), depth)
        if any(name in node for name in ("$dynamicRef", "$recursiveRef")):
            raise InvalidInputError("dynamic references are not accepted", path="schema", hint="Use '$ref'.")
        inner = 0
        if depth:
            inside = (each for name, value in node.items() if name not in _NOT_INSIDE for each in _schemas(name, value))
            inner = max((self.of(each, depth - 1) for each in inside), default=0)
        return (same + inner) * (2 if any(name in node for name in _UNEVALUATED) else 1)

    def _target(self, reference: str) -> Any:
        found: Any = self._root
        fragment = unquote(reference.removeprefix("#"))
        if not reference.startswith("#") or fragment[:1] not in ("", "/"):
            raise _unknown_reference(reference)
        for step in fragment.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping) and name in found:
                found = cast("Mapping[str, Any]", found)[name]
            elif isinstance(found, list) and name.isdecimal() and int(name) < len(cast("list[Any]", found)):
                found = cast("list[Any]", found)[int(name)]
            else:
                raise _unknown_reference(reference)
        return found


def _unknown_reference(reference: str) -> InvalidInputError:
    return InvalidInputError(
        f"the reference {shown(reference)} is not to a place in the schema",
        path="schema",
        hint="Write what it refers to under '$defs', and refer to '#/$defs/NAME'.",
    )


def _schemas(name: str, value: Any) -> Iterator[Any]:
    """Yields the schemas in the value of a keyword."""
    if isinstance(value, list):
        yield from cast("list[Any]", value)
    elif isinstance(value, Mapping):
        entries = cast("Mapping[str, Any]", value)
        if name in (*_SCHEMA_MAPS, "patternProperties", "dependencies"):
            yield from entries.values()
        else:
            yield entries


def _without_patterns(schema: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: _cleaned(name, value) for name, value in schema.items() if not _is_expression(name, value)}
    texts = [f"matches the regular expression {schema['pattern']}"] if isinstance(schema.get("pattern"), str) else []
    patterns = schema.get("patternProperties")
    if isinstance(patterns, Mapping) and patterns:
        texts.append(f"has properties whose names match {', '.join(cast('Mapping[str, Any]', patterns))}")
    if texts:
        described = schema.get("description")
        found["description"] = "; ".join([described, *texts] if isinstance(described, str) else texts)
    return found


def _is_expression(name: str, value: Any) -> bool:
    kind = {"pattern": str, "patternProperties": Mapping}.get(name)
    return kind is not None and isinstance(value, kind)


def _cleaned(name: str, value: Any) -> Any:
    if name in _DATA:
        return value
    if name in _SCHEMA_MAPS and isinstance(value, Mapping):
        return {key: _schema(each) for key, each in cast("Mapping[str, Any]", value).items()}
    return _schema(value)


def _schema(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _without_patterns(cast("Mapping[str, Any]", value))
    return [_schema(each) for each in cast("list[Any]", value)] if isinstance(value, list) else value


P = ParamSpec("P")
R = TypeVar("R")
_log = logging.getLogger("abstractcore")
_OF_CLIENTS = (InvalidInputError, MediaError, SchemaError, UnsupportedContentError)
"""Errors in arguments, whose hints are for the client. The hints of others are for the operator."""
MODEL_TOOLS = ("ask", "transcribe", "describe", "extract")
_LABELS: tuple[ToolLabel, ...] = ("untrusted", "sends")
"""What the tools read is sent to a provider, and their results are a model's."""
_MOST_FILES = 32
_CLOSING_SECONDS = 0.5
_TRANSCRIBE = "Transcribe this recording word for word. Write the transcript only."
_DESCRIBE = "Describe this file: what it is, and what it shows, says or contains."
_EXTRACT = "Extract the data that the schema describes. Use only what is given; do not guess."


class ResponseStream(Protocol):
    """A stream of an answer: deltas, and at the end the response."""

    @property
    def response(self) -> GenerateResponse[Any]:
        """The response."""
        ...

    def __iter__(self) -> Iterator[Any]: ...

    def close(self) -> None:
        """Ends the stream, from any thread."""
        ...


class Model(Protocol):
    """What is used of an LLM."""

    def stream(self, prompt: str | None = None, **request: Any) -> AbstractContextManager[ResponseStream]:
        """Returns a stream of the answer. Blocks."""
        ...

    def plan(self, prompt: str | None = None, **request: Any) -> Sequence[Any]:
        """Returns the decision for each file of `media`, without sending anything. Blocks."""
        ...


SpeechToText: TypeAlias = Callable[[Any], str]
"""Returns the transcript of an item of `media`, made on this machine. Blocks."""


def _explain_errors(
    function: Callable[Concatenate[ModelTools, P], Awaitable[R]],
) -> Callable[Concatenate[ModelTools, P], Awaitable[R]]:
    """Makes the library's errors results for clients. What only the operator can mend is logged with its hint."""

    @functools.wraps(function)
    async def explained(self: ModelTools, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return await function(self, *args, **kwargs)
        except ToolFailed:
            raise
        except AbstractCoreError as error:
            is_of_client = isinstance(error, _OF_CLIENTS)
            if not is_of_client:
                _log.warning("%s failed: %s: %s", function.__name__, type(error).__name__, one_line(str(error), 1000))
            raise ToolFailed(f"{type(error).__name__}: {error if is_of_client else error.message}") from error

    return explained


class ModelTools:
    """The four tools on `model`; recordings that it does not hear go to `speech_to_text`."""

    def __init__(self, model: Model, files: FileAccess, speech_to_text: SpeechToText) -> None:
        self._model = model
        self._files = files
        self._speech_to_text = speech_to_text
        self._runtime = AsyncRuntime()

    def offered(self, names: Sequence[str] = MODEL_TOOLS) -> Iterator[OfferedTool]:
        """Yields the tools of these names."""
        for name in names:
            tool: Tool[..., Any] = Tool(getattr(self, name), read_only=True, labels=_LABELS)
            yield OfferedTool(tool, data_is_output=name == "extract")

    @_explain_errors
    async def ask(
        self,
        context: ToolContext[Any],
        prompt: str,
        files: Annotated[list[FileArgument], Field(max_length=_MOST_FILES)] = [],  # noqa: B006 - a schema's default
        system_prompt: str | None = None,
    ) -> str:
        """Asks a language model, and returns its answer.

        Args:
            prompt: The question or the task.
            files: Files that it is about: images, recordings, documents, text.
            system_prompt: Instructions for the whole answer.
        """
        media = [await self._load(each) for each in files]
        request: dict[str, Any] = {} if system_prompt is None else {"system_prompt": system_prompt}
        return _text(await self._response(context, prompt, media=media, **request))

    @_explain_errors
    async def transcribe(self, context: ToolContext[Any], file: FileArgument) -> str:
        """Returns the transcript of a recording, as text.

        Args:
            file: The recording.
        """
        media = [await self._load(file)]
        decision = (await self._runtime.call(lambda: self._model.plan(_TRANSCRIBE, media=media)))[0]
        if decision.kind not in ("audio", "video"):
            raise ToolFailed(f"{decision.source} is not a recording: it is {decision.type}")
        if decision.route == "native":
            return _text(await self._response(context, _TRANSCRIBE, media=media))
        return await self._runtime.call(self._speech_to_text, media[0], kind="files")

    @_explain_errors
    async def describe(self, context: ToolContext[Any], file: FileArgument, question: str | None = None) -> str:
        """Describes a file, or answers a question about it.

        Args:
            file: An image, a recording, a video, a document or a text.
            question: What to find out; without it, the file is described.
        """
        return _text(await self._response(context, question or _DESCRIBE, media=[await self._load(file)]))

    @_explain_errors
    async def extract(
        self,
        context: ToolContext[Any],
        schema: dict[str, Any],
        text: str | None = None,
        file: FileArgument | None = None,
        instructions: str | None = None,
    ) -> ToolOutput:
        """Extracts data from a text or a file, as JSON that a JSON Schema describes.

        The result's structured content is the data; {"result": data} if it is not an object.

        Args:
            schema: The JSON Schema of the data. Regular expressions in it are shown to the model, but not checked.
            text: The text.
            file: A file, in place of the text or beside it.
            instructions: What to look for, if the schema's descriptions do not say it.
        """
        if text is None and file is None:
            raise InvalidInputError("neither text nor file is given", path="text")
        media = [] if file is None else [await self._load(file)]
        prompt = "\n\n".join(each for each in (instructions, _EXTRACT, text) if each)
        response = await self._response(context, prompt, media=media, response_model=safe_schema(schema))
        data: Any = response.output
        return ToolOutput(data, data if isinstance(data, dict) else {"result": data})

    async def _load(self, file: Any) -> Any:
        return await self._runtime.call(self._files.load, file, kind="files")

    async def _response(self, context: ToolContext[Any], prompt: str, **request: Any) -> GenerateResponse[Any]:
        """Returns the response; the number of characters of the answer so far is reported as progress.

        A thread makes the call: to build a request of a client's data, and to validate an answer by its schema, may
        take seconds, in which an event loop would serve nobody. Cancellation closes the stream, which ends the thread.
        """
        opened: list[ResponseStream] = []
        stopped = threading.Event()

        def read() -> GenerateResponse[Any]:
            with self._model.stream(prompt, timeout=context.seconds_left, **request) as stream:
                opened.append(stream)
                length = 0
                for event in stream:
                    if stopped.is_set():
                        break
                    if isinstance(event, TextDelta):
                        length += len(event.text)
                        context.progress(length, None, f"{length:,} characters")
                return stream.response

        reading = asyncio.ensure_future(self._runtime.invoke(read))
        try:
            return await asyncio.shield(reading)
        finally:
            if not reading.done():
                stopped.set()
                for stream in opened:
                    stream.close()
                reading.add_done_callback(_ignore)
                await asyncio.wait([reading], timeout=_CLOSING_SECONDS)
                reading.cancel()


def _ignore(reading: asyncio.Future[Any]) -> None:
    """Takes the error of a stream that was closed."""
    if not reading.cancelled():
        reading.exception()


def _text(response: GenerateResponse[Any]) -> str:
    if not response.content.strip():
        raise ToolFailed(f"the model wrote no text: finish reason {response.finish_reason}")
    return response.content
