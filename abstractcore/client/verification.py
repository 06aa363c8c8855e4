"""Sets up the verification of a call, and is imported by a call that wants one."""

from __future__ import annotations

from ..engine import Prepare
from ..errors import InvalidInputError
from ..outputs import OutputType
from ..schema.quoting import shown
from ..verification.verification_check import VerificationCheck


def verification_check(
    verify: object, output: OutputType | None, prepare: Prepare, timeout: float | None
) -> VerificationCheck:
    """Returns the verification of a call that `prepare` builds; raises `InvalidInputError` for a typed answer."""
    if verify is not True:
        hint = "Certificates are an option of create_llm: create_llm(..., verify=...)."
        raise InvalidInputError(f"expected True or False, got {shown(verify)}", path="verify", hint=hint)
    if output is not None:
        hint = "Pass evidence=True instead: each value of a typed answer gets a quote."
        raise InvalidInputError("only text answers are verified", path="verify", hint=hint)
    return VerificationCheck(prepare, timeout)
