"""Plugins made on the spot: one thing of each kind, with any of its members changed or missing."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from abstractcore import ToolCall, ToolResult, ToolSpec
from abstractcore.ports import Conversion, Fallback
from abstractcore.registry import hookimpl

HOOKS = {
    "provider": "register_providers",
    "catalogue": "register_catalogues",
    "wire format": "register_wire_formats",
    "media handler": "register_media_handlers",
    "capability": "register_capabilities",
    "tool source": "register_tools",
    "trace subscriber": "register_trace_subscribers",
}


def plugin(**hooks: Any) -> ModuleType:
    """A module with these hooks."""
    module = ModuleType("plugin")
    for name, hook in hooks.items():
        setattr(module, name, hookimpl(hook))
    return module


def giving(**items: Any) -> ModuleType:
    """A plugin whose hooks give these, by kind: `provider=[...]`, `tool_source=[...]`."""

    def hook(given: Any) -> Any:
        return lambda: given

    return plugin(**{HOOKS[kind.replace("_", " ")]: hook(given) for kind, given in items.items()})


def thing(kind: str, name: Any = "one", /, *, without: str = "", **changes: Any) -> Any:
    """Something of this kind, called `name`."""
    members: dict[str, Any] = {"name": name, "summary": "of a test", **_MEMBERS[kind], **changes}
    members.pop(without, None)
    if kind != "trace subscriber":
        return SimpleNamespace(**members)
    call = members.pop("__call__", None)
    double = type("Subscriber", (), {"__call__": lambda self, record: call(record)} if call else {})()
    vars(double).update(members)
    return double


async def run_tool(call: ToolCall) -> ToolResult:
    return ToolResult.text(call.id, f"{call.name} ran")


_MEMBERS: dict[str, dict[str, Any]] = {
    "provider": {"options": {}, "connect": lambda config, services: None},
    "catalogue": {"file": Path("one.jsonl")},
    "wire format": {"transpiler": lambda: None},
    "media handler": {
        "fallbacks": (Fallback("text", frozenset({"text"})),),
        "recognise": lambda head, name, declared: None,
        "check": lambda part: None,
        "convert": lambda part, context: Conversion("text", "text"),
    },
    "capability": {"connect": lambda options, services: (dict(options), services)},
    "tool source": {"tools": lambda: [ToolSpec("add"), ToolSpec("subtract")], "call": run_tool},
    "trace subscriber": {"capture": "off", "__call__": lambda record: None},
}
