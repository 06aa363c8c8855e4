"""`MediaMaker`: sound and images of an answer that its model does not produce, made by backends of plugins."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..errors import AbstractCoreError, RequestTimeoutError
from ..ports import CapabilityName, ModelProfile
from ..registry import Registry
from ..schema import AudioPart, GenerateResponse, ImagePart, MediaResult, Modality

if TYPE_CHECKING:
    from ..engine import Pipeline
    from .llm_base import LLMBase

_CAPABILITIES: Mapping[Modality, CapabilityName] = {"audio": "voice", "image": "vision"}


@dataclass(frozen=True, slots=True)
class MediaMaker:
    """Makes what `modalities` name: the answers of `llm` are spoken, images are drawn of the prompt, or of the answer
    if there is none. `timeout` is that of the call, in seconds.
    """

    llm: LLMBase
    modalities: tuple[Modality, ...]
    prompt: str | None
    timeout: float | None

    async def completed(
        self, response: Coroutine[Any, Any, GenerateResponse[Any]], pipeline: Pipeline
    ) -> GenerateResponse[Any]:
        """Returns the awaited response with what backends make; an empty answer is left as it is.

        Raises errors of the backends, with the answer in `partial`.
        """
        began = pipeline.runtime.now()
        answer = await response
        made: list[MediaResult[Any]] = []
        for modality in self.modalities if answer.content.strip() else ():
            left = None if self.timeout is None else began + self.timeout - pipeline.runtime.now()
            try:
                made.append(await self._make(modality, answer, pipeline, left))
            except AbstractCoreError as error:
                error.partial = error.partial or answer.reply
                raise
        return replace(answer, made=tuple(made)) if made else answer

    def _make(
        self, modality: Modality, answer: GenerateResponse[Any], pipeline: Pipeline, left: float | None
    ) -> Coroutine[Any, Any, MediaResult[Any]]:
        if left is not None and left <= 0:
            raise RequestTimeoutError("the answer took all of the time", hint="Allow more time with timeout=SECONDS.")
        options = {"parent_id": answer.trace_id, "timeout": left}
        if modality == "audio":
            from ..capabilities.voice import speech

            return self.llm.voice.make(pipeline, speech(answer.content, options), AudioPart)
        from ..capabilities.vision import drawing

        return self.llm.vision.make(pipeline, drawing(self.prompt or answer.content, options), ImagePart)


def missing_modalities(
    requested: Sequence[Modality], profile: ModelProfile, registry: Registry
) -> tuple[Modality, ...]:
    """Returns the kinds of output that the model is known not to produce, and that backends can make."""
    if profile.produces is None:
        return ()
    return tuple(
        each
        for each in requested
        if each in _CAPABILITIES and each not in profile.produces and registry.backends.of(_CAPABILITIES[each])
    )
