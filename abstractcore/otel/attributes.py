"""The attributes of spans in the names of OpenTelemetry's conventions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ..schema import CallRecord, InteractionRecord, Modality, ModelCall, ModelReply, ToolRecord, TraceRecord
from . import messages, names

Attribute: TypeAlias = "str | bool | int | float | list[str]"
Attributes: TypeAlias = "dict[str, Attribute]"

_OUTPUT_TYPES: Mapping[Modality, str] = {"image": "image", "audio": "speech"}


def span_name(record: TraceRecord) -> str:
    """Returns the name of a span: its operation, and the model or tool."""
    if isinstance(record, InteractionRecord):
        return names.INVOKE_AGENT
    if isinstance(record, ToolRecord):
        return f"{names.EXECUTE_TOOL} {record.tool}"
    return f"{operation_of(record)} {requested_model(record)}".rstrip()


def operation_of(record: CallRecord) -> str:
    """Returns the operation of a call, which is its own if the conventions have no name for it."""
    return names.OPERATIONS.get(record.operation, record.operation)


def provider_of(record: CallRecord | InteractionRecord) -> str:
    """Returns the provider, by the name that the conventions have for it."""
    return names.PROVIDERS.get(record.provider, record.provider)


def requested_model(record: CallRecord) -> str:
    """Returns the model that was requested."""
    return record.model if record.call is None else record.call.model


def of_record(record: TraceRecord, *, with_content: bool) -> Attributes:
    """Returns the attributes of a record in the names of the conventions."""
    if isinstance(record, InteractionRecord):
        found: Attributes = {
            names.OPERATION: names.INVOKE_AGENT,
            names.PROVIDER: provider_of(record),
            names.REQUEST_MODEL: record.model,
        }
    elif isinstance(record, ToolRecord):
        found = _of_tool(record, with_content)
    else:
        found = _of_call(record, with_content)
    if (session := record.tags.get("session")) is not None:
        found[names.CONVERSATION] = session
    if (prompt := record.tags.get("prompt")) is not None:
        found |= _of_prompt(prompt)
    return found


def own_attributes(record: TraceRecord) -> Attributes:
    """Returns the attributes that no convention has a name for."""
    found: Attributes = {names.TRACE_ID: record.trace_id, names.OUTCOME: record.outcome}
    if record.parent_id is not None:
        found[names.PARENT_ID] = record.parent_id
    if isinstance(record, InteractionRecord):
        found |= {names.INTERACTION: record.kind, names.CALLS: record.calls, names.TOOL_RUNS: record.tool_runs}
        if record.status is not None:
            found[names.LOOP_STATUS] = record.status
    elif isinstance(record, ToolRecord):
        known = {names.TOOL_SOURCE: record.source, names.TOOL_SERVER: record.server}
        found |= {name: value for name, value in known.items() if value is not None}
        if record.approval is not None:
            found[names.TOOL_APPROVAL] = record.approval.decision
        if record.cost is not None:
            found[names.COST] = float(record.cost)
    else:
        found |= _of_costs(record)
        found[names.ATTEMPTS] = len(record.attempts)
        if record.seconds_waited:
            found[names.SECONDS_WAITED] = record.seconds_waited
        if record.discarded:
            found[names.DISCARDED] = True
    return found | {f"{names.TAG}{name}": value for name, value in record.tags.items()}


def error_type(record: TraceRecord) -> str | None:
    """Returns the class of the error that ended it, or how else it ended; None if it was done."""
    if record.error is not None:
        return record.error.type
    return None if record.outcome == "done" else record.outcome


def _of_costs(record: CallRecord) -> Attributes:
    found: Attributes = {}
    if record.cost is not None:
        found[names.COST] = float(record.cost)
    if record.estimated_cost is not None:
        found[names.ESTIMATED_COST] = float(record.estimated_cost)
    if record.saved_cost is not None:
        found[names.SAVED_COST] = float(record.saved_cost)
    if record.cost_source is not None:
        found[names.COST_SOURCE] = record.cost_source
    if record.cost_reason is not None:
        found[names.COST_REASON] = record.cost_reason
    return found


def _of_prompt(prompt: str) -> Attributes:
    name, _, version = prompt.partition("@")
    return {names.PROMPT_NAME: name, names.PROMPT_VERSION: version} if version else {names.PROMPT_NAME: name}


def _of_tool(record: ToolRecord, with_content: bool) -> Attributes:
    found: Attributes = {
        names.OPERATION: names.EXECUTE_TOOL,
        names.TOOL_NAME: record.tool,
        names.TOOL_CALL_ID: record.call_id,
        names.TOOL_TYPE: "function",
    }
    if with_content and record.arguments is not None:
        found[names.TOOL_ARGUMENTS] = messages.written(record.arguments)
    if with_content and record.result is not None:
        found[names.TOOL_RESULT] = messages.text_of_result(record.result)
    return found


def _of_call(record: CallRecord, with_content: bool) -> Attributes:
    found: Attributes = {
        names.OPERATION: operation_of(record),
        names.PROVIDER: provider_of(record),
        names.REQUEST_MODEL: requested_model(record),
    }
    if record.streamed:
        found[names.REQUEST_STREAM] = True
        if record.seconds_to_first is not None:
            found[names.TIME_TO_FIRST_CHUNK] = record.seconds_to_first
    found |= _of_usage(record)
    if record.call is not None:
        found |= _of_request(record.call)
        if with_content:
            found |= messages.content_of_call(record.call)
    if record.reply is not None:
        found |= _of_reply(record.reply)
        if with_content:
            found |= messages.content_of_reply(record.reply)
    return found


def _of_usage(record: CallRecord) -> Attributes:
    usage = record.usage
    found: Attributes = {}
    for field, name in names.USAGE.items():
        count = getattr(usage, field)
        if count is not None:
            found[name] = count
    for meter, count in () if usage.billing is None else usage.billing.counts.items():
        if meter in names.METERS:
            found[names.METERS[meter]] = count
    return found


def _of_request(call: ModelCall) -> Attributes:
    sampling = call.sampling
    found: Attributes = {}
    for field, name in names.SAMPLING.items():
        value = getattr(sampling, field)
        if value is not None:
            found[name] = value
    if sampling.stop:
        found[names.STOP] = list(sampling.stop)
    if isinstance(call.thinking, str):
        found[names.REQUEST_REASONING] = call.thinking
    kinds = [_OUTPUT_TYPES[each] for each in call.modalities if each in _OUTPUT_TYPES]
    if call.output is not None:
        found[names.OUTPUT_TYPE] = "json"
    elif kinds:
        found[names.OUTPUT_TYPE] = kinds[0]
    return found


def _of_reply(reply: ModelReply) -> Attributes:
    found: Attributes = {names.FINISH_REASONS: [messages.finish_reason(reply)]}
    if reply.model is not None:
        found[names.RESPONSE_MODEL] = reply.model
    if reply.id is not None:
        found[names.RESPONSE_ID] = reply.id
    return found
