"""`Session`: a conversation with a model that is kept, in memory or in a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack, overload

from .. import schema
from ..client.options import CallRequest, Output
from ..client.streams import AsyncStream, Stream
from ..concurrency import drive
from ..engine import Pipeline
from ..errors import InvalidInputError, SessionError
from ..lazy_modules import LazyModule
from ..option_help import takes
from ..outputs import ResponseModel
from ..registry.suggestions import missing_path_hint
from ..schema import CallWarning, GenerateResponse
from ..schema.base_error import shown
from .documents import read_json
from .history import SessionHistory
from .loading import take_document, take_file
from .options import SessionOptions
from .room import ContextRoom
from .state import SessionState, check_llm, new_id, request_on, settings_of
from .streams import SessionStream
from .turns import SessionTurn
from .views import SessionView

if TYPE_CHECKING:
    import typing_extensions

    from ..client import llm as llms
else:
    typing_extensions = LazyModule("typing_extensions")
    llms = LazyModule("abstractcore.client.llm")


class Session(SessionView):
    """A conversation with `llm`: `ask` sends it with a question, and adds the answer. `llm.session(...)` makes one.

    A call that fails, is cancelled or is left leaves the history as it was; with `keep_partial`, what had arrived is
    kept. One call runs at a time: a second one raises `SessionBusyError`. Sync and async calls may alternate, in any
    thread or task.

    The context never overflows: once it would fill more than `fill` of the model's context, old results of tools and
    files are set aside, then the oldest exchanges become a summary. `compact` says how: "summary" asks the model,
    "drop" leaves them out, a function of the oldest messages returns a text or messages; None leaves all as it is.
    `history(full=True)` has every message nevertheless. `options` are those of every call, as `generate` takes them.
    """

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
        release or not a session, and one that cannot be read or written.
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
        `SessionError` for a file that cannot be read or is not a session.
        """
        session = cls(llm, **options)
        try:
            text = Path(path).read_bytes()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise SessionError(f"{path} cannot be read: {reason}.", hint=missing_path_hint(str(path))) from None
        take_document(
            session._state, session._settings, read_json(text, str(path)), strict=options.get("strict") is True
        )
        return session

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

    def compact(self, keep: int = 6, focus: str | None = None) -> tuple[CallWarning, ...]:
        """Compacts all but the last `keep` exchanges now, with what is about `focus` above all; returns what was done.

        Raises `SessionBusyError` while a call runs, and as `ask` does.
        """
        return drive(self._compact(self._pipeline(True), keep, focus))

    async def acompact(self, keep: int = 6, focus: str | None = None) -> tuple[CallWarning, ...]:
        """The async version of `compact`."""
        return await self._compact(self._pipeline(False), keep, focus)

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
