"""Warnings for what a wire format cannot express, with the same codes and wording in every format."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import (
    Billing,
    CallWarning,
    FinishReason,
    JSONObject,
    JSONValue,
    MediaPart,
    ModelCall,
    Part,
    Usage,
    to_data,
)


def unsupported(path: str, requested: JSONValue, what: str) -> CallWarning:
    """Returns the warning for an option that is not sent."""
    return CallWarning("unsupported_option", path, f"this provider does not support {what}", requested)


def reasoning_left_out(path: str) -> CallWarning:
    """Returns the warning for reasoning of another model."""
    return CallWarning("reasoning_left_out", path, "reasoning is sent only to the model that wrote it")


def warn_of_merging(indexes: Sequence[int], parts: Sequence[Part], reason: str, warnings: list[CallWarning]) -> None:
    """Warns that the messages at `indexes` are sent as one with these parts.

    The warnings for their parts are replaced by one for each message, with their texts.
    """
    first, *others = (f"messages[{index}]" for index in indexes)
    paths = (f"{first}.parts", *(f"{path}." for path in others))
    within = [warning for warning in warnings if warning.path.startswith(paths)]
    warnings[:] = [warning for warning in warnings if warning not in within]
    message = "; ".join(dict.fromkeys([reason, *(warning.message for warning in within)]))
    warnings.append(CallWarning("merged", f"{first}.parts", message, sent=[to_data(part) for part in parts]))
    warnings += [CallWarning("merged", path, message) for path in others]


@dataclass(frozen=True, slots=True)
class FormatWarnings:
    """Builds the warnings of one wire format. `name` is the format's name in messages: "the Messages format"."""

    name: str

    def part(self, part: Part, path: str) -> CallWarning:
        """Returns the warning for a part that is left out."""
        return CallWarning("part_left_out", path, f"{self.name} has no field for this {part.type} part")

    def field(self, name: str, path: str) -> CallWarning:
        """Returns the warning for a field of the part at `path` that is left out."""
        field_path = f"{path}.{name}" if path else name
        return CallWarning(f"{name}_left_out", field_path, f"{self.name} has no field for {name} here")

    def fields(self, item: object, path: str, names: Iterable[str], warnings: list[CallWarning]) -> None:
        """Warns of those fields of the item at `path` that are set, if it has them."""
        for name in names:
            if getattr(item, name, None):
                warnings.append(self.field(name, path))  # noqa: PERF401 - most parts have none: no list is made

    def controls(self, part: MediaPart, path: str, followed: Container[str], warnings: list[CallWarning]) -> None:
        """Warns of those controls of the file at `path` that are not `followed`."""
        if part.controls is not None:
            for name in part.controls.names:
                if name not in followed:
                    message = f"{self.name} has no field for {name} here"
                    value = getattr(part.controls, name)
                    warnings.append(CallWarning("control_not_followed", f"{path}.controls.{name}", message, value))

    def options(self, call: ModelCall, names: Iterable[str], warnings: list[CallWarning]) -> None:
        """Warns of those options of a call that are set."""
        for name in names:
            value: Any = getattr(call, name)
            if value not in (None, ()):
                warnings.append(unsupported(name, value, name))

    def finish_reason(self, requested: FinishReason, sent: FinishReason, warnings: list[CallWarning]) -> None:
        """Warns if clients receive another finish reason than the reply's."""
        if sent != requested:
            message = f"{self.name} has no value for {requested!r} here"
            warnings.append(CallWarning("finish_reason_changed", "finish_reason", message, requested, sent))

    def counts(
        self, usage: Usage, names: Iterable[str], warnings: list[CallWarning], code: str = "count_left_out"
    ) -> None:
        """Warns of those token counts that were reported."""
        for name in names:
            count = getattr(usage, name)
            if count is not None:
                message = f"{self.name} has no count of {name.replace('_', ' ')} tokens"
                warnings.append(CallWarning(code, f"usage.{name}", message, count))

    def billing(self, requested: Billing | None, sent: Billing | None, warnings: list[CallWarning]) -> None:
        """Warns if clients receive other billing data than the reply's."""
        if sent != requested:
            message = f"{self.name} has no fields for all of it, or derives it from other fields"
            code = "billing_left_out" if sent is None else "billing_changed"
            warnings.append(CallWarning(code, "usage.billing", message, to_data(requested), to_data(sent)))

    def metadata(self, metadata: JSONObject, sent: JSONObject, warnings: list[CallWarning]) -> None:
        """Warns if some of a reply's metadata are not among those `sent`, as the format uses their names for something
        else.
        """
        left = [name for name in metadata if name not in sent]
        if left:
            message = f"{self.name} uses {', '.join(left)} for something else"
            warnings.append(CallWarning("metadata_left_out", "provider_metadata", message, metadata, sent or None))

    def metadata_field(self, name: str) -> CallWarning:
        """Returns the warning for one name in a reply's metadata, where each is reported separately."""
        message = f"{self.name} uses {name!r} for something else"
        return CallWarning("metadata_left_out", f"provider_metadata.{name}", message)

    def nothing_left(self) -> UnsupportedContentError:
        """Returns the error for a conversation without any message left."""
        return UnsupportedContentError(f"{self.name} has no field for any part of these messages.")

    def hosted_tools(self, call: ModelCall, known: Container[str] = ()) -> UnsupportedContentError:
        """Returns the error for a call with a hosted tool of none of the `known` kinds, those that the format has."""
        index, tool = next((i, tool) for i, tool in enumerate(call.hosted_tools) if tool.kind not in known)
        other = "openai-responses" if tool.kind == "tool_search" else "google"
        return UnsupportedContentError(
            f"hosted_tools[{index}]: {self.name} has no hosted tools such as {tool.kind}.",
            hint=f"Use a provider with this hosted tool, such as 'anthropic' or {other!r}, or define a function tool.",
            provider=call.provider or None,
            model=call.model,
        )
