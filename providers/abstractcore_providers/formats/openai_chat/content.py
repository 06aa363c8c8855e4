"""Content parts, tool calls and cache points, as messages and replies have them.

Content parts, written. A reply's content: a text or, where reasoning is part of it, a list of typed items (Mistral)
or texts. Cache points of content blocks and tools, written and read. Ids of tool calls as they are sent: some vendors
prescribe their length. Tool calls, written and read: those of functions, and those of custom tools, whose input is
any text.

A call of a custom tool has `{"type": "custom"}` among its options, which distinguishes it from a function call.
Source: `ChatCompletionMessageCustomToolCall` in the types of the `openai` package 3.54. They leave out its streamed
form, in which each fragment has `custom` in place of `function`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, cast

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import (
    AudioPart,
    Blob,
    CachePoint,
    CallWarning,
    DocumentPart,
    ImagePart,
    Message,
    Part,
    ProviderOptions,
    TextPart,
    ToolCall,
)

from ...common.call_options import fields_for, read_options, with_options
from ...common.conversations import SentCallIds, append_block, arguments_piece, fits_openai, is_plain
from ...common.data_urls import data_url, kept_id, write_url
from ...common.function_tools import decode_function_call, read_function_call, write_function_call
from ...common.reading import (
    Object,
    as_object,
    get_object,
    get_text,
    name_the_rest,
    note_unread,
    object_of,
    objects_of,
    text_of,
)
from ...common.sounds import AUDIO_FORMATS, write_audio
from .dialect import CacheField
from .vocabulary import WARNINGS

if TYPE_CHECKING:
    from abstractcore.schema import ToolCallStart


def add_cache(
    block: Object, point: CachePoint | None, path: str, cache: CacheField | None, warnings: list[CallWarning]
) -> Object:
    """Returns the content block or tool with its cache point, or with a warning if it cannot have one."""
    if point is None:
        return block
    if cache is None or not (cache.tools if block["type"] == "function" else block["type"] in cache.blocks):
        warnings.append(WARNINGS.field("cache", path))
        return block
    names = {seconds: name for name, seconds in cache.ttls.items()}
    block[cache.name] = dict(cache.value)
    if point.ttl in names:
        block[cache.name]["ttl"] = names[point.ttl]
    elif point.ttl is not None:
        message = f"the cache TTLs of this provider are {' and '.join(map(str, names))} seconds"
        warnings.append(CallWarning("cache_ttl_left_out", f"{path}.cache.ttl", message, point.ttl))
    return block


def append_content(content: list[Object], block: Object, cache: CacheField | None) -> None:
    """Appends a content block. A plain text is joined to the text after it, also if that one has a cache point."""
    marked = content and cache is not None and block.keys() == {"type", "text", cache.name}
    if marked and is_plain(content[-1]):
        content[-1] = {**block, "text": content[-1]["text"] + block["text"]}
    else:
        append_block(content, block)


def read_cache(data: Object, path: str, cache: CacheField | None) -> CachePoint | None:
    """Returns the cache point of a content block or tool; raises `InvalidInputError` for an unknown TTL."""
    value: Any = None if cache is None else data.get(cache.name)
    if cache is None or value is None:
        return None
    ttl = as_object(value).get("ttl")
    if ttl is not None and ttl not in cache.ttls:
        raise InvalidInputError(f"use {' or '.join(map(repr, cache.ttls))}", path=f"{path}.{cache.name}.ttl")
    return CachePoint(None if ttl is None else cache.ttls[ttl])


def cache_names(cache: CacheField | None) -> tuple[str, ...]:
    """Returns the name of the field, which is not an option; nothing without one."""
    return () if cache is None else (cache.name,)


ENCODABLE = frozenset({"image", "application/pdf", *AUDIO_FORMATS})
"""The files that the format supports."""
REPLY_AUDIO_TYPE = "audio/wav"
"""The assumed media type of a reply's audio: the format has no field for it."""


def write_part(part: Part, path: str, provider: str, cache: CacheField | None, warnings: list[CallWarning]) -> Object:
    """Returns a text or media part, with its cache point and options; raises `UnsupportedContentError` for unsupported
    content.
    """
    WARNINGS.fields(part, path, ("citations",), warnings)
    if isinstance(part, TextPart):
        block: Object = add_cache({"type": "text", "text": part.text}, part.cache, path, cache, warnings)
        return with_options(block, part, path, provider, ("type", "text", *cache_names(cache)), warnings)
    kind, content = _written_media(part, path, provider)
    assert isinstance(part, ImagePart | AudioPart | DocumentPart)
    block = add_cache({"type": kind, kind: content}, part.cache, path, cache, warnings)
    return with_options(block, part, path, provider, cache_names(cache), warnings)


def _written_media(part: Part, path: str, provider: str) -> tuple[str, Object]:
    """Returns the type of a part, and the value of the field of that name."""
    if isinstance(part, ImagePart):
        image: Object = {"url": write_url(part.blob, path)}
        if part.detail is not None:
            image["detail"] = part.detail
        return "image_url", image
    if isinstance(part, AudioPart) and part.blob.media_type in AUDIO_FORMATS:
        return "input_audio", write_audio(part.blob, path)
    if isinstance(part, DocumentPart) and part.blob.media_type == "application/pdf":
        return "file", _file(part.blob, path, provider)
    what = part.blob.media_type if isinstance(part, AudioPart | DocumentPart) else part.type
    raise UnsupportedContentError(
        f"{path}: the chat completions format does not support {what}.",
        hint="It supports text, images, WAV and MP3 audio, and PDF.",
    )


def kept_audio(id: str, provider: str) -> Blob:
    """Audio of an earlier reply, which the provider stores under its id."""
    return Blob.from_provider_file(provider, id, REPLY_AUDIO_TYPE)


def media_in_result(part: Part, call_id: str, path: str) -> UnsupportedContentError:
    """Returns the error for a tool result with anything but text."""
    return UnsupportedContentError(
        f"{path}: the result of tool call {call_id!r} has {part.type}; this format supports only text there.",
        hint="Put it into a user message after the result.",
    )


def _file(blob: Blob, path: str, provider: str) -> Object:
    kept = kept_id(blob, provider, path)
    if kept is not None:
        return {"file_id": kept}
    return {"filename": blob.name or "document.pdf", "file_data": data_url(blob, path)}


def content_pieces(message: Object) -> Iterator[tuple[str, str]]:
    """Yields reasoning and text of each item of a message's content, one of which is empty."""
    content = message.get("content")
    for piece in cast("list[Any]", content) if isinstance(content, list) else [content]:
        if isinstance(piece, str):
            yield "", piece
        elif isinstance(piece, dict):
            yield _piece(cast(Object, piece))
        elif piece is not None:
            note_unread("content", "a text", piece)


def _piece(piece: Object) -> tuple[str, str]:
    if text_of(piece, "type") == "thinking":
        return thought_of(piece), ""
    text = text_of(piece, "text")
    if text is None:
        note_unread("content", "a text", piece)
    return "", text or ""


def thought_of(piece: Object) -> str:
    """Returns the text of a reasoning item."""
    return "".join(text_of(part, "text") or "" for part in objects_of(piece, "thinking"))


def call_ids(messages: Iterable[Message], size: int | None) -> SentCallIds:
    """Returns the ids to send: those of the prescribed `size`, and numbers for the others.

    Where `size` is None, those that OpenAI accepts, and new ones for the others.
    """
    if size is None:
        return SentCallIds(messages, lambda _, id: fits_openai(id))

    def is_allowed(turn: int, id: str) -> bool:
        return len(id) == size and id.isascii() and id.isalnum()

    def new(turn: int, index: int, used: Collection[str]) -> str:
        """Returns the first unused number, starting from the number of ids, of which at most as many are in use."""
        number = len(used)
        while f"{number:0{size}}" in used:
            number += 1
        return f"{number:0{size}}"

    return SentCallIds(messages, is_allowed, new)


_CUSTOM = "custom"
_FUNCTION_FIELDS = frozenset({"id", "type", "function", "index"})
_CUSTOM_FIELDS = frozenset({"id", _CUSTOM, "index"})
_CALLED = frozenset({"name", "input"})


def is_custom(call: ToolCall | ToolCallStart, provider: str) -> bool:
    """Whether it is the call of a custom tool."""
    return fields_for(call, provider).get("type") == _CUSTOM


def write_call(
    call: ToolCall | ToolCallStart, text: str, path: str, provider: str, warnings: list[CallWarning]
) -> Object:
    """Writes a call with `text` as its arguments; raises `InvalidInputError` for an option that is one of its fields.

    Options for other providers are reported.
    """
    if is_custom(call, provider):
        block: Object = {"id": call.id, **write_fragment(text, custom=True)}
        block[_CUSTOM]["name"] = call.name
        return with_options(block, call, path, provider, _CUSTOM_FIELDS, warnings)
    block = write_function_call(call.id, call.name, text)
    return with_options(block, call, path, provider, _FUNCTION_FIELDS, warnings)


def write_fragment(text: str, *, custom: bool) -> Object:
    """Writes the next piece of the arguments of a streamed call."""
    return {_CUSTOM: {"input": text}} if custom else {"function": {"arguments": text}}


def decode_call(call: Object, provider: str) -> ToolCall:
    """Reads the call in a reply; its id may be empty."""
    if call.get("type") != _CUSTOM:
        return decode_function_call(call, _FUNCTION_FIELDS, provider)
    custom = object_of(call, _CUSTOM)
    text = arguments_piece(custom, "input", is_first=False)
    options = call_options(call, provider)
    return ToolCall(text_of(call, "id") or "", text_of(custom, "name") or "", text, provider_options=options)


def calls_of(message: Object) -> list[Object]:
    """Returns the calls in a message or a delta; the deprecated `function_call` is one without an id."""
    calls = objects_of(message, "tool_calls")
    if not calls and message.get("function_call"):
        return [{"index": 0, "function": message["function_call"]}]
    return calls


def called_in(fragment: Object) -> tuple[Object, str]:
    """Returns the object with the tool's name in a fragment of a streamed call, and its field for the arguments."""
    if fragment.get("function") is not None and fragment.get("type") != _CUSTOM:
        return object_of(fragment, "function"), "arguments"
    return object_of(fragment, _CUSTOM), "input"


def call_options(call: Object, provider: str) -> ProviderOptions:
    """Returns the fields of a call, or of its first fragment, that the schema does not model."""
    return read_options(call, _CUSTOM_FIELDS if call.get("type") == _CUSTOM else _FUNCTION_FIELDS, provider)


def read_tool_call(value: Any, path: str, provider: str, warnings: list[CallWarning]) -> ToolCall:
    """Reads the call in a client's message; raises `InvalidInputError` with the path of what is wrong."""
    call = get_object(value, path)
    if call.get("type") != _CUSTOM:
        return read_function_call(call, path, _FUNCTION_FIELDS, provider, warnings)
    custom_path = f"{path}.{_CUSTOM}"
    custom = get_object(call.get(_CUSTOM), custom_path)
    name_the_rest(custom, _CALLED, custom_path, warnings)
    return ToolCall(
        get_text(call.get("id"), f"{path}.id"),
        get_text(custom.get("name"), f"{custom_path}.name"),
        get_text(custom.get("input"), f"{custom_path}.input"),
        provider_options=call_options(call, provider),
    )
