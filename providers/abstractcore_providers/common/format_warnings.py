"""Warnings of what a wire format cannot express, with the same codes and words in every format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import CallWarning, FinishReason, JSONObject, JSONValue, ModelCall, Part, Usage


def unsupported(path: str, requested: JSONValue, what: str) -> CallWarning:
    """The warning for an option that is not sent."""
    return CallWarning("unsupported_option", path, f"{what} cannot be asked of this provider", requested)


def reasoning_left_out(path: str) -> CallWarning:
    """The warning for reasoning of another model."""
    return CallWarning("reasoning_left_out", path, "reasoning goes back only to the model it came from")


@dataclass(frozen=True, slots=True)
class FormatWarnings:
    """Builds the warnings of one wire format. `name` is what messages call it: "the Messages format"."""

    name: str

    def part(self, part: Part, path: str) -> CallWarning:
        """The warning for a part that is left out."""
        return CallWarning("part_left_out", path, f"{self.name} has no place for this {part.type} part")

    def field(self, name: str, path: str) -> CallWarning:
        """The warning for a field of the part at `path` that is left out."""
        place = f"{path}.{name}" if path else name
        return CallWarning(f"{name}_left_out", place, f"{self.name} has no place for {name} here")

    def fields(self, item: object, path: str, names: Iterable[str], warnings: list[CallWarning]) -> None:
        """Warn of those fields of the item at `path` that are set, if it has them."""
        for name in names:
            if getattr(item, name, None):
                warnings.append(self.field(name, path))  # noqa: PERF401 - most parts have none: no list is made

    def options(self, call: ModelCall, names: Mapping[str, str], warnings: list[CallWarning]) -> None:
        """Warn of the options of a call that are set; `names` maps each to what messages call it."""
        for name, what in names.items():
            value: Any = getattr(call, name)
            if value not in (None, ()):
                warnings.append(unsupported(name, value, what))

    def finish_reason(self, requested: FinishReason, sent: FinishReason, warnings: list[CallWarning]) -> None:
        """Warn if clients read another reason than the reply's."""
        if sent != requested:
            message = f"{self.name} has no word for {requested!r} here"
            warnings.append(CallWarning("finish_reason_changed", "finish_reason", message, requested, sent))

    def counts(
        self, usage: Usage, names: Iterable[str], warnings: list[CallWarning], code: str = "count_left_out"
    ) -> None:
        """Warn of those counts of tokens that were reported."""
        for name in names:
            count = getattr(usage, name)
            if count is not None:
                message = f"{self.name} has no count of {name.replace('_', ' ')} tokens"
                warnings.append(CallWarning(code, f"usage.{name}", message, count))

    def metadata(self, metadata: JSONObject, sent: JSONObject, warnings: list[CallWarning]) -> None:
        """Warn if some of a reply's metadata are not among those `sent`, as their names have another meaning."""
        left = [name for name in metadata if name not in sent]
        if left:
            message = f"{self.name} means something else by {', '.join(left)}"
            warnings.append(CallWarning("metadata_left_out", "provider_metadata", message, metadata, sent or None))

    def metadata_field(self, name: str) -> CallWarning:
        """The warning for one name in a reply's metadata, where each is reported by itself."""
        message = f"{self.name} means something else by {name!r}"
        return CallWarning("metadata_left_out", f"provider_metadata.{name}", message)

    def nothing_left(self) -> UnsupportedContentError:
        """The error for a conversation of which no message is left."""
        return UnsupportedContentError(f"{self.name} has no place for any part of these messages.")

    def hosted_tools(self, call: ModelCall) -> UnsupportedContentError:
        """The error for a call with hosted tools, for a format without any."""
        return UnsupportedContentError(
            f"hosted_tools[0]: {self.name} has no hosted tools such as {call.hosted_tools[0].kind}.",
            hint="Use a provider that runs it by itself, such as 'anthropic' or 'google', or a tool of your own.",
            provider=call.provider or None,
            model=call.model,
        )
