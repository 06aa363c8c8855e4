"""Sets up the evidence of a call, and is imported by a call that wants some."""

from __future__ import annotations

from collections.abc import Sequence

from ..engine import Prepare
from ..errors import InvalidInputError
from ..outputs import OutputType
from ..schema import MEDIA_PARTS, Message, ModelCall, ToolResult
from ..schema.quoting import shown
from ..verification.evidence_check import EvidenceCheck
from ..verification.quoted_output import QuotedOutput


def quoted_output(
    output: OutputType | None, evidence: object, media: Sequence[object], messages: Sequence[Message]
) -> QuotedOutput:
    """Returns the type of an answer with quotes; raises `InvalidInputError`.

    Quotes may come from `media` and from the files in `messages`.
    """
    if evidence is not True:
        raise InvalidInputError(f"expected True or False, got {shown(evidence)}", path="evidence")
    if output is None:
        hint = "Pass response_model=TYPE too: each of its values gets a quote."
        raise InvalidInputError("there are no values without response_model", path="evidence", hint=hint)
    return QuotedOutput(output, len(media) + _files_in(messages))


def resumed_output(output: OutputType | None, call: ModelCall) -> QuotedOutput | None:
    """Returns the type of the answer of a call that goes on; None if it was begun without evidence."""
    if output is None or call.output is None or call.output == output.schema:
        return None
    both = (QuotedOutput(output, files) for files in (1, _files_in(call.messages)))
    return next((quoted for quoted in both if quoted.schema == call.output), None)


def evidence_check(
    quoted: QuotedOutput, prepare: Prepare, timeout: float | None, call: ModelCall | None = None
) -> EvidenceCheck:
    """Returns the check of the evidence of a call that `prepare` builds with the schema of `quoted`, or of `call`,
    which goes on.
    """
    return EvidenceCheck(prepare, quoted, timeout, call)


def _files_in(messages: Sequence[Message]) -> int:
    """Returns the number of files in messages and results of tools."""
    parts = [part for message in messages for part in message.parts]
    parts += [content for part in parts if isinstance(part, ToolResult) for content in part.content]
    return sum(isinstance(part, MEDIA_PARTS) for part in parts)
