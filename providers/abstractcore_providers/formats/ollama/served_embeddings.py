"""The operation `embed` for servers: `POST /api/embed`, and `POST /api/embeddings`, which is older and embeds one text.

Sources as in `embeddings`, and `EmbeddingRequest` in api/types.go of ollama/ollama.
"""

from __future__ import annotations

from typing import Any, cast

from pydantic_core import to_json

from abstractcore.errors import InvalidInputError
from abstractcore.ports import EMBED, ServedOperation
from abstractcore.schema import EmbedInput, EmbedReply, ParsedInput, Rendered, WireRequest

from ...common.call_options import read_options
from ...common.embeddings import read_input
from ...common.reading import Object, get_filled, get_flag, get_text, make_at, read_request
from .embeddings import EMBED_FIELDS
from .vocabulary import PROVIDER, USAGE

_OLDER = "/api/embeddings"
_FIELDS = EMBED_FIELDS | {"prompt"}


def parse_embed(request: WireRequest) -> ParsedInput[EmbedInput]:
    """Returns the vectors that a client asks for; raises `InvalidInputError` with the path of what is wrong.

    Texts that are too long are cut unless the request says otherwise, as Ollama does.
    """
    data = read_request(request)
    items = [get_text(data.get("prompt"), "prompt")] if _is_older(request) else _texts(data.get("input"))
    given = read_input(
        EmbedInput,
        {"items": "prompt" if _is_older(request) else "input"},
        model=get_filled(data.get("model"), "model"),
        provider=PROVIDER,
        items=tuple(items),
        dimensions=data.get("dimensions"),
        truncate=True if data.get("truncate") is None else get_flag(data, "truncate"),
        provider_options=make_at("", read_options, data, _FIELDS, PROVIDER),
    )
    return ParsedInput(given)


def _is_older(request: WireRequest) -> bool:
    return request.url.partition("?")[0].endswith(_OLDER)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list) or not value:
        raise InvalidInputError("expected a text, or a list of at least one", path="input")
    return [get_text(each, f"input[{index}]") for index, each in enumerate(cast("list[Any]", value))]


def render_embed(reply: EmbedReply, request: WireRequest) -> Rendered:
    """Returns the vectors; of the older request, the only one."""
    vectors = reply.vectors.lists()
    if _is_older(request):
        return Rendered(to_json({"embedding": vectors[0]}))
    model = read_request(request).get("model")
    body: Object = {"model": reply.model or model, "embeddings": vectors, "total_duration": 0, "load_duration": 0}
    return Rendered(to_json({**body, "prompt_eval_count": 0, **USAGE.write(reply.usage)}))


SERVED = {EMBED: ServedOperation(EMBED, parse_embed, render_embed)}
"""The operation by name."""
