"""Replaces names that a vendor refuses: of tools in a call, and of properties in the arguments of its calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from abstractcore.schema import CallWarning, Message, ModelCall, Part, SentNames, ToolCall, ToolChoice, ToolSpec
from abstractcore.schema.sent_names import with_property_names

from .name_rules import NameRule


def sent_names(
    tools: Mapping[str, str], arguments: Mapping[str, Mapping[str, str]], output: Mapping[str, str]
) -> SentNames:
    """Returns the function that restores the names that a reply has in place of these. The keys of `arguments` are
    tools.
    """
    by_sent_tool = {tools.get(name, name): _inverse(names) for name, names in arguments.items()}
    return SentNames(_inverse(tools), by_sent_tool, _inverse(output))


def with_sent_names(
    call: ModelCall,
    tools: Mapping[str, str],
    arguments: Mapping[str, Mapping[str, str]],
    rule: NameRule | None,
    warnings: list[CallWarning],
) -> ModelCall:
    """Returns the call with the names of `tools` in place of its own, which `rule` refuses, and those of `arguments` in
    the arguments of its calls, with a warning for each.
    """
    return _NameReplacer(tools, arguments, rule, warnings).call(call)


def _inverse(names: Mapping[str, str]) -> Mapping[str, str]:
    return {sent: own for own, sent in names.items()}


class _NameReplacer:
    """Replaces the names of tools in a call, and those of properties in the arguments of its calls."""

    def __init__(
        self,
        tools: Mapping[str, str],
        arguments: Mapping[str, Mapping[str, str]],
        rule: NameRule | None,
        warnings: list[CallWarning],
    ) -> None:
        self._tools = tools
        self._arguments = arguments
        self._rule = rule
        self._warnings = warnings

    def call(self, call: ModelCall) -> ModelCall:
        """Returns the call with replaced names."""
        tools = tuple(self._tool(tool, f"tools[{index}]") for index, tool in enumerate(call.tools))
        choice = self._choice(call)
        messages = tuple(self._message(message, f"messages[{i}]") for i, message in enumerate(call.messages))
        return call.with_(tools=tools, tool_choice=choice, messages=messages)

    def _choice(self, call: ModelCall) -> ToolChoice | None:
        """Returns the choice. One of a tool that the call does not define stays as it is."""
        name = None if call.tool_choice is None else call.tool_choice.tool
        if name is None or name not in self._tools or all(tool.name != name for tool in call.tools):
            return call.tool_choice
        return ToolChoice("tool", self._name(name, "tool_choice.tool"))

    def _tool(self, tool: ToolSpec, path: str) -> ToolSpec:
        """Returns a definition. One whose name has lost characters is described by its own name."""
        if tool.name not in self._tools or self._rule is None:
            return tool
        name, description = self._name(tool.name, f"{path}.name"), tool.description
        if not self._rule.shortens(tool.name):
            description = f"{tool.name}: {description}" if description else tool.name
            message = "it begins with the tool's own name"
            found = CallWarning("tool_name_changed", f"{path}.description", message, tool.description, description)
            self._warnings.append(found)
        return replace(tool, name=name, description=description)

    def _message(self, message: Message, path: str) -> Message:
        if message.role != "assistant":
            return message
        parts = tuple(self._part(part, f"{path}.parts[{index}]") for index, part in enumerate(message.parts))
        changed = any(new is not old for new, old in zip(parts, message.parts, strict=True))
        return replace(message, parts=parts) if changed else message

    def _part(self, part: Part, path: str) -> Part:
        if not isinstance(part, ToolCall):
            return part
        names = self._arguments.get(part.name)
        call = part if names is None else self._with_arguments(part, names, path)
        return replace(call, name=self._name(part.name, f"{path}.name")) if part.name in self._tools else call

    def _with_arguments(self, call: ToolCall, names: Mapping[str, str], path: str) -> ToolCall:
        """Returns the call with replaced names of properties. Arguments that cannot be read stay as they are."""
        text = call.arguments_json and with_property_names(call.arguments_json, names)
        if text is None or text == call.arguments_json:
            return call
        message = "properties have the names that the schema of the tool has in the request"
        path = f"{path}.arguments_text"
        self._warnings.append(CallWarning("property_names_changed", path, message, call.arguments_text, text))
        return replace(call, arguments_text=text)

    def _name(self, name: str, path: str) -> str:
        sent = self._tools[name]
        described = "" if self._rule is None else self._rule.described
        self._warnings.append(CallWarning("tool_name_changed", path, f"a tool's name is {described}", name, sent))
        return sent
