"""Encodes a call as a request, with a warning for everything that the format cannot express."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from abstractcore import schema
from abstractcore.schema import CallWarning, Encoded, JSONObject, ModelCall, WireRequest

from ...common.call_options import duplicate_option_error, options_for, write_sampling
from ...common.conversations import written_with
from ...common.endpoints import JSON_HEADERS
from ...common.json_schemas import ANTHROPIC
from ...common.reading import Object, as_object
from ...common.request_limits import ANTHROPIC as LIMITS
from ...common.request_limits import within_limits
from ...common.thinking import (
    EFFORTS,
    Thinking,
    ThinkingOption,
    has_thinking,
    highest_effort_without_thinking,
    nearest_level,
    read_claude_thinking,
    write_claude_thinking,
)
from .content import RequestState
from .dialect import MessagesDialect, betas_to_theirs, path_of, with_version
from .tools import choice_to_theirs, has_output, output_to_theirs, tools_to_theirs
from .vocabulary import CALL_FIELDS, SAMPLING, THINKING_BLOCKS, WARNINGS
from .write_messages import write_messages

PATH = "/messages"
_HIGHEST_TEMPERATURE = 1.0


@dataclass(slots=True)
class RequestDraft:
    """A request before it is written: its fields, the texts for its placeholders, header fields, warnings, and the
    names that it has in place of the call's.
    """

    body: Object
    inputs: list[str]
    headers: Mapping[str, str]
    warnings: list[CallWarning]
    names: schema.SentNames | None

    def written(self, path: str) -> Encoded:
        """Returns the request to `path`."""
        request = WireRequest(path, self.headers, written_with(self.body, "input", self.inputs))
        return Encoded(request, tuple(self.warnings), self.names)


def encode(call: ModelCall, dialect: MessagesDialect) -> Encoded:
    """Returns the request for a lowered call.

    Raises `UnsupportedContentError` for unsupported content, and `InvalidInputError` for provider options that
    duplicate a field of the call.
    """
    drafted = draft(call, dialect)
    if not dialect.raw_predict:
        return drafted.written(PATH)
    del drafted.body["model"]
    drafted.body = with_version(drafted.body, dialect.version)
    return drafted.written(path_of(call.model, stream=call.stream))


def draft(call: ModelCall, dialect: MessagesDialect) -> RequestDraft:
    """As `encode`, before the request is written."""
    warnings: list[CallWarning] = []
    call, names = within_limits(call, LIMITS, ANTHROPIC, dialect.provider, warnings)
    options_path = f"provider_options.{dialect.provider}"
    options = dict(options_for(call, dialect.provider, warnings))
    has_options = bool(options)
    writing = RequestState(dialect.provider, warnings)
    tools = tools_to_theirs(call, options.pop("tools", None), f"{options_path}.tools", writing, dialect.computer_tool)
    conversation = write_messages(call, dialect, writing, tools)
    limit = call.sampling.max_output_tokens
    thinking = nearest_level(call.thinking, EFFORTS, warnings)
    body: Object = {"model": call.model, "max_tokens": _limit(limit, thinking, dialect, warnings)}
    if conversation.system is not None:
        body["system"] = conversation.system
    body["messages"] = conversation.messages
    sampling = write_sampling(SAMPLING, call.sampling, warnings, highest_temperature=_HIGHEST_TEMPERATURE)
    body |= {**sampling, "max_tokens": body["max_tokens"]}
    if tools:
        body["tools"] = tools
    body |= choice_to_theirs(call, warnings)
    replays = dialect.block_binding and has_thinking(conversation.messages, THINKING_BLOCKS)
    if thinking is not None or dialect.thinks_by_default or has_options:
        _add_thinking(body, thinking, options, options_path, replays, dialect, warnings)
    if call.output is not None:
        body["output_config"] = {**body.get("output_config", {}), "format": output_to_theirs(call.output, warnings)}
    WARNINGS.options(call, ("modalities",), warnings)
    if call.stream:
        body["stream"] = True
    betas = options.pop("betas", None)
    if has_options:
        _add_options(body, options, options_path)
        effort = as_object(body.get("output_config")).get("effort")
        if read_claude_thinking(body.get("thinking"), effort, replays=replays, settings=dialect)[0] != thinking:
            raise duplicate_option_error(f"{options_path}.thinking")
    headers = {**JSON_HEADERS, **dialect.headers, **betas_to_theirs(betas, body, f"{options_path}.betas", warnings)}
    return RequestDraft(body, conversation.inputs, headers, warnings, names)


def _add_thinking(
    body: Object,
    asked: Thinking,
    options: Object,
    path: str,
    replays: bool,
    dialect: MessagesDialect,
    warnings: list[CallWarning],
) -> None:
    """Adds the field `thinking`, of the call and of the option `thinking`, and the effort."""
    config = options.get("output_config")
    effort = as_object(config).get("effort")
    given = ThinkingOption(options.pop("thinking", None), f"{path}.thinking", effort)
    field, level = write_claude_thinking(asked, given, replays=replays, settings=dialect, warnings=warnings)
    if field is not None:
        body["thinking"] = field
    if level is not None:
        body["output_config"] = {"effort": level}
    most = highest_effort_without_thinking(effort, asked, f"{path}.output_config.effort", dialect, warnings)
    if most != effort:
        options["output_config"] = {**as_object(config), "effort": most}


def _limit(asked: int | None, thinking: Thinking, dialect: MessagesDialect, warnings: list[CallWarning]) -> int:
    """Returns the limit on the tokens of an answer, including thinking."""
    if asked is not None:
        return asked
    limit = dialect.max_tokens + (thinking if isinstance(thinking, int) else 0)
    message = "the format requires a limit"
    warnings.append(CallWarning("limit_added", "sampling.max_output_tokens", message, None, limit))
    return limit


def _add_options(body: Object, options: JSONObject, path: str) -> None:
    """Merges the provider options, those of `output_config` into the field of the call."""
    for name, value in options.items():
        if name == "output_config" and isinstance(value, Mapping) and not set(value) & {"format", *body.get(name, {})}:
            body[name] = {**body.get(name, {}), **value}
        elif name in body or name in CALL_FIELDS or (name == "output_config" and has_output(value)):
            raise duplicate_option_error(f"{path}.{name}")
        else:
            body[name] = value
