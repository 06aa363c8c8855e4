"""`ContextRoom`: makes room for a call of a session: compacts its context once the call is larger than it may be."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from ..engine import Pipeline
from ..errors import AbstractCoreError, InvalidInputError
from ..ports import Runtime
from ..schema import CallWarning, GenerateResponse, ModelCall, text_tokens
from .compaction import Compacted, Compactor
from .history import has_open_calls
from .state import SessionSettings, SessionState, loop_waits, request_on, run_once

_log = logging.getLogger("abstractcore")
_AFTER_COMPACTION = (0.6, 0.85)
"""How full a context is after it was compacted, as shares of its limit, so that the next calls need not do it again:
after a summary, and after results and files were set aside, if that is enough.
"""
_AFTER_OVERFLOW = 0.6
"""As the limit of a context that was too long, against the estimate."""
_USUAL_LIMIT = 32_768


def has_files(options: Mapping[str, Any]) -> bool:
    """Returns whether a call has files: a list of some, or a single one, such as an array, which has no truth value."""
    media = options.get("media")
    return media is not None and not (isinstance(media, list | tuple) and not media)


class ContextRoom:
    """The room for one call of a session with `options` and perhaps a question, whose prompt is `prompt`.

    `can_recall` says whether the model can read what is set aside, `has_overflowed` whether the provider has refused
    the call, since it was too long.
    """

    def __init__(
        self,
        state: SessionState,
        settings: SessionSettings,
        options: Mapping[str, Any],
        prompt: str | None = None,
        *,
        can_recall: bool = False,
    ) -> None:
        self._state = state
        self._settings = settings
        self._options = options
        self._prompt = prompt
        self._can_recall = can_recall
        self.has_overflowed = False

    @property
    def has_question(self) -> bool:
        """Whether the call adds a message of the user."""
        return self._prompt is not None or has_files(self._options)

    @property
    def instructions(self) -> int:
        """About the tokens of the system prompt."""
        prompt = self._options.get("system_prompt")
        return text_tokens(prompt) if isinstance(prompt, str) else 0

    async def make(self, call: ModelCall, pipeline: Pipeline) -> tuple[CallWarning, ...]:
        """Compacts the context if `call` is larger than it may be; returns warnings of what was done."""
        settings, history = self._settings, self._state.history
        limit = settings.limit(call.sampling.max_output_tokens)
        if settings.compact is None or not history.context or (limit is None and not self.has_overflowed):
            return ()
        new = settings.tokens_of(call.messages[-1:] if self.has_question else ())
        size = settings.meter.tokens(history.tokens + new + self.instructions)
        if self.has_overflowed:
            limit = int(min(limit or size, size) * _AFTER_OVERFLOW)
        else:
            assert limit is not None
            enough = limit if settings.meter.is_known else limit // 2
            if size <= enough or not await self._counts_more(limit, history.tokens + new + self.instructions, pipeline):
                return ()
        target, enough = (int(limit * share) - int(settings.meter.margin * new) for share in _AFTER_COMPACTION)
        compactor = self._compactor(pipeline.runtime, limit)
        compacted = await compactor.to_fit(history.all_groups, max(1, target), max(1, enough))
        return await self._take(compacted, pipeline.runtime)

    async def make_now(self, keep: int, focus: str | None, runtime: Runtime) -> tuple[CallWarning, ...]:
        """Compacts all but the last `keep` exchanges, and one whose tool calls have no result; returns what was done.

        Raises `InvalidInputError` while a tool loop waits or was cut off: its state refers to the messages before it.
        """
        history = self._state.history
        if self._settings.compact is None:
            hint = 'Make the session with compact="summary", "drop" or a function; session.fork() has the same history.'
            raise InvalidInputError("the session leaves all messages as they are", path="compact", hint=hint)
        if history.last is not None and history.last.loop is not None:
            raise loop_waits("compact")
        limit = self._settings.limit(self._options.get("max_output_tokens")) or _USUAL_LIMIT
        compactor = self._compactor(runtime, limit)
        return await self._take(
            await compactor.to_last(history.all_groups, max(keep, int(has_open_calls(history.context))), focus), runtime
        )

    async def _counts_more(self, limit: int, estimated: int, pipeline: Pipeline) -> bool:
        """Returns whether the call is larger than the limit, by the provider's count if there is one."""
        meter = self._settings.meter
        options = {name: value for name, value in self._options.items() if name not in ("run_tools", "response_model")}
        request = request_on(self._state.history.context, options, has_system=self._state.history.has_system)
        try:
            count = await self._settings.llm.counted_in(pipeline, self._prompt, request)
        except AbstractCoreError as error:
            _log.debug("the tokens of a session were not counted, and are estimated: %s", error)
            return meter.tokens(estimated) > limit
        if count.estimated:
            return meter.tokens(estimated) > limit
        meter.take_count(int(count), estimated)
        return int(count) > limit

    def _compactor(self, runtime: Runtime, limit: int) -> Compactor:
        settings = self._settings

        async def ask(prompt: str, *, system_prompt: str, max_output_tokens: int) -> GenerateResponse[Any]:
            options = {**settings.defaults, "system_prompt": system_prompt, "max_output_tokens": max_output_tokens}
            return await settings.llm.answered_in(runtime, prompt, options)

        margin = settings.meter.margin
        return Compactor(settings.compact, limit, margin, self._can_recall, settings.tokens_of, ask, runtime.invoke)

    async def _take(self, compacted: Compacted | None, runtime: Runtime) -> tuple[CallWarning, ...]:
        """Puts a smaller context into the history, then into the file: what is in the history cannot be undone, so
        the file never has a summary of exchanges that it lacks. Returns the warnings.
        """
        if compacted is None:
            return ()
        history, file = self._state.history, self._state.file
        groups, spent = history.without_untouched(compacted.groups), compacted.spent
        history.compact(groups, spent)
        self._settings.meter.forget()
        if file is not None:
            await run_once(runtime, lambda: file.compact(groups, spent))
        return compacted.warnings
