"""`abstractcore providers`: which providers can be used here: keys, addresses, and servers that answer."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import abstractcore
from abstractcore.schema.amounts import counted

from .plugins import registry
from .reporting import json_line, reported
from .screen import note, show_table, write

if TYPE_CHECKING:
    from abstractcore import ProviderState

_COLUMNS = ("", "provider", "key", "address", "answers", "what it is")
_CHOSEN = "*"


def show_providers(*, as_json: bool) -> None:
    """Prints a row for each provider, and which model "auto" stands for."""
    with reported(as_json=as_json):
        services = abstractcore.Services(registry=registry())
        try:
            states = abstractcore.provider_states(services)
            chosen = abstractcore.create_llm("auto", services=services)
            (member,) = chosen.members
        finally:
            services.close()
        name = f"{member.provider}/{member.model}"
        if as_json:
            facts = [{**asdict(each), "models": each.models and [*each.models]} for each in states]
            write(json_line({"providers": facts, "auto": name, "exit_code": 0}))
            return
        show_table(_COLUMNS, [_row(each, chosen=each.name == member.provider) for each in states])
        for state in states:
            if state.problem is not None:
                note(f"{state.name} cannot be used: {state.problem}")
        note(f"{_CHOSEN} {chosen!r}")


def _row(state: ProviderState, *, chosen: bool) -> tuple[str, ...]:
    models = "" if state.models is None else counted(len(state.models), "model")
    return (_CHOSEN if chosen else "", state.name, _key(state), state.address or "", models, state.summary)


def _key(state: ProviderState) -> str:
    """Returns whether the key is set; clouds have credentials of their own, found with the first call."""
    if state.needs_key:
        return "set" if state.has_key else "not set"
    if state.is_on_this_machine:
        return "not needed"
    return "not set up" if state.address is None else "credentials"
