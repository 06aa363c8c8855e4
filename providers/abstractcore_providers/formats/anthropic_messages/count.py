"""Token counting."""

from __future__ import annotations

from abstractcore.schema import Encoded, ModelCall, WireResponse

from ...common.response_bodies import read_count
from .dialect import MessagesDialect
from .encode import draft
from .errors import RIGHT_ADDRESS, error_in_body
from .raw_predict import COUNT_PATH, with_version

PATH = "/messages/count_tokens"
_COUNTED = ("model", "system", "messages", "tools", "tool_choice", "thinking", "output_config")


def encode_count(call: ModelCall, dialect: MessagesDialect) -> Encoded:
    """Returns the request (https://platform.claude.com/docs/en/api/messages-count-tokens), without sampling options.

    Raises as `encode` does.
    """
    drafted = draft(call, dialect)
    drafted.body = {name: drafted.body[name] for name in _COUNTED if name in drafted.body}
    drafted.warnings = [warning for warning in drafted.warnings if not warning.path.startswith("sampling.")]
    if dialect.raw_predict:
        drafted.body = with_version(drafted.body, dialect.version)
    return drafted.written(COUNT_PATH if dialect.raw_predict else PATH)


def decode_count(response: WireResponse) -> int:
    """Returns the number of input tokens; raises `ServerError` for a response without it."""
    return read_count(response, "input_tokens", error_in_body, RIGHT_ADDRESS)
