"""Counts of tokens: `/v1/messages/count_tokens`, `/v1/responses/input_tokens`, `:countTokens`."""

from __future__ import annotations

from abstractcore.concurrency import is_large
from abstractcore.schema import WireResponse

from .decisions import with_everything
from .exchange import Exchange
from .jobs import Job


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
