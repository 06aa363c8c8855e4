"""A profile of one call and of one streamed chunk: each stage alone, then with all preceding ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import clients
import wire
from rounds import Row, Setup, best, cpu_seconds, repeated

from abstractcore import LLM, GenerateResponse, Price, Services, create_llm
from abstractcore.engine import lower
from abstractcore.ports import Address, CallContext, CallEnd, CallNext, ModelProfile, ProviderSession, Transport
from abstractcore.registry import Registry
from abstractcore.schema import WireRequest, WireResponse
from abstractcore.telemetry import EndedCall
from abstractcore.transport.messages import to_http
from abstractcore_providers.common.endpoints import BearerAuth, FixedEndpoint
from abstractcore_providers.formats.openai_chat import OpenAIChat

_COUNT = 200


def stages(setup: Setup) -> list[Row]:
    """The stages of a call, then those of a chunk."""
    return call_stages(setup) + chunk_stages(setup)


def call_stages(setup: Setup) -> list[Row]:
    """Build, lower, encode, decode and record alone; the whole pipeline without a network, then with one; the cost."""
    wire_format, body = OpenAIChat(), wire.completion()
    response = WireResponse(200, {}, body)
    ends: list[tuple[CallContext, CallEnd]] = []
    offline, online = _offline([body], price=Price(2, 10)), clients.ours(f"{setup.url}/v1")
    _offline([body], middleware=[_Watching(ends)]).generate(clients.PROMPT, system_prompt=clients.SYSTEM)
    (context, end) = ends.pop()
    call, pricing = context.call, Services(environment={}).catalogue.pricing("openai", clients.MODEL)
    request = BearerAuth(clients.KEY).sign(wire_format.encode(call).request.with_url(f"{setup.url}/v1/x"), 0.0)
    things: Mapping[str, Callable[[], object]] = {
        "call: build": lambda: online.build(clients.PROMPT, system_prompt=clients.SYSTEM),
        "call: lower": lambda: lower(call, ModelProfile(), ()),
        "call: encode": lambda: wire_format.encode(call),
        "call: request for the HTTP library": lambda: to_http(request, 600.0, lambda event, info: None),
        "call: decode": lambda: wire_format.decode(response),
        "call: all without a network": lambda: _offline_call(offline),
        "call: and its cost": lambda: _offline_call(offline).cost,
        "call: all with HTTP": lambda: online.generate(clients.PROMPT, system_prompt=clients.SYSTEM),
        "call: its record": lambda: EndedCall(context, end, pricing).record("off"),
    }
    return _rows(things, setup)


def chunk_stages(setup: Setup) -> list[Row]:
    """Framing; with decoding; with engine and client over chunks in memory; with HTTP."""
    wire_format, pieces = OpenAIChat(), wire.pieces()
    offline, online = _offline(pieces), clients.ours(f"{setup.url}/v1")

    def frame() -> None:
        framer = wire_format.framer()
        for piece in pieces:
            framer.feed(piece)

    def decode() -> None:
        framer, decoder = wire_format.framer(), wire_format.decoder()
        for piece in pieces:
            for event in framer.feed(piece):
                decoder.feed(event)

    def stream(llm: LLM) -> Callable[[], None]:
        def read() -> None:
            for _ in llm.stream(clients.PROMPT):
                pass

        return read

    things = {
        "chunk: framing": frame,
        "chunk: and decoding": decode,
        "chunk: and engine and facade": stream(offline),
        "chunk: and HTTP": stream(online),
    }
    times = best({name: cpu_seconds(thing, wire.CHUNKS) for name, thing in things.items()}, setup.rounds)
    return [Row(name, seconds) for name, seconds in times.items()]


def _rows(things: Mapping[str, Callable[[], object]], setup: Setup) -> list[Row]:
    times = best({name: cpu_seconds(repeated(thing, _COUNT), _COUNT) for name, thing in things.items()}, setup.rounds)
    return [Row(name, seconds) for name, seconds in times.items()]


def _offline_call(llm: LLM) -> GenerateResponse[None]:
    return llm.generate(clients.PROMPT, system_prompt=clients.SYSTEM)


class _Watching:
    """Records the ends of calls."""

    def __init__(self, ends: list[tuple[CallContext, CallEnd]]) -> None:
        self._ends = ends

    def around_call(self, context: CallContext, next: CallNext):
        context.at_end.append(lambda end: self._ends.append((context, end)))
        return next(context)


class _Body:
    """A response in memory."""

    status = 200
    headers: Mapping[str, str] = {}

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = iter(pieces)

    async def read(self) -> bytes:
        return next(self._pieces, b"")

    async def close(self) -> None:
        return

    def abort(self) -> None:
        return


class _Memory:
    """A transport that returns the same response to every request."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    async def open(self, request: WireRequest, timeout: float) -> _Body:
        return _Body(self._pieces)

    async def close(self) -> None:
        return


class _Provider:
    """OpenAI's format over an in-memory transport."""

    name, summary, options = "memory", "answers from memory", {}

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def connect(self, config, services) -> ProviderSession:
        endpoint = FixedEndpoint(Address("memory://", BearerAuth(clients.KEY), self._transport))
        return ProviderSession(clients.MODEL, OpenAIChat(), endpoint, ModelProfile())


def _offline(pieces: list[bytes], **options) -> LLM:
    registry = Registry()
    registry.add_provider(_Provider(_Memory(pieces)))
    return create_llm("memory", services=Services(registry=registry), **options)
