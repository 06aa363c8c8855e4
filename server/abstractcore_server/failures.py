"""Errors as clients see them: which messages are shown, and statuses that no error of a provider has."""

from __future__ import annotations

import json
import logging
import math
import re
import sys
from collections.abc import Sequence
from copy import copy
from datetime import UTC, datetime

from abstractcore import errors
from abstractcore.errors import AbstractCoreError

_URL = re.compile(r"https?://([^/\s'\"?#<>]+)[^\s'\"<>]*")
_ADDRESS = "(its address)"
_PATH = re.compile(r"(?<![\w.:/\\])(?:/|[A-Za-z]:\\)[^\s'\"]+")
_PLACE = "(a path)"
_PRIVATE_DOMAINS = (
    "cluster",
    "corp",
    "home",
    "internal",
    "intranet",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "svc",
)
_log = logging.getLogger("abstractcore.server")

_OF_REQUEST = (
    errors.InvalidInputError,
    errors.SchemaError,
    errors.MediaError,
    errors.UnsupportedContentError,
    errors.UnsupportedOptionError,
)
"""Errors about the request. Their hints are for who wrote it."""
_SHOWN = (*_OF_REQUEST, errors.ProviderError, errors.OutputValidationError, errors.ToolError)
"""Errors about the request or the provider. Others are about this machine: their messages may have paths of files."""
_NOT_INSTALLED = (errors.MissingExtraError, errors.CapabilityUnavailableError)
"""Errors about packages that are not installed here: their hints are for the operator."""
_NOT_IMPLEMENTED = 501
_SET_UNPRICED = (
    "set `unpriced` of the budget, or of [server] for the limits of keys, to the dollars that such a call counts, or "
    'to "allow".'
)
_UNAVAILABLE = 503
_RETRY_SECONDS = 5
_LONGEST_GROUP = 60


class RequestRefused(Exception):  # noqa: N818 - a response, whose error is in it
    """A request that the server itself refuses, with a status of its own, and a code that clients of OpenAI's API know:
    `error` is the reason, `headers` are added to the response.
    """

    def __init__(
        self, status: int | None, error: AbstractCoreError, *, code: str | None = None, **headers: str
    ) -> None:
        super().__init__(error.message)
        self.status = status
        self.code = code
        self.error = error
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def refusal(status: int, message: str, *, path: str = "", code: str | None = None, **headers: str) -> RequestRefused:
    """Returns the refusal of an invalid request."""
    return RequestRefused(status, errors.InvalidInputError(message, path=path), code=code, **headers)


def with_code(body: bytes, code: str) -> bytes:
    """Returns the body of an error of OpenAI's API with a code that no error of a provider has."""
    error = json.loads(body)["error"]
    return json.dumps({"error": {**error, "code": code}}).encode()


def refusal_of(error: Exception, shown: AbstractCoreError) -> RequestRefused:
    """Returns how an error, which is shown to the client as `shown`, refuses its request.

    What needs a package that is not installed is status 501, which does not change when the request is sent again. What
    a provider refused was tried here as often as the configuration says. The clients of OpenAI and Anthropic would send
    both again, but for the header: each of their tries would be all of those here. They would send again what does not
    fit into a budget, too.
    """
    if isinstance(error, RequestRefused):
        return error
    if isinstance(error, (*_NOT_INSTALLED, errors.PriceUnknownError)):
        return RequestRefused(_NOT_IMPLEMENTED, shown, x_should_retry="false")
    if isinstance(error, errors.BudgetExceededError):
        return RequestRefused(None, shown, x_should_retry="false")
    if _is_of_database(error):
        return RequestRefused(_UNAVAILABLE, shown, retry_after=str(_RETRY_SECONDS))
    return RequestRefused(None, shown, **({"x_should_retry": "false"} if shown.attempts else {}))


def shown_error(error: BaseException, trace_id: str, hidden: Sequence[str] = ()) -> AbstractCoreError:
    """Returns the error to show to a client: `error`, with its hint, if it is about the request or a provider.

    What does not fit into a budget is logged with its sums, which are the operator's, and shown as a quota that is used
    up, until the budget resets. What no budget can limit, and what needs a package that is not installed, is logged,
    and shown with what its operator can do. Anything else is logged, and shown as an internal error with the id of the
    request. `hidden` are the addresses of providers that the operator has configured; they are not shown, and neither
    are others inside a network.
    """
    if isinstance(error, RequestRefused):
        error = error.error
    if isinstance(error, _OF_REQUEST):
        return _with_hint(error)
    if isinstance(error, _SHOWN):
        message = without_addresses(error.message, hidden)
        return error if message == error.message else _with_message(error, message)
    if isinstance(error, errors.BudgetExceededError):
        _log.warning("request %s: %s", trace_id, error.message)
        return _quota_error(error)
    if isinstance(error, errors.PriceUnknownError):
        _log.error("request %s is refused: %s", trace_id, error.message)
        return errors.ServerError(f"{_sentence(error)} For the operator of this server: {_SET_UNPRICED}")
    if _is_of_database(error):
        _log.error("request %s: costs cannot be counted, the database is down: %s", trace_id, error)
        return errors.ServerError("costs cannot be counted at the moment")
    if isinstance(error, _NOT_INSTALLED):
        _log.error("request %s cannot be answered: %s", trace_id, error)
        return errors.ServerError(without_addresses(_for_operator(error), hidden))
    _log.error("request %s failed", trace_id, exc_info=error)
    return errors.ServerError(f"the server failed; its log has the cause under the id {trace_id}")


def _quota_error(error: errors.BudgetExceededError) -> errors.QuotaError:
    of = "" if error.group is None else f" of {error.group[:_LONGEST_GROUP]!r}"
    cost = "" if error.needed is None else f", which may cost ${error.needed:f}"
    message = f"the budget {error.budget!r}{of} does not allow this call{cost}"
    if error.resets_at is None:
        return errors.QuotaError(message)
    seconds = math.ceil((error.resets_at - datetime.now(UTC)).total_seconds())
    resets = f"{message}; it resets at {error.resets_at:%Y-%m-%d %H:%M} UTC"
    return errors.QuotaError(resets, retry_after=max(1, seconds))


def _is_of_database(error: BaseException) -> bool:
    """Whether the sums of a budget could not be read or written. The module is loaded if there is a database."""
    database = sys.modules.get("abstractcore.database")
    return database is not None and isinstance(error, database.DatabaseError)


def _with_hint(error: AbstractCoreError) -> AbstractCoreError:
    """Returns the error with its hint in the message: wire formats have no field for one."""
    return _with_message(error, f"{_sentence(error)} {error.hint}") if error.hint else error


def _for_operator(error: AbstractCoreError) -> str:
    """Returns the advice for the operator. It has no paths: those of a plugin that is broken are in the log."""
    advice = error.hint or "The log has the reason."
    return _PATH.sub(_PLACE, f"This server cannot do that: {_sentence(error)} For its operator: {advice}")


def _sentence(error: AbstractCoreError) -> str:
    return error.message if error.message.endswith((".", "!", "?")) else f"{error.message}."


def _with_message(error: AbstractCoreError, message: str) -> AbstractCoreError:
    shown = copy(error)
    shown.message = message
    return shown


def without_addresses(text: str, hidden: Sequence[str] = ()) -> str:
    """Returns a text without the addresses of `hidden`, and without those that are not names of the public internet."""
    for address in hidden:
        text = text.replace(address.rstrip("/"), _ADDRESS)
    return _URL.sub(lambda match: match[0] if _is_public(match[1]) else _ADDRESS, text)


def _is_public(host: str) -> bool:
    name = host.rpartition("@")[2].partition(":")[0].lower()
    last = name.rpartition(".")[2]
    return "." in name and last.isalpha() and last not in _PRIVATE_DOMAINS
