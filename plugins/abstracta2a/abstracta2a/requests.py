"""The arguments of a call as a message to the agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a2a.types import Message, Part, Role, SendMessageRequest
from google.protobuf.json_format import Error as JSONFormatError
from google.protobuf.json_format import ParseDict
from google.protobuf.message import Error as ProtobufError
from google.protobuf.struct_pb2 import Value

from abstractcore import ToolRetry
from abstractcore.toolservers import one_line, shown

from .cards import CONTEXT_ID, DATA, MESSAGE


def request_of(arguments: Mapping[str, Any], message_id: str) -> SendMessageRequest:
    """Returns the request of a new task; raises `ToolRetry` for arguments that are not those of the tool."""
    parts = [Part(text=_text(arguments, MESSAGE))]
    data = arguments.get(DATA)
    if data is not None:
        try:
            parts.append(Part(data=ParseDict(data, Value()), media_type="application/json"))
        except (JSONFormatError, ProtobufError) as error:  # it is nested too deeply
            raise ToolRetry(f"{DATA}: {one_line(str(error))}") from None
    context_id = _text(arguments, CONTEXT_ID) if arguments.get(CONTEXT_ID) is not None else ""
    return new_request(parts, message_id, context_id=context_id)


def _text(arguments: Mapping[str, Any], name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str):
        raise ToolRetry(f"{name}: expected text, got {shown(value) if name in arguments else 'nothing'}")
    return value


def new_request(parts: list[Part], message_id: str, *, context_id: str = "", task_id: str = "") -> SendMessageRequest:
    """Returns the request that sends a message of the user; raises `ToolRetry` for data that is nested too deeply.

    `message_id` is the idempotency key of the call: agents may know a message that they have got before by its id.
    """
    message = Message(message_id=message_id, role=Role.ROLE_USER, context_id=context_id, task_id=task_id)
    try:
        message.parts.extend(parts)
        return SendMessageRequest(message=message)
    except ProtobufError as error:
        raise ToolRetry(f"{DATA}: {one_line(str(error))}") from None
