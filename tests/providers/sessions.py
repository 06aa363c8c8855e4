"""Shared by tests of providers: services without models, and the URL of a session."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import abstractcore
from abstractcore.engine import lower
from abstractcore.ports import ModelCatalogue, ProviderSession
from abstractcore.schema import Lowered, ModelCall, WireRequest

CATALOGUE = abstractcore.Services(environment={}).catalogue
"""The built-in facts about models."""


@dataclass
class Services:
    """What a provider may use from above; no model weights."""

    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    models: Any = None
    spare_cores: int = 1
    catalogue: ModelCatalogue = CATALOGUE


def address(session: ProviderSession) -> Any:
    """Returns the address of a session whose endpoint needs no runtime."""
    nothing: Any = None
    step: Any = session.endpoint.open(nothing)
    try:
        step.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("the endpoint waits for something")


def headers(session: ProviderSession) -> Mapping[str, str]:
    """The header fields that the session's requests are signed with."""
    return address(session).auth.sign(WireRequest("/", {}, b""), 0.0).headers


def lowered(session: ProviderSession, call: ModelCall) -> Lowered:
    """The call as it is lowered for the session's model, without the warning that the model is unknown."""
    found = lower(call, session.profile, (), transpiler=session.transpiler)
    return replace(found, warnings=tuple(each for each in found.warnings if each.code != "unknown_model"))
