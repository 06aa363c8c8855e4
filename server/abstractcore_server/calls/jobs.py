"""`AnswerJob`: a request for an answer, as calls of the models that may answer it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import abstractcore
from abstractcore.concurrency import is_large
from abstractcore.errors import (
    FallbackExhaustedError,
    InvalidInputError,
    MemberFailure,
    RequestTimeoutError,
)
from abstractcore.ports import Transpiler
from abstractcore.routing import RoutedCall
from abstractcore.schema import (
    CallWarning,
    Delta,
    ModelCall,
    ModelReply,
    Parsed,
    ReplyEnd,
    ReplyStart,
    SchemaError,
    WireRequest,
)

from ..access.guarding import Guarding
from ..access.settlements import Spending
from ..context import RequestContext
from ..dialects.base import ClientDialect, ClientRequest, Extension, ReplyStamp
from ..failures import refusal
from ..files.file_ids import check_ids, resolve_file_ids
from ..models import ResolvedModel
from ..tools.adapting import AdaptedCall, ClientTools, adapted_client_tools, adapted_hosted_tools
from ..tools.items import ItemParts, ToolOffer, names_of
from ..tools.merging import NoParts
from ..tools.repeated_results import without_repeated_results
from ..tools.rounds import ToolRounds
from .passthrough import ReadCall, Relay, with_text, with_text_in_lines
from .reasoning import OPAQUE_MARKS, OPAQUE_PARTS, with_origins

T = TypeVar("T")
_log = logging.getLogger("abstractcore.server")
_DEVELOPER = b'"developer"'
"""OpenAI's role for system messages. Chat templates of other models do not know it."""
_TRACE_HEADERS = ("traceparent", "tracestate")
_BYTES_PER_TOKEN = 4
_SESSION = "session"
_CACHE_KEY = "prompt_cache_key"
"""The field of OpenAI's APIs that names calls whose beginnings are alike."""
MODEL_CHANGE = "model"
"""The path of a receipt for a reply whose model has the client's name."""
_WRITTEN_BY_FORMATS = frozenset({"logprobs"})
"""Metadata that replies of all vendors have in common: each wire format writes them in its own way."""


@dataclass(frozen=True, slots=True)
class ReplyHead:
    """The name of the model, the id and the fields of the replies to one request.

    `model` is the name that the client has sent: some clients keep reasoning only if it comes back. Without
    `own_format`, the reply is of another API than the client's: an id of that API is left out, and so is each field
    that the client's API has under the same name (`ClientDialect.reply_fields`), since it means something else there.
    With `is_renamed`, the vendor has another name for the model.
    """

    dialect: ClientDialect
    model: str
    own_format: bool
    is_renamed: bool

    def in_reply(self, reply: ModelReply) -> ModelReply:
        """Returns a reply with this head."""
        metadata = self._metadata(reply.provider_metadata)
        return replace(reply, id=self._id(reply.id), model=self._model(reply.model), provider_metadata=metadata)

    def in_delta(self, delta: Delta) -> Delta:
        """Returns a delta of a reply with this head."""
        if isinstance(delta, ReplyStart):
            return replace(delta, id=self._id(delta.id), model=self._model(delta.model))
        if isinstance(delta, ReplyEnd):
            return replace(delta, provider_metadata=self._metadata(delta.provider_metadata))
        return delta

    def in_body(self, body: bytes) -> bytes:
        """Returns the vendor's own reply with the client's name of the model, and all else byte for byte."""
        for path in self.dialect.model_paths if self.is_renamed else ():
            body = with_text(body, path, self.model) or body
        return body

    def in_events(self, events: bytes) -> bytes:
        """Returns whole events of the vendor's own stream, as `in_body` does."""
        return with_text_in_lines(events, self.dialect.model_paths, self.model) if self.is_renamed else events

    def left_out(self, reply: ModelReply) -> dict[str, Any]:
        """Returns the fields of a reply that its client does not get."""
        kept = self._metadata(reply.provider_metadata)
        return {name: value for name, value in reply.provider_metadata.items() if name not in kept}

    def warnings(self, reply: ModelReply) -> tuple[CallWarning, ...]:
        """Returns a warning for each field of a reply that its client does not get."""
        message = "the client's API has a field of this name, which means something else"
        names = self.left_out(reply)
        return tuple(CallWarning("metadata_left_out", f"provider_metadata.{name}", message) for name in names)

    def _model(self, received: str | None) -> str | None:
        return self.model if self.is_renamed or received is None else received

    def _id(self, received: str | None) -> str | None:
        is_kept = received is None or self.own_format or received.startswith(self.dialect.id_prefix)
        return received if is_kept else None

    def _metadata(self, received: Mapping[str, Any]) -> Mapping[str, Any]:
        taken = frozenset[str]() if self.own_format else self.dialect.reply_fields - _WRITTEN_BY_FORMATS
        return {name: value for name, value in received.items() if name not in taken}


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """The call of one model. `transpiler` renders its reply: the model's own wire format, if the client speaks it
    (`own_format`), else the client's. `warnings` are those of reading the request. `relay` has the bytes of the call,
    `head` the id, model and time of its reply, `tools` the client's tools that are functions in the call, `guarding`
    the guards that have checked it, None if there are none. `rounds` are those of a call whose tools the server runs.
    """

    llm: abstractcore.LLM
    call: ModelCall
    transpiler: Transpiler
    own_format: bool
    warnings: tuple[CallWarning, ...]
    relay: Relay
    head: ReplyHead
    tools: ClientTools = field(default_factory=ClientTools)
    guarding: Guarding | None = None
    rounds: ToolRounds | None = None

    @property
    def origin(self) -> str:
        """The model, as its reasoning names it."""
        return f"{self.llm.provider}/{self.llm.model}"


@dataclass(frozen=True, slots=True)
class AnswerJob:
    """What one request asks for, of whom, and how. `keep` stores the answer, or the end of its stream, before it is
    sent; returns it as it is to be sent. `offer` are the tools that the server runs.
    """

    context: RequestContext
    client_request: ClientRequest
    extension: Extension
    resolved: ResolvedModel
    keep: Callable[[bytes], Awaitable[bytes]] | None = None
    offer: ToolOffer | None = None

    @classmethod
    def of(cls, context: RequestContext, client_request: ClientRequest) -> AnswerJob:
        """Returns the job of a request.

        Raises `ModelNotFoundError`, `AccessDeniedError` for a model that the key may not use, and `RequestRefused` for
        too many choices.
        """
        extension = Extension.of(client_request.extension)
        resolved = context.state.llms.find(client_request.model, context.dialect.vendors)
        context.grant.check_model(*resolved.names)
        most = context.state.settings.limits.choices
        if client_request.choices > most:
            raise refusal(400, f"at most {most} answers can be requested at once", path="n")
        return cls(context, client_request, extension, resolved)

    @property
    def timeout(self) -> float:
        """The time for a call, in seconds."""
        most = self.context.grant.call_seconds or self.context.state.settings.limits.call_seconds
        given = self.extension.timeout
        return most if given is None else min(given, most)

    @property
    def session_id(self) -> str | None:
        """The session of the request for its group of models: the tag `session` of the field `abstractcore`, or
        `prompt_cache_key`. Sessions of two keys are two, whatever their names.
        """
        tags = (self.extension.changes or {}).get("tags")
        named = cast("Mapping[object, object]", tags).get(_SESSION) if isinstance(tags, Mapping) else None
        session = named or self.client_request.data.get(_CACHE_KEY)
        return f"{self.context.grant.owner} {session}" if isinstance(session, str) and session else None

    @property
    def stamp(self) -> ReplyStamp:
        """What only the server knows of a reply."""
        return ReplyStamp(self.context.request.trace_id, self.context.time)

    @property
    def has_own_format(self) -> bool:
        """Whether all models that may answer speak the client's API themselves."""
        return all(map(self._speaks, self.resolved.llms))

    def _speaks(self, llm: abstractcore.LLM) -> bool:
        return type(llm.transpiler) is type(self.context.format)

    async def for_each_choice(self, call: Callable[[int], Coroutine[Any, Any, T]]) -> list[T]:
        """Returns the result of `call` for the number of each choice. The first error cancels the other calls."""
        choices = self.client_request.choices
        if choices == 1:
            return [await call(0)]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(call(number)) for number in range(choices)]
        except ExceptionGroup as group_error:
            raise group_error.exceptions[0] from None
        return [task.result() for task in tasks]

    async def off_loop(self, function: Callable[..., T], *arguments: object) -> T:
        """Returns the result of a function that works on the whole request; on a large one in a worker thread."""
        return await self.context.off_loop(is_large(self.client_request.wire.body), function, *arguments)

    async def with_file_contents(self) -> AnswerJob:
        """Returns the job with the contents of files that its messages name by ids of this server."""
        if not self.client_request.may_name_files:
            return self
        return replace(self, client_request=await resolve_file_ids(self.context, self.client_request))

    async def plan(self, llm: abstractcore.LLM) -> PlannedCall:
        """Returns the call of a model; raises `InvalidInputError` with the path, in the request, of what is wrong."""
        return await self.off_loop(self._plan, llm)

    def _plan(self, llm: abstractcore.LLM) -> PlannedCall:
        own_format = self._speaks(llm)
        if self.client_request.may_name_files and not own_format:
            check_ids(self.client_request)
        transpiler = llm.transpiler if own_format else self.context.format
        wire, of_wire = (
            (self.client_request.wire, []) if own_format else self.context.dialect.for_others(self.client_request)
        )
        parsed, repeated = self._parse(transpiler, wire)
        adapted = AdaptedCall(parsed.call, ClientTools())
        if not own_format:
            adapted = adapted_client_tools(parsed.call, self.context.dialect)
        call = adapted.call
        options, left_out = self._options(call, llm.provider, own_format)
        messages = call.messages
        if any(isinstance(part, OPAQUE_PARTS) for message in messages for part in message.parts):
            origins = (f"{call.provider}/{call.model}", f"{llm.provider}/{llm.model}")
            messages = with_origins(messages, *origins, own_format=own_format)
        call = _with_changes(
            call,
            provider=llm.provider,
            model=llm.model,
            stream=self.client_request.stream,
            messages=messages,
            provider_options=options,
            tags=self.context.grant.tags,
            trace_context=self._trace_context(),
        )
        relay = Relay(
            self.context.entry.receipt.request,
            self.client_request.data,
            ReadCall(call, transpiler) if own_format and self._is_plain_for(llm) and not repeated else None,
            self.context.dialect.event_ends,
            keeps_bodies=self.context.state.settings.server.receipts is not None,
        )
        call, lacking = self.extension.apply(call), list[CallWarning]()
        call = _with_changes(call, tags={**call.tags, **self.context.grant.tags})  # a client cannot change its key's
        if not own_format:
            must_call = any(warning.path == "tool_choice" for warning in left_out)
            call, lacking = adapted_hosted_tools(llm, call, adapted.others, must_call=must_call)
        warnings = (*of_wire, *repeated, *parsed.warnings, *adapted.warnings, *left_out, *lacking)
        head = ReplyHead(
            self.context.dialect, self.client_request.model, own_format, self.client_request.model != llm.model
        )
        planned = PlannedCall(llm, call, transpiler, own_format, warnings, relay, head, adapted.tools)
        return planned if self.offer is None else self._with_tools(planned, self.offer, parsed.call)

    def _parse(self, transpiler: Transpiler, wire: WireRequest) -> tuple[Parsed, Sequence[CallWarning]]:
        """Returns the call, and warnings for results in it that were left out since they are there twice."""
        try:
            return transpiler.parse(wire), ()
        except (InvalidInputError, SchemaError):
            body, warnings = without_repeated_results(self.context.dialect.format, wire.body)
            if not warnings:
                raise
            return transpiler.parse(replace(wire, body=body)), warnings

    def _with_tools(self, planned: PlannedCall, offer: ToolOffer, parsed: ModelCall) -> PlannedCall:
        """Returns the call with the tools that the server runs."""
        if planned.own_format and _has_other_tools(parsed):
            if offer.is_shown:
                raise InvalidInputError("tools of these types cannot be combined with MCP servers", path="tools")
            message = "the tools of MCP servers are left out: the request has tools of a type that is not a function"
            warning = CallWarning("tool_left_out", "tools", message)
            return replace(planned, warnings=(*planned.warnings, warning))
        call = planned.call
        tools = offer.tools_by_name(names_of(call))
        parts = NoParts()
        if offer.is_shown:
            parts = ItemParts(parsed.provider, planned.origin, tools, offer.listings, offer.approvals)
        context = self.context
        limits, owner = context.state.settings.limits, context.grant.owner
        rounds = ToolRounds(offer, tools, names_of(call), parts, limits, context.entry, owner)
        call = call.with_(tools=(*call.tools, *(each.tool.spec for each in tools.values())))
        return replace(planned, call=call, warnings=(*planned.warnings, *offer.warnings), rounds=rounds)

    def _is_plain_for(self, llm: abstractcore.LLM) -> bool:
        """Whether neither the request has, nor the answer needs, anything of the server's own, and the model's chat
        template, if there is one, knows the roles of its messages.
        """
        client_request = self.client_request
        has_own = self.extension.is_given or any(mark in client_request.wire.body for mark in OPAQUE_MARKS)
        has_own |= llm.profile.one_system_message and _DEVELOPER in client_request.wire.body
        is_asked_once = client_request.choices == 1 and not client_request.is_list and self.offer is None
        return is_asked_once and not client_request.is_changed and not has_own

    @asynccontextmanager
    async def begin_call(self, planned: PlannedCall) -> AsyncGenerator[tuple[PlannedCall, Spending]]:
        """Lets a call in, which this task makes in the body of `async with`: as its guards have left it, with what it
        spends, for which it is settled at the end.

        Raises as `Access.begin` does, and `RequestRefused` for what a guard refuses.
        """
        planned.relay.begin()
        self.context.entry.receipt.add(planned.origin, planned.relay)
        async with self.context.account(planned.call, large=is_large(self.client_request.wire.body)) as account:
            planned = await self.guard(planned)
            earlier = 0 if planned.rounds is None else planned.rounds.earlier
            account.spending = Spending(planned.call, planned.llm, earlier)
            try:
                yield planned, account.spending
            except Exception:
                planned.relay.fail()
                raise

    async def guard(self, planned: PlannedCall) -> PlannedCall:
        """Returns a call as its guards have left it; raises `RequestRefused` for what one refuses."""
        if not self.context.state.settings.guards:
            return planned
        guarding = Guarding.of(self.context, planned.call, self.resolved.names[0])
        if guarding is None:
            return planned
        planned.relay.is_guarded = bool(guarding.of_calls)
        call = await guarding.call(planned.call)
        rounds = None if planned.rounds is None else planned.rounds.with_guards(guarding)
        return replace(planned, call=call, guarding=guarding, rounds=rounds)

    def _options(
        self, call: ModelCall, provider: str, own_format: bool
    ) -> tuple[Mapping[str, Mapping[str, Any]], list[CallWarning]]:
        """Returns the fields of the request that a call has none for, and the provider has; with warnings for those
        that another provider has.
        """
        given = call.provider_options.get(call.provider, {})
        rest = without(given, self.context.dialect.own_fields)
        if own_format:
            return {call.provider: rest} if rest else {}, []
        rest = without(rest, self.context.dialect.state_fields)
        for name in rest:
            if name in self.context.dialect.needed_fields:
                message = f"{provider} does not support it, and without it the request would mean something else"
                raise InvalidInputError(message, path=name)
        message = f"{provider} has no such field"
        return {}, [CallWarning("field_left_out", name, message) for name in rest]

    def _trace_context(self) -> dict[str, str]:
        headers = self.context.request.headers
        return {name: headers[name] for name in _TRACE_HEADERS if name in headers}


def _with_changes(call: ModelCall, **changes: object) -> ModelCall:
    """Returns a call with changed fields; the call itself if it has them, since a copy is checked again as a whole."""
    different = {name: value for name, value in changes.items() if getattr(call, name) != value}
    return call.with_(**different) if different else call


def _has_other_tools(call: ModelCall) -> bool:
    """Whether a call has tools of types that it has no field for, or a computer, which the client runs."""
    runs_elsewhere = any(tool.kind == "computer_use" for tool in call.hosted_tools)
    return runs_elsewhere or bool(call.provider_options.get(call.provider, {}).get("tools"))


def without(options: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """Returns options without those of these names, of which some are of objects, as in "config.count"."""
    rest = {name: value for name, value in options.items() if name not in names}
    for outer, _, inner in (name.partition(".") for name in names):
        value = rest.get(outer)
        if inner and isinstance(value, Mapping) and inner in value:
            left = {name: item for name, item in cast("Mapping[str, Any]", value).items() if name != inner}
            if left:
                rest[outer] = left
            else:
                del rest[outer]
    return rest


async def answer_of_members(
    context: RequestContext,
    resolved: ResolvedModel,
    call: Callable[[abstractcore.LLM], Awaitable[T]],
    has_begun: Callable[[], bool] = lambda: False,
    session_id: str | None = None,
) -> T:
    """Returns the result of `call` for the first model of a group that does not fail in a way that lets the next one
    answer: none does once an answer `has_begun`. Raises the error of the last one.
    """
    if resolved.router is None:
        return await call(resolved.llms[0])

    async def call_member(llm: abstractcore.LLM, is_last: bool) -> T:
        return await call(llm)

    size = len(context.entry.receipt.request)
    given = RoutedCall(session_id=session_id, tokens=lambda: size // _BYTES_PER_TOKEN)
    runtime = context.state.services.async_runtime
    try:
        routed = await resolved.router.answer(call_member, runtime, given, has_begun=has_begun)
    except FallbackExhaustedError as error:
        *others, last = error.causes
        _log_failures(context, others)
        failure = last.error
        if not last.is_sent:  # other requests have it too
            failure = copy(failure)
            failure.retry_after = error.retry_after
        raise failure from None
    _log_failures(context, routed.failures)
    return routed.value


@asynccontextmanager
async def in_member_time(resolved: ResolvedModel) -> AsyncGenerator[None]:
    """Raises `RequestTimeoutError` if its body takes longer than a model of the group has to begin to answer."""
    seconds = None if resolved.router is None else resolved.router.routing.member_timeout
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError:
        if not limit.expired():
            raise
        raise RequestTimeoutError(f"the model has not begun to answer within {seconds:g} s") from None


def _log_failures(context: RequestContext, failures: Sequence[MemberFailure]) -> None:
    """Logs why others were asked: a client that gets an answer does not see it."""
    for each in failures:
        how = "failed" if each.is_sent else "is left alone"
        message = "request %s: %s %s, the next model is called: %s"
        _log.warning(message, context.request.trace_id, each.member, how, each.error.message)
