"""The tools of a model: ask, transcribe, describe and extract."""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Annotated, Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar

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
from ...schema.base_error import one_line
from ...tools.results import ToolOutput
from ...tools.tool import Tool
from .files import FileAccess, FileArgument
from .offered import OfferedTool
from .schemas import safe_schema

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


def _explained(
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

    @_explained
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

    @_explained
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

    @_explained
    async def describe(self, context: ToolContext[Any], file: FileArgument, question: str | None = None) -> str:
        """Describes a file, or answers a question about it.

        Args:
            file: An image, a recording, a video, a document or a text.
            question: What to find out; without it, the file is described.
        """
        return _text(await self._response(context, question or _DESCRIBE, media=[await self._load(file)]))

    @_explained
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
                reading.add_done_callback(_ignored)
                await asyncio.wait([reading], timeout=_CLOSING_SECONDS)
                reading.cancel()


def _ignored(reading: asyncio.Future[Any]) -> None:
    """Takes the error of a stream that was closed."""
    if not reading.cancelled():
        reading.exception()


def _text(response: GenerateResponse[Any]) -> str:
    if not response.content.strip():
        raise ToolFailed(f"the model wrote no text: finish reason {response.finish_reason}")
    return response.content
