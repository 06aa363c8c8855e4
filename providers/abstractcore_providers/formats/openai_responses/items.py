"""Reads the items of a model as parts. Other fields of a message or a call are options of the part.

Calls of hosted tools: an item has both the call and its result. Annotations of a text, and citations of the schema,
converted both ways.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import cast

from abstractcore.errors import ServerError
from abstractcore.schema import (
    NO_OPTIONS,
    Blob,
    CallWarning,
    Citation,
    ContentPart,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    OpaquePart,
    Part,
    ProviderOptions,
    SchemaError,
    TextPart,
    ToolCall,
    to_data,
)

from ...common.call_options import read_options
from ...common.conversations import received_arguments
from ...common.reading import Object, count_of, object_of, objects_of, text_of
from .client_tools import OUTPUTS, called_tool, hosted_calls, hosted_output, item_id, read_client_call, read_reasoning

MCP_CALL = "mcp_call"
_QUESTIONS = {
    "code_interpreter_call": ("code_interpreter", ("code",)),
    "file_search_call": ("file_search", ("queries",)),
    "image_generation_call": ("image_generation", ()),
    MCP_CALL: ("mcp", ("arguments",)),
    "web_search_call": ("web_search", ("action",)),
}
"""The tool of each type of item, and the fields of its call."""
_SOURCES = "sources"
_ANSWERS = ("outputs", "results", "output", "result", "error")
_NEEDED = {"code_interpreter_call": "outputs", "image_generation_call": "result"}
"""Results that are in the item even if they are empty."""
HOSTED_TYPES = frozenset(_QUESTIONS)


def item_type(call: HostedToolCall, provider: str) -> object:
    """Returns the type of the item of a provider's call; None if it is of another one."""
    asked = call.provider_metadata.get(provider)
    return asked.get("type") if isinstance(asked, Mapping) else None


def read_hosted(item: Object, provider: str) -> list[Part]:
    """Returns the call, and the result if there is one; raises `ServerError` for an image that is not base64."""
    kind, id = str(item["type"]), text_of(item, "id") or ""
    asked, given = _split(item)
    call = HostedToolCall(id, _name(item, kind), _arguments(asked, kind), {provider: asked})
    if not given:
        return [call]
    content = _content({**asked, **given}, kind)
    if isinstance(given.get("result"), str) and kind == "image_generation_call":
        del given["result"]
    return [call, HostedToolResult(id, content, {provider: given} if given else {})]


def _split(item: Object) -> tuple[Object, Object]:
    """Returns the call's fields and the result's. The sources of a search are within its action."""
    asked = {name: value for name, value in item.items() if name not in _ANSWERS}
    given = {name: item[name] for name in _ANSWERS if item.get(name) is not None}
    action = asked.get("action")
    if isinstance(action, dict) and _SOURCES in action:
        asked["action"] = {name: value for name, value in cast(Object, action).items() if name != _SOURCES}
        given[_SOURCES] = action[_SOURCES]
    return asked, given


def _joined(asked: Object, given: Object) -> Object:
    """Returns the item with this call and result."""
    if _SOURCES not in given:
        return {**asked, **given}
    rest = {name: value for name, value in given.items() if name != _SOURCES}
    return {**asked, **rest, "action": {**object_of(asked, "action"), _SOURCES: given[_SOURCES]}}


def _name(item: Object, kind: str) -> str:
    return text_of(item, "name") or "mcp" if kind == MCP_CALL else _QUESTIONS[kind][0]


def _arguments(item: Object, kind: str) -> str:
    if kind == MCP_CALL:
        return text_of(item, "arguments") or ""
    asked = {name: item[name] for name in _QUESTIONS[kind][1] if item.get(name) is not None}
    return json.dumps(asked, ensure_ascii=False)


def _content(item: Object, kind: str) -> tuple[ContentPart, ...]:
    if kind == "image_generation_call":
        return (ImagePart(_image(text_of(item, "result") or "", text_of(item, "output_format"))),)
    content: list[ContentPart] = []
    for output in objects_of(item, "outputs"):
        url = text_of(output, "url") or ""
        if url.startswith(("https://", "http://")):
            content.append(ImagePart(Blob.from_url(url, "image/*")))
        content.append(TextPart(text_of(output, "logs") or ""))
    content += [_found(result, text_of(result, "text") or "") for result in objects_of(item, "results")]
    content += [_found(source, f"{_address_of(source)}\n") for source in objects_of(item, _SOURCES)]
    content.append(TextPart(text_of(item, "output") or ""))
    return tuple(content)


def _found(result: Object, text: str) -> TextPart:
    """Returns the results of a search, with their URLs."""
    address = _address_of(result)
    if not address:
        return TextPart(text)
    kind: Object = {"type": "file_citation"} if result.get("file_id") else {}
    title = text_of(result, "filename") or text_of(result, "title")
    return TextPart(text, (Citation(address, title, provider_metadata=kind),))


def _address_of(result: Object) -> str:
    return text_of(result, "file_id") or text_of(result, "url") or ""


def _image(data: str, format: str | None) -> Blob:
    try:
        return Blob.from_bytes(base64.b64decode(data, validate=True), f"image/{format or 'png'}")
    except ValueError:
        raise ServerError("the image in the response is not base64") from None


def partial_image(event: Object) -> HostedToolResult:
    """Returns a partial image of a stream."""
    blob = _image(text_of(event, "partial_image_b64") or "", text_of(event, "output_format"))
    return HostedToolResult(text_of(event, "item_id") or "", (ImagePart(blob),))


def write_hosted(call: HostedToolCall, result: Part | None, provider: str) -> Object | None:
    """Returns the item of `call` and `result`; None if they are not this provider's, or were changed."""
    asked = call.provider_metadata.get(provider)
    if not isinstance(asked, Mapping) or asked.get("type") not in HOSTED_TYPES:
        return None
    item = cast(Object, to_data(asked))
    needed = _NEEDED.get(cast(str, item["type"]))
    expected: list[Part] = [call]
    if needed is not None:
        item[needed] = None
    if isinstance(result, HostedToolResult):
        item = _joined(item, _given(result, provider))
        expected.append(result)
    try:
        return item if read_hosted(item, provider) == expected else None
    except (SchemaError, ServerError):
        return None


def _given(result: HostedToolResult, provider: str) -> Object:
    given = result.provider_metadata.get(provider)
    answers = cast(Object, to_data(given)) if isinstance(given, Mapping) else {}
    first = result.content[0] if result.content else None
    if not answers and isinstance(first, ImagePart) and first.blob.form in ("bytes", "file"):
        return {"result": base64.b64encode(first.blob.read()).decode("ascii")}
    return answers


_URL = "url_citation"
_EXTRAS: dict[str, tuple[str, ...]] = {
    "file_citation": (),
    "container_file_citation": ("container_id",),
    "file_path": ("index",),
}
"""Citations of files: their fields beside the file and the span."""


def read_annotations(annotations: Iterable[Object]) -> tuple[Citation, ...]:
    """Returns the citations among a text's annotations; the metadata of those of files has their kind."""
    return tuple(_citation(note) for note in annotations if text_of(note, "type") in (_URL, *_EXTRAS))


def _citation(note: Object) -> Citation:
    kind = str(note["type"])
    if kind == _URL:
        start, end = count_of(note, "start_index"), count_of(note, "end_index")
        return Citation(text_of(note, "url") or "", text_of(note, "title"), start=start, end=end)
    start = end = count_of(note, "index") if kind == "file_citation" else None
    if kind == "container_file_citation":
        start, end = count_of(note, "start_index"), count_of(note, "end_index")
    extras = {name: note[name] for name in _EXTRAS[kind] if note.get(name) is not None}
    return Citation(
        text_of(note, "file_id") or "",
        text_of(note, "filename"),
        start=start,
        end=end,
        provider_metadata={"type": kind, **extras},
    )


def write_annotations(citations: Sequence[Citation]) -> list[Object]:
    """Returns the annotations for citations that `fit_citation` returned."""
    return [_annotation(citation) for citation in citations]


def _annotation(citation: Citation) -> Object:
    kind = citation.provider_metadata.get("type", _URL)
    span: Object = {"start_index": citation.start or 0, "end_index": citation.end or 0}
    if kind == _URL:
        return {"type": _URL, "url": citation.source, "title": citation.title or "", **span}
    note: Object = {**citation.provider_metadata, "file_id": citation.source}
    if kind == "file_citation":
        span = {"index": citation.start or 0}
    elif kind == "file_path":
        return note
    return {**note, "filename": citation.title or "", **span}


def fit_citation(citation: Citation, length: int, path: str, warnings: list[CallWarning]) -> Citation:
    """Returns the citation of a text of `length` as the format can express it, with a warning for the rest."""
    metadata = citation.provider_metadata
    kind = metadata.get("type")
    extras = _EXTRAS.get(kind) if isinstance(kind, str) else None
    kept = {} if extras is None else {name: value for name, value in metadata.items() if name in ("type", *extras)}
    title, end = citation.title, citation.end
    start = citation.start
    if kind == "file_citation":
        end = start
    elif kind == "file_path":
        title, start, end = None, 0, length
    fitted = Citation(citation.source, title, None, start, end, kept)
    for name in ("title", "quote", "start", "end", "provider_metadata"):
        asked, sent = getattr(citation, name), getattr(fitted, name)
        if asked != sent:
            message = f"the Responses format has no field for this citation's {name}"
            warnings.append(
                CallWarning(f"{name}_left_out", f"{path}.{name}", message, asked, None if sent == {} else sent)
            )
    return fitted


_MESSAGE_FIELDS = frozenset({"type", "role", "status", "content"})
_CALL_FIELDS = frozenset({"type", "call_id", "name", "arguments", "status"})
_SCREENSHOT = "computer_call_output"
_FROM_USER = frozenset(OUTPUTS) - {_SCREENSHOT}
"""Types of items that answer the model, in a conversation that the provider stores."""
_OWN = frozenset({*HOSTED_TYPES, _SCREENSHOT, "message", "function_call", "function_call_output", "reasoning"})


def read_item(
    item: Object, provider: str, origin: str | None, *, stored: bool, hosted: Container[str] = ()
) -> list[Part]:
    """Returns the parts of an output item; a call has the vendor's id, or none.

    A `stored` item is referred to by its id. `hosted` are the ids of calls that the provider ran (`hosted_calls`).
    """
    kind = text_of(item, "type") or ""
    if kind == "reasoning":
        return read_reasoning(item, origin)
    if kind in HOSTED_TYPES:
        return read_hosted(item, provider)
    if kind not in ("message", "function_call"):
        call = read_client_call(item, provider, stored=stored, hosted=hosted)
        return [OpaquePart(provider, kind, item) if call is None else call]
    options = item_options(item, provider, stored=stored)
    return [*read_texts(item, options)] if kind == "message" else [read_call(item, options)]


def item_options(item: Object, provider: str, *, stored: bool) -> ProviderOptions:
    """Returns the options of a message or a call: its phase, and its id if the provider stores it."""
    known = _MESSAGE_FIELDS if item.get("type") == "message" else _CALL_FIELDS
    ignored = {"id"} if not stored or item_id(item) is None else set[str]()
    if item.get("caller") == {"type": "direct"}:
        ignored.add("caller")
    return read_options(item, known | ignored, provider)


def modelled_fields(part: TextPart | ToolCall, provider: str) -> frozenset[str]:
    """Returns the fields of a part's item that the schema models."""
    if isinstance(part, TextPart):
        return _MESSAGE_FIELDS
    return _CALL_FIELDS if called_tool(part, provider) is None else frozenset()


def read_texts(item: Object, options: ProviderOptions = NO_OPTIONS) -> list[TextPart]:
    """Returns the texts of a message that are not empty, including refusals."""
    texts = [
        (text_of(part, "text") or text_of(part, "refusal"), objects_of(part, "annotations"))
        for part in objects_of(item, "content")
    ]
    return [TextPart(text, read_annotations(notes), provider_options=options) for text, notes in texts if text]


def read_call(item: Object, options: ProviderOptions = NO_OPTIONS) -> ToolCall:
    """Reads the tool call in an item, with the vendor's id, which may be empty."""
    id = text_of(item, "call_id") or text_of(item, "id") or ""
    arguments = received_arguments(item.get("arguments"))
    return ToolCall(id, text_of(item, "name") or "", arguments, provider_options=options)


def opaque_item(part: OpaquePart, hosted: Container[str] = ()) -> Object | None:
    """Returns the output item that `part` contains; None if there is none, or one that the schema models.

    `hosted` are the ids of the calls that the provider ran (`hosted_calls_of`).
    """
    item = _item_in(part)
    if item is None or part.kind in _OWN or answers_model(item):
        return None
    call = read_client_call(item, part.provider, stored=True, hosted=hosted)
    return item if call is None else None


def hosted_calls_of(parts: Iterable[Part]) -> frozenset[str]:
    """Returns the ids of the shell calls among an assistant's parts that the provider ran."""
    items = (_item_in(part) for part in parts if isinstance(part, OpaquePart))
    return hosted_calls(item for item in items if item is not None)


def item_from_user(part: OpaquePart) -> Object | None:
    """Returns the item with which the user answers the model; None if `part` has none."""
    item = _item_in(part)
    return item if item is not None and answers_model(item) else None


def answers_model(item: Object) -> bool:
    """Whether an item is the user's answer to a call, not the provider's own."""
    return item.get("type") in _FROM_USER and hosted_output(item) is None and item.get("execution") != "server"


def _item_in(part: OpaquePart) -> Object | None:
    if not isinstance(part.data, Mapping) or part.data.get("type") != part.kind:
        return None
    return cast(Object, dict(part.data))
