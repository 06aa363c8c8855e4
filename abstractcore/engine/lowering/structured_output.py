"""Lowers a schema of the answer that the model cannot be given as such to an instruction."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from ...ports import ModelProfile
from ...schema import CallWarning, Message, ModelCall, canonical_json

_INSTRUCTION = "Answer with JSON alone, which is an instance of this JSON Schema:\n"


def lower_output(call: ModelCall, profile: ModelProfile) -> tuple[dict[str, Any], list[CallWarning]]:
    """Returns the changed fields of a call whose schema cannot be sent, alone or beside its tools, and a warning.

    The schema is then in a system message of its own, after the initial ones, and nothing enforces it.
    """
    output = call.output
    if output is None:
        return {}, []
    with_tools = profile.output_with_tools is False and bool(call.tools or call.hosted_tools)
    if profile.structured_output != "none" and not with_tools:
        return {}, []
    position = sum(1 for _ in takewhile(lambda message: message.role == "system", call.messages))
    instruction = Message.system(_INSTRUCTION + canonical_json(output.schema))
    messages = (*call.messages[:position], instruction, *call.messages[position:])
    what = "together with tools" if with_tools else "of the answer"
    message = f"{call.model} accepts no schema {what}: it is sent in a system message, messages[{position}]"
    return {"output": None, "messages": messages}, [CallWarning("schema_as_instruction", "output", message)]
