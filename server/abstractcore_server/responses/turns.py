"""`ResponseTurn`: a response that continues what is stored, and is stored itself."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from abstractcore.concurrency import is_large
from abstractcore.errors import InvalidInputError

from ..calls.jobs import AnswerJob
from ..dialects.base import ClientRequest, flag_at
from ..failures import RequestRefused, refusal
from ..stored_state import StoredTables
from ..tools.requests import uses_tools
from .items import Item, compact, stored_items

if TYPE_CHECKING:
    from ..context import RequestContext
    from ..store.responses import StoredResponse

UNENDED = ("queued", "in_progress")
"""The statuses of a response that is being made."""
_PREVIOUS, _CONVERSATION, _STORE = "previous_response_id", "conversation", "store"
_BACKGROUND = "background"
_LINE = b"data: "
_log = logging.getLogger("abstractcore.server")


async def turn_of(job: AnswerJob) -> ResponseTurn | None:
    """Returns the turn of a request for a response; None for one that is the vendor's own affair.

    Models of OpenAI's own API have a store of their own. Ids that are not stored here are sent to it, and it keeps
    answers for `"store": true`; without the field it is told to keep none, and they are stored here. What is made in
    the background is this server's in any case, and so is what has tools that this server runs.

    Raises `RequestRefused` for an id that nobody knows, and for a response that cannot be continued.
    """
    data = job.client_request.data
    own_format = job.has_own_format and not uses_tools(data)
    previous, conversation = _id_at(data, _PREVIOUS), _id_at(data, _CONVERSATION)
    if previous is not None and conversation is not None:
        raise InvalidInputError(f"it cannot be given together with {_CONVERSATION}", path=_PREVIOUS)
    in_background = flag_at(data, _BACKGROUND)
    if in_background and not flag_at(data, _STORE, True):
        raise refusal(400, "a response in the background has to be stored", path=_BACKGROUND)
    keeps = in_background or (flag_at(data, _STORE, True) and not (own_format and _STORE in data))
    kept = None if previous is None else job.context.connection.kept_items(previous)
    earlier = kept if kept is not None else await _earlier_items(job, previous, conversation)
    if earlier is None and (previous is not None or conversation is not None):
        if own_format and not in_background:
            return None
        raise _unknown(previous, conversation)
    is_vendors = own_format and earlier is None and not keeps
    if not is_vendors:
        job = await _continue(job, earlier, keeps=keeps)
    given, size = data.get("input", []), len(job.client_request.wire.body)
    await job.off_loop(job.context.connection.keep_items, earlier or (), given, size)
    if is_vendors:
        return None
    items = await job.off_loop(stored_items, given, "input")
    return ResponseTurn(job, keeps, previous, conversation, items, kept or (), in_background)


async def continue_response(job: AnswerJob) -> AnswerJob:
    """Returns the job of a request that stores nothing, which has the items that it continues.

    Raises `RequestRefused` for an id that is not stored here, and for a response that cannot be continued.
    """
    previous = _id_at(job.client_request.data, _PREVIOUS)
    earlier = await _earlier_items(job, previous, None)
    if earlier is None and previous is not None:
        raise _unknown(previous, None)
    return await _continue(job, earlier, keeps=False)


@dataclass(frozen=True, slots=True)
class ResponseTurn:
    """What is stored of one response: itself, with the `items` of its input, if it `keeps`, and in its conversation.
    `job` has the items that it continues, `kept` are those of them that its connection has kept.
    """

    job: AnswerJob
    keeps: bool
    previous: str | None
    conversation: str | None
    items: Sequence[Item]
    kept: Sequence[Item] = ()
    in_background: bool = False

    @property
    def kept_job(self) -> AnswerJob:
        """The job, whose answer is stored before it is sent."""
        return replace(self.job, keep=self.keep)

    async def keep(self, body: bytes) -> bytes:
        """Stores an answer, whole or the end of its stream; returns it as it is to be sent.

        If it cannot be stored, the answer says so in its field `store`.
        """
        read = _last_response if self.job.client_request.stream else json.loads
        response: Mapping[str, Any] | None = await self.job.context.off_loop(is_large(body), read, body)
        if response is None or not (self.keeps or self.conversation):
            return body
        try:
            await self.job.context.state.stored.run(lambda tables: self._store(tables, response))
        except RequestRefused as error:
            _log.error("a response was not stored: %s", error)
            return body.replace(b'"store":true', b'"store":false')
        return body

    def _store(self, tables: StoredTables, response: Mapping[str, Any]) -> None:
        from ..store.responses import StoredResponse

        owner = self.job.context.grant.owner
        if self.keeps:
            items, previous = self.items, self.previous
            if previous is not None and self.kept and tables.responses.find(owner, previous) is None:
                items, previous = [*self.kept, *items], None  # the connection will not keep them for long
            tables.responses.add(owner, StoredResponse(response, items, previous))
        if self.conversation is not None:
            tables.conversations.append(owner, self.conversation, [*self.items, *response["output"]])


async def _earlier_items(job: AnswerJob, previous: str | None, conversation: str | None) -> Sequence[Item] | None:
    """Returns the items that a request continues; None for none, and if they are not stored here."""
    stored, owner = job.context.state.stored, job.context.grant.owner
    if previous is not None:
        await _check_ended(job, previous)
        return await stored.run(lambda tables: tables.responses.context(owner, previous))
    if conversation is not None:
        return await stored.run(lambda tables: tables.conversations.items(owner, conversation))
    return None


async def _check_ended(job: AnswerJob, previous: str) -> None:
    """Raises `RequestRefused` for a response that has no answer to continue."""
    found = await found_response(job.context, previous)
    status = None if found is None else found.body.get("status")
    if status not in (None, "completed", "incomplete"):
        raise refusal(400, f"the response {previous[:100]!r} cannot be continued: it is {status}", path=_PREVIOUS)


async def found_response(context: RequestContext, id: str) -> StoredResponse | None:
    """Returns a stored response; None if the client has none with this id. One whose process has ended has failed."""
    key = (context.grant.owner, id)
    is_made_here = context.state.backgrounds.find(key) is not None

    def find(tables: StoredTables) -> StoredResponse | None:
        found = tables.responses.find(*key)
        if found is None or is_made_here or found.body.get("status") not in UNENDED:
            return found
        tables.background.free_expired(key)
        return tables.responses.find(*key)

    return await context.state.stored.run(find)


async def _continue(job: AnswerJob, earlier: Sequence[Item] | None, *, keeps: bool) -> AnswerJob:
    """Returns the job with the items that it continues."""
    large = is_large(job.client_request.wire.body) or is_large(earlier or ())
    return replace(job, client_request=await job.context.off_loop(large, _client_request, job, earlier, keeps))


def _client_request(job: AnswerJob, earlier: Sequence[Item] | None, keeps: bool) -> ClientRequest:
    """Returns the request with the earlier items before its own."""
    client_request = replace(job.client_request, own={_STORE: keeps})
    if earlier is None:
        return client_request
    rest = {name: value for name, value in job.client_request.data.items() if name not in (_PREVIOUS, _CONVERSATION)}
    given = rest.get("input", [])
    own = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if not isinstance(own, list):
        return client_request  # the wire format says what is wrong with it
    rest["input"] = [*earlier, *cast("list[Any]", own)]
    return replace(client_request, wire=replace(client_request.wire, body=compact(rest)), is_changed=True)


def _id_at(data: Mapping[str, Any], name: str) -> str | None:
    """Returns the id of a response or conversation; raises `InvalidInputError` for anything else."""
    value = data.get(name)
    if name == _CONVERSATION and isinstance(value, dict):
        value = cast("Mapping[str, Any]", value).get("id", "")
    if value is not None and not (isinstance(value, str) and value and value.isprintable()):
        raise InvalidInputError("expected an id", path=name)
    return value


def _unknown(previous: str | None, conversation: str | None) -> RequestRefused:
    what, id, path = (
        ("response", previous, _PREVIOUS) if previous is not None else ("conversation", conversation, _CONVERSATION)
    )
    message = f"there is no {what} {str(id)[:100]!r} here: it was not stored, has expired, or was deleted"
    if path == _CONVERSATION:
        return refusal(404, message, path=path)
    return refusal(400, message, path=path, code="previous_response_not_found")


def _last_response(events: bytes) -> Mapping[str, Any] | None:
    """Returns the response in the last event of a stream that has one."""
    for line in reversed(events.splitlines()):
        if line.startswith(_LINE) and b'"response":{' in line:
            return json.loads(line[len(_LINE) :])["response"]
    return None
