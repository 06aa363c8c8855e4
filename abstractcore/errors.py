"""Every error a caller can meet, by cause. No vendor's exception and no key ever shows in one.

AbstractCoreError
|- ConfigurationError               how the library is set up
|  |- UnknownProviderError          no provider of that name
|  |- UnknownCapabilityError        no plugin brings a capability of that name
|  |- UnknownOptionError            no option of that name
|  |- MissingExtraError             an optional package is not installed
|  `- PluginError                   a plugin is broken, or two claim one name
|- InvalidInputError                an argument of a call does not fit
|- SchemaError                      a value does not fit into a message, a call or another record
|- UnsupportedOptionError           this model cannot take this option, and the call is strict
|- UnsupportedContentError          this model cannot take this content, and policy allows no fallback
|- MediaError                       a file cannot be read, or not as what it claims to be
|- ToolError                        a tool failed in a way the model cannot be told of
|- OutputValidationError            the answer does not match the schema asked for
|- ModelStoreError                  weights cannot be found, fetched or kept
|- ArtifactError                    kept content cannot be found, read or written
|- FallbackExhaustedError           every model of a fallback list failed
|- ScriptExhaustedError             a scripted model has no reply left
|- CassetteError                    a recording of exchanges cannot be read or written
|  `- ReplayMismatchError           a request is not in the recording that is played back
`- ProviderError                    an exchange with a provider failed
   |- AuthenticationError           the key is missing or wrong
   |- AccessDeniedError             the key may not do this
   |- NotFoundError                 the provider knows no such thing
   |  `- ModelNotFoundError         the provider knows no such model
   |- BadRequestError               the provider refused the request as malformed
   |  `- ContextOverflowError       the prompt is longer than the model's context
   |- ContentFilterError            the provider's filter refused the content
   |- RateLimitError                too many requests for now
   |- QuotaError                    the account's credit or quota is used up
   |- OverloadedError               the provider has no capacity at the moment
   |- ServerError                   the provider failed, or answered what cannot be read
   |  |- ModelCrashedError          the process running a model on this machine died
   |  `- UnexpectedResponseError    something other than the provider's API answered, such as a web page
   |- RequestTimeoutError           no answer in the time given
   |- ConnectionFailedError         the provider cannot be reached
   `- StreamInterruptedError        the answer broke off; what arrived is in `partial`
"""

from __future__ import annotations

from .schema import AbstractCoreError as AbstractCoreError
from .schema import SchemaError as SchemaError


class ConfigurationError(AbstractCoreError):
    """The library is set up in a way that cannot work."""


class UnknownProviderError(ConfigurationError):
    """No provider has that name; the nearest names are in the hint."""


class UnknownCapabilityError(ConfigurationError):
    """No installed plugin brings that capability; the hint says what does."""


class UnknownOptionError(ConfigurationError, TypeError):
    """No option has that name; the nearest names are in the hint."""


class MissingExtraError(ConfigurationError):
    """An optional package is needed and not installed; the hint is the command that installs it."""


class PluginError(ConfigurationError):
    """A plugin could not be loaded, or two plugins claim one name."""


class InvalidInputError(AbstractCoreError, ValueError):
    """Something passed in does not fit; `path` is where."""

    def __init__(self, message: str, *, path: str = "", hint: str | None = None) -> None:
        super().__init__(f"{path}: {message}" if path else message, hint=hint)
        self.path = path


class UnsupportedOptionError(AbstractCoreError):
    """The model cannot take an option of a call with `strict=True`."""


class UnsupportedContentError(AbstractCoreError):
    """The model cannot take this content, and policy allows nothing in its place."""


class MediaError(AbstractCoreError):
    """A file is missing, unreadable, empty, too big, or not what it claims to be. `source` is the file's name."""

    def __init__(self, message: str, *, source: str = "", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.source = source


class ToolError(AbstractCoreError):
    """A tool failed in a way the model cannot be told of."""


class OutputValidationError(AbstractCoreError):
    """The answer is not what `response_model` asks for; the answer itself is in `partial`."""


class ModelStoreError(AbstractCoreError):
    """A model's weights cannot be found, fetched, checked or kept."""


class ArtifactError(AbstractCoreError):
    """Content kept in an artifact store cannot be found, read or written."""


class FallbackExhaustedError(AbstractCoreError):
    """Every model of a fallback list failed."""


class ScriptExhaustedError(AbstractCoreError):
    """A scripted model was called more often than it has replies."""


class CassetteError(AbstractCoreError):
    """A recording of exchanges cannot be read or written."""


class ReplayMismatchError(CassetteError):
    """A request is not in the recording that is played back; the message shows how the nearest one differs."""

    _longest_message = 8000


class ProviderError(AbstractCoreError):
    """An exchange with a provider failed."""


class AuthenticationError(ProviderError):
    """The key is missing or wrong."""


class AccessDeniedError(ProviderError):
    """The key is valid and may not do this."""


class NotFoundError(ProviderError):
    """The provider knows no such thing."""


class ModelNotFoundError(NotFoundError):
    """The provider knows no such model."""


class BadRequestError(ProviderError):
    """The provider refused the request as malformed."""


class ContextOverflowError(BadRequestError):
    """The prompt is longer than the context; `prompt_tokens` and `context_tokens` are both numbers, where given."""

    prompt_tokens: int | None = None
    context_tokens: int | None = None


class ContentFilterError(ProviderError):
    """The provider's filter refused the content."""


class RateLimitError(ProviderError):
    """Too many requests for now."""

    retryable = True


class QuotaError(ProviderError):
    """The account's credit or quota is used up."""


class OverloadedError(ProviderError):
    """The provider has no capacity at the moment."""

    retryable = True


class ServerError(ProviderError):
    """The provider failed, or answered something that cannot be read."""

    retryable = True


class ModelCrashedError(ServerError):
    """The process that runs a model on this machine died; the next call starts a new one."""

    retryable = False


class UnexpectedResponseError(ServerError):
    """Something other than the provider's API answered with success: a web page, a proxy's notice, plain text.

    `url` is what was asked, without its query; `content_type` is that of the response.
    """

    retryable = False
    url: str | None = None
    content_type: str | None = None


class RequestTimeoutError(ProviderError):
    """No answer came in the time given."""

    retryable = True


class ConnectionFailedError(ProviderError):
    """The provider cannot be reached, or the connection broke before an answer began.

    `connected` says whether there was a connection, which then broke; `proxy` is the proxy on the way, if there is one,
    without its user and password.
    """

    retryable = True
    connected: bool = False
    proxy: str | None = None


class StreamInterruptedError(ProviderError):
    """The answer broke off in the middle."""
