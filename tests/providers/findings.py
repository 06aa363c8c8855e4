"""The results of probes, and of single parts, in a format."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from abstractcore.errors import InvalidInputError, UnsupportedContentError, UnsupportedOptionError
from abstractcore.schema import CallWarning, Message, ModelCall, Part, Role, ToolResult
from abstractcore_providers.formats.registered import FORMATS
from tests.providers.probes import ASK, MODEL, Probe, assistant, tool
from tests.providers.published import provider_of

Outcome = Literal["native", "rewritten", "left out", "refused"]
REFUSALS = (InvalidInputError, UnsupportedContentError, UnsupportedOptionError)


@dataclass(frozen=True)
class Finding:
    """What a format makes of a probe, and why if not simply carrying it."""

    outcome: Outcome
    reasons: tuple[str, ...] = ()


def found(format: str, probe: Probe) -> Finding:
    """What becomes of what `probe` looks at."""
    transpiler = FORMATS[format]()
    try:
        warnings = transpiler.encode(probe.call.with_(provider=provider_of(format))).warnings
    except REFUSALS as error:
        return Finding("refused", (str(error),))
    at, below = _concerned(warnings, probe.path)
    reasons = tuple(warning.message for warning in (*at, *below))
    if any(warning.sent is None for warning in at):
        return Finding("left out", reasons)
    return Finding("rewritten" if reasons else "native", reasons)


def _concerned(warnings: Iterable[CallWarning], path: str) -> tuple[list[CallWarning], list[CallWarning]]:
    """Returns warnings of the path or its parents, and those of values inside it."""
    inside = tuple(path + mark for mark in ".[")
    at = [w for w in warnings if w.path == path or path.startswith((f"{w.path}.", f"{w.path}["))]
    return at, [w for w in warnings if w.path.startswith(inside)]


def can_encode(format: str, role: Role, part: Part) -> bool:
    """Returns whether the format supports `part` alone in a message of this role."""
    if isinstance(part, ToolResult):
        probe = tool(part)
    elif role == "assistant":
        probe = assistant(part)
    else:
        probe = Probe(ModelCall(MODEL, (Message(role, (part,)), ASK)), "messages[0].parts[0]")
    return found(format, probe).outcome in ("native", "rewritten")
