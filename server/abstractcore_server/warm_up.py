"""`WarmUp`: the answer to a request that generates nothing, `"generate": false` over WebSocket."""

from __future__ import annotations

from abstractcore.schema import ReplyEnd, ReplyStart, Usage, UsageDelta

from .connection import Connection
from .jobs import Job
from .named_files import with_contents


class WarmUp:
    """A response without output, which its id continues. No model is called: most providers have nothing like it."""

    def __init__(self, job: Job) -> None:
        self._job = job

    async def send_to(self, connection: Connection) -> None:
        """Sends the events of the response; raises what is wrong with the request."""
        job, llm = await with_contents(self._job), self._job.served.llms[0]
        await job.planned(llm)
        renderer = job.exchange.dialect.renderer(job.exchange.format, job.asked, job.stamp)
        deltas = (ReplyStart(0, llm.model, llm.provider), UsageDelta(1, Usage(0, 0)), ReplyEnd(2, "stop"))
        events = b"".join(map(renderer.feed, deltas)) + renderer.finish()
        await connection.write(events if job.keep is None else await job.keep(events), more=False)
