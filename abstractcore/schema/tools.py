"""Tools of a call: those that the caller runs, and hosted tools, which the provider runs.

`CachePoint`: marks the end of a prompt prefix that the provider is asked to cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from .base_error import SchemaError, shown
from .json_values import (
    EMPTY,
    JSONObject,
    check_choice,
    check_count,
    check_flag,
    check_items,
    check_text,
    freeze_object,
)
from .reprs import Immutable


@dataclass(frozen=True, slots=True)
class CachePoint(Immutable):
    """Asks the provider to cache the prompt up to and including the part or tool that holds it, for `ttl` seconds.

    With `ttl` None the provider chooses the time. Parts of a reply have no cache point.
    """

    ttl: int | None = None

    def __post_init__(self) -> None:
        if self.ttl is not None and check_count(self.ttl, "ttl") == 0:
            raise SchemaError("must be at least 1 second", "ttl")


def check_cache(cache: object) -> None:
    """Raises `SchemaError` unless `cache` is a `CachePoint` or None."""
    if cache is not None and not isinstance(cache, CachePoint):
        raise SchemaError(f"expected a CachePoint, got {type(cache).__name__}", "cache")


HostedToolKind = Literal["web_search", "code_interpreter", "file_search", "computer_use", "tool_search"]
ToolLabel = Literal["private", "untrusted", "sends"]
"""What a tool does with data: its results are private, or come from anybody; or it sends data out."""
_KINDS = get_args(HostedToolKind)
_LABELS = get_args(ToolLabel)
_MODES = ("auto", "none", "required", "tool")


@dataclass(frozen=True, slots=True)
class ToolSpec(Immutable):
    """A tool that the model may call. `parameters` is a JSON Schema of an object; the flags are hints to policies.

    With `defer`, the model is not given the tool until it has found it by tool search. A lowered call has such tools
    only together with the hosted tool `tool_search`. `labels` say what the tool does with data; see `ToolLabel`.
    """

    name: str
    description: str = ""
    parameters: JSONObject = EMPTY
    strict: bool | None = None
    read_only: bool = False
    idempotent: bool = False
    destructive: bool = False
    cache: CachePoint | None = None
    defer: bool = False
    labels: tuple[ToolLabel, ...] = ()

    def __post_init__(self) -> None:
        if not check_text(self.name, "name"):
            raise SchemaError("a tool needs a name", "name")
        check_text(self.description, "description")
        for name in ("read_only", "idempotent", "destructive", "defer"):
            check_flag(getattr(self, name), name)
        if self.strict is not None:
            check_flag(self.strict, "strict")
        check_cache(self.cache)
        object.__setattr__(self, "labels", check_labels(self.labels))
        object.__setattr__(self, "parameters", freeze_object(self.parameters, "parameters"))


@dataclass(frozen=True, slots=True)
class ToolChoice(Immutable):
    """Whether the model may, must or must not call tools; `tool` is the name of the one that it must call.

    `mode` is "auto", "none", "required" or "tool", for the tool of this name.
    """

    mode: Literal["auto", "none", "required", "tool"] = "auto"
    tool: str | None = None

    def __post_init__(self) -> None:
        check_choice(self.mode, _MODES, "mode")
        if (self.mode == "tool") != (self.tool is not None):
            raise SchemaError("is required with mode 'tool', and allowed with no other mode", "tool")
        if self.tool is not None:
            check_text(self.tool, "tool")


@dataclass(frozen=True, slots=True)
class HostedTool(Immutable):
    """A tool that the provider runs. `options` have the provider's own names."""

    kind: HostedToolKind
    options: JSONObject = EMPTY

    def __post_init__(self) -> None:
        check_choice(self.kind, _KINDS, "kind")
        object.__setattr__(self, "options", freeze_object(self.options, "options"))


def check_tool_names(tools: tuple[ToolSpec, ...]) -> None:
    """Raises `SchemaError` for two tools with one name."""
    seen: set[str] = set()
    for index, tool in enumerate(tools):
        if tool.name in seen:
            raise SchemaError(f"two tools are named {shown(tool.name)}", f"tools[{index}].name")
        seen.add(tool.name)


def check_labels(labels: object, path: str = "labels") -> tuple[ToolLabel, ...]:
    """Returns `labels` in a fixed order, each once; raises `SchemaError` for an unknown one."""
    given = check_items(labels, str, path)
    for index, label in enumerate(given):
        check_choice(label, _LABELS, f"{path}[{index}]")
    return tuple(label for label in _LABELS if label in given)
