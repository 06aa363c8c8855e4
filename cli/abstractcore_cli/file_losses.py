"""What a model does not get of files: those that a plan converts are converted here, and nothing is sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import abstractcore

from .plugins import ConnectionArguments, connected

_NOBODY = ConnectionArguments("scripted", None, None, quiet=True)
"""A provider that sends nothing."""
_ON_THIS_MACHINE = frozenset({"text", "source", "pages", "glyphs", "ocr", "observe", "convert", "frames"})
"""The fallbacks that need no model and at most some seconds."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file with the decision for it, its losses included. `not_run` says why they are unknown, "" if they are not."""

    decision: abstractcore.MediaDecision
    warnings: tuple[abstractcore.CallWarning, ...] = ()
    not_run: str = ""


def read_file(file: str, decision: abstractcore.MediaDecision) -> ReadFile:
    """Returns the decision for a file with what is lost of it. Raises `MediaError` if it cannot be converted.

    Only what runs on this machine is converted: no file is downloaded, and no model is called.
    """
    if decision.route == "native":
        return ReadFile(decision)
    way = "text" if decision.route == "inline" else decision.fallback or ""
    if decision.fetch is not None:
        return ReadFile(decision, not_run="it would be downloaded")
    if way not in _ON_THIS_MACHINE:
        return ReadFile(decision, not_run=f"{way} needs a model, or minutes")
    accepted = sorted({output.partition("/")[0] for output in decision.outputs} - {"text"})
    policy = {} if decision.route == "inline" else {decision.kind: way}
    try:
        with connected(_NOBODY, more={"replies": ["-"], "accepts": accepted, "media_policy": policy}) as llm:
            response = llm.generate("-", media=[file])
    except abstractcore.MissingExtraError as error:
        return ReadFile(decision, not_run=error.message)
    lost = tuple(loss for found in response.media for loss in found.lost)
    return ReadFile(replace(decision, lost=lost), response.warnings)


def losses(read: ReadFile) -> str:
    """Returns what is lost of a file, such as "form fields: 2 (page 3)", as a cell of a table."""
    return f"not known: {read.not_run}" if read.not_run else "; ".join(_losses(read.decision))


def _losses(decision: abstractcore.MediaDecision) -> Iterator[str]:
    if decision.native_loss and decision.route == "native":
        yield decision.native_loss
    for loss in decision.lost:
        total = "" if loss.total is None or loss.total == loss.count else f" of {loss.total:,g}"
        places = f" ({', '.join(loss.places)})" if loss.places else ""
        yield f"{loss.what}: {loss.count:,g}{total}{places}"
