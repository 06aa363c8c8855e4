"""`POST /v1/decisions`: what a call would do with its files, without making it: the SDK's `plan`, for clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from abstractcore.concurrency import is_large
from abstractcore.schema import MediaDecision, WireResponse, to_data

from .bodies import read_object
from .dialects import ANTHROPIC, OPENAI_CHAT, OPENAI_RESPONSES, Dialect
from .exchange import Exchange
from .failures import refused
from .fetching import NoDownloads
from .jobs import Job
from .named_files import with_contents
from .requests import Request
from .tools.jobs import without_requested_tools
from .turns import turn_of

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
