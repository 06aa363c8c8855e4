"""Validates the arguments of `generate` and similar methods, and makes a `ModelCall` of them once files are read."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from ..engine import OutputReader
from ..errors import ConfigurationError, InvalidInputError
from ..outputs import OutputType, ResponseModel, output_type
from ..ports import AnyInput, MessageReader, Operation
from ..ports.middleware import with_call
from ..schema import (
    CallWarning,
    GenerateResponse,
    Message,
    Modality,
    ModelCall,
)
from ..schema.base_error import shown
from .option_names import OptionNames
from .option_values import (
    check_forced_tool,
    extra_headers,
    interruption_of,
    merge_options,
    output_retries,
    priority,
    progress_function,
    scoped_call,
    scoped_options,
    seconds,
)
from .options import CALL_OPTIONS, REQUEST_FIELDS, RESUME_FIELDS, CallRequest, ResumeRequest
from .pipelines import (
    DEFAULT_TIMEOUT_SECONDS,
    AnswerMedia,
    HasVoiceAndVision,
    Pipelines,
    PreparedRequest,
    missing_modalities,
)
from .requested_calls import RequestedCall, prepared_call, request_of

if TYPE_CHECKING:
    from ..files.loading import MediaInput
    from ..registry import Registry
    from ..schema import HostedTool, OperationInput, ToolAnswer, ToolLoop, ToolSpec
    from ..tools.toolset import ToolSet
    from ..verification.quoted_output import QuotedOutput
    from .call_tools import CallTools

_NO_TOOLS = CallWarning("no_effect", "run_tools", "the call has no tools: pass tools=[...]")
_MESSAGES_FORMAT = "openai_chat"
"""The wire format of mappings in `messages`, whatever the provider."""


class RequestPreparer:
    """Prepares the requests of one LLM, until it is closed. `unused` are names of its options that no installed plugin
    uses: every call has a warning for them, and the `warnings`.
    """

    def __init__(
        self,
        names: OptionNames,
        pipelines: Pipelines,
        defaults: Mapping[str, Any],
        unused: Collection[str] = (),
        warnings: Sequence[CallWarning] = (),
    ) -> None:
        self._provider = names.provider
        self._model = pipelines.model
        self._names = names
        self._pipelines = pipelines
        self._defaults = defaults
        self._unused = (*(_unused(name, pipelines.registry) for name in unused), *warnings)
        self._closed = False

    def check_open(self) -> None:
        """Raises `ConfigurationError` if the LLM is closed."""
        if self._closed:
            raise ConfigurationError("this LLM is closed.", hint="Create another with create_llm.")

    def close(self) -> None:
        """Refuses further requests, and closes the provider's session."""
        if not self._closed:
            self._closed = True
            self._pipelines.close()

    @property
    def defaults(self) -> Mapping[str, Any]:
        """The options of `create_llm` that are defaults for every call."""
        return self._defaults

    def scoped_defaults(self) -> Mapping[str, Any]:
        """The options of every call, with those of the enclosing block over them."""
        return scoped_options(self._defaults)

    @property
    def headers(self) -> Mapping[str, str]:
        """The user's headers of every call."""
        return self._defaults.get("headers", {})

    @property
    def _priority(self) -> int:
        """The priority of calls that have none of their own: those that are data."""
        return priority(self._defaults.get("priority"))

    def request(
        self,
        prompt: str | None,
        response_model: ResponseModel | None,
        request: CallRequest,
        llm: object,
        *,
        stream: bool = False,
    ) -> PreparedRequest:
        """Returns a request to `llm`; raises `InvalidInputError` and `UnknownOptionError`."""
        self.check_open()
        options, warnings = self._options(request)
        _check_stream(stream)
        missing = () if stream else self._missing_modalities(options)
        if missing:
            options = {**options, "modalities": [each for each in options["modalities"] if each not in missing]}
        output = _output(response_model, request)
        headers = _headers(self.headers, options.get("headers"))
        messages, media = self.messages(request.get("messages")), _media_items(request.get("media"))
        quoted = _quoted_output(output, request.get("evidence"), media, messages)
        answer = quoted or output
        run_tools, deps = request.get("run_tools"), request.get("deps")
        on_media_progress = progress_function(request.get("on_media_progress"))
        tools = self._tools(request.get("tools"), options, run_tools, deps)
        if tools is None and run_tools:
            warnings = (*warnings, _NO_TOOLS)
        requested = RequestedCall(
            provider=self._provider,
            pipelines=self._pipelines,
            prompt=prompt,
            messages=messages,
            system_prompt=_system_prompt(request, options, messages),
            media=media,
            tools=tools,
            output=answer.schema if answer is not None else None,
            options=options,
            stream=stream,
            timeout=seconds(options.get("timeout", DEFAULT_TIMEOUT_SECONDS), "timeout"),
            headers=headers,
            warnings=warnings,
            on_media_progress=on_media_progress,
            priority=priority(options.get("priority")),
        )
        plan = None
        if run_tools or output is not None:
            from .call_tools import rounds_plan

            retries = output_retries(options.get("output_retries"))
            plan = rounds_plan(self._pipelines, run_tools, deps, llm, retries, request.get("output_check"), answer)
        prepared = PreparedRequest(requested.prepare, requested.timeout, _output_reader(output), plan)
        prepared = _with_check(prepared, output, quoted, request.get("verify"))
        prepared = prepared._replace(interruption=interruption_of(request))
        if not missing:
            return prepared
        return prepared._replace(media=AnswerMedia(cast(HasVoiceAndVision, llm), missing, prompt, prepared.timeout))

    def _missing_modalities(self, options: Mapping[str, Any]) -> tuple[Modality, ...]:
        """Returns the kinds of output that backends make of the answer; few calls name any."""
        requested = options.get("modalities")
        if not isinstance(requested, list | tuple) or not requested:  # other types are refused later
            return ()
        modalities = cast("Sequence[Modality]", requested)
        return missing_modalities(modalities, self._pipelines.session.profile, self._pipelines.registry)

    def _options(self, request: CallRequest) -> tuple[Mapping[str, Any], tuple[CallWarning, ...]]:
        """Returns the options of a call over those of the LLM, and warnings of options that nothing uses.

        Raises `UnknownOptionError` with similar names.
        """
        defaults = scoped_options(self._defaults)
        if not request:
            return defaults, self._unused
        of_call: Mapping[str, Any] = request
        registry, given = self._pipelines.registry, request.get("options")
        if given is not None:
            self._names.check(given, CALL_OPTIONS, "`options`", registry.capabilities)
            of_call = {**given, **request}
        if REQUEST_FIELDS.issuperset(of_call):
            return merge_options(defaults, of_call), self._unused
        self._names.check(request, REQUEST_FIELDS, "a call", registry.capabilities)
        others = (_unused(name, registry) for name in of_call if name not in REQUEST_FIELDS)
        return merge_options(defaults, of_call), (*self._unused, *others)

    def resumption(
        self,
        loop: ToolLoop | GenerateResponse[Any] | None,
        answers: Sequence[ToolAnswer],
        response_model: ResponseModel | None,
        request: ResumeRequest,
        llm: object,
        *,
        stream: bool,
    ) -> PreparedRequest:
        """Returns the continuation of a tool loop; raises `InvalidInputError` if it does not fit."""
        from .call_tools import rounds_plan
        from .resumed_loops import ResumedCall, changed_output, quoted_of_loop, read_answers, read_loop, resumed_tools

        self.check_open()
        self._names.check(request, RESUME_FIELDS, "resume")
        _check_stream(stream)
        run_tools, deps = request.get("run_tools", True), request.get("deps")
        loop = read_loop(loop, run_tools)
        named = f"{loop.call.provider}/{loop.call.model}"
        self._check_model(loop.call, "loop.call", f"Resume it with create_llm({named!r}).")
        timeout = request.get("timeout", self._defaults.get("timeout", DEFAULT_TIMEOUT_SECONDS))
        given = self.given_call(loop.call, timeout, stream=stream)
        given_answers = read_answers(answers, loop)
        on_media_progress = progress_function(request.get("on_media_progress"))
        output = _output(response_model, request)
        quoted = quoted_of_loop(loop, output)
        tools = resumed_tools(request.get("tools"), run_tools, deps, loop, given_answers, self._pipelines.registry)
        retries = output_retries(request.get("output_retries", self._defaults.get("output_retries")))
        check = request.get("output_check")
        plan = rounds_plan(self._pipelines, run_tools, deps, llm, retries, check, quoted or output, loop, given_answers)
        changed = () if output is None or quoted is not None else changed_output(loop, output.schema)
        resumed = ResumedCall(loop, given.prepare, tools, given.timeout, tuple(changed), on_media_progress)
        prepared = PreparedRequest(resumed.prepare, given.timeout, _output_reader(output), plan)
        prepared = _with_check(prepared, output, quoted, request.get("verify"), loop.call)
        return prepared._replace(interruption=interruption_of(request))

    def _tools(self, tools: object, options: Mapping[str, Any], run_tools: object, deps: object) -> CallTools | None:
        """Returns the tools of a call; what makes tools of functions is imported by a call that has some."""
        if tools is None:
            _check_tool_choice(options, ())
            return None
        from .call_tools import CallTools, check_run_tools

        def check(found: ToolSet) -> None:
            _check_tool_choice(options, found.specs)
            if run_tools:
                check_run_tools(run_tools, found)

        return CallTools(tools, self._pipelines.registry, deps, check)

    def messages(self, messages: object) -> tuple[Message, ...]:
        """Returns the messages of a call; what reads them is imported by a call that has some."""
        if messages is None:
            return ()
        from .message_inputs import read_messages

        return read_messages(messages, self._message_reader, self._model)

    def openai_messages(self, messages: Sequence[Message]) -> tuple[list[dict[str, Any]], Sequence[CallWarning]]:
        """Returns messages in the format of OpenAI's Chat Completions, and a warning for each loss."""
        transpiler = self._pipelines.registry.wire_format(_MESSAGES_FORMAT).transpiler()
        encoded = transpiler.encode(ModelCall(self._model, tuple(messages)))
        return json.loads(encoded.request.body)["messages"], encoded.warnings

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

    def given_call(self, call: ModelCall, timeout: float | None, *, stream: bool) -> PreparedRequest:
        """Returns a given call; raises `InvalidInputError` for one of another provider or model."""
        self.check_open()
        if not isinstance(call, ModelCall):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a ModelCall, got {type(call).__name__}", path="call")
        self._check_model(call, "call", self._hint_of_model)
        prepared = prepared_call(
            scoped_call(call if call.stream == stream else call.with_(stream=stream)),
            self._unused,
            self.headers,
            self._priority,
        )
        return request_of(prepared, seconds(timeout, "timeout"))

    def operation(
        self, name: str, prompt: str | None, arguments: Mapping[str, Any], request: CallRequest, llm: object
    ) -> tuple[Operation[Any, Any], PreparedRequest]:
        """Returns an operation, and the request for it; raises `UnsupportedOptionError` and as `request` does."""
        from .operations import check_arguments, input_on_call, input_without_call, with_input

        self.check_open()
        operation = self._pipelines.find_operation(name)
        check_arguments(operation, arguments)
        if operation.takes_call:
            prepared = self.request(prompt, None, request, llm)
            prepare = with_input(prepared.prepare, partial(input_on_call, operation, arguments))
            return operation, prepared._replace(prepare=prepare)
        options, warnings = self._options(request)
        messages = self.messages(request.get("messages"))
        values = {**options, "messages": messages, "model": self._model, "provider": self._provider}
        content = {"prompt": prompt, **(request.get("options") or {}), **request}
        given = input_without_call(operation, arguments, content, values)
        headers = _headers(self.headers, options.get("headers"))
        timeout = seconds(options.get("timeout", DEFAULT_TIMEOUT_SECONDS), "timeout")
        prepared = request_of(prepared_call(given, warnings, headers, priority(options.get("priority"))), timeout)
        return operation, prepared._replace(interruption=interruption_of(request))

    def given_operation(
        self, operation: str | Operation[Any, Any], given: AnyInput, timeout: float | None
    ) -> tuple[Operation[Any, Any], PreparedRequest]:
        """Returns an operation, and the request for a given input; raises `InvalidInputError` for one of another class,
        provider or model.
        """
        from ..schema import CallInput
        from .operations import check_arguments, check_input, input_on_call, with_input

        self.check_open()
        if isinstance(operation, str):
            operation = self._pipelines.find_operation(operation)
        if operation.takes_call and isinstance(given, ModelCall):
            check_arguments(operation, {})
            call, input_of = given, partial(input_on_call, operation, {})
        else:
            check_input(operation, given)
            if not isinstance(given, CallInput):
                return operation, self._given_input(cast("OperationInput", given), timeout)
            call, input_of = given.call, partial(with_call, given)
        prepared = self.given_call(call, timeout, stream=False)
        return operation, prepared._replace(prepare=with_input(prepared.prepare, input_of))

    def _given_input(self, given: OperationInput, timeout: float | None) -> PreparedRequest:
        self._check_model(given, "call", self._hint_of_model)
        prepared = prepared_call(scoped_call(given), self._unused, self.headers, self._priority)
        return request_of(prepared, seconds(timeout, "timeout"))

    @property
    def _hint_of_model(self) -> str:
        return f"Use call.with_(provider={self._provider!r}, model={self._model!r}) to run it here."

    def _check_model(self, given: AnyInput, path: str, hint: str) -> None:
        if (given.provider, given.model) != (self._provider, self._model):
            what = "call" if isinstance(given, ModelCall) else "input"
            raise InvalidInputError(
                f"the {what} is for {given.provider}/{given.model}, this LLM is {self._provider}/{self._model}",
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
    from ..verification.quoted_output import requested_quoted_output

    return requested_quoted_output(output, evidence, media, messages)


def _media_items(media: object) -> Sequence[MediaInput]:
    """Returns the files of a call; what reads them is imported by a call that has some."""
    if media is None:
        return ()
    from ..files.loading import media_items

    return media_items(media)


def _output_reader(output: OutputType | None) -> OutputReader | None:
    return None if output is None else output.read


def _with_check(
    prepared: PreparedRequest,
    output: OutputType | None,
    quoted: QuotedOutput | None,
    verify: object,
    resumed: ModelCall | None = None,
) -> PreparedRequest:
    """Returns the request with the check of its answer, of quotes or of figures; what checks it is imported then."""
    if verify:
        from ..verification.call_checks import requested_verification

        check = requested_verification(verify, output, prepared.prepare, prepared.timeout)
        return prepared._replace(prepare=check.prepare, read_output=None, check=check)
    if quoted is not None:
        from ..verification.call_checks import EvidenceCheck

        check = EvidenceCheck(prepared.prepare, quoted, prepared.timeout, resumed)
        return prepared._replace(prepare=check.prepare, read_output=check.read_output, check=check)
    return prepared


def _system_prompt(request: CallRequest, options: Mapping[str, Any], messages: Sequence[Message]) -> Any:
    """Returns the system prompt; that of the LLM gives way to system messages."""
    if "system_prompt" not in request and any(message.role == "system" for message in messages):
        return None
    return options.get("system_prompt")


def _check_tool_choice(options: Mapping[str, Any], specs: Sequence[ToolSpec | HostedTool]) -> None:
    if "provider_options" not in options:
        check_forced_tool(options.get("tool_choice"), specs)


def _headers(defaults: Mapping[str, str], given: object) -> Mapping[str, str]:
    """Returns an LLM's headers with those of a call over them; None in the call means no headers."""
    if given is defaults:
        return defaults
    return {} if given is None else {**defaults, **extra_headers(given)}


def _unused(name: str, registry: Registry) -> CallWarning:
    """Returns the warning for an unused option of a capability. Its value, which may be a key, is not shown."""
    is_used = registry.uses_option(name)
    message = f"{name!r} is an option of `create_llm` only" if is_used else f"no installed plugin uses {name!r}"
    return CallWarning("unsupported_option", name, message)
