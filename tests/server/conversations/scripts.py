"""What the vendor of a running server replies in a conversation, and what is wrong with the requests that it got."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.server.conversations.upstreams import Said, Upstream
from tests.server.serving import Served


def script(served: Served, upstream: Upstream, turns: Iterable[Said], *, stream: bool) -> None:
    """Sets the replies of the vendor."""
    replies = [upstream.reply(said, stream=stream) for said in turns]
    served.vendor.always_by(lambda request: [replies.pop(0)])


def problems(served: Served, upstream: Upstream) -> Iterator[str]:
    """What is wrong with the requests that the vendor has got, by its own rules."""
    for request in served.vendor.requests:
        yield from upstream.rules(request.json)
