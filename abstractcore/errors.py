"""All errors that public calls raise, by cause. They never contain an exception of another package or a credential.

AbstractCoreError
|- ConfigurationError               how the library is set up
|  |- UnknownProviderError          no provider has that name
|  |- UnknownCapabilityError        no plugin provides that capability
|  |  `- CapabilityUnavailableError no installed backend can do it
|  |- UnknownOptionError            no option has that name
|  |- MissingExtraError             an optional package is not installed
|  |- PriceUnknownError             a budget cannot limit a call whose price is unknown
|  `- PluginError                   a plugin is broken, or two register one name
|- InvalidInputError                an argument is invalid
|- SchemaError                      a value is not allowed in a message, a call or another record
|- UnsupportedOptionError           the model does not support an option, and the call is strict
|- UnsupportedContentError          the model does not support the content, and the policy allows no fallback
|- MediaError                       a file cannot be read, or is not of its declared type
|  |- CorruptFileError              a file is damaged, or made in a way that is not read here
|  `- EncryptedFileError            a file is encrypted, and no password was given
|     `- WrongPasswordError         the password does not open the file
|- ToolError                        a tool failed, and the failure cannot be sent to the model
|  |- ToolRetry                     raised by a tool: the model should call it again, differently
|  |- ToolFailed                    raised by a tool: the model should go on without it
|  |- InputRequired                 raised by a tool: it needs answers of the user
|  `- ToolServerError               a server of tools cannot be reached, or breaks its protocol
|- OutputValidationError            the answer does not match `response_model`
|- ModelStoreError                  model weights cannot be found, downloaded or stored
|- ArtifactError                    an artifact cannot be found, read or written
|- JournalError                     a journal of a tool loop cannot be read or written, or is of another loop
|  `- JournalLost                   another process has the journal now: nothing more may be written
|- SessionError                     the file of a session cannot be read or written, or is not a session
|  `- SessionBusyError              the session is in use: by another call, or its file by another process
|- EmbeddingCacheError              the file of a cache of embeddings cannot be read or written, or is not one
|- SearchIndexError                 the file of an index cannot be read or written, or is not an index
|  `- IndexMismatchError            the vectors of an index are of another model, or of other settings
|- CallInterruptedError             the call was ended by its `interruption`
|- BudgetExceededError              a call does not fit into a budget, and was not sent
|- FallbackExhaustedError           every member of a group of models failed
|- ScriptExhaustedError             a scripted model has no reply left
|- CassetteError                    a cassette cannot be read or written
|  `- ReplayMismatchError           a request is not in the cassette that is replayed
`- ProviderError                    an exchange with a provider failed
   |- AuthenticationError           the key is missing or wrong
   |- AccessDeniedError             the key lacks the permission
   |- NotFoundError                 the provider has no such resource
   |  `- ModelNotFoundError         the provider has no such model
   |- BadRequestError               the provider rejected the request as invalid
   |  `- ContextOverflowError       the prompt is longer than the model's context
   |- ContentFilterError            the provider's content filter rejected the request
   |- RateLimitError                too many requests at this time
   |  `- LimitExceededError         the limits of this program leave no room within the time of a call
   |- QuotaError                    the account's credit or quota is used up
   |  `- StorageFullError           the provider's file store is full
   |- OverloadedError               the provider has no capacity at the moment
   |- BackendError                  a backend of voice, audio, vision or music failed
   |- ServerError                   the provider failed, or its response cannot be decoded
   |  |- ModelCrashedError          the process running a model on this machine died
   |  `- UnexpectedResponseError    the response is not from the provider's API: a web page, for example
   |- RequestTimeoutError           no response within the timeout
   |- ConnectionFailedError         the provider cannot be reached
   `- StreamInterruptedError        the stream ended early; `partial` holds what arrived
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from . import schema
from .lazy_modules import LazyModule
from .schema import AbstractCoreError as AbstractCoreError
from .schema import SchemaError as SchemaError

if TYPE_CHECKING:
    import datetime
else:
    datetime = LazyModule("datetime")


class ConfigurationError(AbstractCoreError):
    """The library is not set up correctly. `file` is the path of the file with the error, if it is in one."""

    file: str | None = None


class UnknownProviderError(ConfigurationError):
    """No provider has that name; the hint suggests similar names, or lists all."""

    _longest_message = 800
    _longest_hint = 1000


class UnknownCapabilityError(ConfigurationError):
    """No installed plugin provides that capability; the hint suggests similar names."""


class CapabilityUnavailableError(UnknownCapabilityError):
    """No installed backend can do it; the hint says what to install or set."""


class UnknownOptionError(ConfigurationError, TypeError):
    """No option has that name; the hint suggests similar names."""


class MissingExtraError(ConfigurationError):
    """An optional package is needed and not installed; the hint is the command that installs it."""


class PriceUnknownError(ConfigurationError):
    """A budget cannot limit a call whose price is unknown, and refuses those: it was not sent."""


class PluginError(ConfigurationError):
    """A plugin could not be loaded, or two plugins register one name."""


class InvalidInputError(AbstractCoreError, ValueError):
    """An argument is invalid; `path` names it, as in `messages[0].parts[1]`."""

    def __init__(self, message: str, *, path: str = "", hint: str | None = None) -> None:
        super().__init__(f"{path}: {message}" if path else message, hint=hint)
        self.path = path


class UnsupportedOptionError(AbstractCoreError):
    """The model does not support an option of a call with `strict=True`."""


class UnsupportedContentError(AbstractCoreError):
    """The model does not support this content, and the media policy allows no fallback."""


class MediaError(AbstractCoreError):
    """A file is missing, unreadable, empty, too large, or not of its declared type. `source` is the file's name."""

    _longest_hint = 1500

    def __init__(self, message: str, *, source: str = "", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.source = source


class CorruptFileError(MediaError):
    """A file is damaged, or made in a way that is not read here."""


class EncryptedFileError(MediaError):
    """A file is encrypted, and no password was given, or its encryption is not supported."""


class WrongPasswordError(EncryptedFileError):
    """The password that was given does not open the file."""


class ToolError(AbstractCoreError):
    """A tool failed, and the failure cannot be sent to the model."""


class ToolRetry(ToolError):  # noqa: N818 - raised as a request to the model
    """Raised by a tool: its message tells the model how to call it again."""


class ToolFailed(ToolError):  # noqa: N818 - raised as a message to the model
    """Raised by a tool: its message tells the model why there is no result."""


class InputRequired(ToolError):  # noqa: N818 - raised as a request to the user
    """Raised by a tool that needs answers of the user: the call is suspended, and run again with them.

    The tool finds the answers in `ToolContext.input`. `state` is JSON, and given back to it with them.
    """

    def __init__(self, *questions: schema.Question, state: schema.JSONValue = None) -> None:
        from .schema.tool_loops import InputRequest

        try:
            request = InputRequest(questions, state)
        except SchemaError as error:
            hint = 'Give InputRequired questions, as in InputRequired(Question("day", "Which day?")).'
            raise SchemaError(error.message, error.path, hint=hint) from None
        super().__init__("input is required: " + "; ".join(question.message for question in questions))
        self.request: InputRequest = request


class ToolServerError(ToolError):
    """A server of tools cannot be reached, was lost, or breaks its protocol. `server` is its name."""

    server: str | None = None


class OutputValidationError(AbstractCoreError):
    """The answer does not match `response_model`; `partial` holds the answer, `output_attempts` all that were made.

    `problems` has a line for each problem of the answer, with its path and the beginning of the invalid value.
    `response` is the response of the last round, with its usage and cost, if that is complete; its output is None.
    """

    problems: tuple[str, ...] = ()
    response: schema.GenerateResponse[None] | None = None


class ModelStoreError(AbstractCoreError):
    """Model weights cannot be found, downloaded, verified or stored."""


class ArtifactError(AbstractCoreError):
    """An artifact cannot be found, read or written."""


class JournalError(AbstractCoreError):
    """A journal of a tool loop cannot be read or written, is in use, or belongs to another loop."""


class JournalLost(JournalError):  # noqa: N818 - raised as a message to the loop
    """Raised by a journal whose loop another process continues: the call ends, and nothing more is written."""


class CallInterruptedError(AbstractCoreError):
    """The call was ended by its `interruption`; `partial` holds what a stream had of the answer."""


class BudgetExceededError(AbstractCoreError):
    """A call does not fit into a budget: it was not sent.

    `budget` is the name of the budget, `group` what it counts by, such as a tag's value. `limit`, `spent`, `reserved`
    (for calls that are running) and `needed` (the estimate of this one) are in US dollars. `resets_at` is when the next
    window begins, in UTC; None for a budget without windows.
    """

    budget: str = ""
    group: str | None = None
    limit: Decimal | None = None
    spent: Decimal | None = None
    reserved: Decimal | None = None
    needed: Decimal | None = None
    resets_at: datetime.datetime | None = None


class SessionError(AbstractCoreError):
    """The file of a session cannot be read or written, is damaged, or is not a session.

    `response` is the answer of a call whose exchange could not be written: it is in the session's memory.
    """

    response: schema.GenerateResponse[object] | None = None


class SessionBusyError(SessionError):
    """The session is in use: another call of it is running, or another process has opened its file."""


class EmbeddingCacheError(AbstractCoreError):
    """The file of a cache of embeddings cannot be read or written, is damaged, of a later release, or no such cache.
    Calls raise none: they have a warning, and ask for the vectors.
    """


class SearchIndexError(AbstractCoreError):
    """The file of an index cannot be read or written, is damaged, of a later release, or not an index."""


class IndexMismatchError(SearchIndexError):
    """The vectors of an index are of another model, or of other settings: `index.rebuild(llm)` makes all anew."""


class FallbackExhaustedError(AbstractCoreError):
    """No member of a group of models answered. `causes` has a `MemberFailure` for each of them, in order.

    It is `retryable` if that of one member is. `retry_after` is then the seconds until the first one is tried again.
    """

    _longest_message = 1900

    def __init__(self, message: str, *, causes: Sequence[MemberFailure] = (), hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.causes: tuple[MemberFailure, ...] = tuple(causes)


@dataclass(frozen=True, slots=True)
class MemberFailure:
    """Why a member of a group of models did not answer: its name, as in "openai/gpt-5.4-mini", and the error.

    `is_sent` is False for one that was not asked: it cannot do what the call needs, or is left alone for a while after
    the `error`. `seconds` is how long it took.
    """

    member: str
    error: AbstractCoreError
    is_sent: bool = True
    seconds: float = 0.0

    def __str__(self) -> str:
        failed = "" if self.is_sent else "not asked, after "
        return f"{self.member}: {failed}{type(self.error).__name__}: {self.error.message}"


class ScriptExhaustedError(AbstractCoreError):
    """A scripted model was called more often than it has replies."""


class CassetteError(AbstractCoreError):
    """A cassette (a recording of HTTP exchanges) cannot be read or written."""


class ReplayMismatchError(CassetteError):
    """A request is not in the cassette that is replayed; the message shows how the closest one differs."""

    _longest_message = 8000


class ProviderError(AbstractCoreError):
    """An exchange with a provider failed."""


class AuthenticationError(ProviderError):
    """The key is missing or wrong."""


class AccessDeniedError(ProviderError):
    """The key is valid but lacks the permission."""


class NotFoundError(ProviderError):
    """The provider has no such resource."""


class ModelNotFoundError(NotFoundError):
    """The provider has no such model."""


class BadRequestError(ProviderError):
    """The provider rejected the request as invalid."""


class ContextOverflowError(BadRequestError):
    """The prompt is longer than the context; `prompt_tokens` and `context_tokens` are both set, or both None."""

    prompt_tokens: int | None = None
    context_tokens: int | None = None


class ContentFilterError(ProviderError):
    """The provider's content filter rejected the request."""


class RateLimitError(ProviderError):
    """Too many requests at this time."""

    retryable = True


class LimitExceededError(RateLimitError):
    """The limits that an LLM was given leave no room within the time of a call: it was not sent.

    `limit` is what it waited for: "requests", "tokens", "calls at once", "pause" (one that the provider asked for), or
    "turn" (calls that began earlier); `waited` is in seconds. `retry_after` are the seconds until there may be room.
    """

    retryable = False
    limit: str = ""
    waited: float = 0.0


class QuotaError(ProviderError):
    """The account's credit or quota is used up."""


class StorageFullError(QuotaError):
    """The provider's file store is full: it takes no further files of this account."""


class OverloadedError(ProviderError):
    """The provider has no capacity at the moment."""

    retryable = True


class BackendError(ProviderError):
    """A backend of voice, audio, vision or music raised an exception that is not one of these; `__cause__` is it.

    `provider` is the id of the backend.
    """


class ServerError(ProviderError):
    """The provider failed, or its response cannot be decoded."""

    retryable = True


class ModelCrashedError(ServerError):
    """The process that runs a model on this machine died; the next call starts a new one."""

    retryable = False


class UnexpectedResponseError(ServerError):
    """A successful response is not from the provider's API: a web page, a proxy's notice, plain text.

    `url` is the requested URL without its query; `content_type` is that of the response.
    """

    retryable = False
    url: str | None = None
    content_type: str | None = None


class RequestTimeoutError(ProviderError):
    """No response arrived within the timeout. `connected` is False if there was no connection to the provider yet."""

    retryable = True
    connected: bool = True


class ConnectionFailedError(ProviderError):
    """The provider cannot be reached, or the connection broke before a response began.

    `connected` is True if a connection was established and then broke; `proxy` is the URL of the proxy in use, if any,
    without user name and password.
    """

    retryable = True
    connected: bool = False
    proxy: str | None = None


class StreamInterruptedError(ProviderError):
    """The stream ended before the reply was complete; `partial` holds what arrived."""
