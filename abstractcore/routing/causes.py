"""Why a member of a group did not answer: whether the next one is asked, and how long this one is left alone."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from ..errors import (
    AbstractCoreError,
    AccessDeniedError,
    AuthenticationError,
    BackendError,
    BadRequestError,
    BudgetExceededError,
    ConfigurationError,
    ConnectionFailedError,
    ContentFilterError,
    ContextOverflowError,
    InvalidInputError,
    MissingExtraError,
    ModelNotFoundError,
    ModelStoreError,
    NotFoundError,
    OutputValidationError,
    OverloadedError,
    PriceUnknownError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
    SchemaError,
    ServerError,
    StorageFullError,
    StreamInterruptedError,
    UnsupportedContentError,
    UnsupportedOptionError,
)
from .options import Routing

Rest = Literal["none", "timed", "asked", "final"]
"""How long a member is left alone: not at all; for a time that is guessed; for the time that it asks for, if it does;
until the process ends, unless the error has a time."""


class Cause(NamedTuple):
    """What an error of a member means for its group."""

    falls_back: bool
    rest: Rest = "none"
    name: str = ""
    """The name in `fall_back_on` of a cause after which no other member is asked, unless it is named."""


_CANNOT: Final = Cause(True)
_FAILED: Final = Cause(True, "timed")
_BUSY: Final = Cause(True, "asked")
_UNUSABLE: Final = Cause(True, "final")
_OF_CALL: Final = Cause(False)

_CAUSES: Final[dict[type[AbstractCoreError], Cause]] = {
    AuthenticationError: _UNUSABLE,
    ModelNotFoundError: _UNUSABLE,
    MissingExtraError: _UNUSABLE,
    AccessDeniedError: _FAILED,
    ConnectionFailedError: _FAILED,
    ModelStoreError: _FAILED,
    RequestTimeoutError: _FAILED,
    ServerError: _BUSY,
    StreamInterruptedError: _FAILED,
    OverloadedError: _BUSY,
    RateLimitError: _BUSY,
    QuotaError: _BUSY,
    BudgetExceededError: _CANNOT,
    ConfigurationError: _CANNOT,
    ContextOverflowError: _CANNOT,
    NotFoundError: _CANNOT,
    PriceUnknownError: _CANNOT,
    StorageFullError: _CANNOT,
    UnsupportedContentError: _CANNOT,
    UnsupportedOptionError: _CANNOT,
    ContentFilterError: Cause(False, name="refusal"),
    BadRequestError: Cause(False, name="invalid_input"),
    InvalidInputError: Cause(False, name="invalid_input"),
    SchemaError: Cause(False, name="invalid_input"),
    OutputValidationError: Cause(False, name="invalid_output"),
    BackendError: _OF_CALL,
}
NOT_SENT: Final = (
    BudgetExceededError,
    ConfigurationError,
    ModelStoreError,
    UnsupportedContentError,
    UnsupportedOptionError,
)
"""Errors that are raised before anything is sent."""


def cause_of(error: BaseException, routing: Routing) -> Cause:
    """Returns what an error means: by the nearest class of it that has a meaning. Others end the call."""
    found = next((_CAUSES[each] for each in type(error).__mro__ if each in _CAUSES), _OF_CALL)
    if found.falls_back or not isinstance(error, AbstractCoreError):
        return found
    if found.name in routing.named or isinstance(error, routing.named_classes):
        return found._replace(falls_back=True)
    return found
