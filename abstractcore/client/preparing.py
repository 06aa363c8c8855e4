"""Validates the arguments of `generate` and similar methods, and prepares the call."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..engine import InTime, OutputReader, Prepare, Prepared, refuse_losses
from ..errors import ConfigurationError, InvalidInputError
from ..outputs import OutputType, ResponseModel, no_output, output_type
from ..ports import MessageReader, Runtime
from ..schema import CallWarning, GenerateResponse, MediaPart, Message, ModelCall
from ..schema.quoting import shown
from .building import build_call
from .call_tools import CallTools
from .contexts import scoped, scoped_call
from .option_values import check_forced_tool, extra_headers, output_retries, progress_function, seconds
from .options import (
    CALL_OPTIONS,
    REQUEST_FIELDS,
    RESUME_FIELDS,
    CallOptions,
    CallRequest,
    ResumeRequest,
    check_names,
    merged,
)
from .pipelines import Pipelines

if TYPE_CHECKING:
    from ..engine.answer_checks import AnswerCheck
    from ..engine.tool_rounds import RoundsPlan
    from ..outputs.evidence.quoted_output import QuotedOutput
    from ..schema import HostedTool, ToolAnswer, ToolLoop, ToolSpec
    from ..tools.tool import Tool
    from ..tools.toolset import ToolSet
    from .media_loading import MediaInput
    from .rounds import RoundPlanner

DEFAULT_TIMEOUT_SECONDS = 600.0
_NO_TOOLS = CallWarning("no_effect", "run_tools", "the call has no tools: pass tools=[...]")
_MESSAGES_FORMAT = "openai_chat"
"""The wire format of mappings in `messages`, whatever the provider."""


class PendingCall(NamedTuple):
    """A request, validated as far as possible without reading files; `timeout` is in seconds."""

    prepare: Prepare
    timeout: float | None
    read_output: OutputReader
    rounds: RoundsPlan | None = None
    check: AnswerCheck | None = None


class CallPreparer:
    """Prepares the calls of one LLM. `unused` are names of its options that no installed plugin uses: every call has a
    warning for them.
    """

    def __init__(
        self, provider: str, pipelines: Pipelines, defaults: Mapping[str, Any], unused: Collection[str] = ()
    ) -> None:
        self._provider = provider
        self._model = pipelines.session.model
        self._pipelines = pipelines
        self._defaults = defaults
        self._unused = tuple(_unused(name, pipelines.registry.capabilities) for name in unused)

    @property
    def headers(self) -> Mapping[str, str]:
        """The user's headers of every call."""
        return self._defaults.get("headers", {})

    def request(
        self,
        prompt: str | None,
        response_model: ResponseModel | None,
        request: CallRequest,
        llm: object,
        *,
        stream: bool = False,
    ) -> PendingCall:
        """Returns the call of a request to `llm`; raises `InvalidInputError` and `UnknownOptionError`."""
        registry = self._pipelines.registry
        if request:
            check_names(request, REQUEST_FIELDS, "a call", registry.capabilities, provider=self._provider)
        _check_stream(stream)
        given = request.get("options")
        if given is None:
            given = CallOptions()
        else:
            check_names(given, CALL_OPTIONS, "`options`", registry.capabilities, provider=self._provider)
        defaults = scoped(self._defaults)
        options = merged(defaults, {**given, **request}) if request else defaults
        output = _output(response_model, request)
        headers = _headers(defaults.get("headers", {}), options.get("headers"))
        messages = self._messages(request.get("messages"))
        system_prompt = options.get("system_prompt")
        if "system_prompt" not in request and any(message.role == "system" for message in messages):
            system_prompt = None
        media = _media_items(request.get("media"))
        quoted = _quoted_output(output, request.get("evidence"), media, messages)
        requested = quoted or output
        others = [name for name in {**given, **request} if name not in REQUEST_FIELDS]
        warnings = (*self._unused, *(_unused(name, registry.capabilities) for name in others))

        run_tools, deps = request.get("run_tools"), request.get("deps")
        on_media_progress = progress_function(request.get("on_media_progress"))

        def check_tools(tools: ToolSet) -> None:
            check_choice(tools.specs)
            if run_tools:
                from .rounds import check_run_tools

                check_run_tools(run_tools, tools)

        def check_choice(specs: Sequence[ToolSpec | HostedTool]) -> None:
            if "provider_options" not in options:
                check_forced_tool(options.get("tool_choice"), specs)

        tools = CallTools(request.get("tools"), registry, deps, check_tools)
        if tools.given is None:
            check_choice(())
            warnings = (*warnings, _NO_TOOLS) if run_tools else warnings
        timeout = seconds(options.get("timeout", DEFAULT_TIMEOUT_SECONDS), "timeout")

        async def prepare(runtime: Runtime) -> Prepared:
            parts: Sequence[MediaPart] = ()
            if media:
                load = self._pipelines.media_loader().load
                async with InTime(runtime, timeout):
                    parts = await runtime.call(load, media, kind="files")
            found, served_warnings = await tools.complete(runtime, timeout)
            call = build_call(
                provider=self._provider,
                model=self._model,
                prompt=prompt,
                messages=messages,
                system_prompt=system_prompt,
                media=parts,
                tools=() if found is None else found.specs,
                output=requested.schema if requested is not None else None,
                options=options,
                stream=stream,
            )
            given_tools = None if found is None else found.tools
            prepared = _checked(call, (*served_warnings, *warnings), headers, given_tools)
            return prepared if on_media_progress is None else replace(prepared, on_media_progress=on_media_progress)

        plan = None
        if run_tools or output is not None:
            retries = output_retries(options.get("output_retries"))
            check = request.get("output_check")
            plan = self._planner().plan(run_tools, deps, llm, retries, check, quoted or output)
        if request.get("verify"):
            from .verification import verification_check

            verification = verification_check(request.get("verify"), output, prepare, timeout)
            return PendingCall(verification.prepare, timeout, no_output, plan, verification)
        if quoted is not None:
            from .evidence import evidence_check

            evidence = evidence_check(quoted, prepare, timeout)
            return PendingCall(evidence.prepare, timeout, evidence.read_output, plan, evidence)
        return PendingCall(prepare, timeout, output.read if output is not None else no_output, plan)

    def resumed(
        self,
        loop: ToolLoop | GenerateResponse[Any] | None,
        answers: Sequence[ToolAnswer],
        response_model: ResponseModel | None,
        request: ResumeRequest,
        llm: object,
        *,
        stream: bool,
    ) -> PendingCall:
        """Returns the continuation of a tool loop; raises `InvalidInputError` if it does not fit."""
        from .evidence import evidence_check, resumed_output
        from .loop_inputs import changed_output, changed_tools, check_runnable, read_answers, read_loop
        from .rounds import check_run_tools

        check_names(request, RESUME_FIELDS, "resume", provider=self._provider)
        _check_stream(stream)
        run_tools, deps = request.get("run_tools", True), request.get("deps")
        loop = read_loop(loop, run_tools)
        named = f"{loop.call.provider}/{loop.call.model}"
        self._check_model(loop.call, "loop.call", f"Resume it with create_llm({named!r}).")
        given = self.given(
            loop.call,
            request.get("timeout", self._defaults.get("timeout", DEFAULT_TIMEOUT_SECONDS)),
            stream=stream,
        )
        given_answers = read_answers(answers, loop)
        on_media_progress = progress_function(request.get("on_media_progress"))

        def check_tools(tools: ToolSet) -> None:
            check_run_tools(run_tools, tools)
            check_runnable(given_answers, loop, tools.tools)

        output = _output(response_model, request)
        if output is not None and loop.call.output is None:
            hint = "Pass response_model to the call of generate that begins the loop."
            raise InvalidInputError("the loop was begun without response_model", path="response_model", hint=hint)
        quoted = resumed_output(output, loop.call)
        given_tools = request.get("tools")
        tools = CallTools(() if given_tools is None else given_tools, self._pipelines.registry, deps, check_tools)
        plan = self._planner().plan(
            run_tools,
            deps,
            llm,
            output_retries(request.get("output_retries", self._defaults.get("output_retries"))),
            request.get("output_check"),
            quoted or output,
            loop=loop,
            answers=given_answers,
        )
        changed = () if output is None or quoted is not None else changed_output(loop, output.schema)

        async def prepare(runtime: Runtime) -> Prepared:
            first = await given.prepare(runtime)
            found, warnings = await tools.complete(runtime, given.timeout)
            assert found is not None
            warnings += (*changed_tools(loop, found.specs), *changed)
            return replace(
                first,
                warnings=(*warnings, *first.warnings),
                tools=found.tools,
                on_media_progress=on_media_progress,
            )

        if request.get("verify"):
            from .verification import verification_check

            verification = verification_check(request.get("verify"), output, prepare, given.timeout)
            return PendingCall(verification.prepare, given.timeout, no_output, plan, verification)
        if quoted is not None:
            evidence = evidence_check(quoted, prepare, given.timeout, loop.call)
            return PendingCall(evidence.prepare, given.timeout, evidence.read_output, plan, evidence)
        return PendingCall(prepare, given.timeout, output.read if output is not None else no_output, plan)

    def _planner(self) -> RoundPlanner:
        """Returns what plans rounds; it is imported by a call that may take several."""
        from .rounds import RoundPlanner

        return RoundPlanner(self._pipelines)

    def _messages(self, messages: object) -> tuple[Message, ...]:
        """Returns the messages of a call; what reads them is imported by a call that has some."""
        if messages is None:
            return ()
        from .message_inputs import read_messages

        return read_messages(messages, self._message_reader, self._model)

    def _message_reader(self) -> MessageReader:
        """The reader of mappings in `messages`: the provider's own format if it is OpenAI's chat, so that the vendor's
        own fields are kept; else OpenAI's.
        """
        transpiler = self._pipelines.session.transpiler
        if not isinstance(transpiler, MessageReader):
            transpiler = self._pipelines.registry.wire_format(_MESSAGES_FORMAT).transpiler()
        if not isinstance(transpiler, MessageReader):
            raise ConfigurationError(f"the wire format {_MESSAGES_FORMAT!r} cannot read messages.")
        return transpiler

    def given(self, call: ModelCall, timeout: float | None, *, stream: bool) -> PendingCall:
        """Returns a given call; raises `InvalidInputError` for one of another provider or model."""
        if not isinstance(call, ModelCall):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a ModelCall, got {type(call).__name__}", path="call")
        hint = f"Use call.with_(provider={self._provider!r}, model={self._model!r}) to run it here."
        self._check_model(call, "call", hint)
        prepared = _checked(scoped_call(call.with_(stream=stream)), self._unused, self.headers)

        async def prepare(runtime: Runtime) -> Prepared:
            return prepared

        return PendingCall(prepare, seconds(timeout, "timeout"), no_output)

    def _check_model(self, call: ModelCall, path: str, hint: str) -> None:
        if (call.provider, call.model) != (self._provider, self._model):
            raise InvalidInputError(
                f"the call is for {call.provider}/{call.model}, this LLM is {self._provider}/{self._model}",
                path=f"{path}.model",
                hint=hint,
            )


def _check_stream(stream: object) -> None:
    if not isinstance(stream, bool):
        raise InvalidInputError(f"expected True or False, got {type(stream).__name__}", path="stream")


def _output(response_model: ResponseModel | None, request: CallRequest | ResumeRequest) -> OutputType | None:
    """Returns the type of the answer, if one is requested; raises `InvalidInputError` for what only that could use."""
    context, check = request.get("validation_context"), request.get("output_check")
    if response_model is not None:
        if check is not None and not callable(check):
            raise InvalidInputError(f"expected a function, got {shown(check)}", path="output_check")
        return output_type(response_model, context)
    for name, given in (("validation_context", context), ("output_check", check)):
        if given is not None:
            hint = "Pass response_model=TYPE too."
            raise InvalidInputError("there is no output without response_model", path=name, hint=hint)
    return None


def _quoted_output(
    output: OutputType | None, evidence: object, media: Sequence[object], messages: Sequence[Message]
) -> QuotedOutput | None:
    """Returns the type of an answer with quotes; what asks for them is imported by a call that wants evidence."""
    if not evidence:
        return None
    from .evidence import quoted_output

    return quoted_output(output, evidence, media, messages)


def _media_items(media: object) -> Sequence[MediaInput]:
    """Returns the files of a call; what reads them is imported by a call that has some."""
    if media is None:
        return ()
    from .media_loading import media_items

    return media_items(media)


def _checked(
    call: ModelCall,
    warnings: tuple[CallWarning, ...],
    headers: Mapping[str, str],
    tools: Mapping[str, Tool[..., Any]] | None = None,
) -> Prepared:
    if call.strict:
        refuse_losses(warnings, call)
    return Prepared(call, warnings, headers, tools=tools)


def _headers(defaults: Mapping[str, str], given: object) -> Mapping[str, str]:
    """Returns an LLM's headers with those of a call over them; None in the call means no headers."""
    if given is defaults:
        return defaults
    return {} if given is None else {**defaults, **extra_headers(given)}


def _unused(name: str, capabilities: Collection[str]) -> CallWarning:
    """Returns the warning for an unused option of a capability. Its value, which may be a key, is not shown."""
    installed = name.partition("_")[0] in capabilities
    message = f"{name!r} is an option of `create_llm` only" if installed else f"no installed plugin uses {name!r}"
    return CallWarning("unsupported_option", name, message)
