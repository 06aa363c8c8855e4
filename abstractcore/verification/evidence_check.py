"""`EvidenceCheck`: asks for quotes beside a typed answer, and checks them when it is complete."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import Any

from ..files.extracted_texts import file_texts, with_extracted_texts
from ..engine.pipeline import Pipeline
from ..engine.prepared import Prepare, Prepared
from ..ports import Runtime
from ..schema import EvidenceMap, GenerateResponse, Message, ModelCall, TextPart, ToolResult
from ..schema.source_texts import TextSource
from .checking import check_quotes
from .quoted_output import QuotedOutput
from .quotes import Answer, instruction

_OUT_OF_TIME = "the quote was not searched: the time limit of the call had passed"


class EvidenceCheck:
    """The evidence of one call. `prepare` and `read_output` are those of the call, with quotes beside the answer.

    `timeout` is that of the call in seconds, from `prepare` on. `call` is given for one that has been made already.
    """

    def __init__(
        self, prepare: Prepare, output: QuotedOutput, timeout: float | None, call: ModelCall | None = None
    ) -> None:
        self._prepare = prepare
        self._output = output
        self._timeout = timeout
        self._call = call
        self._start: float | None = None
        self.read_output = output.read

    async def prepare(self, runtime: Runtime) -> Prepared:
        """Returns the prepared call, with what the model is asked for in a system message."""
        self._start = runtime.now() if self._start is None else self._start
        prepared = await self._prepare(runtime)
        if self._call is None:
            self._call = _instructed(prepared.call, instruction(self._output.schema, self._output.files))
        return replace(prepared, call=self._call)

    async def checked(self, response: GenerateResponse[Any], pipeline: Pipeline) -> GenerateResponse[Any]:
        """Returns the response with its evidence. What cannot be checked, also in time, is not verified: the answer is
        never lost.
        """
        answer, call, runtime = self._output.answer, self._call, pipeline.runtime
        if answer is None or call is None:  # the result of a tool is the answer, or there is none yet
            return response
        limit = runtime.timeout(self._seconds_left(runtime))
        try:
            async with limit:
                response, sources = await _read(response, call, pipeline)
                evidence = await runtime.call(check_quotes, answer, self._output.schema.schema, sources)
        except TimeoutError:
            if not limit.expired():
                raise
            evidence = _not_searched(answer, self._output)
        return replace(response, evidence=evidence)

    def end(self) -> None:
        """Nothing waits for the check."""

    def _seconds_left(self, runtime: Runtime) -> float | None:
        if self._timeout is None or self._start is None:
            return None
        return max(self._start + self._timeout - runtime.now(), 0)


def _instructed(call: ModelCall, text: str) -> ModelCall:
    """Returns the call with a system message after the first ones."""
    position = sum(1 for _ in takewhile(lambda message: message.role == "system", call.messages))
    messages = (*call.messages[:position], Message.system(text), *call.messages[position:])
    return call.with_(messages=messages)


def _not_searched(answer: Answer, output: QuotedOutput) -> EvidenceMap:
    unsearched = check_quotes(answer, output.schema.schema, ())
    return EvidenceMap(
        tuple(each if each.quote is None else replace(each, reason=_OUT_OF_TIME) for each in unsearched.entries)
    )


async def _read(
    response: GenerateResponse[Any], call: ModelCall, pipeline: Pipeline
) -> tuple[GenerateResponse[Any], list[TextSource]]:
    """Returns the response with its files read, and the texts of files, of user messages, and of the results of tools,
    in this order.
    """
    response = await with_extracted_texts(response, call, pipeline.files, pipeline.runtime)
    files = file_texts(response)
    return response, [*files, *user_messages(call), *tool_results(response, call)]


def user_messages(call: ModelCall) -> list[TextSource]:
    """Returns the texts of the user's messages."""
    return [
        TextSource("message", "user", part.text)
        for message in call.messages
        if message.role == "user"
        for part in message.parts
        if isinstance(part, TextPart)
    ]


def tool_results(response: GenerateResponse[Any], call: ModelCall) -> list[TextSource]:
    """Returns the results of tools, in the messages of a call and of its rounds."""
    names = {each.id: each.name for message in call.messages for each in message.tool_calls}
    results = [part for message in call.messages for part in message.parts if isinstance(part, ToolResult)]
    given = [(names.get(result.call_id, "tool"), result) for result in results]
    given += [(step.call.name, step.result) for step in response.tool_steps]
    return [TextSource("tool_result", name, result.as_text) for name, result in given]
