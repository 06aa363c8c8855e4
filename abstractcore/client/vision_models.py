"""`VisionModel`: captions images by the model of the option `vision_model`, for models that accept none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..ports import Caption
from ..schema import ImagePart
from .auxiliary_models import AuxiliaryModel, usage_with_cost

if TYPE_CHECKING:
    from .llm import LLM
    from .services import Services


class VisionModel:
    """Asks a vision model about images; callable in any thread. `model` is an LLM, or a name as for `create_llm`."""

    def __init__(self, model: str | LLM, services: Services) -> None:
        self._model = AuxiliaryModel(model, services)
        self.name = self._model.name

    def __call__(
        self, images: Sequence[ImagePart], question: str, *, timeout: float | None, parent_id: str | None
    ) -> Caption:
        """Returns what the model answers. `timeout` is in seconds; errors are those of `generate`."""
        response = self._model.llm().generate(
            question, media=list(images), media_policy={"image": "native"}, timeout=timeout, parent_id=parent_id
        )
        usage = usage_with_cost(response.usage, response.cost)
        return Caption(response.content, f"{response.provider}/{response.model}", usage)
