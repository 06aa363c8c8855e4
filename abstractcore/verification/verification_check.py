"""`VerificationCheck`: reads the figures, names and dates of an answer back from the files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..engine.endings import notify_of
from ..files.extracted_texts import file_texts, unread_pieces, with_extracted_texts
from ..engine.pipeline import Pipeline
from ..engine.prepared import Prepare, Prepared
from ..ports import CallContext, CallEnd, Runtime
from ..schema import GenerateResponse, ModelCall
from ..schema.source_texts import TextSource
from ..schema.verifications import Verification
from .evidence_check import tool_results, user_messages
from .page_images import look_at_pages
from .recordings import verify_on_recordings
from .spoken import check_speech
from .verifying import verify

_OF_TOOL = Verification(problems=("the answer is the result of a tool, and was not checked",))
_OUT_OF_TIME = Verification(problems=("the answer was not checked: the time limit of the call had passed",))


class VerificationCheck:
    """The verification of one call. `timeout` is that of the call in seconds, from `prepare` on.

    The end of its last round is held back until the answer is checked, so that its record has the verification.
    """

    def __init__(self, prepare: Prepare, timeout: float | None) -> None:
        self._prepare = prepare
        self._timeout = timeout
        self._start: float | None = None
        self._call: ModelCall | None = None
        self._held: tuple[CallContext, CallEnd] | None = None

    async def prepare(self, runtime: Runtime) -> Prepared:
        """Returns the prepared call, whose end is held back."""
        self._start = runtime.now() if self._start is None else self._start
        prepared = await self._prepare(runtime)
        self._call = prepared.call
        return replace(prepared, hold_end=self._hold)

    async def checked(self, response: GenerateResponse[Any], pipeline: Pipeline) -> GenerateResponse[Any]:
        """Returns the response with its verification; what cannot be checked, also in time, is one of its problems."""
        call, runtime = self._call, pipeline.runtime
        if call is None or response.pending or not response.content:
            return response
        if any(step.final for step in response.tool_steps):
            return self._verified(response, _OF_TOOL)
        limit = runtime.timeout(self._seconds_left(runtime))
        verification = _OUT_OF_TIME
        try:
            async with limit:
                response = await with_extracted_texts(response, call, pipeline.files, runtime, words_only=True)
                verification = await runtime.call(_checks, response.content, _sources(response, call))
                problems = (*verification.problems, *unread_pieces(response))
                verification = replace(verification, problems=problems)
                verification = await look_at_pages(response, call, verification, pipeline)
                verification = await verify_on_recordings(response, call, verification, pipeline)
        except TimeoutError:
            if not limit.expired():
                raise
            if verification is not _OUT_OF_TIME:
                problems = (*verification.problems, "no time was left for a second means")
                verification = replace(verification, problems=problems)
        return self._verified(response, verification)

    def end(self) -> None:
        """Ends the call that is held back, if there is one."""
        held, self._held = self._held, None
        if held is not None:
            context, end = held
            notify_of(end, context)

    def _hold(self, context: CallContext, end: CallEnd) -> bool:
        """Holds back the end of a round that may be the last one, and ends the round before it."""
        self.end()
        if end.outcome != "done" or end.reply is None or end.reply.tool_calls:
            return False
        self._held = context, end
        return True

    def _verified(self, response: GenerateResponse[Any], verification: Verification) -> GenerateResponse[Any]:
        if self._held is not None:
            self._held[0].verification = verification
        return replace(response, verification=verification)

    def _seconds_left(self, runtime: Runtime) -> float | None:
        if self._timeout is None or self._start is None:
            return None
        return max(self._start + self._timeout - runtime.now(), 0)


def _checks(answer: str, sources: Sequence[TextSource]) -> Verification:
    return check_speech(answer, verify(answer, sources), sources)


def _sources(response: GenerateResponse[Any], call: ModelCall) -> list[TextSource]:
    """Returns the texts of files and of results of tools; the user's messages where there are neither.

    A figure of the question does not confirm the same figure in the answer.
    """
    return [*file_texts(response), *tool_results(response, call)] or user_messages(call)
