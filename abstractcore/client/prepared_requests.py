"""`PreparedRequest`: a validated request, run in one round, or in as many as its tools and its answer need.

`AnswerMedia` adds the sound and the images that its model does not produce.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..engine import OutputReader, Pipeline, Prepare
from ..errors import AbstractCoreError, RequestTimeoutError
from ..ports import CapabilityName, ModelProfile
from ..registry import Registry
from ..schema import AudioPart, GenerateResponse, ImagePart, Modality

if TYPE_CHECKING:
    from ..capabilities import Vision, VoiceFacade
    from ..engine import CallStream
    from ..engine.answer_checks import AnswerCheck, CheckedStream
    from ..engine.round_stream import RoundStream
    from ..engine.tool_rounds import RoundsPlan
    from ..schema import MediaResult
    from .streams import AsyncStream, Stream

DEFAULT_TIMEOUT_SECONDS = 600.0
_CAPABILITIES: Mapping[Modality, CapabilityName] = {"audio": "voice", "image": "vision"}


class PreparedRequest(NamedTuple):
    """A request, validated as far as possible without reading files; `timeout` is in seconds."""

    prepare: Prepare
    timeout: float | None
    read_output: OutputReader | None = None
    rounds: RoundsPlan | None = None
    check: AnswerCheck | None = None
    media: AnswerMedia | None = None

    def response(self, pipeline: Pipeline) -> Coroutine[Any, Any, GenerateResponse[Any]]:
        """Returns a coroutine of the response."""
        response = self._response(pipeline)
        if self.check is not None:
            from ..engine.answer_checks import check_response

            response = check_response(response, self.check, pipeline)
        return response if self.media is None else self.media.added(response, pipeline)

    def _response(self, pipeline: Pipeline) -> Coroutine[Any, Any, GenerateResponse[Any]]:
        if self.rounds is None:
            return pipeline.generate(self.prepare, self.timeout, self.read_output)
        from ..engine.tool_rounds import Rounds, generate_in_rounds

        rounds = Rounds(pipeline, self.prepare, self.timeout, self.read_output, self.rounds)
        return generate_in_rounds(rounds, pipeline)

    def sync_stream(self, pipeline: Pipeline) -> Stream[Any]:
        """Returns the stream of the call in sync code."""
        from .streams import Stream

        return Stream(self.open_stream(pipeline))

    def async_stream(self, pipeline: Pipeline) -> AsyncStream[Any]:
        """Returns the stream of the call in async code."""
        from .streams import AsyncStream

        return AsyncStream(self.open_stream(pipeline))

    def open_stream(self, pipeline: Pipeline) -> CallStream | RoundStream | CheckedStream:
        """Returns the stream of the call, which is sent at its first read."""
        stream = self._unchecked_stream(pipeline)
        if self.check is None:
            return stream
        from ..engine.answer_checks import CheckedStream

        return CheckedStream(stream, self.check, pipeline)

    def _unchecked_stream(self, pipeline: Pipeline) -> CallStream | RoundStream:
        if self.rounds is None:
            from ..engine import CallStream

            return CallStream(pipeline, self.prepare, self.timeout, self.read_output)
        from ..engine.round_stream import RoundStream
        from ..engine.tool_rounds import Rounds

        return RoundStream(pipeline, Rounds(pipeline, self.prepare, self.timeout, self.read_output, self.rounds))


class HasVoiceAndVision(Protocol):
    """An LLM, as far as the media of its answers are made by it."""

    @property
    def voice(self) -> VoiceFacade: ...

    @property
    def vision(self) -> Vision: ...


@dataclass(frozen=True, slots=True)
class AnswerMedia:
    """Sound and images made by backends: the answers of `llm` are spoken, images are drawn of the prompt, or of the
    answer if there is none. `modalities` name what is made; `timeout` is that of the call, in seconds.
    """

    llm: HasVoiceAndVision
    modalities: tuple[Modality, ...]
    prompt: str | None
    timeout: float | None

    async def added(
        self, response: Coroutine[Any, Any, GenerateResponse[Any]], pipeline: Pipeline
    ) -> GenerateResponse[Any]:
        """Returns the awaited response with what backends make; an empty answer is left as it is.

        Raises errors of the backends, with the answer in `partial`.
        """
        began = pipeline.runtime.now()
        answer = await response
        results: list[MediaResult[Any]] = []
        for modality in self.modalities if answer.content.strip() else ():
            left = None if self.timeout is None else began + self.timeout - pipeline.runtime.now()
            try:
                results.append(await self._make(modality, answer, pipeline, left))
            except AbstractCoreError as error:
                error.partial = error.partial or answer.reply
                raise
        return replace(answer, made=tuple(results)) if results else answer

    def _make(
        self, modality: Modality, answer: GenerateResponse[Any], pipeline: Pipeline, left: float | None
    ) -> Coroutine[Any, Any, MediaResult[Any]]:
        if left is not None and left <= 0:
            raise RequestTimeoutError("the answer took all of the time", hint="Allow more time with timeout=SECONDS.")
        options = {"parent_id": answer.trace_id, "timeout": left}
        if modality == "audio":
            from ..capabilities.voice import speech_request

            return self.llm.voice.make(pipeline, speech_request(answer.content, options), AudioPart)
        from ..capabilities.vision import image_request

        return self.llm.vision.make(pipeline, image_request(self.prompt or answer.content, options), ImagePart)


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
