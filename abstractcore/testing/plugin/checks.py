"""`check_backends`: registers backends and makes the calls of each, sync and async."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

from ...client.factory import create_llm
from ...client.services import Services
from ...errors import (
    AbstractCoreError,
    AccessDeniedError,
    AuthenticationError,
    BackendError,
    CapabilityUnavailableError,
    ConfigurationError,
    ConnectionFailedError,
    InvalidInputError,
    ModelStoreError,
    OutputValidationError,
    PluginError,
    ScriptExhaustedError,
)
from ...ports import BACKEND_METHODS, CAPABILITIES, BackendEntry, BackendRegistry, Script
from ...registry import Registry, failure_text
from .calls import Case, Inputs, cases_of

Outcome: TypeAlias = Literal["ok", "failed", "skipped"]
_OPTIONS = tuple(f"{name}_" for name in CAPABILITIES)
_NOT_HERE = (
    AccessDeniedError,
    AuthenticationError,
    ConfigurationError,
    ConnectionFailedError,
    ModelStoreError,
    OutputValidationError,
    ScriptExhaustedError,
)
"""Errors of backends that lack a key, a setting, a package, weights, a network or a model's answer here."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a backend. `message` says what is wrong, or why it was skipped."""

    backend_id: str
    what: str
    outcome: Outcome
    message: str = ""

    def __str__(self) -> str:
        return f"{self.outcome:<7} {self.backend_id}: {self.what}{f': {self.message}' if self.message else ''}"


def check_backends(
    register: Callable[[BackendRegistry], object],
    *,
    options: Mapping[str, Any] | None = None,
    inputs: Inputs | None = None,
    backends: Sequence[str] | None = None,
    replies: Script = ("{}",) * 1000,
    timeout: float = 300.0,
) -> list[Check]:
    """Checks the backends that `register` registers, or those with the ids in `backends`; returns all checks.

    `options` are those of `create_llm` for them, `inputs` what they are called with, `replies` what the model answers
    that a backend may ask; a call has `timeout` seconds. Raises `AssertionError` with a line for each check that
    failed, and `PluginError` if `register` is invalid.
    """
    checks = [
        *backend_checks(register, options=options, inputs=inputs, backends=backends, replies=replies, timeout=timeout)
    ]
    failed = [str(check) for check in checks if check.outcome == "failed"]
    if failed:
        raise AssertionError("\n".join(failed))
    return checks


def backend_checks(
    register: Callable[[BackendRegistry], object],
    *,
    options: Mapping[str, Any] | None = None,
    inputs: Inputs | None = None,
    backends: Sequence[str] | None = None,
    replies: Script = ("{}",) * 1000,
    timeout: float = 300.0,
) -> Iterator[Check]:
    """Yields the checks of `check_backends` as they are made."""
    from ...registry.backends import RegisteredBackends

    for entry in RegisteredBackends().registering(register, ""):
        if backends is None or entry.backend_id in backends:
            yield from _checks_of(entry, options or {}, inputs or Inputs(), replies, timeout)


def _checks_of(
    entry: BackendEntry, options: Mapping[str, Any], inputs: Inputs, replies: Script, timeout: float
) -> Iterator[Check]:
    check = partial(Check, entry.backend_id)
    described = bool(entry.description)
    yield check("has a description", "ok" if described else "failed", "" if described else "pass description=...")
    services = _services(entry)
    llm = create_llm("scripted", replies=replies, services=services, **options)
    facade = getattr(llm, entry.capability)
    with llm, closing(services):
        for method in BACKEND_METHODS[entry.capability]:
            try:
                facade.backend(method)
            except CapabilityUnavailableError:
                continue
            except PluginError as error:
                yield check("is made", "failed", str(error))
                return
            for case in cases_of(method, facade.backend(method), inputs):
                for colour, make in (("sync", _sync), ("async", _async)):
                    outcome = _outcome(case, partial(make, facade), partial(_image, facade, inputs, timeout), timeout)
                    yield check(f"{case.what} ({colour})", *outcome)


def _services(entry: BackendEntry) -> Services:
    """Returns services whose only backend is `entry`."""
    registry = Registry.from_entry_points()
    registry.replace_backends([entry])
    return Services(registry=registry)


def _image(facade: Any, inputs: Inputs, timeout: float) -> object:
    """Returns an image to edit: of the backend itself if it draws, since it may edit none but its own."""
    try:
        facade.backend("t2i")
    except CapabilityUnavailableError:
        return inputs.image
    return facade.t2i(inputs.prompt, timeout=timeout).part


def _outcome(
    case: Case, make: Callable[[Case, float], object], image: Callable[[], object], timeout: float
) -> tuple[Outcome, str]:
    try:
        result = make(case.with_image(image), timeout)
    except (BackendError, PluginError) as error:
        return "failed", failure_text(error)
    except _NOT_HERE as error:
        return "skipped", failure_text(error)
    except AbstractCoreError as error:
        if isinstance(error, case.errors):
            return "ok", ""
        return ("skipped" if _is_unset(error) else "failed"), failure_text(error)
    fault = case.fault(result)
    return ("ok", "") if fault is None else ("failed", fault)


def _is_unset(error: AbstractCoreError) -> bool:
    """Whether a backend needs an option that is not set here: its model, or an option of `create_llm`."""
    path = error.path if isinstance(error, InvalidInputError) else ""
    return path == "model" or path.startswith(_OPTIONS)


def _sync(facade: Any, case: Case, timeout: float) -> object:
    if case.method == "tts_stream":
        with facade.tts_stream(*case.arguments, timeout=timeout, **case.options) as stream:
            return [next(stream)] if case.leaves else [*stream]
    return getattr(facade, case.method)(*case.arguments, **{"timeout": timeout, **case.options})


def _async(facade: Any, case: Case, timeout: float) -> object:
    async def call() -> object:
        if case.method == "tts_stream":
            async with facade.atts_stream(*case.arguments, timeout=timeout, **case.options) as stream:
                return [await anext(stream)] if case.leaves else [part async for part in stream]
        return await getattr(facade, f"a{case.method}")(*case.arguments, **{"timeout": timeout, **case.options})

    return asyncio.run(call())
