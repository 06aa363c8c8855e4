"""`Configuration`: the user's defaults for all LLMs, from `config.toml` in the user's configuration folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ..catalogue import read_document
from ..catalogue.documents import Document
from ..catalogue.folders import config_file_path, exists
from ..catalogue.toml_documents import key_position, read_toml
from ..engine.lowering.media_policies import check_policies
from ..errors import InvalidInputError
from ..ports import MediaHandler
from ..registry import did_you_mean, nearest_names
from ..schema import EMPTY, MediaKind
from ..schema.quoting import shown
from .option_values import MEDIA_KINDS

_TABLE = "media_policy"
_EXAMPLE = 'For example:\n[media_policy]\nimage = "caption"'


@dataclass(frozen=True, slots=True)
class Configuration:
    """What `config.toml` holds: a policy for kinds of files, in the table `[media_policy]`."""

    media_policy: Mapping[MediaKind, str] = cast("Mapping[MediaKind, str]", EMPTY)


def read_configuration(environment: Mapping[str, str], handlers: Sequence[MediaHandler]) -> Configuration:
    """Returns the configuration of the file that `$ABSTRACTCORE_CONFIG` names, or of `config.toml` in the user's
    configuration folder; an empty one if there is none.

    Raises `ConfigurationError` with the file, line and key of what is wrong.
    """
    path, named = config_file_path(environment)
    if not named and not exists(path):
        return Configuration()
    document = read_document(path)
    tables = read_toml(document)
    for name in tables:
        if name != _TABLE:
            hint = did_you_mean([_TABLE]) if nearest_names(name, [_TABLE]) else _EXAMPLE
            raise document.error(f"no such setting: {shown(name)}", *key_position(document.text, name), hint)
    return Configuration(_policies(tables.get(_TABLE, {}), document, handlers))


def _policies(table: object, document: Document, handlers: Sequence[MediaHandler]) -> Mapping[MediaKind, str]:
    if not isinstance(table, Mapping):
        message = f"{_TABLE}: expected a table, got {shown(table)}"
        raise document.error(message, *key_position(document.text, _TABLE), _EXAMPLE)
    given = cast("Mapping[str, Any]", table)
    for kind, policy in given.items():
        try:
            check_policy(kind, policy, handlers)
        except InvalidInputError as error:
            raise document.error(error.message, *key_position(document.text, kind), error.hint) from None
    return cast("Mapping[MediaKind, str]", given)


def check_policy(kind: str, policy: object, handlers: Sequence[MediaHandler]) -> None:
    """Raises `InvalidInputError` for a configured policy that no kind of file has."""
    path = f"{_TABLE}.{kind}"
    if kind not in MEDIA_KINDS:
        raise InvalidInputError(f"unknown kind: use {', '.join(MEDIA_KINDS)}", path=path)
    if not isinstance(policy, str):
        raise InvalidInputError(f"expected the name of a policy, got {shown(policy)}", path=path)
    check_policies({kind: policy}, handlers)
