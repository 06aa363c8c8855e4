"""`AuxiliaryModel`: a second model that a call needs, such as the one that captions images."""

from __future__ import annotations

import threading
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from ..schema import Billing, Usage

if TYPE_CHECKING:
    from .llm import LLM
    from .services import Services


class AuxiliaryModel:
    """An LLM that is created when it is first used, in any thread. `model` is an LLM, or a name as for `create_llm`."""

    def __init__(self, model: str | LLM, services: Services) -> None:
        self._model = model
        self._services = services
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The name of the model, with that of its provider."""
        model = self._model
        return model if isinstance(model, str) else f"{model.provider}/{model.model}"

    def llm(self) -> LLM:
        """Returns the LLM; raises the errors of `create_llm`."""
        from .factory import create_llm

        with self._lock:
            if isinstance(self._model, str):
                self._model = create_llm(self._model, services=self._services)
            return self._model


def usage_with_cost(usage: Usage | None, cost: Decimal | None) -> Usage:
    """Returns the usage of a call of such a model, with its cost, if that is known, as what was billed."""
    usage = usage or Usage()
    return usage if cost is None else replace(usage, billing=replace(usage.billing or Billing(), cost=cost))
