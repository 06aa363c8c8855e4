"""Hosted tools of clients, for models of other APIs: agents offer them to every model, which may lack them."""

from __future__ import annotations

from collections.abc import Sequence

import abstractcore
from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import CallWarning, HostedTool, Message, ModelCall

_PROBE = (Message.user("hi"),)


def adapted_hosted_tools(
    llm: abstractcore.LLM, call: ModelCall, others: Sequence[str] = (), *, must_call: bool = False
) -> tuple[ModelCall, list[CallWarning]]:
    """Returns a call of a client of another API without the hosted tools that its model does not have, alone or beside
    the call's functions, and without options of another vendor's; with a warning for each. `others` are the types of
    hosted tools that the request has and the call has no field for.

    Raises `UnsupportedContentError` for the first tool that is lacking if the call must have it: if its tool choice
    requires a call that no other tool can be, or is one that only the client's API has (`must_call`), and in strict
    mode.
    """
    kept: list[HostedTool] = []
    lacking = [UnsupportedContentError(f"tools: {llm.provider}/{llm.model} has no tool {kind!r}.") for kind in others]
    warnings = [_left_out(llm, kind) for kind in others]
    for given in call.hosted_tools:
        tool = HostedTool(given.kind)
        refusal = None if tool in kept else _refusal(llm, call, [*kept, tool])
        if refusal is not None:
            lacking.append(refusal)
            warnings.append(_left_out(llm, tool.kind))
            continue
        if tool not in kept:
            kept.append(tool)
        warnings += (_option_left_out(llm, tool, name) for name in given.options)
    if lacking and (call.strict or must_call or _needs_lacking(call, kept)):
        raise lacking[0]
    if tuple(kept) == call.hosted_tools and not others:
        return call, []
    left = call.with_(hosted_tools=tuple(kept))
    if not (kept or call.tools):
        left = left.with_(tool_choice=None, parallel_tool_calls=None)
    return left, warnings


def _refusal(llm: abstractcore.LLM, call: ModelCall, hosted: Sequence[HostedTool]) -> UnsupportedContentError | None:
    """Returns why a model cannot have hosted tools beside the functions of a call: the wire format decides, but for
    searches in files, which only the client's vendor has.
    """
    if hosted[-1].kind == "file_search":
        return UnsupportedContentError(f"tools: {llm.model} has no access to the files of file_search.")
    if llm.profile.tools == "never":
        return UnsupportedContentError(f"tools: {llm.model} accepts no tools at the provider {llm.provider!r}.")
    probe = ModelCall(call.model, _PROBE, provider=call.provider, tools=call.tools)
    try:
        llm.transpiler.encode(probe)
    except UnsupportedContentError:
        return None  # the functions are what is refused
    try:
        llm.transpiler.encode(probe.with_(hosted_tools=tuple(hosted)))
    except UnsupportedContentError as error:
        return error
    return None


def _needs_lacking(call: ModelCall, kept: Sequence[HostedTool]) -> bool:
    choice = call.tool_choice
    if choice is None or choice.mode in ("auto", "none"):
        return False
    if choice.mode == "required":
        return not (kept or call.tools)
    return choice.tool not in {*(tool.name for tool in call.tools), *(tool.kind for tool in kept)}


def _left_out(llm: abstractcore.LLM, kind: str) -> CallWarning:
    message = f"{llm.provider}/{llm.model} has no hosted tool {kind}, which is left out"
    return CallWarning("tool_left_out", "tools", message, kind)


def _option_left_out(llm: abstractcore.LLM, tool: HostedTool, name: str) -> CallWarning:
    message = f"{llm.provider} has no such option of {tool.kind}"
    return CallWarning("field_left_out", f"tools.{tool.kind}.{name}", message)
