"""The one path of a request for an answer: read, find the model, call it, write its reply; or report its decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import jiter

import abstractcore
from abstractcore.concurrency import is_large
from abstractcore.schema import (
    GenerateResponse,
    MediaDecision,
    ModelReply,
    Rendered,
    WireResponse,
    to_data,
)

from ..context import NoDownloads, Reply, RequestContext
from ..dialects import ANTHROPIC, OPENAI_CHAT, OPENAI_RESPONSES, ClientDialect
from ..failures import refusal
from ..records import RECEIPT_HEADER
from ..requests import RequestHead, read_object
from ..responses.turns import turn_of
from ..tools.requests import with_attached_tools, without_requested_tools
from .jobs import MODEL_CHANGE, AnswerJob, PlannedCall, answer_of_members, in_member_time
from .passthrough import changed_paths, digest_of
from .reasoning import with_opaque_signatures
from .replies import reply_extension, reply_warnings, with_extension, with_valid_arguments
from .streaming import StreamedAnswer


async def answer(context: RequestContext) -> Reply:
    """Calls a model; returns its reply, whole or as a stream."""
    return await answer_of(await read(context))


async def answer_of(job: AnswerJob) -> Reply:
    """Calls a model for a job, with the tools that its model gets in every API."""
    return await answer_job(await with_attached_tools(job) if job.context.state.settings.mcp else job)


async def read(context: RequestContext) -> AnswerJob:
    """Returns the job of a request for an answer."""
    body = context.entry.receipt.request = await context.body()
    client_request = await context.off_loop(is_large(body), context.dialect.read, context.request, body)
    return AnswerJob.of(context, client_request)


async def answer_job(job: AnswerJob) -> Reply:
    """Does a job."""
    job = await job.with_file_contents()
    if job.client_request.stream:
        return StreamedAnswer(job)
    context = job.context
    async with context.state.drains.watch(context.connection, job.resolved.on_disconnect):
        answers = await all_answers(job)
    return await whole_response(job, answers)


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """One answer, and the call that it is of. `received` is the reply of all its rounds, `reply` what the guards
    have left of it.
    """

    planned: PlannedCall
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

    def for_client(self, reply: ModelReply) -> ModelReply:
        """Returns a reply as the client may have it."""
        if self.planned.rounds is not None:
            reply = self.planned.rounds.shown_reply(reply)
        reply = self.planned.tools.in_reply(reply)
        reply = with_valid_arguments(self.planned.head.in_reply(reply), self.planned.head.dialect)
        return reply if self.planned.own_format else with_opaque_signatures(reply, self.planned.origin)


async def all_answers(job: AnswerJob) -> list[CallAnswer]:
    """Returns an answer for each choice, of the first model that has one."""

    async def answer_of_choice(_: int) -> CallAnswer:
        return await answer_of_members(
            job.context, job.resolved, lambda llm: _call(job, llm), session_id=job.session_id
        )

    return await job.for_each_choice(answer_of_choice)


async def _call(job: AnswerJob, llm: abstractcore.LLM) -> CallAnswer:
    async with job.begin_call(await job.plan(llm)) as (planned, spending):
        async with in_member_time(job.resolved):
            if planned.rounds is None:
                response = await planned.llm.arun(planned.call, timeout=job.timeout)
                received = response.reply
            else:
                response, received = await planned.rounds.response(planned.llm, planned.call, job.timeout)
        spending.result = response
    reply = received
    if planned.guarding is not None:
        reply = await planned.guarding.reply(received)
    return CallAnswer(planned, response, received, reply)


def _render(job: AnswerJob, answers: list[CallAnswer]) -> Rendered:
    """Returns the body for the client: the provider's own, if the request was sent as the client wrote it."""
    first = answers[0]
    if first.is_untouched:
        return Rendered(_with_client_name(job, first.planned))
    rendered = _render_replies(job, first, [each.for_client(each.reply) for each in answers])
    if any(each.is_changed for each in answers):
        received = _render_replies(job, first, [each.for_client(each.received) for each in answers])
        changes = changed_paths(jiter.from_json(received.body), jiter.from_json(rendered.body))
        job.context.entry.receipt.add_reply_changes(changes)
    return rendered


def _with_client_name(job: AnswerJob, planned: PlannedCall) -> bytes:
    """Returns the provider's bytes, with the client's name of the model."""
    received = planned.relay.answer
    body = planned.head.in_body(received)
    if body is not received:
        job.context.entry.receipt.add_reply_changes((MODEL_CHANGE,))
    return body


def _render_replies(job: AnswerJob, first: CallAnswer, replies: list[ModelReply]) -> Rendered:
    return job.context.dialect.render(first.planned.transpiler, replies, job.client_request, job.stamp)


async def whole_response(job: AnswerJob, answers: list[CallAnswer]) -> WireResponse:
    """Returns the response to the client. Its headers are those of the first answer."""
    first = answers[0]
    rendered, guarding = _render(job, answers), first.planned.guarding
    if first.is_untouched:  # nothing was written from the canonical call, and what that cannot hold is not lost
        warnings = () if guarding is None else (*guarding.warnings,)
    else:
        warnings = reply_warnings(first.planned, first.response, first.received, rendered.warnings)
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
        body = with_extension(body, reply_extension(first.planned, first.response, first.received, warnings))
    if job.keep is not None:
        body = await job.keep(body)
    headers[RECEIPT_HEADER] = await job.off_loop(job.context.entry.receipt.header, digest_of(body))
    return WireResponse(200, job.context.headers(headers), body)


_FETCHED_HERE: Final = "us"


async def decide(context: RequestContext) -> WireResponse:
    """Returns the decisions of a call about its files, its warnings and its models, without making it.

    The body is that of a call of Chat Completions, Responses or Messages. Raises the errors that the call would raise
    before it converts files.
    """
    body = context.entry.receipt.request = await context.body()
    large = is_large(body)
    context = replace(context, dialect=await context.off_loop(large, _dialect_of, context.request, body))
    job = AnswerJob.of(context, await context.off_loop(large, context.dialect.read, context.request, body))
    job = await with_everything(job)
    async with context.state.drains.watch(context.connection, "cancel"):
        return context.answer(await _decisions(job))


async def with_everything(job: AnswerJob) -> AnswerJob:
    """Returns the job of a request that is not made, with the items that it continues and the contents of files."""
    if job.context.dialect is OPENAI_RESPONSES:
        turn = await turn_of(job)
        job = without_requested_tools(job if turn is None else turn.job)
    return await job.with_file_contents()


def _dialect_of(request: RequestHead, body: bytes) -> ClientDialect:
    """Returns the API of a body: of those that have `messages`, Anthropic's clients send the version of theirs."""
    data = read_object(body, request.headers)
    if ("messages" in data) == ("input" in data):
        message = "expected `messages`, as for /v1/chat/completions and /v1/messages, or `input`, as for /v1/responses"
        raise refusal(400, message, path="messages")
    if "input" in data:
        return OPENAI_RESPONSES
    return ANTHROPIC if "anthropic-version" in request.headers else OPENAI_CHAT


async def _decisions(job: AnswerJob) -> Mapping[str, Any]:
    """Returns the decisions of the first model's call. It counts as a request, and costs nothing."""
    first, *others = job.resolved.llms
    planned = await job.plan(first)
    async with job.context.account(planned.call):
        plan = await first.aplan_call(planned.call, timeout=job.timeout)
    _check_downloads(job.context, plan.media)
    return {
        "object": "decisions",
        "model": planned.origin,
        "fallbacks": [f"{llm.provider}/{llm.model}" for llm in others],
        "media": [to_data(decision) for decision in plan.media],
        "warnings": [to_data(warning) for warning in (*planned.warnings, *plan.warnings)],
        "tool_search": plan.tool_search,
        "estimated_input_tokens": plan.estimated_input_tokens,
        "estimated_cost": plan.estimated_cost and to_data(plan.estimated_cost),
        "trace_id": job.context.request.trace_id,
    }


def _check_downloads(context: RequestContext, media: Sequence[MediaDecision]) -> None:
    """Raises `MediaError` for a URL that this server would have to download, and does not."""
    fetcher = context.state.services.fetcher
    for decision in media:
        if decision.fetch == _FETCHED_HERE and isinstance(fetcher, NoDownloads):
            fetcher.fetch(decision.source)


async def count_tokens(context: RequestContext) -> WireResponse:
    """Counts the tokens of a request, by its provider or as an estimate.

    Of a provider that cannot count it is an estimate, and the response has the header `x-abstractcore-estimate`.
    """
    body = await context.body()
    client_request = await context.off_loop(is_large(body), context.dialect.read_count, context.request, body)
    job = await with_everything(AnswerJob.of(context, client_request))
    planned = await job.plan(job.resolved.llms[0])
    async with context.account(planned.call), context.state.drains.watch(context.connection, "cancel"):
        planned = await job.guard(planned)
        tokens = await planned.llm.acount_tokens_call(planned.call, timeout=job.timeout)
    headers = {"content-type": "application/json"}
    if tokens.estimated:
        headers["x-abstractcore-estimate"] = "true"
    return WireResponse(200, context.headers(headers), context.dialect.render_count(int(tokens)))
