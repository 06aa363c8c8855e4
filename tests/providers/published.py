"""Published examples of vendors' documentation, for any format, and bytes to and from streams."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from abstractcore.framing import AwsEventStreamFramer, AwsEventStreamMessage, LineFramer
from abstractcore.ports import Transpiler
from abstractcore.schema import (
    Delta,
    Message,
    ModelCall,
    ModelReply,
    TextPart,
    WireRequest,
    WireResponse,
    accumulate,
    deltas_of,
)
from abstractcore_providers.formats.registered import FORMATS

HERE = Path(__file__).parent / "formats"
KINDS = ("request", "reply", "stream", "error")
JSON_TYPE = {"content-type": "application/json"}
PLAINEST = ModelCall("m", (Message.user("hi"),))
_END_MARK = b"data: [DONE]\n\n"


@dataclass(frozen=True)
class Fixture:
    """One file of `format`, called `name.kind.json`; a stream has one frame's JSON a line."""

    format: str
    path: Path

    def __str__(self) -> str:
        return f"{self.format}/{self.path.name}"

    @property
    def name(self) -> str:
        return self.path.name.split(".")[0]

    @property
    def kind(self) -> str:
        return self.path.name.split(".")[1]

    @property
    def transpiler(self) -> Transpiler:
        return FORMATS[self.format]()

    def twin_of(self, other: "Fixture") -> bool:
        """Whether both are of one format and have one name."""
        return (self.format, self.name) == (other.format, other.name)

    def read(self) -> Any:
        """The file's JSON; a list of it for a stream."""
        text = self.path.read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()] if self.kind == "stream" else json.loads(text)


def folder(format: str) -> Path:
    return HERE / format


def fixtures(*kinds: str) -> list[Fixture]:
    """The files of all formats, of these kinds."""
    files = [(name, path) for name in FORMATS for path in sorted((folder(name) / "published").glob("*.json*"))]
    found = [Fixture(name, path) for name, path in files]
    return [fixture for fixture in found if fixture.kind in (kinds or KINDS)]


def spelling(format: str) -> dict[str, str]:
    """The places where a request is written otherwise than it was printed, each with the reason."""
    path = folder(format) / "spelling.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def request_of(fixture: Fixture) -> WireRequest:
    """The printed request: the body alone, or `{"url": ..., "body": ...}` where the URL says something too."""
    data = fixture.read()
    if set(data) != {"url", "body"}:
        data = {"url": FORMATS[fixture.format]().encode(PLAINEST).request.url, "body": data}
    return WireRequest(data["url"], JSON_TYPE, json.dumps(data["body"]).encode())


def response_of(body: Any, status: int = 200, headers: Mapping[str, str] = JSON_TYPE) -> WireResponse:
    """An answer with this body, as JSON unless it is a text."""
    return WireResponse(status, headers, body.encode() if isinstance(body, str) else json.dumps(body).encode())


def reply_of(fixture: Fixture) -> ModelReply:
    """The printed reply, or what the printed stream adds up to."""
    if fixture.kind == "reply":
        return fixture.transpiler.decode(response_of(fixture.read()))
    stream = stream_of(fixture.transpiler, fixture.read())
    return accumulate(decoded(fixture.transpiler, frames_of(fixture.transpiler, [stream])))


@cache
def provider_of(format: str) -> str:
    """The provider that the format's calls are for."""
    transpiler = FORMATS[format]()
    return transpiler.parse(transpiler.encode(PLAINEST).request).call.provider


def stream_of(transpiler: Transpiler, frames: Sequence[Any]) -> bytes:
    """The bytes of a stream whose frames hold this JSON."""
    payloads = [json.dumps(frame).encode() for frame in frames]
    framer = transpiler.framer()
    if isinstance(framer, LineFramer):
        return b"".join(payload + b"\n" for payload in payloads)
    if isinstance(framer, AwsEventStreamFramer):
        return b"".join(aws_message(frame) for frame in frames)
    named = [(_event(frame), payload) for frame, payload in zip(frames, payloads, strict=True)]
    events = b"".join(name + b"data: " + payload + b"\n\n" for name, payload in named)
    return events + (_END_MARK if _own_stream(transpiler).endswith(_END_MARK) else b"")


def aws_message(frame: Any) -> bytes:
    """`{name: payload}` as the service sends it."""
    ((name, payload),) = frame.items()
    kind = "exception" if name.endswith("Exception") else "event"
    headers = {f":{kind}-type": name, ":content-type": "application/json", ":message-type": kind}
    return AwsEventStreamMessage(headers, json.dumps(payload).encode()).encode()


def _event(frame: Any) -> bytes:
    name = frame.get("type") if isinstance(frame, dict) else None
    return f"event: {name}\n".encode() if isinstance(name, str) else b""


def _own_stream(transpiler: Transpiler) -> bytes:
    renderer = transpiler.renderer()
    return b"".join(map(renderer.feed, deltas_of(ModelReply((TextPart("hi"),), "stop")))) + renderer.finish()


def frames_of(transpiler: Transpiler, pieces: Iterable[bytes]) -> list[Any]:
    """The frames of a stream that comes in these pieces."""
    framer = transpiler.framer()
    return [frame for piece in pieces for frame in framer.feed(piece)] + list(framer.finish())


def decoded(transpiler: Transpiler, frames: Iterable[Any]) -> Iterator[Delta]:
    """Returns the deltas of a stream, read like the engine: to the end, or until the decoder is complete."""
    decoder = transpiler.decoder()
    for frame in frames:
        yield from decoder.feed(frame)
        if decoder.complete:
            break
    yield from decoder.finish()
