"""The tools of one call: complete once its servers have been asked for theirs, checked, and run in rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..engine import InTime
from ..errors import InvalidInputError
from ..outputs import OutputType
from ..ports import Runtime
from ..registry import Registry
from ..registry.suggestions import did_you_mean, nearest_names
from ..schema import EMPTY, CallWarning, ToolSpec
from ..schema.base_error import shown
from .option_values import context
from .pipelines import Pipelines

if TYPE_CHECKING:
    from ..engine.output_rounds import OutputCheck
    from ..engine.tool_rounds import RoundsPlan
    from ..schema import ToolAnswer, ToolLoop
    from ..tools.policy import ToolPolicy
    from ..tools.toolset import ToolSet


class CallTools:
    """The tools of one call. `check` raises for a set that does not fit the call: as soon as it is complete."""

    def __init__(self, tools: object, registry: Registry, deps: object, check: Callable[[ToolSet], object]) -> None:
        from ..tools import tool_set

        self._given = tool_set(tools, registry)
        self._deps = deps
        self._check = check
        if not self._given.servers:
            check(self._given)

    async def complete(self, runtime: Runtime, timeout: float | None) -> tuple[ToolSet, tuple[CallWarning, ...]]:
        """Returns all tools, and warnings of their servers, which have `timeout` seconds; raises `ToolServerError`."""
        if not self._given.servers:
            return self._given, ()
        async with InTime(runtime, timeout):
            found, warnings = await self._given.complete(runtime, self._deps)
        self._check(found)
        return found, warnings


def check_run_tools(run_tools: object, tools: ToolSet) -> None:
    """Raises `InvalidInputError` for tools with the names of the loop's own, and limits on tools that a call lacks."""
    from ..tools.loop_rules import check_names_of_tools
    from ..tools.policy import read_policy

    policy = read_policy(run_tools)
    if policy is not None:
        check_names_of_tools(tools.specs)
        _check_limited_tools(policy, tools)


def _check_limited_tools(policy: ToolPolicy, tools: ToolSet) -> None:
    """Raises `InvalidInputError` for a limit on the uses of a tool that the call does not have."""
    names = [spec.name for spec in tools.specs if isinstance(spec, ToolSpec)]
    for name in policy.max_uses:
        if name not in names:
            near = nearest_names(name, names)
            hint = did_you_mean(near) if near else f"The tools are: {', '.join(names)}."
            raise InvalidInputError(f"the call has no tool {shown(name)}", path="run_tools.max_uses", hint=hint)


def rounds_plan(
    pipelines: Pipelines,
    run_tools: object,
    deps: object,
    llm: object,
    output_retries: int,
    output_check: OutputCheck | None = None,
    output: OutputType | None = None,
    loop: ToolLoop | None = None,
    answers: Mapping[str, ToolAnswer] = EMPTY,  # type: ignore[assignment]
) -> RoundsPlan:
    """Returns the plan of a call that may take several rounds, to which the prepared call adds the tools.

    Raises `InvalidInputError` for an invalid `run_tools`. What runs tools is imported with the first of them.
    """
    from ..engine.tool_decisions import ToolSetup
    from ..engine.tool_rounds import RoundsPlan
    from ..tools.policy import read_policy

    policy = read_policy(run_tools)
    if policy is None and loop is not None:
        raise InvalidInputError(
            f"expected True or a ToolPolicy, got {shown(run_tools)}: to continue a loop is to run its tools",
            path="run_tools",
        )
    setup = None
    if policy is not None:
        services = pipelines.services
        setup = ToolSetup(
            {},
            policy,
            deps,
            llm,
            lambda: services.artifacts,
            pipelines.secrets,
            pipelines.lower_in,
            lambda trace_id: context(parent_id=trace_id),
        )
    return RoundsPlan(setup, output_retries, output_check, output, loop, answers)
