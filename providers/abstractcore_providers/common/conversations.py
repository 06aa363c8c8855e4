"""What messages of a conversation need in several formats: checks, ids, order, arguments as text.

Checks of conversations that vendors would reject, with the path of the error. Ids of tool calls: valid in the format,
and unique within a conversation. Reorders parts into the order that a format prescribes. Lists of content blocks,
some of which are plain text: `{"type": "text", "text": ...}` without other fields. The model that wrote a reasoning
part. Arguments of tool calls in JSON bodies, inserted and extracted as the original text.

A parsed object has the values of the arguments but not how the model wrote them (`1.10`, the order of keys, spaces), so
the original text could not be restored from it. Therefore the text itself is inserted into a body, and extracted from
it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from pydantic_core import to_json

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    NO_OPTIONS,
    CallWarning,
    Message,
    Part,
    ProviderOptions,
    ToolCall,
    ToolResult,
    freeze_object,
)

from .call_options import AS_RECEIVED
from .reading import Object, mend_texts, note_unread


def refuse_unanswered_calls(messages: Sequence[Message]) -> None:
    """Raises `InvalidInputError` for the first tool call without a result, which must follow its turn directly."""
    for index, message in enumerate(messages):
        if message.role != "assistant" or not message.tool_calls:
            continue
        answered = _answered_ids(messages[index + 1]) if index + 1 < len(messages) else set[str]()
        for number, part in enumerate(message.parts):
            if isinstance(part, ToolCall) and part.id not in answered:
                raise InvalidInputError(
                    f"tool call {part.id!r} has no result",
                    path=f"messages[{index}].parts[{number}]",
                    hint="Add one after the message with Message.tool(ToolResult.text(...)), or remove the call.",
                )


def _answered_ids(message: Message) -> set[str]:
    return {part.call_id for part in message.parts if isinstance(part, ToolResult)}


def refuse_system_only(messages: Sequence[Message]) -> None:
    """Raises `InvalidInputError` if there is no user or assistant message."""
    if all(message.role == "system" for message in messages):
        raise InvalidInputError("there are only system messages", path="messages", hint="Add a user message.")


_LONGEST_OPENAI_ID = 64


def numbered_id(turn: int, index: int, used: Container[str]) -> str:
    """Returns `call_{turn}_{index}`, with a number appended if it is in use."""
    name = f"call_{turn}_{index}"
    number = 0
    unused = name
    while unused in used:
        number += 1
        unused = f"{name}_{number}"
    return unused


def fits_openai(id: str) -> bool:
    """Whether OpenAI accepts the id of a call: chat completions and Responses reject those over 64 characters."""
    return 0 < len(id) <= _LONGEST_OPENAI_ID


class SentCallIds:
    """Maps ids to those sent: ids that `is_legal` accepts, given the index of their message, are kept; others are
    replaced.

    `new` generates an unused id for the call at an index of a message. It depends only on earlier messages, so that ids
    stay the same as the conversation grows.
    """

    def __init__(
        self,
        messages: Iterable[Message],
        is_legal: Callable[[int, str], object],
        new: Callable[[int, int, Collection[str]], str] = numbered_id,
    ) -> None:
        self._names: dict[tuple[int, str], str] = {}
        self.renames = False
        """Whether any id differs from the call's own."""
        used: set[str] = set()
        for turn, message in enumerate(messages):
            if message.role != "assistant":
                continue
            for index, call in enumerate(message.tool_calls):
                name = call.id
                if not is_legal(turn, name) or name in used:
                    name = new(turn, index, used)
                    self.renames = True
                used.add(name)
                self._names[turn, call.id] = name

    def of_call(self, turn: int, id: str) -> str:
        """Returns the id of a call in message `turn`."""
        return self._names.get((turn, id), id)

    def of_result(self, turn: int, id: str) -> str:
        """Returns the call id of a result in message `turn`; the schema puts results right after their calls."""
        return self.of_call(turn - 1, id)


class ReceivedIds:
    """Assigns the ids of the calls of one reply: the vendor's ids, made unique.

    A call without an id gets `call_{number}`, and so does one whose id is already in use, since its result could not be
    matched. The received id is kept in `provider_options` under `AS_RECEIVED`; the new one is sent back.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def give(
        self, received: str | None, number: int, options: ProviderOptions = NO_OPTIONS
    ) -> tuple[str, ProviderOptions]:
        """Returns the id of the call with this number, and its options."""
        if received and received not in self._taken:
            self._taken.add(received)
            return received, options
        id = f"call_{number}"
        while id in self._taken:
            id += "_"
        self._taken.add(id)
        if received:
            noted = freeze_object({**options, AS_RECEIVED: {"id": received}}, "provider_options")
            options = cast(ProviderOptions, noted)
        return id, options

    def name(self, call: ToolCall, number: int) -> ToolCall:
        """Returns `call`, which has the vendor's id or an empty one, with its assigned id."""
        id, options = self.give(call.id, number, call.provider_options)
        return call if id == call.id else replace(call, id=id, provider_options=options)


P = TypeVar("P", bound=Part)


def in_order(
    kept: Sequence[tuple[int, P]], order: Mapping[type[Part], int], path: str, warnings: list[CallWarning]
) -> list[tuple[int, P]]:
    """Returns the parts (each with its index in `path`) sorted by the rank of their type, with a warning for each that
    moves.
    """
    if len(kept) < 2:
        return list(kept)
    ordered = sorted(kept, key=lambda item: _rank(item[1], order))
    if ordered == list(kept):
        return ordered
    highest, moved = 0, set[int]()
    for index, part in kept:
        rank = _rank(part, order)
        if rank < highest:
            moved.add(index)
        highest = max(highest, rank)
    for position, (index, part) in enumerate(ordered):
        if index in moved:
            message = f"{part.type} is moved forward, since the format has a fixed order of parts"
            warnings.append(CallWarning("reordered", f"{path}[{index}]", message, index, position))
    return ordered


def _rank(part: Part, order: Mapping[type[Part], int]) -> int:
    """Returns the rank of the part's class, or of the class that it extends."""
    return next(order[cls] for cls in type(part).__mro__ if cls in order)


def is_plain(block: Object) -> bool:
    """Whether a block is plain text."""
    return len(block) == 2 and block["type"] == "text"


def append_block(blocks: list[Object], block: Object) -> None:
    """Appends `block` to `blocks`. Adjacent plain texts, or thoughts, without other fields are merged."""
    kind = block["type"]
    if blocks and len(block) == 2 and blocks[-1].keys() == block.keys() and isinstance(block.get(kind), str):
        blocks[-1][kind] += block[kind]
    else:
        blocks.append(block)


def as_content(blocks: list[Object]) -> Any:
    """Returns the content of a message: a single plain text as a string, anything else as a list."""
    return blocks[0]["text"] if len(blocks) == 1 and is_plain(blocks[0]) else blocks


def origin_of(provider: str, model: str | None) -> str | None:
    """Returns the model as "provider/model"; None if it has no name."""
    return f"{provider}/{model}" if model else None


_BLANK = " \t\r\n"
HOLE = float("nan")
"""A placeholder in a body for a text that is inserted. No JSON value equals it."""

_DECODER = json.JSONDecoder()


def own_text(call: ToolCall) -> str:
    """Returns the arguments' text if it is that of an object without surrounding whitespace, else their JSON, which is
    that of an empty object for arguments that cannot be read.
    """
    return "{}" if call.arguments_json is None else call.arguments_json


def arguments_text(arguments: Any) -> str:
    """Returns the text of arguments that were received as a value."""
    return to_json(arguments).decode()


def received_arguments(arguments: Any) -> str:
    """Returns the text of a call's arguments that a format sends as a text, and some servers as an object.

    The text of a value of another type is an arguments error of the call.
    """
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else arguments_text(mend_texts(arguments))


def arguments_piece(data: Object, key: str, *, is_first: bool) -> str:
    """Returns the text at `key` of a stream's event, a piece of a call's arguments.

    Some servers send the whole object as the first piece; an empty one is not a piece yet.
    """
    value = data.get(key)
    if isinstance(value, str):
        return value
    if is_first and isinstance(value, dict):
        return received_arguments(value) if value else ""
    if value is not None:
        note_unread(key, "a text", value)
    return received_arguments(value)


def sent_text(call: ToolCall, path: str, warnings: list[CallWarning], *, one_line: bool = False) -> str:
    """Returns the text that is sent for the arguments of the call at `path`, with a warning if it differs from the
    original.

    With `one_line`, as in a format whose streams consist of lines, it has no line breaks.
    """
    text = own_text(call)
    if one_line and ("\n" in text or "\r" in text):
        text = arguments_text(call.arguments)
    if text != call.arguments_text:
        message = "arguments are sent as a JSON object, without text around it"
        field_path = f"{path}.arguments_text"
        warnings.append(CallWarning("arguments_rewritten", field_path, message, call.arguments_text, text))
    return text


def is_sent_as_written(call: ToolCall) -> bool:
    """Returns whether a format whose arguments are a text sends them as the model wrote them.

    Servers refuse conversations with JSON that is not valid, so text of which only `arguments_json` is valid is not.
    """
    return call.arguments_json is None or call.arguments_text.strip(_BLANK) in ("", call.arguments_json)


def with_valid_text(call: ToolCall, path: str, warnings: list[CallWarning]) -> ToolCall:
    """Returns the call at `path` as a format whose arguments are a text sends it, with a warning if it differs."""
    if is_sent_as_written(call) or call.arguments_json is None:
        return call
    message = "arguments are sent as valid JSON"
    field_path = f"{path}.arguments_text"
    warnings.append(CallWarning("arguments_rewritten", field_path, message, call.arguments_text, call.arguments_json))
    return replace(call, arguments_text=call.arguments_json)


def written_with(body: Any, key: str, texts: Iterable[str]) -> bytes:
    """Returns `body` as JSON, with the JSON texts `texts` in place of the placeholders at `key` in order."""
    following = iter(texts)
    # Quotes within texts are escaped, so this is always a key. A lookbehind at the end is ten times faster.
    hole = re.compile(rf'"{key}":NaN(?<=[{{,]"{key}":NaN)'.encode())
    return hole.sub(lambda _: f'"{key}":{next(following)}'.encode(), to_json(body))


class WrittenArguments:
    """Returns the texts of the objects at `key` anywhere in a JSON body, in order."""

    __slots__ = ("_body", "_key", "_rest")

    def __init__(self, body: bytes, key: str) -> None:
        self._body = body
        self._key = key
        self._rest: Iterator[tuple[Any, str]] | None = None

    def text_of(self, value: Any) -> str:
        """Returns the text of the next object that equals `value`; the text of `value` itself if there is none."""
        if self._rest is None:
            self._rest = _objects(self._body.decode("utf-8-sig", "replace"), self._key)
        found = next((text for other, text in self._rest if other == value), None)
        return arguments_text(value) if found is None else found


def _objects(text: str, key: str) -> Iterator[tuple[Any, str]]:
    begins = re.compile(rf'"{key}"\s*:\s*(?={{)')
    start = 0
    while (match := begins.search(text, start)) is not None:
        start = match.end()
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        yield value, text[start:end]
        start = end
