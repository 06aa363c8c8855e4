"""The one path of a request for an answer: read, find the model, call it, write its reply."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json

from ..errors import AbstractCoreError
from ..schema import CallWarning, GenerateResponse, ModelReply, Rendered, WireResponse
from .exchange import Exchange, Reply
from .extension import reply_fields, with_field
from .jobs import Job, Planned, may_fall_back
from .reasoning import sealed_reply
from .receipts import RECEIPT_HEADER, digest_of
from .settlements import estimated, failed, settlement_of
from .streaming import StreamedAnswer
from .uploaded_files import with_contents


async def answer(exchange: Exchange) -> Reply:
    """Answers a request with the reply of a model, whole or streamed."""
    return await answered(await read(exchange))


async def read(exchange: Exchange) -> Job:
    """Returns the job of a request for an answer."""
    body = exchange.entry.receipt.request = await exchange.body()
    return Job.of(exchange, exchange.dialect.read(exchange.request, body))


async def answered(job: Job) -> Reply:
    """Does a job."""
    job = await with_contents(job)
    if job.asked.stream:
        return StreamedAnswer(job)
    exchange = job.exchange
    async with exchange.state.drains.watched(exchange.connection, job.served.on_disconnect):
        answers = await all_answers(job)
    return await whole(job, answers)


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer, and the call that it is of."""

    planned: Planned
    response: GenerateResponse[Any]

    @property
    def reply(self) -> ModelReply:
        """The reply as the client may have it."""
        reply = self.response.reply
        return reply if self.planned.own_format else sealed_reply(reply, self.planned.origin)


async def all_answers(job: Job) -> list[Answered]:
    """Returns an answer for each choice. The first error cancels the other calls."""
    if job.asked.choices == 1:
        return [await _one_answer(job)]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_one_answer(job)) for _ in range(job.asked.choices)]
    except ExceptionGroup as group_error:
        raise group_error.exceptions[0] from None
    return [task.result() for task in tasks]


async def _one_answer(job: Job) -> Answered:
    """Returns the answer of the first model that has one."""
    *others, last = job.served.llms
    for llm in others:
        try:
            return await _called(job, job.planned(llm))
        except AbstractCoreError as error:
            if not may_fall_back(error):
                raise
    return await _called(job, job.planned(last))


async def _called(job: Job, planned: Planned) -> Answered:
    lease = await job.begin(planned)
    try:
        response = await planned.llm.arun(planned.call, timeout=job.timeout)
    except Exception as error:
        await lease.settle(failed(planned, error))
        raise
    except BaseException:
        await lease.settle(estimated(planned.llm, planned.call, None, "cancelled"))
        raise
    await lease.settle(settlement_of(response))
    return Answered(planned, response)


def _rendered(job: Job, answers: list[Answered]) -> Rendered:
    """Returns the body for the client: the provider's own, if the request was sent as the client wrote it."""
    planned = answers[0].planned
    if planned.relay.is_untouched:
        return Rendered(planned.relay.received)
    return job.exchange.dialect.render(planned.transpiler, [each.reply for each in answers], job.asked, job.stamp)


async def whole(job: Job, answers: list[Answered]) -> WireResponse:
    """Returns the response to the client. Its headers are those of the first answer."""
    first = answers[0]
    rendered = _rendered(job, answers)
    warnings: tuple[CallWarning, ...] = (*first.planned.warnings, *first.response.warnings, *rendered.warnings)
    if first.planned.relay.is_untouched:
        warnings = ()  # of what the canonical call cannot hold, and nothing was written from that
    name = f"{first.response.provider}/{first.response.model}"
    headers = {"content-type": "application/json", "x-abstractcore-model": name}
    costs = [each.response.cost for each in answers]
    known = [cost for cost in costs if cost is not None]
    if len(known) == len(costs):
        headers["x-abstractcore-cost"] = f"{sum(known):f}"
    if warnings:
        headers["x-abstractcore-warnings"] = str(len(warnings))
    body = rendered.body
    if job.extension.is_given:
        body = with_field(body, to_json(reply_fields(first.response, warnings, name)))
    if job.keep is not None:
        body = await job.keep(body)
    headers[RECEIPT_HEADER] = job.exchange.entry.receipt.header(digest_of(body))
    return WireResponse(200, job.exchange.headers(headers), body)
