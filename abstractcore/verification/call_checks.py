"""`EvidenceCheck` and `VerificationCheck`: the checks of a call's answer against its files, after its last round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from ..engine.endings import notify_of
from ..engine.prepared import Prepare, Prepared
from ..errors import InvalidInputError
from ..files.call_files import CallFiles
from ..files.extracted_texts import file_texts, unread_pieces, with_extracted_texts
from ..outputs.output_types import OutputType
from ..ports import CallContext, CallEnd, Runtime, TimeLimit
from ..schema import EvidenceMap, GenerateResponse, Message, ModelCall, TextPart, ToolResult
from ..schema.base_error import shown
from ..schema.evidence import Verification
from ..schema.source_texts import TextSource
from .claim_checks import check_claims
from .quote_checks import check_quotes
from .quoted_answers import QuotedAnswer
from .quoted_output import QuotedOutput, quote_instruction
from .second_means import verify_on_page_images, verify_on_recordings
from .speech import recheck_speech

_QUOTE_OUT_OF_TIME = "the quote was not searched: the time limit of the call had passed"
_OUT_OF_TIME = Verification(problems=("the answer was not checked: the time limit of the call had passed",))
_ANSWER_OF_TOOL = Verification(problems=("the answer is the result of a tool, and was not checked",))


class _CallCheck:
    """A check of one call, which `prepare` builds. `timeout` is that of the call in seconds, from `prepare` on."""

    def __init__(self, prepare: Prepare, timeout: float | None, call: ModelCall | None = None) -> None:
        self._prepare = prepare
        self._timeout = timeout
        self._call: ModelCall | None = call
        self._start: float | None = None

    async def _begin(self, runtime: Runtime) -> Prepared:
        self._start = runtime.now() if self._start is None else self._start
        return await self._prepare(runtime)

    def _time_left(self, runtime: Runtime) -> TimeLimit:
        if self._timeout is None or self._start is None:
            return runtime.timeout(None)
        return runtime.timeout(max(self._start + self._timeout - runtime.now(), 0))


class EvidenceCheck(_CallCheck):
    """The evidence of one call. `prepare` and `read_output` are those of the call, with quotes beside the answer.

    `call` is given for one that has been made already.
    """

    def __init__(
        self, prepare: Prepare, output: QuotedOutput, timeout: float | None, call: ModelCall | None = None
    ) -> None:
        super().__init__(prepare, timeout, call)
        self._output = output
        self.read_output = output.read

    async def prepare(self, runtime: Runtime) -> Prepared:
        """Returns the prepared call, with what the model is asked for in a system message."""
        prepared = await self._begin(runtime)
        if self._call is None:
            self._call = _with_instruction(prepared.call, quote_instruction(self._output.schema, self._output.files))
        return replace(prepared, input=self._call)

    async def check(self, response: GenerateResponse[Any], files: CallFiles, runtime: Runtime) -> GenerateResponse[Any]:
        """Returns the response with its evidence. What cannot be checked, also in time, is not verified: the answer is
        never lost.
        """
        answer, call, schema = self._output.answer, self._call, self._output.schema.schema
        if answer is None or call is None:  # the result of a tool is the answer, or there is none yet
            return response
        limit = self._time_left(runtime)
        try:
            async with limit:
                response = await with_extracted_texts(response, call, files, runtime)
                sources = [*file_texts(response), *_user_messages(call), *_tool_results(response, call)]
                evidence = await runtime.call(check_quotes, answer, schema, sources)
        except TimeoutError:
            if not limit.expired():
                raise
            evidence = _not_searched(answer, self._output)
        return replace(response, evidence=evidence)

    def end(self) -> None:
        """Nothing waits for the check."""


def _with_instruction(call: ModelCall, text: str) -> ModelCall:
    """Returns the call with a system message after the first ones."""
    position = sum(1 for _ in takewhile(lambda message: message.role == "system", call.messages))
    messages = (*call.messages[:position], Message.system(text), *call.messages[position:])
    return call.with_(messages=messages)


def _not_searched(answer: QuotedAnswer, output: QuotedOutput) -> EvidenceMap:
    unsearched = check_quotes(answer, output.schema.schema, ())
    return EvidenceMap(
        tuple(each if each.quote is None else replace(each, reason=_QUOTE_OUT_OF_TIME) for each in unsearched.entries)
    )


def requested_verification(
    verify: object, output: OutputType | None, prepare: Prepare, timeout: float | None
) -> VerificationCheck:
    """Returns the verification of a call that `prepare` builds; raises `InvalidInputError` for a typed answer."""
    if verify is not True:
        hint = "Certificates are an option of create_llm: create_llm(..., verify=...)."
        raise InvalidInputError(f"expected True or False, got {shown(verify)}", path="verify", hint=hint)
    if output is not None:
        hint = "Pass evidence=True instead: each value of a typed answer gets a quote."
        raise InvalidInputError("only text answers are verified", path="verify", hint=hint)
    return VerificationCheck(prepare, timeout)


class VerificationCheck(_CallCheck):
    """The verification of one call: its figures, names and dates, read back from the files.

    The end of its last round is held back until the answer is checked, so that its record has the verification.
    """

    def __init__(self, prepare: Prepare, timeout: float | None) -> None:
        super().__init__(prepare, timeout)
        self._held_end: tuple[CallContext, CallEnd] | None = None

    async def prepare(self, runtime: Runtime) -> Prepared:
        """Returns the prepared call, whose end is held back."""
        prepared = await self._begin(runtime)
        self._call = prepared.call
        return replace(prepared, hold_end=self._hold_end)

    async def check(self, response: GenerateResponse[Any], files: CallFiles, runtime: Runtime) -> GenerateResponse[Any]:
        """Returns the response with its verification; what cannot be checked, also in time, is one of its problems."""
        call = self._call
        if call is None or response.pending or not response.content:
            return response
        if any(step.final for step in response.tool_steps):
            return self._with_verification(response, _ANSWER_OF_TOOL)
        limit = self._time_left(runtime)
        verification = _OUT_OF_TIME
        try:
            async with limit:
                response = await with_extracted_texts(response, call, files, runtime, words_only=True)
                verification = await runtime.call(_verify, response.content, _sources(response, call))
                problems = (*verification.problems, *unread_pieces(response))
                verification = replace(verification, problems=problems)
                verification = await verify_on_page_images(response, call, verification, files, runtime)
                verification = await verify_on_recordings(response, call, verification, files, runtime)
        except TimeoutError:
            if not limit.expired():
                raise
            if verification is not _OUT_OF_TIME:
                problems = (*verification.problems, "no time was left for a second means")
                verification = replace(verification, problems=problems)
        return self._with_verification(response, verification)

    def end(self) -> None:
        """Ends the call that is held back, if there is one."""
        held, self._held_end = self._held_end, None
        if held is not None:
            context, end = held
            notify_of(end, context)

    def _hold_end(self, context: CallContext, end: CallEnd) -> bool:
        """Holds back the end of a round that may be the last one, and ends the round before it."""
        self.end()
        if end.outcome != "done" or end.reply is None or end.reply.tool_calls:
            return False
        self._held_end = context, end
        return True

    def _with_verification(self, response: GenerateResponse[Any], verification: Verification) -> GenerateResponse[Any]:
        if self._held_end is not None:
            self._held_end[0].verification = verification
        return replace(response, verification=verification)


def _verify(answer: str, sources: Sequence[TextSource]) -> Verification:
    return recheck_speech(answer, check_claims(answer, sources), sources)


def _sources(response: GenerateResponse[Any], call: ModelCall) -> list[TextSource]:
    """Returns the texts of files and of results of tools; the user's messages where there are neither.

    A figure of the question does not confirm the same figure in the answer.
    """
    return [*file_texts(response), *_tool_results(response, call)] or _user_messages(call)


def _user_messages(call: ModelCall) -> list[TextSource]:
    """Returns the texts of the user's messages."""
    return [
        TextSource("message", "user", part.text)
        for message in call.messages
        if message.role == "user"
        for part in message.parts
        if isinstance(part, TextPart)
    ]


def _tool_results(response: GenerateResponse[Any], call: ModelCall) -> list[TextSource]:
    """Returns the results of tools, in the messages of a call and of its rounds."""
    names = {each.id: each.name for message in call.messages for each in message.tool_calls}
    results = [part for message in call.messages for part in message.parts if isinstance(part, ToolResult)]
    given = [(names.get(result.call_id, "tool"), result) for result in results]
    given += [(step.call.name, step.result) for step in response.tool_steps]
    return [TextSource("tool_result", name, result.as_text) for name, result in given]
