"""Tools of a call: those that the caller runs, and hosted tools, which the provider runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from .base_error import SchemaError
from .cache_points import CachePoint, check_cache
from .frozen_json import EMPTY, freeze_object
from .immutable import Immutable
from .json_values import JSONObject, check_choice, check_flag, check_items, check_text
from .quoting import shown

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
    """Whether the model may, must or must not call tools; `tool` is the name of the one that it must call."""

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
