"""Sets up the evidence of a call. What asks for quotes and checks them is imported by a call that wants evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..engine import Prepare
from ..errors import InvalidInputError
from ..outputs import OutputType
from ..schema import MEDIA_PARTS, Message, ModelCall, ToolResult
from ..schema.quoting import shown

if TYPE_CHECKING:
    from ..engine.evidence import EvidenceCheck
    from ..outputs.evidence.quoted_output import QuotedOutput


def quoted_output(
    output: OutputType | None, evidence: object, media: Sequence[object], messages: Sequence[Message]
) -> QuotedOutput | None:
    """Returns the type of an answer with quotes, None without `evidence`; raises `InvalidInputError`.

    Quotes may come from `media` and from the files in `messages`.
    """
    if not evidence:
        return None
    if evidence is not True:
        raise InvalidInputError(f"expected True or False, got {shown(evidence)}", path="evidence")
    if output is None:
        hint = "Pass response_model=TYPE too: each of its values gets a quote."
        raise InvalidInputError("there are no values without response_model", path="evidence", hint=hint)
    from ..outputs.evidence.quoted_output import QuotedOutput

    return QuotedOutput(output, len(media) + _files_in(messages))


def resumed_output(output: OutputType | None, call: ModelCall) -> QuotedOutput | None:
    """Returns the type of the answer of a call that goes on; None if it was begun without evidence."""
    if output is None or call.output is None or call.output == output.schema:
        return None
    from ..outputs.evidence.quoted_output import QuotedOutput

    both = (QuotedOutput(output, files) for files in (1, _files_in(call.messages)))
    return next((quoted for quoted in both if quoted.schema == call.output), None)


def evidence_check(
    quoted: QuotedOutput, prepare: Prepare, timeout: float | None, call: ModelCall | None = None
) -> EvidenceCheck:
    """Returns the check of the evidence of a call that `prepare` builds with the schema of `quoted`, or of `call`,
    which goes on.
    """
    from ..engine.evidence import EvidenceCheck

    return EvidenceCheck(prepare, quoted, timeout, call)


def _files_in(messages: Sequence[Message]) -> int:
    """Returns the number of files in messages and results of tools."""
    parts = [part for message in messages for part in message.parts]
    parts += [content for part in parts if isinstance(part, ToolResult) for content in part.content]
    return sum(isinstance(part, MEDIA_PARTS) for part in parts)
