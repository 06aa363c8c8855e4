"""Counts of tokens: `/v1/messages/count_tokens`, `:countTokens`."""

from __future__ import annotations

from ..concurrency import is_large
from ..errors import UnsupportedOptionError
from ..schema import WireResponse
from .exchange import Exchange
from .jobs import Job
from .named_files import with_contents
from .settlements import COSTS_NOTHING, estimated

_COUNT_TOKENS = "count_tokens"


async def count_tokens(exchange: Exchange) -> WireResponse:
    """Counts the tokens of a request, by its provider or as an estimate.

    Of a provider that cannot count it is an estimate, and the response has the header `x-abstractcore-estimate`.
    """
    body = await exchange.body()
    asked = await exchange.off_loop(is_large(body), exchange.dialect.read_count, exchange.request, body)
    job = await with_contents(Job.of(exchange, asked))
    planned = await job.planned(job.served.llms[0])
    headers = {"content-type": "application/json"}
    lease = await exchange.begin(planned.call)
    try:
        planned = await job.guarded(planned)
        async with exchange.state.drains.watched(exchange.connection, "cancel"):
            counted = await planned.llm.aoperate_call(_COUNT_TOKENS, planned.call, timeout=job.timeout)
        tokens: int = counted.value
    except UnsupportedOptionError:
        headers["x-abstractcore-estimate"] = "true"
        settlement = await job.off_loop(estimated, planned.llm, planned.call, None, "done")
        tokens = settlement.usage.input or 0
    finally:
        await lease.settle(COSTS_NOTHING)
    return WireResponse(200, exchange.headers(headers), exchange.dialect.render_count(tokens))
