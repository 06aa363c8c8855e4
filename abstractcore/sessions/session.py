"""`Session`: a conversation with a model that is kept, in memory or in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack, overload

from .. import schema
from ..client.options import CallRequest, Output
from ..client.streams import AsyncStream, Stream
from ..concurrency import drive
from ..copying import NotCopied
from ..engine import Pipeline
from ..errors import InvalidInputError, SessionError
from ..lazy_modules import LazyModule
from ..option_help import takes
from ..outputs import ResponseModel
from ..schema import CallWarning, GenerateResponse, Message
from ..schema.base_error import shown
from .documents import OpenAIMessages, document_of, read_json
from .handles import SetAside, find_handle
from .history import SessionExchange, SessionHistory, SessionUsage, usage_of
from .loading import may_be_added, take_document, take_file, write_fork
from .meter import ContextMeter
from .options import SessionOptions
from .room import ContextRoom
from .state import SessionSettings, SessionState, check_llm, new_id, request_on, settings_of
from .streams import SessionStream
from .turns import SessionTurn

if TYPE_CHECKING:
    import typing_extensions

    from ..client import llm as llms
    from ..client import message_inputs
else:
    typing_extensions = LazyModule("typing_extensions")
    llms = LazyModule("abstractcore.client.llm")
    message_inputs = LazyModule("abstractcore.client.message_inputs")


class Session(NotCopied):
    """A conversation with `llm`: `ask` sends it with a question, and adds the answer. `llm.session(...)` makes one.

    A call that fails, is cancelled or is left leaves the history as it was; with `keep_partial`, what had arrived is
    kept. One call runs at a time: a second one raises `SessionBusyError`. Sync and async calls may alternate, in any
    thread or task.

    The context never overflows: once it would fill more than `fill` of the model's context, old results of tools and
    files are set aside, then the oldest exchanges become a summary. `compact` says how: "summary" asks the model,
    "drop" leaves them out, a function of the oldest messages returns a text or messages; None leaves all as it is.
    `history(full=True)` has every message nevertheless. `options` are those of every call, as `generate` takes them.
    """

    _holds = "the lock of a conversation, and perhaps an open file"
    _instead = "Use session.fork(), or session.save(path) and Session.load(path, llm)."

    @takes(SessionOptions)
    def __init__(self, llm: llms.LLM, **options: Unpack[SessionOptions]) -> None:
        check_llm(llm)
        self._settings, system_prompt = settings_of(llm, options)
        self._state = SessionState(new_id(), SessionHistory(), system_prompt)
        self._turn("?", None, {}).prepared()  # refuses unknown options now

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        llm: llms.LLM,
        *,
        read_only: bool = False,
        **options: Unpack[SessionOptions],
    ) -> Self:
        """Returns the session in a file, which is made if it is missing: each exchange is written in one transaction.

        The file is locked until `close`; `read_only` reads one that another process has open. A tool loop that a crash
        has cut off goes on with the same question, or with `resume`: tools that have run are not run again. A history
        that vendors would refuse is repaired, with `session.notes`; with `strict=True` it is an error. The content of
        messages and files is in the file, readable for its owner only.

        Raises `SessionBusyError` for a file that is open elsewhere; `SessionError` for one that is damaged, of a later
        release or no session, and one that cannot be read or written.
        """
        from .file import SessionFile

        session = cls(llm, **options)
        file = SessionFile(path, read_only=read_only)
        try:
            take_file(session._state, file, options.get("system_prompt"), strict=options.get("strict") is True)
        except BaseException:
            file.close()
            raise
        return session

    @classmethod
    def load(cls, path: str | os.PathLike[str], llm: llms.LLM, **options: Unpack[SessionOptions]) -> Self:
        """Returns a session in memory, of the JSON that `save` wrote, or of a list of messages in OpenAI's format.

        A history that vendors would refuse is repaired, with `session.notes`; with `strict=True` it is an error. Raises
        `SessionError` for a file that cannot be read or is no session.
        """
        session = cls(llm, **options)
        try:
            text = Path(path).read_bytes()
        except (OSError, ValueError) as error:
            raise SessionError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
        take_document(
            session._state, session._settings, read_json(text, str(path)), strict=options.get("strict") is True
        )
        return session

    @property
    def id(self) -> str:
        """A random id, which stays with the session in its file."""
        return self._state.id

    @property
    def llm(self) -> llms.LLM:
        """The model that is asked."""
        return self._settings.llm

    @property
    def system_prompt(self) -> str | None:
        """The instructions of every call."""
        return self._state.system_prompt

    @property
    def messages(self) -> tuple[Message, ...]:
        """What the model is given before the next question, without the system prompt."""
        return self._state.history.context

    @property
    def exchanges(self) -> tuple[SessionExchange, ...]:
        """The questions with their answers, oldest first, also those that were compacted."""
        return tuple(self._state.history.exchanges)

    @property
    def notes(self) -> tuple[CallWarning, ...]:
        """What was repaired when the session was opened or loaded."""
        return self._state.notes

    @property
    def usage(self) -> SessionUsage:
        """The tokens of all calls; `usage.cached_rate` is the share of the input that came from a cache."""
        return usage_of(self._state.history.usage)

    @property
    def cost(self) -> schema.CostSums:
        """What all calls have cost, in US dollars: `known`, `estimated`, and the number of those that are `unknown`."""
        return self._state.history.cost

    @property
    def loop(self) -> schema.ToolLoop | None:
        """The tool loop that `resume` continues: its calls wait for answers, or a crash has cut it off."""
        last = self._state.history.last
        return None if last is None else last.loop

    @overload
    def ask(
        self,
        prompt: str | None = None,
        *,
        response_model: typing_extensions.TypeForm[Output] | None = None,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[Output]: ...

    @overload
    def ask(
        self, prompt: str | None = None, *, response_model: Mapping[str, Any], **request: Unpack[CallRequest]
    ) -> GenerateResponse[Any]: ...

    @takes(CallRequest)
    def ask(
        self, prompt: str | None = None, *, response_model: ResponseModel | None = None, **request: Unpack[CallRequest]
    ) -> GenerateResponse[Any]:
        """Asks the model, with the history before the question, and adds question and answer. Takes all that
        `LLM.generate` takes but `messages`; without a prompt, the model answers what was added.

        Raises `SessionBusyError` while another call of the session runs, `InvalidInputError` while tool calls wait,
        `SessionError` with the `response` if the file cannot be written, and as `generate` does.
        """
        return drive(self._turn(prompt, response_model, request).answer(self._pipeline(True)))

    @overload
    async def aask(
        self,
        prompt: str | None = None,
        *,
        response_model: typing_extensions.TypeForm[Output] | None = None,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[Output]: ...

    @overload
    async def aask(
        self, prompt: str | None = None, *, response_model: Mapping[str, Any], **request: Unpack[CallRequest]
    ) -> GenerateResponse[Any]: ...

    @takes(CallRequest)
    async def aask(
        self, prompt: str | None = None, *, response_model: ResponseModel | None = None, **request: Unpack[CallRequest]
    ) -> GenerateResponse[Any]:
        """The async version of `ask`."""
        return await self._turn(prompt, response_model, request).answer(self._pipeline(False))

    @overload
    def stream(
        self,
        prompt: str | None = None,
        *,
        response_model: typing_extensions.TypeForm[Output] | None = None,
        **request: Unpack[CallRequest],
    ) -> Stream[Output]: ...

    @overload
    def stream(
        self, prompt: str | None = None, *, response_model: Mapping[str, Any], **request: Unpack[CallRequest]
    ) -> Stream[Any]: ...

    @takes(CallRequest)
    def stream(
        self, prompt: str | None = None, *, response_model: ResponseModel | None = None, **request: Unpack[CallRequest]
    ) -> Stream[Any]:
        """Returns a stream of the answer, which is added once it has been read to its end. Otherwise as `ask`; the call
        begins at the first read.
        """
        return Stream(SessionStream(self._turn(prompt, response_model, request, stream=True), self._pipeline(True)))

    @overload
    def astream(
        self,
        prompt: str | None = None,
        *,
        response_model: typing_extensions.TypeForm[Output] | None = None,
        **request: Unpack[CallRequest],
    ) -> AsyncStream[Output]: ...

    @overload
    def astream(
        self, prompt: str | None = None, *, response_model: Mapping[str, Any], **request: Unpack[CallRequest]
    ) -> AsyncStream[Any]: ...

    @takes(CallRequest)
    def astream(
        self, prompt: str | None = None, *, response_model: ResponseModel | None = None, **request: Unpack[CallRequest]
    ) -> AsyncStream[Any]:
        """The async version of `stream`, for `async with` and `async for`."""
        turn = self._turn(prompt, response_model, request, stream=True)
        return AsyncStream(SessionStream(turn, self._pipeline(False)))

    @overload
    def resume(
        self,
        answers: Sequence[schema.ToolAnswer] = (),
        *,
        response_model: ResponseModel | None = None,
        stream: Literal[False] = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[Any]: ...

    @overload
    def resume(
        self,
        answers: Sequence[schema.ToolAnswer] = (),
        *,
        response_model: ResponseModel | None = None,
        stream: Literal[True],
        **request: Unpack[CallRequest],
    ) -> Stream[Any]: ...

    @takes(CallRequest)
    def resume(
        self,
        answers: Sequence[schema.ToolAnswer] = (),
        *,
        response_model: ResponseModel | None = None,
        stream: bool = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[Any] | Stream[Any]:
        """Continues the tool loop in `loop`: with answers to its pending calls, or after a crash. As `LLM.resume`.

        Raises `InvalidInputError` if there is none, and as `ask` does.
        """
        turn = self._turn(None, response_model, request, answers, stream=stream)
        return Stream(SessionStream(turn, self._pipeline(True))) if stream else drive(turn.answer(self._pipeline(True)))

    @overload
    async def aresume(
        self,
        answers: Sequence[schema.ToolAnswer] = (),
        *,
        response_model: ResponseModel | None = None,
        stream: Literal[False] = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[Any]: ...

    @overload
    async def aresume(
        self,
        answers: Sequence[schema.ToolAnswer] = (),
        *,
        response_model: ResponseModel | None = None,
        stream: Literal[True],
        **request: Unpack[CallRequest],
    ) -> AsyncStream[Any]: ...

    @takes(CallRequest)
    async def aresume(
        self,
        answers: Sequence[schema.ToolAnswer] = (),
        *,
        response_model: ResponseModel | None = None,
        stream: bool = False,
        **request: Unpack[CallRequest],
    ) -> GenerateResponse[Any] | AsyncStream[Any]:
        """The async version of `resume`."""
        turn = self._turn(None, response_model, request, answers, stream=stream)
        pipeline = self._pipeline(False)
        return AsyncStream(SessionStream(turn, pipeline)) if stream else await turn.answer(pipeline)

    @takes(CallRequest)
    def plan(self, prompt: str | None = None, **request: Unpack[CallRequest]) -> schema.Plan:
        """Returns the plan of what `ask` would send now, as `LLM.plan` does; the context is not compacted for it."""
        options: dict[str, Any] = {**self._settings.defaults, **request}
        for name, value in (
            ("system_prompt", self.system_prompt),
            ("tools", self._settings.tools),
            ("run_tools", self._settings.run_tools),
        ):
            if value and options.get(name) is None:
                options[name] = value
        history = self._state.history
        return self._settings.llm.plan(prompt, **request_on(history.context, options, has_system=history.has_system))

    def add(self, *messages: message_inputs.MessageInput) -> None:
        """Adds messages without a call: what `messages=` takes, such as `call.result("sunny")` or `Message.user("hi")`.

        A message of the user begins an exchange; others belong to the last one. Before an answer that the session would
        begin with, a message of the user says so: vendors refuse it otherwise. Raises `InvalidInputError` for messages
        that vendors would refuse after those that are there, and `SessionBusyError` while a call runs.
        """
        read = self._settings.llm.read_messages([*messages])
        with self._state:
            self._state.add_messages(may_be_added(self.messages, read, self.system_prompt), self._settings)
            self._state.write()

    def undo(self) -> tuple[Message, ...]:
        """Removes the last exchange, and returns its messages. It stays in the file, marked.

        Raises `InvalidInputError` if there is none, or it was compacted; `SessionBusyError` while a call runs.
        """
        with self._state:
            removed = self._state.history.last_to_undo()
            if self._state.file is not None:
                self._state.file.undo(removed.number)
            self._state.history.undo()
            self._state.unwritten.pop(removed.number, None)
            self._settings.meter.forget()
            return removed.messages

    def fork(self, path: str | os.PathLike[str] | None = None) -> Session:
        """Returns another session with the same history: in memory, or with a path, in a new file.

        Raises `SessionError` for a file that exists, and `SessionBusyError` while a call runs.
        """
        self._state.begin(changes=False)
        try:
            state = SessionState(new_id(), self._state.history.copy(), self.system_prompt, notes=self.notes)
            if path is not None:
                write_fork(state, path, self._state)
        finally:
            self._state.end()
        return self._view(state, replace(self._settings, meter=self._settings.meter.copy()))

    def with_llm(self, llm: llms.LLM) -> Session:
        """Returns the same session with another model: both share history, file and lock.

        Reasoning, ids of stored responses and uploaded files of one provider are not sent to another.
        """
        check_llm(llm)
        return self._view(self._state, replace(self._settings, llm=llm, meter=ContextMeter()))

    def history(self, *, full: bool = False) -> tuple[Message, ...]:
        """Returns the messages that the model is given; with `full`, all messages as they were before anything was
        compacted.
        """
        return self._state.history.messages if full else self.messages

    def recall(self, handle: str) -> SetAside | None:
        """Returns the result or the file that was set aside, by the handle that stands in its place; None for an
        unknown one.
        """
        return find_handle(handle, self._state.history.messages)

    def compact(self, keep: int = 6, focus: str | None = None) -> tuple[CallWarning, ...]:
        """Compacts all but the last `keep` exchanges now, with what is about `focus` above all; returns what was done.

        Raises `SessionBusyError` while a call runs, and as `ask` does.
        """
        return drive(self._compact(self._pipeline(True), keep, focus))

    async def acompact(self, keep: int = 6, focus: str | None = None) -> tuple[CallWarning, ...]:
        """The async version of `compact`."""
        return await self._compact(self._pipeline(False), keep, focus)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the session as JSON, with the content of its files: docs/sessions.md describes the format.

        The file is either complete or as before. Raises `SessionError` if it cannot be written.
        """
        try:
            schema.write_whole(Path(path), json.dumps(self.document(), ensure_ascii=False).encode("utf-8"))
        except (OSError, ValueError) as error:
            raise SessionError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}.") from None

    def document(self) -> dict[str, Any]:
        """Returns the session as JSON data, as `save` writes it.

        Raises `SessionError` if a file that a message refers to was deleted or changed.
        """
        state = self._state
        try:
            return document_of(state.history, state.id, state.system_prompt)
        except (OSError, schema.SchemaError) as error:
            raise SessionError(f"a file of the session cannot be read: {error}") from None

    def to_openai(self) -> OpenAIMessages:
        """Returns the messages with the system prompt in the format of OpenAI's Chat Completions. `warnings` of the
        list name what the format cannot express.
        """
        system = () if self.system_prompt is None else (Message.system(self.system_prompt),)
        if not (system or self.messages):
            return OpenAIMessages()
        data, warnings = self._settings.llm.openai_messages((*system, *self.messages))
        messages = OpenAIMessages(data)
        messages.warnings = tuple(warnings)
        return messages

    @property
    def estimated_tokens(self) -> int:
        """About how many tokens the messages have for the model: as the last response reported, or as estimated."""
        return self._settings.meter.tokens(self._state.history.tokens)

    def clear(self, *, keep_system: bool = True) -> None:
        """Removes all exchanges, and with `keep_system=False` the system prompt; in a file, they stay, marked.

        Raises `SessionBusyError` while a call runs.
        """
        state = self._state
        with state:
            if state.file is not None:
                state.file.clear(keep_system=keep_system)
            state.history = state.history.cleared()
            state.unwritten.clear()
            self._settings.meter.forget()
            if not keep_system:
                state.system_prompt = None

    def close(self) -> None:
        """Closes the file, if there is one; what a full disk kept out of it is written first. The LLM stays open."""
        if self._state.file is not None:
            self._state.write_last()
            self._state.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        llm, file = self._settings.llm, self._state.file
        where = "" if file is None else f" in {str(file.path)!r}"
        return f"<Session with {llm.provider}/{llm.model}: {len(self._state.history.exchanges)} exchanges{where}>"

    def _pipeline(self, sync: bool) -> Pipeline:
        return self._settings.llm.pipeline(sync=sync)

    def _turn(
        self,
        prompt: str | None,
        response_model: ResponseModel | None,
        request: Mapping[str, Any],
        answers: Sequence[schema.ToolAnswer] | None = None,
        *,
        stream: bool = False,
    ) -> SessionTurn:
        if response_model is not None:
            request = {**request, "response_model": response_model}
        return SessionTurn(self._state, self._settings, prompt, request, stream=stream, answers=answers)

    async def _compact(self, pipeline: Pipeline, keep: int, focus: str | None) -> tuple[CallWarning, ...]:
        if type(keep) is not int or keep < 0:
            raise InvalidInputError(f"expected a whole number of at least 0, got {shown(keep)}", path="keep")
        room = ContextRoom(self._state, self._settings, self._settings.defaults)
        with self._state:
            return await room.make_now(keep, focus, pipeline.runtime)

    def _view(self, state: SessionState, settings: SessionSettings) -> Session:
        other = Session.__new__(Session)
        other._settings, other._state = settings, state
        return other
