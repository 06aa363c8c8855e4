"""Builds a `ModelCall` from the arguments of `generate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ..errors import InvalidInputError
from ..schema import EMPTY, NO_OPTIONS, HostedTool, MediaPart, Message, ModelCall, OutputSchema, SchemaError, ToolSpec
from .option_values import media_history, media_policy, sampling, tool_choice


def build_call(
    *,
    provider: str,
    model: str,
    prompt: str | None,
    messages: Sequence[Message],
    system_prompt: str | None,
    media: Sequence[MediaPart],
    tools: Sequence[ToolSpec | HostedTool],
    output: OutputSchema | None,
    options: Mapping[str, Any],
    stream: bool,
) -> ModelCall:
    """Returns the call: `system_prompt`, `messages`, then one user message of `media` and `prompt`.

    Raises `InvalidInputError` with the path of an invalid value.
    """
    conversation = list(messages)
    try:
        if system_prompt is not None:
            conversation.insert(0, _system(system_prompt, conversation))
        user = _user(prompt, media)
        if user is not None:
            conversation.append(user)
        return ModelCall(
            model=model,
            provider=provider,
            messages=tuple(conversation),
            tools=tuple(tool for tool in tools if isinstance(tool, ToolSpec)),
            hosted_tools=tuple(tool for tool in tools if isinstance(tool, HostedTool)),
            tool_choice=tool_choice(options.get("tool_choice")),
            parallel_tool_calls=options.get("parallel_tool_calls"),
            sampling=sampling(options),
            output=output,
            thinking=options.get("thinking"),
            cache=options.get("cache", False),
            modalities=options.get("modalities", ()),
            stream=stream,
            strict=options.get("strict", False),
            media_policy=cast(Any, media_policy(options["media_policy"]) if "media_policy" in options else EMPTY),
            media_history=cast(Any, media_history(options["media_history"]) if "media_history" in options else EMPTY),
            provider_options=options.get("provider_options", NO_OPTIONS),
            tags=options.get("tags", EMPTY),
            parent_id=options.get("parent_id"),
            trace_context=options.get("trace_context", EMPTY),
            tool_format=options.get("tool_format"),
            rescue=options.get("rescue", True),
            output_mode=options.get("output_mode"),
            tool_search=options.get("tool_search"),
            file_store=options.get("file_store", "auto"),
        )
    except SchemaError as error:
        raise InvalidInputError(error.message, path=error.path, hint=error.hint) from None


def check_options(options: Mapping[str, Any]) -> None:
    """Raises `InvalidInputError` with the path of an invalid option."""
    build_call(
        provider="",
        model="",
        prompt="-",
        messages=(),
        system_prompt=options.get("system_prompt"),
        media=(),
        tools=(),
        output=None,
        options=options,
        stream=False,
    )


def _system(system_prompt: object, conversation: Sequence[Message]) -> Message:
    if not isinstance(system_prompt, str):
        raise SchemaError(f"expected text, got {type(system_prompt).__name__}", "system_prompt")
    if any(message.role == "system" for message in conversation):
        raise SchemaError("`messages` already has a system message: pass only one of them", "system_prompt")
    if not system_prompt:
        raise SchemaError("must not be empty: leave it out", "system_prompt")
    return _at("system_prompt", Message.system, system_prompt)


def _user(prompt: object, media: Sequence[MediaPart]) -> Message | None:
    if prompt is not None and not isinstance(prompt, str):
        hint = "Pass a conversation as messages=[...]." if isinstance(prompt, list | tuple | Message) else None
        raise SchemaError(f"expected text, got {type(cast(object, prompt)).__name__}", "prompt", hint=hint)
    if prompt is not None and not prompt.strip() and not media:
        raise SchemaError("must not be empty: pass text or media", "prompt")
    content = [*media, *([prompt] if prompt else [])]
    return _at("prompt", Message.user, *content) if content else None


def _at(path: str, make: Any, *arguments: object) -> Message:
    try:
        return make(*arguments)
    except SchemaError as error:
        raise SchemaError(error.message, path) from None
