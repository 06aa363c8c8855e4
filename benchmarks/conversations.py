"""The cost of the data model without a network: a conversation of 100 messages, and the deltas of a long stream."""

from __future__ import annotations

import clients
import wire
from rounds import Row, Setup, best, cpu_seconds, repeated

from abstractcore import Delta, accumulate, digest
from abstractcore.schema import WireResponse
from abstractcore_providers.formats.openai_chat import OpenAIChat

_MESSAGES = 100
_TEXT = "Light in a vacuum travels 299,792,458 metres in a second, which is how the metre is defined. " * 4


def conversation(setup: Setup) -> list[Row]:
    """Building, encoding and decoding a call; its digest; accumulating deltas."""
    llm, wire_format = clients.ours(setup.url), OpenAIChat()
    messages = [{"role": ("user", "assistant")[i % 2], "content": f"{i}: {_TEXT}"} for i in range(_MESSAGES)]
    call = llm.build(clients.PROMPT, messages=messages)
    response = WireResponse(200, {}, wire.completion())
    deltas = _deltas(wire_format)
    things = {
        "build": (lambda: llm.build(clients.PROMPT, messages=messages), 100),
        "encode": (lambda: wire_format.encode(call), 100),
        "decode": (lambda: wire_format.decode(response), 500),
        "digest": (lambda: digest(call), 100),
        "accumulate": (lambda: accumulate(deltas), 10),
    }
    times = best(
        {name: cpu_seconds(repeated(thing, count), count) for name, (thing, count) in things.items()}, setup.rounds
    )
    return [
        Row("100 messages: build", times["build"]),
        Row("100 messages: encode", times["encode"]),
        Row("a reply: decode", times["decode"]),
        Row("build, encode and decode", times["build"] + times["encode"] + times["decode"], goal=1e-3),
        Row("100 messages: digest", times["digest"], goal=500e-6),
        Row("accumulate, a delta", times["accumulate"] / len(deltas), goal=1e-6),
    ]


def _deltas(wire_format: OpenAIChat) -> list[Delta]:
    framer, decoder = wire_format.framer(), wire_format.decoder()
    frames = [frame for piece in wire.pieces() for frame in framer.feed(piece)]
    return [delta for frame in frames for delta in decoder.feed(frame)] + decoder.finish()
