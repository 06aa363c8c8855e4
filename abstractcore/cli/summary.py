"""The lines below an answer: how each file was sent, warnings, tokens, seconds and cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import abstractcore

_LOOP_ENDS = {
    "repeated_failure": "the same tool call failed several times",
    "max_rounds": "the limit of rounds is reached",
    "max_calls": "the limit of tool calls is reached",
}
_LEAST_SHOWN = Decimal("0.000001")
_MOST_DIFFERENCES = 5


def summary(response: abstractcore.GenerateResponse[Any]) -> Iterator[str]:
    """Yields the lines in order."""
    for decision in response.media:
        yield _decision(decision)
    for warning in response.warnings:
        yield f"warning: {warning.message}"
    if response.loop is not None and response.loop.status != "answered":
        yield from _loop_warning(response.loop.status)
    elif response.finish_reason != "stop":
        yield f"warning: the answer may be incomplete: finish_reason is {response.finish_reason!r}"
    yield f"{response.provider}/{response.model}: {_took(response)}"


def media_summary(result: abstractcore.MediaResult[Any] | abstractcore.TranscriptResult) -> Iterator[str]:
    """Yields the lines below what a backend made."""
    for warning in result.warnings:
        yield f"warning: {warning.message}"
    if isinstance(result, abstractcore.MediaResult) and result.verification is not None:
        yield _verified(result.verification)
    what = result.metadata.get("what")
    if isinstance(what, str):
        yield what
    model = "" if result.model in (None, result.backend) else f", {result.model}"
    cost = f"unknown cost ({result.cost_reason})" if result.cost is None else f"${result.cost:f}"
    yield f"{result.backend}{model}: {result.seconds:.1f} s, {cost}"


def _verified(found: abstractcore.MediaVerification) -> str:
    """Returns how many words were understood, and which ones differ."""
    shown = [f"{each.expected or '-'} -> {each.found or '-'}" for each in found.differences[:_MOST_DIFFERENCES]]
    more = " ..." if len(found.differences) > len(shown) else ""
    differences = f": {'; '.join(shown)}{more}" if shown else ""
    return f"verified: {found.errors} of {found.words} words differ{differences}"


def _loop_warning(status: str) -> Iterator[str]:
    if status != "final":
        yield f"warning: there is no answer: {_LOOP_ENDS.get(status, status)}"


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
    tokens = f"{_count(usage.input)} tokens in{cached}, {_count(usage.output)} out"
    return f"{tokens}, {response.seconds:.1f} s, {_cost(response)}"


def _cost(response: abstractcore.GenerateResponse[Any]) -> str:
    """The cost to a millionth of a dollar; "about" if it is an estimate; why it is not known."""
    if response.cost is None:
        return f"unknown cost ({response.cost_reason})" if response.cost_reason else "unknown cost"
    if not response.cost:
        return "$0"
    about = "about " if response.cost_source == "estimate" else ""
    return f"{about}${response.cost:.6f}" if response.cost >= _LEAST_SHOWN else f"{about}less than ${_LEAST_SHOWN:f}"


def _count(tokens: int | None) -> str:
    return "?" if tokens is None else str(tokens)
