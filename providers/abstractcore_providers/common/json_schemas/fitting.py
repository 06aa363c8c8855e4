"""Schemas of tools and answers adapted to a vendor, with a warning for each change."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, JSONObject, OutputSchema, SchemaError, ToolSpec, freeze_object

from .changes import Changes
from .recent import Recent, Rewriting
from .rewriting import rewritten
from .rules import Effect, Rules, SchemaRules
from .subschemas import ROOT

_CODES: Mapping[Effect, str] = {
    "same": "schema_normalized",
    "narrower": "schema_narrowed",
    "looser": "schema_rewritten",
}
_HINT = "Correct the schema: no vendor accepts it."
_RECENT = Recent()


def fit_tool(
    tool: ToolSpec, path: str, rules: SchemaRules, warnings: list[CallWarning]
) -> tuple[JSONObject, bool | None]:
    """Returns the parameters of the tool at `path`, and whether they are strict. The parameters are shared by all
    calls, and must not be changed.

    Raises `InvalidInputError` with the path of parameters that cannot be sent.
    """
    if not tool.parameters:
        return tool.parameters, tool.strict
    where = f"{path}.parameters"
    strict = rules.strict_tools if tool.strict else None
    if strict is not None:
        reason = _try(tool.parameters, strict, where, warnings, is_tool=True)
        if not isinstance(reason, InvalidInputError):
            return reason, True
        _warn_of_strict(f"{path}.strict", reason, warnings)
    return _fit(tool.parameters, rules.tools, where, warnings, is_tool=True), False if strict else tool.strict


def fit_output(output: OutputSchema, rules: SchemaRules, warnings: list[CallWarning]) -> tuple[JSONObject, bool]:
    """Returns the schema of an answer, and whether it is strict, as `fit_tool` does."""
    strict = rules.strict_outputs if output.strict else None
    if strict is not None:
        reason = _try(output.schema, strict, "output.schema", warnings)
        if not isinstance(reason, InvalidInputError):
            return reason, True
        _warn_of_strict("output.strict", reason, warnings)
    return _fit(output.schema, rules.outputs, "output.schema", warnings), output.strict and not strict


def _try(
    schema: JSONObject, rules: Rules, path: str, warnings: list[CallWarning], *, is_tool: bool = False
) -> JSONObject | InvalidInputError:
    try:
        return _fit(schema, rules, path, warnings, is_tool=is_tool)
    except InvalidInputError as error:
        return error


def _warn_of_strict(path: str, reason: InvalidInputError, warnings: list[CallWarning]) -> None:
    message = f"strict mode cannot express this schema: {reason.message}"
    warnings.append(CallWarning("strict_left_out", path, message, True, False))


def _fit(
    schema: JSONObject, rules: Rules, path: str, warnings: list[CallWarning], *, is_tool: bool = False
) -> JSONObject:
    rewriting = _RECENT.find(schema, rules, is_tool)
    if rewriting is None:
        changes = Changes()
        rewriting = _rewrite(schema, rules, path, changes, is_tool)
        _RECENT.keep(schema, rules, is_tool, rewriting, changes.parts)
    if rewriting.effect is not None:
        warnings.append(CallWarning(_CODES[rewriting.effect], path, rewriting.message, schema, rewriting.sent))
    return rewriting.plain


def _rewrite(schema: JSONObject, rules: Rules, path: str, changes: Changes, is_tool: bool) -> Rewriting:
    try:
        sent = freeze_object(rewritten(schema, rules, changes, is_tool=is_tool))
    except SchemaError as error:
        raise InvalidInputError(error.message, path=path, hint=_HINT) from None
    except InvalidInputError as error:
        subpath = error.path.removeprefix(ROOT)
        message = error.message.removeprefix(f"{error.path}: ")
        raise InvalidInputError(message, path=f"{path}{subpath}", hint=error.hint or _HINT) from None
    return Rewriting(sent, deepcopy(sent), changes.effect if changes.recorded else None, str(changes))
