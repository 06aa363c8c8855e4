"""Decodes a `chat.completion` object to a reply.

Reasoning as a list of objects that are sent back unchanged, in their order: OpenRouter's, and LiteLLM's for Claude.
The field of an assistant's message in which its reasoning is sent back. Reasoning that a server leaves in the text,
as the model wrote it: `<think>...</think>` before the answer.

Each is a reasoning part. What it has beside its text and its encrypted data is the part's signature: the vendor's own
if that is all, else the rest of the object as JSON.

A server that passes on models of many vendors wants it in the field in which it came (`RECEIVED`). The part's signature
keeps the name of that field; the usual one needs none.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from dataclasses import replace

from abstractcore.errors import ProviderError, ServerError
from abstractcore.schema import (
    AudioPart,
    Blob,
    CallWarning,
    Citation,
    FinishReason,
    Message,
    ModelReply,
    Part,
    ReasoningPart,
    TextPart,
    WireResponse,
)

from ...common.conversations import ReceivedIds, origin_of
from ...common.endpoints import RIGHT_ADDRESS
from ...common.reading import Object, as_object, as_objects, object_of, objects_of, read_json, text_of
from ...common.response_bodies import NO_ERROR, fitting_reply, no_reply, read_body, states_error
from .content import REPLY_AUDIO_TYPE, calls_of, content_pieces, decode_call
from .dialect import BLOCKS, DETAILS, PIECES, RECEIVED, TAGS, USUAL, ChatDialect
from .vocabulary import (
    FINISH_REASONS,
    citations_to_ours,
    has_details,
    metadata_to_ours,
    reasoning_of,
    sources_to_ours,
    usage_to_ours,
)

_TEXT, _SUMMARY, _ENCRYPTED = "reasoning.text", "reasoning.summary", "reasoning.encrypted"
_BLOCK = "thinking"
_BLOCKS = (_BLOCK, "redacted_thinking")
_TEXT_FIELDS = {_SUMMARY: "summary", _BLOCK: "thinking"}


def details_in(message: Object, dialect: ChatDialect) -> list[Object]:
    """Returns the objects in a message or a delta."""
    if not has_details(dialect):
        return []
    details = objects_of(message, DETAILS)
    return objects_of(message, BLOCKS) if not details and dialect.reasoning_field == RECEIVED else details


def is_block(part: ReasoningPart) -> bool:
    """Whether a part is an object of `BLOCKS`."""
    return (_unpack(part.signature) or {}).get("type") in _BLOCKS


def read_detail(detail: Object, origin: str | None) -> ReasoningPart:
    """Returns the part for one object."""
    text, rest = text_and_rest(detail)
    return ReasoningPart(text, *signature_and_data(rest, text != ""), origin)


def text_and_rest(detail: Object) -> tuple[str, Object]:
    """Returns the text of an object, and everything else."""
    rest = dict(detail)
    return _take_text(rest, _text_field(detail)), rest


def signature_and_data(rest: Object, has_text: bool) -> tuple[str | None, str | None]:
    """Returns the signature and the redacted data of a part, from an object's fields other than its text."""
    rest = dict(rest)
    if has_text:
        rest.pop(_text_field(rest), None)  # an empty one, of a chunk without text
    data = _take_text(rest, "data")
    if rest == {"type": _ENCRYPTED if data and not has_text else _TEXT}:
        return None, data or None
    if rest.keys() == {"type", "signature"} and rest["type"] == _TEXT and text_of(rest, "signature"):
        bare = ReasoningPart("x" if has_text else "", rest["signature"], data or None)
        if _packed_detail(bare) is None:
            return bare.signature, bare.redacted_data
    return json.dumps(rest, ensure_ascii=False, separators=(",", ":"), sort_keys=True), data or None


def write_detail(part: ReasoningPart) -> Object:
    """Returns the object of `part`, or one that is read as the same part."""
    packed = _packed_detail(part)
    if packed is not None:
        return packed
    plain: Object = {"type": _ENCRYPTED if part.redacted_data and not part.text and not part.signature else _TEXT}
    if part.signature is not None:
        plain["signature"] = part.signature
    return _fill(plain, part)


def _packed_detail(part: ReasoningPart) -> Object | None:
    """Returns the object of which the signature is the rest; None if the signature is the vendor's own.

    It is the rest of an object only if that object is read as this part.
    """
    rest = _unpack(part.signature)
    if rest is None:
        return None
    detail = _fill(rest, part)
    return detail if read_detail(detail, part.origin) == part else None


def _fill(detail: Object, part: ReasoningPart) -> Object:
    if part.text:
        detail[_text_field(detail)] = part.text
    if part.redacted_data is not None:
        detail["data"] = part.redacted_data
    return detail


def _text_field(detail: Object) -> str:
    return _TEXT_FIELDS.get(str(detail.get("type")), "text")


def _take_text(rest: Object, name: str) -> str:
    return rest.pop(name) if text_of(rest, name) else ""


def _unpack(signature: str | None) -> Object | None:
    if signature is None or not signature.startswith("{"):
        return None
    try:
        return as_object(read_json(signature.encode()))
    except ValueError:
        return None


OPENING, CLOSING = "<think>", "</think>"


class ThinkTags:
    """Separates reasoning from text in arbitrary chunks. Only tags at the start of the text count, after whitespace.

    With `decided`, everything that follows is text.
    """

    def __init__(self) -> None:
        self.decided = False
        self._inside = False
        self._held = ""

    def feed(self, text: str) -> tuple[str, str]:
        """Returns the reasoning and the text that are certain so far; a possible start of a tag is held back."""
        self._held += text
        reasoning = ""
        if not self._inside and not self.decided:
            self._begin()
        if self._inside:
            reasoning = self._reasoning()
        if not self.decided:
            return reasoning, ""
        rest, self._held = self._held, ""
        return reasoning, rest

    def finish(self) -> tuple[str, str]:
        """Returns the text that was held back: an incomplete tag is text."""
        rest, self._held = self._held, ""
        return (rest, "") if self._inside else ("", rest)

    def _begin(self) -> None:
        """Determines whether the text starts with the tag, as soon as that is certain."""
        text = self._held.lstrip()
        if text.startswith(OPENING):
            self._inside, self._held = True, text.removeprefix(OPENING)
        elif not OPENING.startswith(text):
            self.decided = True

    def _reasoning(self) -> str:
        """Returns the reasoning so far: up to the closing tag, or its possible start."""
        thought, tag, rest = self._held.partition(CLOSING)
        if tag:
            self._inside, self.decided, self._held = False, True, rest
            return thought
        certain = len(thought) - _longest_beginning(thought)
        self._held = thought[certain:]
        return thought[:certain]


def is_separated(message: Object) -> bool:
    """Whether the server separates reasoning itself: it sends the reasoning field, possibly empty."""
    return isinstance(message.get("reasoning_content"), str)


def split_thought(text: str) -> tuple[str, str]:
    """Returns reasoning and text of an unstreamed answer."""
    tags = ThinkTags()
    reasoning, answer = tags.feed(text)
    more_reasoning, more_answer = tags.finish()
    return reasoning + more_reasoning, answer + more_answer


def _longest_beginning(text: str) -> int:
    """Returns how many characters at the end of `text` may start the closing tag."""
    return next(size for size in range(len(CLOSING) - 1, -1, -1) if text.endswith(CLOSING[:size]))


_SIGNATURES = {field: f'{{"field":"{field}"}}' for field in ("reasoning", PIECES, TAGS)}
_FIELDS = {signature: field for field, signature in _SIGNATURES.items()}


def signature_for(field: str | None, dialect: ChatDialect) -> str | None:
    """Returns the signature of reasoning that came in `field`."""
    return _SIGNATURES.get(field or "") if dialect.reasoning_field == RECEIVED else None


def field_for(message: Message, dialect: ChatDialect, origin: str | None) -> str | None:
    """Returns the field for the reasoning in an answer of the model `origin`; None if none is sent back."""
    if origin is None or dialect.reasoning_field != RECEIVED:
        return None if origin is None else dialect.reasoning_field
    own = [part for part in message.parts if isinstance(part, ReasoningPart) and part.origin == origin]
    for part in own:
        if not part.is_plain and part.signature not in _FIELDS:
            return BLOCKS if is_block(part) else DETAILS
    return _FIELDS.get(own[0].signature or "", USUAL) if own else USUAL


def without_field(part: ReasoningPart) -> ReasoningPart:
    """Returns the part without a signature that names the field."""
    return replace(part, signature=None) if part.signature in _FIELDS else part


def with_reasoning(parts: tuple[Part, ...], data: Object, dialect: ChatDialect, origin: str | None) -> tuple[Part, ...]:
    """Returns the parts of the content of the answer `data`: its reasoning, also that between tags, keeps where it
    came.
    """
    signature = signature_for(PIECES, dialect)
    if signature is not None:
        parts = tuple(replace(part, signature=signature) if isinstance(part, ReasoningPart) else part for part in parts)
    first = parts[0] if parts else None
    if dialect.reasoning_field not in (RECEIVED, TAGS) or not isinstance(first, TextPart) or is_separated(data):
        return parts
    thought, text = split_thought(first.text)
    if not thought:
        return parts
    answer = (replace(first, text=text),) if text else ()
    return (ReasoningPart(thought, signature_for(TAGS, dialect), origin=origin), *answer, *parts[1:])


def turns_with_calls(messages: Iterable[Message]) -> frozenset[int]:
    """Returns the indexes of messages in turns in which tools are called; a turn begins with a user's message."""
    found: set[int] = set()
    turn: list[int] = []
    called = False
    for index, message in enumerate(messages):
        if message.role == "user":
            turn, called = [], False
        turn.append(index)
        called = called or bool(message.tool_calls)
        if called:
            found.update(turn)
    return frozenset(found)


_MARKS = frozenset({"choices", "usage"})
"""Fields that only replies have."""


def decode(response: WireResponse, dialect: ChatDialect) -> ModelReply:
    """Returns the reply in a `chat.completion` object.

    Raises `ServerError` for a body without one, or the error in it despite its status.
    """
    data = as_object(read_body(response, RIGHT_ADDRESS))
    choices = as_objects(data.get("choices"))
    if states_error(data) or not choices:
        raise _error(response, data)
    reply = fitting_reply(response, _reply, data, dialect)
    if choices[0].get("error") not in NO_ERROR:
        error = _error(response, choices[0])
        error.partial = reply
        raise error
    return reply


def _error(response: WireResponse, data: Object) -> ProviderError:
    from ...common.openai_errors import error_in_body

    return error_in_body(data) or no_reply(response, data, "choices", _MARKS, RIGHT_ADDRESS)


def _reply(data: Object, dialect: ChatDialect) -> ModelReply:
    choices = objects_of(data, "choices")
    choice = choices[0]
    message = object_of(choice, "message")
    raw = text_of(choice, "finish_reason")
    model = text_of(data, "model")
    metadata = metadata_to_ours(data, dialect.billing)
    if isinstance(choice.get("logprobs"), dict):
        metadata["logprobs"] = choice["logprobs"]
    return ModelReply(
        parts=_parts(message, _citations(message, data, dialect), origin_of(dialect.provider, model), dialect),
        finish_reason=_finish_reason(message, raw),
        raw_finish_reason=raw,
        usage=usage_to_ours(data, dialect.billing),
        model=model,
        provider=dialect.provider,
        id=text_of(data, "id"),
        warnings=_extra_choices(len(choices)),
        provider_metadata=metadata,
    )


def _finish_reason(message: Object, raw: str | None) -> FinishReason:
    if text_of(message, "refusal"):
        return "refusal"
    return FINISH_REASONS.read(raw, calls=bool(calls_of(message)))


def _extra_choices(count: int) -> tuple[CallWarning, ...]:
    if count == 1:
        return ()
    return (CallWarning("extra_choices", "choices", f"{count} choices received; the first is the reply", count, 1),)


def _citations(message: Object, data: Object, dialect: ChatDialect) -> tuple[Citation, ...]:
    if dialect.search_results and message.get("annotations") is None:
        return sources_to_ours(data)
    return citations_to_ours(message)


def _parts(
    message: Object, citations: tuple[Citation, ...], origin: str | None, dialect: ChatDialect
) -> tuple[Part, ...]:
    parts: list[Part] = []
    details = details_in(message, dialect)
    parts += [read_detail(detail, origin) for detail in details]
    pieces = list(content_pieces(message))
    thought, text = "", "".join(text for _, text in pieces)
    if dialect.think_tags and not is_separated(message):
        thought, text = split_thought(text)
    reasoning, field = ("", None) if details else reasoning_of(message)
    for more, place in (("".join(thought for thought, _ in pieces), PIECES), (thought, TAGS)):
        reasoning, field = reasoning + more, field or (place if more else None)
    if reasoning:
        parts.append(ReasoningPart(reasoning, signature_for(field, dialect), origin=origin))
    text += text_of(message, "refusal") or ""
    if text:
        parts.append(TextPart(text, citations))
    audio = object_of(message, "audio")
    if audio:
        parts.append(_audio(audio))
    ids = ReceivedIds()
    for index, call in enumerate(calls_of(message)):
        parts.append(ids.name(decode_call(call, dialect.provider), index))
    return tuple(parts)


def _audio(audio: Object) -> AudioPart:
    data = audio_bytes(text_of(audio, "data") or "")
    return AudioPart(Blob.from_bytes(data, REPLY_AUDIO_TYPE), text_of(audio, "transcript"), text_of(audio, "id"))


def audio_bytes(text: str) -> bytes:
    """Reads audio; raises `ServerError` if it is not base64."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise ServerError("the audio in the response is not base64") from None
