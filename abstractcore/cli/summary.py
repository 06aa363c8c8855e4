"""The lines below an answer: how each file was sent, warnings, tokens, seconds and cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import abstractcore


def summary(response: abstractcore.GenerateResponse[Any]) -> Iterator[str]:
    """Yields the lines in order."""
    for decision in response.media:
        yield _decision(decision)
    for warning in response.warnings:
        yield f"warning: {warning.message}"
    if response.finish_reason != "stop":
        yield f"warning: the answer may be incomplete: finish_reason is {response.finish_reason!r}"
    yield f"{response.provider}/{response.model}: {_took(response)}"


def _decision(decision: abstractcore.MediaDecision) -> str:
    line = f"{decision.source}: {decision.route}, since {decision.reason}"
    if decision.sent is None:
        return line
    size = "" if decision.sent.size is None else f", {decision.sent.size:,} bytes"
    return f"{line}; sent {_types(decision.sent)}{size}"


def _types(sent: abstractcore.MediaSent) -> str:
    """The media types that were sent, with how many parts of each if one file became several."""
    counts = Counter(part.media_type for part in sent.parts)
    return ", ".join(f"{count} x {media_type}" for media_type, count in counts.items()) or sent.media_type


def _took(response: abstractcore.GenerateResponse[Any]) -> str:
    usage = response.usage
    cached = f" ({usage.cached} cached)" if usage.cached else ""
    cost = "unknown cost" if response.cost is None else f"${response.cost:.6f}" if response.cost else "$0"
    return f"{_count(usage.input)} tokens in{cached}, {_count(usage.output)} out, {response.seconds:.1f} s, {cost}"


def _count(tokens: int | None) -> str:
    return "?" if tokens is None else str(tokens)
