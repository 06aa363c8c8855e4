"""`DecidingLLM`: decisions between choices, and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast, overload

from ..concurrency import drive
from ..ports import Runtime
from .options import CallRequest
from .preparing import PendingCall
from .resuming import ResumableLLM
from .running import read_response
from .signatures import takes

if TYPE_CHECKING:
    from ..outputs.decisions import Choices, Decision, Score

E = TypeVar("E", bound=Enum)
_ALTERNATIVES = 5
"""Alternatives of each token: as many as all providers report that report any."""
_UNREAD = frozenset({"media", "messages"})


class DecidingLLM(ResumableLLM):
    """An LLM that chooses and scores."""

    @overload
    def decide(self, prompt: str | None, choices: type[E], **request: Unpack[CallRequest]) -> Decision[E]: ...

    @overload
    def decide(
        self, prompt: str | None, choices: Sequence[str] | Mapping[str, str], **request: Unpack[CallRequest]
    ) -> Decision[str]: ...

    @takes(CallRequest)
    def decide(
        self,
        prompt: str | None,
        choices: type[Enum] | Sequence[str] | Mapping[str, str],
        **request: Unpack[CallRequest],
    ) -> Decision[Any]:
        """Has the model choose one of `choices`: texts, the members of an enum, or names with descriptions.

        The answer is structured output. Where the provider reports log probabilities (OpenAI's formats, Gemini, Ollama,
        llama.cpp and the embedded model; not while a model thinks), the probability of each choice is that of the
        tokens in which the choices differ, scaled so that all choices add up to 1; a choice outside the five most
        probable tokens has 0. They are the model's, not calibrated frequencies.

        Raises `InvalidInputError` for invalid choices, and errors as `generate` does.
        """
        from ..outputs.decisions import Choices

        wanted = Choices(choices)
        return wanted.decision(drive(read_response(self._pipelines.sync, self._choosing(prompt, wanted, request))))

    @overload
    async def adecide(self, prompt: str | None, choices: type[E], **request: Unpack[CallRequest]) -> Decision[E]: ...

    @overload
    async def adecide(
        self, prompt: str | None, choices: Sequence[str] | Mapping[str, str], **request: Unpack[CallRequest]
    ) -> Decision[str]: ...

    @takes(CallRequest)
    async def adecide(
        self,
        prompt: str | None,
        choices: type[Enum] | Sequence[str] | Mapping[str, str],
        **request: Unpack[CallRequest],
    ) -> Decision[Any]:
        """The async version of `decide`."""
        from ..outputs.decisions import Choices

        wanted = Choices(choices)
        pending = self._choosing(prompt, wanted, request)
        return wanted.decision(await read_response(self._pipelines.asynchronous, pending))

    @takes(CallRequest)
    def score(self, prompt: str | None, low: int, high: int, **request: Unpack[CallRequest]) -> Score:
        """Has the model answer with a whole number from `low` to `high`, at most 99 apart.

        `score` is the number; `mean` the mean of all numbers by their probabilities, found as `decide` finds them, else
        None. Raises `InvalidInputError` for other bounds, and errors as `generate` does.
        """
        from ..outputs.decisions import Scores

        wanted = Scores(low, high)
        return wanted.score(drive(read_response(self._pipelines.sync, self._choosing(prompt, wanted, request))))

    @takes(CallRequest)
    async def ascore(self, prompt: str | None, low: int, high: int, **request: Unpack[CallRequest]) -> Score:
        """The async version of `score`."""
        from ..outputs.decisions import Scores

        wanted = Scores(low, high)
        pending = self._choosing(prompt, wanted, request)
        return wanted.score(await read_response(self._pipelines.asynchronous, pending))

    def _choosing(self, prompt: str | None, choices: Choices, request: CallRequest) -> PendingCall:
        kind, asked = choices.response_model, choices.prompt(prompt)
        if "top_logprobs" not in request and self._reports_alternatives(kind, request):
            request = cast(CallRequest, {**request, "top_logprobs": _ALTERNATIVES})
        return self._request(asked, kind, request, False)

    def _reports_alternatives(self, kind: Any, request: CallRequest) -> bool:
        """Returns whether the answer to this request comes with log probabilities. Reads no files, sends nothing."""
        options = cast(CallRequest, {name: value for name, value in request.items() if name not in _UNREAD})
        pipelines = self._pipelines
        runtime: Runtime = pipelines.services.sync_runtime
        call = drive(cast(Any, self._request("-", kind, options, False).prepare(runtime))).call
        lowered = pipelines.lowered(call.with_(sampling=replace(call.sampling, top_logprobs=_ALTERNATIVES)))
        if lowered.reading is not None and lowered.reading.output_tool is not None:
            return False
        warnings = (*lowered.warnings, *pipelines.session.transpiler.encode(lowered.call).warnings)
        return not any("top_logprobs" in warning.path for warning in warnings)
