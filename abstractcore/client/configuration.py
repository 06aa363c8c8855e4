"""`Configuration`: the user's defaults for all LLMs, from `config.toml` in the user's configuration folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ..catalogue import read_document
from ..catalogue.catalogue import config_file_path, exists
from ..catalogue.documents import Document, key_position, read_toml
from ..errors import InvalidInputError
from ..files.policies import check_policies
from ..ports import MediaHandler
from ..registry import did_you_mean, nearest_names
from ..schema import EMPTY, MediaHistory, MediaKind
from ..schema.base_error import shown
from .option_values import MEDIA_KINDS, media_history

_TABLE = "media_policy"
_HISTORY = "media_history"
_SETTINGS = (_TABLE, _HISTORY)
_EXAMPLE = 'For example:\n[media_policy]\nimage = "caption"'


@dataclass(frozen=True, slots=True)
class Configuration:
    """What `config.toml` holds: policies for kinds of files, in the table `[media_policy]`, and how files
    of earlier turns are sent, in `media_history`, for all kinds or as a table.
    """

    media_policy: Mapping[MediaKind, str] = cast("Mapping[MediaKind, str]", EMPTY)
    media_history: Mapping[MediaKind, MediaHistory] = cast("Mapping[MediaKind, MediaHistory]", EMPTY)


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
        if name not in _SETTINGS:
            near = nearest_names(name, _SETTINGS)
            hint = did_you_mean(near) if near else _EXAMPLE
            raise document.error(f"no such setting: {shown(name)}", *key_position(document.text, name), hint)
    policies = _policies(tables.get(_TABLE, {}), document, handlers)
    return Configuration(policies, _histories(tables.get(_HISTORY, {}), document))


def _histories(given: object, document: Document) -> Mapping[MediaKind, MediaHistory]:
    try:
        return cast("Mapping[MediaKind, MediaHistory]", media_history(given))
    except InvalidInputError as error:
        key = (error.path or _HISTORY).rpartition(".")[2]
        raise document.error(error.message, *key_position(document.text, key), error.hint) from None


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
