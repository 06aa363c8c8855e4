"""The methods of `LLM` for decisions between choices, and for scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast, overload

from ..concurrency import drive
from ..lazy_modules import LazyModule
from ..option_help import takes
from ..ports import ReportsAlternatives, Runtime
from .options import CallRequest
from .pipelines import Pipelines, PreparedRequest
from .preparing import RequestPreparer

if TYPE_CHECKING:
    from ..outputs import decisions
else:
    decisions = LazyModule("abstractcore.outputs.decisions")

E = TypeVar("E", bound=Enum)
_ALTERNATIVES = 5
"""Alternatives of each token to request of a wire format that does not say how many it reports."""
_UNREAD = frozenset({"media", "messages"})


class DecisionMethods:
    """`decide`, `score` and their async versions."""

    _pipelines: Pipelines
    _preparer: RequestPreparer

    @overload
    def decide(self, prompt: str | None, choices: type[E], **request: Unpack[CallRequest]) -> decisions.Decision[E]: ...

    @overload
    def decide(
        self, prompt: str | None, choices: Sequence[str] | Mapping[str, str], **request: Unpack[CallRequest]
    ) -> decisions.Decision[str]: ...

    @takes(CallRequest)
    def decide(
        self,
        prompt: str | None,
        choices: type[Enum] | Sequence[str] | Mapping[str, str],
        **request: Unpack[CallRequest],
    ) -> decisions.Decision[Any]:
        """Has the model choose one of `choices`: texts, the members of an enum, or names with descriptions.

        The answer is structured output. Where the provider reports log probabilities (OpenAI's formats, Gemini, Ollama,
        llama.cpp and the embedded model; not while a model thinks), the probability of each choice is that of the
        tokens in which the choices differ, scaled so that all choices add up to 1. Providers report a number of the
        most probable tokens, mostly 20: a probability that these leave open by more than a hundredth is None. They are
        the model's, not calibrated frequencies.

        Raises `InvalidInputError` for invalid choices, and errors as `generate` does.
        """
        from ..outputs.decisions import Choices

        wanted = Choices(choices)
        return wanted.decision(drive(self._choosing(prompt, wanted, request).response(self._pipelines.sync)))

    @overload
    async def adecide(
        self, prompt: str | None, choices: type[E], **request: Unpack[CallRequest]
    ) -> decisions.Decision[E]: ...

    @overload
    async def adecide(
        self, prompt: str | None, choices: Sequence[str] | Mapping[str, str], **request: Unpack[CallRequest]
    ) -> decisions.Decision[str]: ...

    @takes(CallRequest)
    async def adecide(
        self,
        prompt: str | None,
        choices: type[Enum] | Sequence[str] | Mapping[str, str],
        **request: Unpack[CallRequest],
    ) -> decisions.Decision[Any]:
        """The async version of `decide`."""
        from ..outputs.decisions import Choices

        wanted = Choices(choices)
        prepared = self._choosing(prompt, wanted, request)
        return wanted.decision(await prepared.response(self._pipelines.asynchronous))

    @takes(CallRequest)
    def score(self, prompt: str | None, low: int, high: int, **request: Unpack[CallRequest]) -> decisions.Score:
        """Has the model answer with a whole number from `low` to `high`, at most 99 apart.

        `score` is the number; `mean` the mean of all numbers by their probabilities, found as `decide` finds them; None
        where it is not known to within a hundredth of the range. Raises `InvalidInputError` for other bounds, and
        errors as `generate` does.
        """
        from ..outputs.decisions import Scores

        wanted = Scores(low, high)
        return wanted.score(drive(self._choosing(prompt, wanted, request).response(self._pipelines.sync)))

    @takes(CallRequest)
    async def ascore(self, prompt: str | None, low: int, high: int, **request: Unpack[CallRequest]) -> decisions.Score:
        """The async version of `score`."""
        from ..outputs.decisions import Scores

        wanted = Scores(low, high)
        prepared = self._choosing(prompt, wanted, request)
        return wanted.score(await prepared.response(self._pipelines.asynchronous))

    def _choosing(self, prompt: str | None, choices: decisions.Choices, request: CallRequest) -> PreparedRequest:
        kind, asked = choices.response_model, choices.prompt(prompt)
        if "top_logprobs" not in request and (most := self._most_alternatives(kind, request)) is not None:
            request = cast(CallRequest, {**request, "top_logprobs": most})
        return self._preparer.request(asked, kind, request, self)

    def _most_alternatives(self, kind: Any, request: CallRequest) -> int | None:
        """Returns how many alternatives of each token the answer to this request can come with; None without log
        probabilities. Reads no files, sends nothing.
        """
        options = cast(CallRequest, {name: value for name, value in request.items() if name not in _UNREAD})
        pipelines = self._pipelines
        runtime: Runtime = pipelines.services.sync_runtime
        call = drive(cast(Any, self._preparer.request("-", kind, options, self).prepare(runtime))).call
        transpiler = pipelines.session.transpiler
        most = transpiler.most_alternatives if isinstance(transpiler, ReportsAlternatives) else _ALTERNATIVES
        lowered = pipelines.lower(call.with_(sampling=replace(call.sampling, top_logprobs=most)))
        if lowered.reading is not None and lowered.reading.output_tool is not None:
            return None
        if any("top_logprobs" in warning.path for warning in transpiler.encode(lowered.call).warnings):
            return None
        return lowered.call.sampling.top_logprobs
