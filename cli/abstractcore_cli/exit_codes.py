"""The exit codes of errors, and what the help of commands says of them."""

from __future__ import annotations

import abstractcore

_CODES: tuple[tuple[type[abstractcore.AbstractCoreError], int], ...] = (
    (abstractcore.ConnectionFailedError, 4),
    (abstractcore.RequestTimeoutError, 4),
    (abstractcore.LimitExceededError, 4),
    (abstractcore.StreamInterruptedError, 4),
    (abstractcore.ToolServerError, 4),
    (abstractcore.ProviderError, 3),
    (abstractcore.ConfigurationError, 2),
    (abstractcore.InvalidInputError, 2),
    (abstractcore.SchemaError, 2),
    (abstractcore.MediaError, 2),
    (abstractcore.ModelStoreError, 2),
    (abstractcore.ArtifactError, 2),
    (abstractcore.JournalError, 2),
    (abstractcore.SessionError, 2),
    (abstractcore.SearchIndexError, 2),
    (abstractcore.EmbeddingCacheError, 2),
    (abstractcore.UnsupportedContentError, 2),
    (abstractcore.UnsupportedOptionError, 2),
)
"""The first match applies."""

EPILOG = """\
API keys are read from the environment only (such as OPENAI_API_KEY): other users of a machine can see arguments.

\b
Exit codes:
  0    done
  1    any other error
  2    usage error: an option, a file, the setup, a missing API key
  3    the provider rejected the request or failed
  4    connection error or timeout
  130  Ctrl-C
"""


def exit_code(error: abstractcore.AbstractCoreError) -> int:
    """Returns the exit code for `error`. A missing key is a usage error: it was never sent to the provider. That of a
    group is that of the last member that was asked.
    """
    if isinstance(error, abstractcore.AuthenticationError) and not error.attempts and error.status is None:
        return exit_code(abstractcore.ConfigurationError(error.message))
    if isinstance(error, abstractcore.FallbackExhaustedError) and error.causes:
        asked = [each.error for each in error.causes if each.is_sent]
        return exit_code(asked[-1] if asked else error.causes[-1].error)
    return next((code for kind, code in _CODES if isinstance(error, kind)), 1)
