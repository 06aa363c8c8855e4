"""Schemas of tools and answers adapted to a vendor, with a warning for each change."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, JSONObject, OutputSchema, SchemaError, ToolSpec, freeze_object

from .changes import RewritingCache, SchemaChanges, SchemaRewriting
from .property_names import sent_properties, with_sent_properties
from .rewriting import rewrite
from .rules import AS_IT_IS, Effect, Rules, SchemaRules
from .subschemas import ROOT

_CODES: Mapping[Effect, str] = {
    "same": "schema_normalized",
    "narrower": "schema_narrowed",
    "looser": "schema_rewritten",
}
_OUTPUT = "output.schema"
_HINT = "Correct the schema: no vendor accepts it."
_RECENT: RewritingCache[SchemaRewriting] = RewritingCache()


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
        lost = _lost(tool.parameters, strict, where, is_tool=True)
        if lost is None:
            return _fit(tool.parameters, strict, where, warnings, is_tool=True), True
        _warn_of_strict(f"{path}.strict", lost, warnings)
    return _fit(tool.parameters, rules.tools, where, warnings, is_tool=True), False if strict else tool.strict


def fit_output(output: OutputSchema, rules: SchemaRules, warnings: list[CallWarning]) -> tuple[JSONObject, bool]:
    """Returns the schema of an answer, and whether it is strict, as `fit_tool` does."""
    strict = rules.strict_outputs if output.strict else None
    if strict is not None:
        lost = _lost(output.schema, strict, _OUTPUT)
        if lost is None:
            return _fit(output.schema, strict, _OUTPUT, warnings), True
        _warn_of_strict("output.strict", lost, warnings)
    return _fit(output.schema, rules.outputs, _OUTPUT, warnings), output.strict and not strict


def inexpressible(output: OutputSchema, rules: SchemaRules, *, as_tool: bool) -> str | None:
    """Returns the losses of the schema's structure as that of an answer or of a tool; None if nothing is lost.

    Raises `InvalidInputError` with the path of a schema that no vendor accepts.
    """
    strict = rules.strict_outputs if output.strict and not as_tool else None
    if not output.schema or (strict is not None and _lost(output.schema, strict, _OUTPUT) is None):
        return None
    lost = _lost(output.schema, rules.tools if as_tool else rules.outputs, _OUTPUT, is_tool=as_tool)
    if lost is not None:
        _rewriting(output.schema, AS_IT_IS, _OUTPUT, is_tool=False)
    return lost


def _lost(schema: JSONObject, rules: Rules, path: str, *, is_tool: bool = False) -> str | None:
    try:
        return _rewriting(schema, rules, path, is_tool=is_tool).lost or None
    except InvalidInputError as error:
        return error.message


def _warn_of_strict(path: str, lost: str, warnings: list[CallWarning]) -> None:
    message = f"strict mode cannot express this schema: {lost}"
    warnings.append(CallWarning("strict_left_out", path, message, True, False))


def _fit(
    schema: JSONObject, rules: Rules, path: str, warnings: list[CallWarning], *, is_tool: bool = False
) -> JSONObject:
    rewriting = _rewriting(schema, rules, path, is_tool=is_tool)
    if rewriting.effect is not None:
        warnings.append(CallWarning(_CODES[rewriting.effect], path, rewriting.message, schema, rewriting.sent))
    return rewriting.plain


def _rewriting(schema: JSONObject, rules: Rules, path: str, *, is_tool: bool) -> SchemaRewriting:
    rewriting = _RECENT.find(schema, rules, is_tool)
    if rewriting is None:
        changes = SchemaChanges()
        rewriting = _rewrite(schema, rules, path, changes, is_tool)
        _RECENT.keep(schema, rules, rewriting, changes.parts, is_tool)
    return rewriting


def _rewrite(schema: JSONObject, rules: Rules, path: str, changes: SchemaChanges, is_tool: bool) -> SchemaRewriting:
    try:
        whole = rewrite(schema, rules, changes, is_tool=is_tool)
        names = sent_properties(schema, rules.property_names)
        sent = freeze_object(with_sent_properties(whole, names, changes) if names else whole)
    except SchemaError as error:
        raise InvalidInputError(error.message, path=path, hint=_HINT) from None
    except InvalidInputError as error:
        subpath = error.path.removeprefix(ROOT)
        message = error.message.removeprefix(f"{error.path}: ")
        raise InvalidInputError(message, path=f"{path}{subpath}", hint=error.hint or _HINT) from None
    return SchemaRewriting(
        sent, deepcopy(sent), changes.effect if changes.recorded else None, str(changes), changes.lost
    )
