"""`VisionModel`: captions images by the model of the option `vision_model`, for models that accept none."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..ports import Caption
from ..schema import Billing, ImagePart, Usage

if TYPE_CHECKING:
    from .llm import LLM
    from .services import Services


class VisionModel:
    """Asks a vision model about images; callable in any thread. `model` is an LLM, or a name as for `create_llm`."""

    def __init__(self, model: str | LLM, services: Services) -> None:
        self._model = model
        self._services = services
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The name of the model, with that of its provider."""
        model = self._model
        return model if isinstance(model, str) else f"{model.provider}/{model.model}"

    def __call__(
        self, images: Sequence[ImagePart], question: str, *, timeout: float | None, parent_id: str | None
    ) -> Caption:
        """Returns what the model answers. `timeout` is in seconds; errors are those of `generate`."""
        response = self._llm().generate(
            question, media=list(images), media_policy={"image": "native"}, timeout=timeout, parent_id=parent_id
        )
        usage = response.usage or Usage()
        if response.cost is not None:
            usage = replace(usage, billing=replace(usage.billing or Billing(), cost=response.cost))
        return Caption(response.content, f"{response.provider}/{response.model}", usage)

    def _llm(self) -> LLM:
        from .factory import create_llm

        with self._lock:
            if isinstance(self._model, str):
                self._model = create_llm(self._model, services=self._services)
            return self._model
