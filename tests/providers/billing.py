"""Checks of billing data that every wire format shares."""

from typing import Any, get_args

from pydantic import BaseModel

from abstractcore.ports import Transpiler
from abstractcore.schema import ModelReply, Usage, WireResponse, accumulate, deltas_of


def decoded(transpiler: Transpiler, body: bytes) -> ModelReply:
    """The reply in the body of a response."""
    return transpiler.decode(WireResponse(200, {"content-type": "application/json"}, body))


def streamed(transpiler: Transpiler, stream: bytes) -> ModelReply:
    """The reply in the bytes of a stream."""
    framer, decoder = transpiler.framer(), transpiler.decoder()
    frames = [*framer.feed(stream), *framer.finish()]
    return accumulate([delta for frame in frames for delta in decoder.feed(frame)] + decoder.finish())


def check_read(reply: ModelReply, usage: Usage, metadata: dict[str, Any]) -> None:
    """`reply` has this usage with its billing data, and the rest as metadata."""
    assert reply.usage == usage
    assert reply.provider_metadata == metadata


def check_kept(transpiler: Transpiler, reply: ModelReply) -> None:
    """Usage and metadata of `reply` are in what our server sends, whole and streamed, without a warning of them."""
    rendered = transpiler.render(reply)
    assert [
        str(warning) for warning in rendered.warnings if warning.path.startswith(("usage", "provider_metadata"))
    ] == []
    again = decoded(transpiler, rendered.body)
    assert again.usage == reply.usage
    assert again.provider_metadata == reply.provider_metadata
    renderer = transpiler.renderer()
    stream = b"".join(renderer.feed(delta) for delta in deltas_of(reply)) + renderer.finish()
    check_read(streamed(transpiler, stream), reply.usage, dict(reply.provider_metadata))


def has_field(model: Any, path: str) -> bool:
    """Whether the pydantic class `model` of a vendor's package has the field at `path`."""
    classes = [model]
    for name in path.split("."):
        found = [item.model_fields[name].annotation for item in classes if name in item.model_fields]
        if not found:
            return False
        classes = [item for annotation in found for item in _classes(annotation)]
    return True


def _classes(annotation: Any) -> list[Any]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [item for argument in get_args(annotation) for item in _classes(argument)]
