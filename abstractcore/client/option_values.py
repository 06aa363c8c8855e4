"""Options in their short forms, and of an enclosing `context`, as values of a `ModelCall`; the call built of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar, cast

from .. import schema
from ..concurrency.functions import is_async
from ..errors import InvalidInputError
from ..files.media_kinds import MEDIA_KINDS, media_history
from ..ports import Interruption
from ..registry.suggestions import name_hint
from ..schema import (
    EMPTY,
    MEDIA_RULES,
    NO_OPTIONS,
    HostedTool,
    MediaPart,
    MediaProgress,
    Message,
    ModelCall,
    OutputSchema,
    Sampling,
    SchemaError,
    ToolChoice,
    ToolSpec,
    freeze,
)
from ..schema.base_error import shown

SAMPLING_OPTIONS = (
    "max_output_tokens",
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "top_logprobs",
)
_SAMPLING = frozenset({*SAMPLING_OPTIONS, "stop"})
_DEFAULT_SAMPLING = Sampling()
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")
"""Names and values of RFC 9110, section 5; servers disagree about values outside ASCII."""
_FIXED_HEADERS = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "host",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_OUTPUT_RETRIES = 1
_MOST_PRIORITY = 1000
_MAX_SECONDS = 366 * 86400
"""A year. More is a mistake, or means "no limit"; clocks overflow at some point beyond."""


def merge_options(defaults: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a call's options merged over an LLM's defaults; None resets an option to the provider's own default."""
    both = layered(defaults, options)
    return {name: value for name, value in both.items() if value is not None or name == "timeout"}


def layered(defaults: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns options over defaults, with None where it was given: further defaults below these do not hold then.

    Tags are merged, and policies and histories for kinds of files.
    """
    both = {**defaults, **options}
    for name, by_kind in (("media_policy", media_policy), ("media_history", media_history)):
        if name in defaults and isinstance(options.get(name), Mapping):
            both[name] = {**by_kind(defaults[name]), **options[name]}
    if "tags" in defaults and isinstance(options.get("tags"), Mapping):
        both["tags"] = {**defaults["tags"], **options["tags"]}
    return both


def sampling(options: Mapping[str, Any]) -> Sampling:
    """Returns the sampling parameters of options; raises `SchemaError`."""
    if _SAMPLING.isdisjoint(options):
        return _DEFAULT_SAMPLING
    stop = options.get("stop", ())
    values = {name: options[name] for name in SAMPLING_OPTIONS if name in options}
    return Sampling(**values, stop=(stop,) if isinstance(stop, str) else stop)


def media_policy(value: object) -> Mapping[str, str]:
    """Returns policies by kind, from one policy for all kinds or a mapping; raises `InvalidInputError`."""
    if isinstance(value, str) and value in MEDIA_RULES:
        return dict.fromkeys(MEDIA_KINDS, value)
    if isinstance(value, str):
        raise InvalidInputError(
            f"unknown policy {shown(value)} for all kinds: use {', '.join(MEDIA_RULES)}",
            path="media_policy",
            hint=f"A fallback is for one kind of file: media_policy={{'image': {value!r}}}.",
        )
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"expected a policy or a mapping, got {type(value).__name__}", path="media_policy")
    return value  # pyright: ignore[reportUnknownVariableType] - its items are checked in the call


def frozen_option(value: object) -> object:
    """Returns a copy of a checked option that the caller cannot change."""
    return value if isinstance(value, ToolChoice) else freeze(value)


def extra_headers(value: object) -> Mapping[str, str]:
    """Returns the user's HTTP headers with lower-case names; raises `InvalidInputError`, without their values."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        hint = "For example: headers={'X-Team': 'search'}."
        raise InvalidInputError(f"expected a mapping, got {type(value).__name__}", path="headers", hint=hint)
    given = cast("Mapping[object, object]", value)
    return {_header_name(name): _header_value(each, f"headers.{name}") for name, each in given.items()}


def _header_name(name: object) -> str:
    if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
        raise InvalidInputError(f"{shown(name)} is not a valid header name", path="headers")
    if name.lower() in _FIXED_HEADERS:
        raise InvalidInputError("this header is set by the transport, and cannot be overridden", path=f"headers.{name}")
    return name.lower()


def _header_value(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise InvalidInputError(f"expected text, got {type(value).__name__}", path=path)
    if not _HEADER_VALUE.fullmatch(value.strip()):
        message = "the value has characters that are not allowed in HTTP headers, such as line breaks"
        raise InvalidInputError(message, path=path, hint="Use printable ASCII characters.")
    return value.strip()


def seconds(value: object, path: str) -> float | None:
    """Returns a positive timeout in seconds, or None for no limit."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MAX_SECONDS:
        raise InvalidInputError(
            f"expected seconds, more than 0 and at most {_MAX_SECONDS:,}, got {shown(value)}",
            path=path,
            hint="None means no limit.",
        )
    return float(value)


def priority(value: object) -> int:
    """Returns the priority of a call among those that wait for limits; 0 if not given."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not -_MOST_PRIORITY <= value <= _MOST_PRIORITY:
        expected = f"expected a whole number from -{_MOST_PRIORITY} to {_MOST_PRIORITY}, got {shown(value)}"
        raise InvalidInputError(expected, path="priority", hint="Calls of a higher priority go first; 0 is usual.")
    return value


def progress_function(value: object) -> Callable[[MediaProgress], object] | None:
    """Returns a function for the progress of conversions; raises `InvalidInputError` for anything else."""
    if value is not None and (not callable(value) or is_async(value)):
        hint = "It is called in other threads: use loop.call_soon_threadsafe(...) in it to go on in an event loop."
        raise InvalidInputError(f"expected a sync function, got {shown(value)}", path="on_media_progress", hint=hint)
    return value


def interruption_of(request: Mapping[str, Any]) -> Interruption | None:
    """Returns the interruption of a request; raises `InvalidInputError` for anything else."""
    value = request.get("interruption")
    if value is not None and not isinstance(value, Interruption):
        hint = "Make one: interruption = Interruption(). Its `set()` ends the call, from any thread."
        raise InvalidInputError(f"expected an Interruption, got {shown(value)}", path="interruption", hint=hint)
    return value


def at_least_zero(value: object, path: str) -> int:
    """Returns an integer of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInputError(f"expected an integer of at least 0, got {shown(value)}", path=path)
    return value


def at_least_one(value: object, path: str) -> int:
    """Returns an integer of at least 1."""
    count = at_least_zero(value, path)
    if count == 0:
        raise InvalidInputError("expected 1 or more, got 0", path=path)
    return count


def tool_choice(value: object) -> ToolChoice | None:
    """Returns a tool choice from a mode or a `ToolChoice`."""
    if value is None or isinstance(value, ToolChoice):
        return value
    if isinstance(value, str) and value in ("auto", "none", "required"):
        return ToolChoice(cast(Any, value))
    raise InvalidInputError(
        f"{shown(value)} is not a valid tool choice",
        path="tool_choice",
        hint=f"Use 'auto', 'none', 'required', or {_forced_choice(value)}.",
    )


def check_forced_tool(choice: object, tools: Sequence[ToolSpec | HostedTool]) -> None:
    """Raises `InvalidInputError` for a choice that forces a call of tools that the call does not have; `choice` may be
    of any type.
    """
    forces = choice.mode in ("required", "tool") if isinstance(choice, ToolChoice) else _is_required(choice)
    if forces and not tools:
        hint = "Pass tools=[...], or leave tool_choice out."
        raise InvalidInputError("it forces a tool call, and the call has no tools", path="tool_choice", hint=hint)
    if not isinstance(choice, ToolChoice) or choice.tool is None:
        return
    names = [tool.name if isinstance(tool, ToolSpec) else tool.kind for tool in tools]
    is_searched_for = any(isinstance(tool, ToolSpec) and tool.defer for tool in tools)
    if choice.tool not in names and not is_searched_for:
        hint = name_hint(choice.tool, names, "tools", "tools=[...]")
        raise InvalidInputError(f"the call has no tool {shown(choice.tool)}", path="tool_choice", hint=hint)


def _is_required(choice: object) -> bool:
    return isinstance(choice, str) and choice == "required"


def _forced_choice(value: object) -> str:
    """Returns the tool choice that forces a tool, with the name that a function, a text or a mapping gives it."""
    name: object = value
    if isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        inner = given.get("function", given)
        name = cast("Mapping[str, Any]", inner).get("name") if isinstance(inner, Mapping) else inner
    elif not isinstance(value, str):
        name = getattr(value, "name", getattr(value, "__name__", None))
    is_name = isinstance(name, str) and name not in ("", "any", "tool", "function", "validated")
    return f"ToolChoice('tool', {shown(name)}) to force that tool" if is_name else "ToolChoice('tool', NAME)"


def output_retries(value: object) -> int:
    """Returns how often the model is asked again for an invalid answer; once if not given."""
    if value is None:
        return _OUTPUT_RETRIES
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInputError(f"expected a whole number of at least 0, got {shown(value)}", path="output_retries")
    return value


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
            conversation.insert(0, _system_message(system_prompt, conversation))
        user = _user_message(prompt, media)
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
            tags=_all_tags(options),
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


_PROMPT_NAME = re.compile(r"[^\s@]{1,100}(@[^\s@]{1,100})?")


def _all_tags(options: Mapping[str, Any]) -> Mapping[str, str]:
    """Returns the tags of a call, with the name of its prompt."""
    tags, name = options.get("tags", EMPTY), options.get("prompt_name")
    if name is None:
        return tags
    if not isinstance(name, str) or not _PROMPT_NAME.fullmatch(name):
        hint = 'For example prompt_name="refund@3".'
        raise SchemaError(f"expected NAME or NAME@VERSION without spaces, got {shown(name)}", "prompt_name", hint=hint)
    return {**cast("Mapping[str, str]", tags), "prompt": name} if isinstance(tags, Mapping) else tags


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


def _system_message(system_prompt: object, conversation: Sequence[Message]) -> Message:
    if not isinstance(system_prompt, str):
        raise SchemaError(f"expected text, got {type(system_prompt).__name__}", "system_prompt")
    if any(message.role == "system" for message in conversation):
        raise SchemaError("`messages` already has a system message: pass only one of them", "system_prompt")
    if not system_prompt:
        raise SchemaError("must not be empty: leave it out", "system_prompt")
    return _at("system_prompt", Message.system, system_prompt)


def _user_message(prompt: object, media: Sequence[MediaPart]) -> Message | None:
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


T = TypeVar("T", ModelCall, "schema.OperationInput")


class CallScope(NamedTuple):
    """The tags and the parent of enclosing blocks."""

    tags: Mapping[str, str]
    parent_id: str | None


_scope: ContextVar[CallScope | None] = ContextVar("abstractcore_call_scope", default=None)


def scoped_options(defaults: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the defaults of a call's options, with those of the enclosing block over them."""
    scope = _scope.get()
    if scope is None:
        return defaults
    parent = {"parent_id": scope.parent_id} if scope.parent_id is not None else {}
    return {**defaults, "tags": {**defaults.get("tags", {}), **scope.tags}, **parent}


def scoped_call(given: T) -> T:
    """Returns a call, or an input without one, with tags and parent of the enclosing block, where it sets none."""
    scope = _scope.get()
    if scope is None:
        return given
    return given.with_(tags={**scope.tags, **given.tags}, parent_id=given.parent_id or scope.parent_id)


@contextmanager
def context(
    *, session: str | None = None, tags: Mapping[str, str] | None = None, parent_id: str | None = None
) -> Generator[None]:
    """Adds these tags (`session` is one of them) and this parent to every call in the block.

    Inner blocks add to outer ones; a call's own values take precedence. It applies to tasks created in the block and
    to `asyncio.to_thread`. Before Python 3.14 a new thread starts without context variables: run your function in it
    with `contextvars.copy_context().run`. Raises `InvalidInputError` for a tag that is not a string.
    """
    outer = _scope.get() or CallScope({}, None)
    given = {**_tags(tags or {}), **({"session": _text(session, "session")} if session is not None else {})}
    parent = outer.parent_id if parent_id is None else _text(parent_id, "parent_id")
    token = _scope.set(CallScope({**outer.tags, **given}, parent))
    try:
        yield
    finally:
        with suppress(ValueError):  # an async generator may be closed by another task, in another context
            _scope.reset(token)


def enclosing_tags() -> Mapping[str, str]:
    """Returns the tags of the enclosing `context`."""
    scope = _scope.get()
    return {} if scope is None else scope.tags


def _tags(tags: object) -> dict[str, str]:
    if not isinstance(tags, Mapping):
        raise InvalidInputError(f"expected a mapping, got {type(tags).__name__}", path="tags")
    given = cast("Mapping[object, object]", tags)
    return {_text(name, "tags"): _text(value, f"tags.{name}") for name, value in given.items()}


def _text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise InvalidInputError(f"expected text, got {type(value).__name__}", path=path)
    return value
