"""The methods of `LLM` for code that is written once for sync and async calls: it chooses the pipeline itself."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from .. import schema
from ..engine import Pipeline
from ..lazy_modules import LazyModule
from ..ports import Answer, CallContext, Runtime
from ..schema import CallWarning, GenerateResponse
from .options import CallRequest, ResumeRequest
from .pipelines import Pipelines, PreparedRequest
from .preparing import RequestPreparer

if TYPE_CHECKING:
    from ..files import loading
    from . import group_members, message_inputs
    from .llm import LLM
else:
    group_members = LazyModule("abstractcore.client.group_members")
    loading = LazyModule("abstractcore.files.loading")
    message_inputs = LazyModule("abstractcore.client.message_inputs")


class PipelineMethods:
    """Requests, calls and messages of an LLM, for other packages and for groups of models."""

    provider: str
    model: str
    _pipelines: Pipelines
    _preparer: RequestPreparer

    def prepared(self, prompt: str | None, request: Mapping[str, Any], *, stream: bool = False) -> PreparedRequest:
        """Returns a request that may have a `response_model`, for code that chooses the pipeline."""
        options = {**request}
        response_model = options.pop("response_model", None)
        return self._preparer.request(prompt, response_model, cast("CallRequest", options), self, stream=stream)

    def answered_in(
        self, runtime: Runtime, prompt: str | None, request: Mapping[str, Any]
    ) -> Coroutine[Any, Any, GenerateResponse[Any]]:
        """Returns the response to a request, in sync or in async calls: those of `runtime`."""
        is_sync = runtime is self._pipelines.services.sync_runtime
        return self.prepared(prompt, request).response(self.pipeline(sync=is_sync))

    def counted_in(
        self, pipeline: Pipeline, prompt: str | None, request: Mapping[str, Any]
    ) -> Coroutine[Any, Any, schema.TokenCount]:
        """Returns the count of the tokens of a request, as `count_tokens` does, in sync or in async calls."""
        from .operations import count_tokens

        return count_tokens(self._pipelines, pipeline, self.prepared(prompt, request))

    def resumption(
        self,
        loop: schema.ToolLoop,
        answers: Sequence[schema.ToolAnswer],
        request: Mapping[str, Any],
        *,
        stream: bool = False,
    ) -> PreparedRequest:
        """Returns the continuation of a tool loop as `resume` makes it, for code that chooses the pipeline."""
        options = {**request}
        response_model = options.pop("response_model", None)
        return self._preparer.resumption(
            loop, answers, response_model, cast("ResumeRequest", options), self, stream=stream
        )

    def pipeline(self, *, sync: bool) -> Pipeline:
        """Returns the pipeline of sync or async calls, for code that is written once for both."""
        return self._pipelines.sync if sync else self._pipelines.asynchronous

    def read_messages(self, messages: Sequence[message_inputs.MessageInput]) -> tuple[schema.Message, ...]:
        """Returns the messages of what the option `messages` of a call takes."""
        return self._preparer.messages(messages)

    def media_loader(self) -> loading.MediaLoader:
        """Returns the loader of files for calls of this LLM."""
        return self._pipelines.media_loader()

    def openai_messages(self, messages: Sequence[schema.Message]) -> tuple[list[dict[str, Any]], Sequence[CallWarning]]:
        """Returns messages in the format of OpenAI's Chat Completions, and a warning for each loss."""
        return self._preparer.openai_messages(messages)

    async def take_over(self, context: CallContext, *, sync: bool) -> Answer:
        """Makes a chat that another LLM has begun, of sync or async code: it becomes a call of this model."""
        self.check_open()
        pipeline = self.pipeline(sync=sync)
        if context.input.provider != self.provider:
            context.headers = self._preparer.headers  # those of the call may be credentials of the other provider
        context.call = context.call.with_(provider=self.provider, model=self.model)
        return await pipeline.take_over(context)

    def as_member(self) -> group_members.GroupMember:
        """Returns this LLM as a group of models calls it."""
        from .group_members import GroupMember

        return GroupMember(cast("LLM", self), self._pipelines, self._preparer)

    def check_open(self) -> None:
        """Raises `ConfigurationError` if it is closed."""
        self._preparer.check_open()
