"""Schemas for vendors with a JSON mode without schemas.

The schema is sent in a system message of its own, after the initial ones, with a wording that the server side
recognizes. Nothing enforces it: answers are validated by the receiver.
"""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from abstractcore.schema import CallWarning, OutputSchema

from ...common.reading import Object, as_object, read_json, text_of

JSON_MODE: Object = {"type": "json_object"}
_BEGINNING = "Answer with JSON alone, which is an instance of the JSON Schema in this object:\n"


def instruct(messages: list[Object], output: OutputSchema, warnings: list[CallWarning]) -> None:
    """Inserts the message with the schema of `output` into `messages`, and warns that it is not enforced."""
    instruction: Object = {"name": output.name, "schema": output.schema}
    if output.description is not None:
        instruction["description"] = output.description
    position = next((i for i, message in enumerate(messages) if message["role"] != "system"), len(messages))
    messages.insert(position, {"role": "system", "content": _BEGINNING + to_json(instruction).decode()})
    if output.strict:
        what = f"the schema is sent in a system message, messages[{position}] of the request, and not enforced"
        warnings.append(CallWarning("schema_as_instruction", "output.strict", what, True, False))


def take_instruction(messages: list[Any]) -> tuple[list[Any], Object | None]:
    """Returns the messages without the one with a schema, and that schema."""
    for position, message in enumerate(messages):
        content = as_object(message).get("content")
        if isinstance(content, str) and content.startswith(_BEGINNING):
            instruction = _read_instruction(content.removeprefix(_BEGINNING))
            if instruction is not None:
                return [*messages[:position], *messages[position + 1 :]], instruction
    return messages, None


def _read_instruction(text: str) -> Object | None:
    try:
        instruction = as_object(read_json(text.encode()))
    except ValueError:
        return None
    return (
        instruction
        if text_of(instruction, "name") is not None and isinstance(instruction.get("schema"), dict)
        else None
    )
