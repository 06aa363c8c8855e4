"""Warnings of what the format has no place for."""

from __future__ import annotations

from abstractcore.schema import CallWarning, Citation, Part, ToolSpec


def part_left_out(part: Part, path: str) -> CallWarning:
    """Of a whole part."""
    return CallWarning("part_left_out", path, f"the chat completions format has no place for {part.type} parts")


def warn_of_cache(item: Part | ToolSpec, path: str, warnings: list[CallWarning]) -> None:
    """The format cannot say how much is to be kept; its providers choose by themselves."""
    if getattr(item, "cache", None) is not None:
        warnings.append(CallWarning("cache_left_out", f"{path}.cache", "a cache point cannot be sent"))


def warn_of_citations(citations: tuple[Citation, ...], path: str, warnings: list[CallWarning]) -> None:
    """Citations are for replies only."""
    if citations:
        warnings.append(CallWarning("citations_left_out", f"{path}.citations", "citations cannot be sent back"))


def warn_of_fields(item: object, path: str, names: tuple[str, ...], warnings: list[CallWarning]) -> None:
    """Of those fields of a part that say something."""
    for name in names:
        if getattr(item, name):
            message = f"the chat completions format has no place for {name}"
            warnings.append(CallWarning(f"{name}_left_out", f"{path}.{name}", message))
