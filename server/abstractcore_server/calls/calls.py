"""The one path of a request for an answer: read, find the model, call it, write its reply; or say what it would do."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import jiter
from pydantic_core import to_json

import abstractcore
from abstractcore.concurrency import is_large
from abstractcore.schema import (
    CallWarning,
    GenerateResponse,
    MediaDecision,
    ModelReply,
    Rendered,
    WireResponse,
    to_data,
)

from ..context import Exchange, NoDownloads, Reply
from ..dialects import ANTHROPIC, OPENAI_CHAT, OPENAI_RESPONSES, Dialect
from ..failures import refused
from ..files.contents import with_contents
from ..records import RECEIPT_HEADER
from ..requests import Request, read_object
from ..responses.turns import turn_of
from ..tools.requests import with_attached_tools, without_requested_tools
from .jobs import Job, Planned, first_of
from .passthrough import changed_paths, digest_of
from .reasoning import sealed_reply
from .replies import MODEL_CHANGE, reply_fields, with_field, with_valid_arguments
from .streaming import StreamedAnswer


async def answer(exchange: Exchange) -> Reply:
    """Calls a model; returns its reply, whole or as a stream."""
    return await answer_of(await read(exchange))


async def answer_of(job: Job) -> Reply:
    """Calls a model for a job, with the tools that its model gets in every API."""
    return await answered(await with_attached_tools(job))


async def read(exchange: Exchange) -> Job:
    """Returns the job of a request for an answer."""
    body = exchange.entry.receipt.request = await exchange.body()
    asked = await exchange.off_loop(is_large(body), exchange.dialect.read, exchange.request, body)
    return Job.of(exchange, asked)


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
    """One answer, and the call that it is of. `received` is the reply of all its rounds, `reply` what the guards
    have left of it.
    """

    planned: Planned
    response: GenerateResponse[Any]
    received: ModelReply
    reply: ModelReply

    @property
    def is_changed(self) -> bool:
        """Whether a guard has changed the reply."""
        return self.reply is not self.received

    @property
    def is_untouched(self) -> bool:
        """Whether the client gets the provider's bytes."""
        return self.planned.relay.is_untouched and not self.is_changed

    def sealed(self, reply: ModelReply) -> ModelReply:
        """Returns a reply as the client may have it."""
        if self.planned.rounds is not None:
            reply = self.planned.rounds.shown(reply)
        reply = self.planned.tools.in_reply(reply)
        reply = with_valid_arguments(self.planned.head.in_reply(reply), self.planned.head.dialect)
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
    return await first_of(job.exchange, job.served.llms, lambda llm: _called(job, llm))


async def _called(job: Job, llm: abstractcore.LLM) -> Answered:
    async with job.begun(await job.planned(llm)) as (planned, spending):
        if planned.rounds is None:
            response = await planned.llm.arun(planned.call, timeout=job.timeout)
            received = response.reply
        else:
            response, received = await planned.rounds.response(planned.llm, planned.call, job.timeout)
        spending.result = response
    reply = received
    if planned.guarding is not None:
        reply = await planned.guarding.reply(received)
    return Answered(planned, response, received, reply)


def _rendered(job: Job, answers: list[Answered]) -> Rendered:
    """Returns the body for the client: the provider's own, if the request was sent as the client wrote it."""
    first = answers[0]
    if first.is_untouched:
        return Rendered(_renamed(job, first.planned))
    rendered = _written(job, first, [each.sealed(each.reply) for each in answers])
    if any(each.is_changed for each in answers):
        received = _written(job, first, [each.sealed(each.received) for each in answers])
        changes = changed_paths(jiter.from_json(received.body), jiter.from_json(rendered.body))
        job.exchange.entry.receipt.add_reply_changes(changes)
    return rendered


def _renamed(job: Job, planned: Planned) -> bytes:
    """Returns the provider's bytes, with the client's name of the model."""
    received = planned.relay.received
    body = planned.head.in_body(received)
    if body is not received:
        job.exchange.entry.receipt.add_reply_changes((MODEL_CHANGE,))
    return body


def _written(job: Job, first: Answered, replies: list[ModelReply]) -> Rendered:
    return job.exchange.dialect.render(first.planned.transpiler, replies, job.asked, job.stamp)


async def whole(job: Job, answers: list[Answered]) -> WireResponse:
    """Returns the response to the client. Its headers are those of the first answer."""
    first = answers[0]
    rendered = _rendered(job, answers)
    warnings: tuple[CallWarning, ...] = (
        *first.planned.warnings,
        *first.response.warnings,
        *first.planned.head.warnings(first.received),
        *rendered.warnings,
    )
    if first.is_untouched:
        warnings = ()  # of what the canonical call cannot hold, and nothing was written from that
    guarding = first.planned.guarding
    decisions = () if guarding is None else guarding.decisions
    warnings = warnings if guarding is None else (*warnings, *guarding.warnings)
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
        left_out = {} if first.is_untouched else first.planned.head.left_out(first.received)
        fields = reply_fields(first.response, warnings, name, decisions, first.planned.rounds, left_out)
        body = with_field(body, to_json(fields))
    if job.keep is not None:
        body = await job.keep(body)
    headers[RECEIPT_HEADER] = await job.off_loop(job.exchange.entry.receipt.header, digest_of(body))
    return WireResponse(200, job.exchange.headers(headers), body)


_FETCHED_HERE: Final = "us"


async def decide(exchange: Exchange) -> WireResponse:
    """Returns what a call would do with its files, its warnings and its models, without making it.

    The body is that of a call of Chat Completions, Responses or Messages. Raises the errors that the call would raise
    before it converts files.
    """
    body = exchange.entry.receipt.request = await exchange.body()
    large = is_large(body)
    exchange = replace(exchange, dialect=await exchange.off_loop(large, _dialect_of, exchange.request, body))
    job = Job.of(exchange, await exchange.off_loop(large, exchange.dialect.read, exchange.request, body))
    job = await with_everything(job)
    async with exchange.state.drains.watched(exchange.connection, "cancel"):
        return exchange.answer(await _decisions(job))


async def with_everything(job: Job) -> Job:
    """Returns the job of a request that is not made, with the items that it continues and the contents of files."""
    if job.exchange.dialect is OPENAI_RESPONSES:
        turn = await turn_of(job)
        job = without_requested_tools(job if turn is None else turn.job)
    return await with_contents(job)


def _dialect_of(request: Request, body: bytes) -> Dialect:
    """Returns the API of a body: of those that have `messages`, Anthropic's clients send the version of theirs."""
    data = read_object(body, request.headers)
    if ("messages" in data) == ("input" in data):
        message = "expected `messages`, as for /v1/chat/completions and /v1/messages, or `input`, as for /v1/responses"
        raise refused(400, message, path="messages")
    if "input" in data:
        return OPENAI_RESPONSES
    return ANTHROPIC if "anthropic-version" in request.headers else OPENAI_CHAT


async def _decisions(job: Job) -> Mapping[str, Any]:
    """Returns what the first model's call would do. It counts as a request, and costs nothing."""
    first, *others = job.served.llms
    planned = await job.planned(first)
    async with job.exchange.account(planned.call):
        plan = await first.aplan_call(planned.call, timeout=job.timeout)
    _check_downloads(job.exchange, plan.media)
    return {
        "object": "decisions",
        "model": planned.origin,
        "fallbacks": [f"{llm.provider}/{llm.model}" for llm in others],
        "media": [to_data(decision) for decision in plan.media],
        "warnings": [to_data(warning) for warning in (*planned.warnings, *plan.warnings)],
        "tool_search": plan.tool_search,
        "estimated_input_tokens": plan.estimated_input_tokens,
        "estimated_cost": plan.estimated_cost and to_data(plan.estimated_cost),
        "trace_id": job.exchange.request.trace_id,
    }


def _check_downloads(exchange: Exchange, media: Sequence[MediaDecision]) -> None:
    """Raises `MediaError` for a URL that this server would have to download, and does not."""
    fetcher = exchange.state.services.fetcher
    for decision in media:
        if decision.fetch == _FETCHED_HERE and isinstance(fetcher, NoDownloads):
            fetcher.fetch(decision.source)


async def count_tokens(exchange: Exchange) -> WireResponse:
    """Counts the tokens of a request, by its provider or as an estimate.

    Of a provider that cannot count it is an estimate, and the response has the header `x-abstractcore-estimate`.
    """
    body = await exchange.body()
    asked = await exchange.off_loop(is_large(body), exchange.dialect.read_count, exchange.request, body)
    job = await with_everything(Job.of(exchange, asked))
    planned = await job.planned(job.served.llms[0])
    async with exchange.account(planned.call), exchange.state.drains.watched(exchange.connection, "cancel"):
        planned = await job.guarded(planned)
        tokens = await planned.llm.acount_tokens_call(planned.call, timeout=job.timeout)
    headers = {"content-type": "application/json"}
    if tokens.estimated:
        headers["x-abstractcore-estimate"] = "true"
    return WireResponse(200, exchange.headers(headers), exchange.dialect.render_count(int(tokens)))
