"""`RoundPlanner`: how the calls of an LLM that take several rounds are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..errors import InvalidInputError
from ..outputs import OutputType
from ..registry.suggestions import did_you_mean, nearest_names
from ..schema import EMPTY, ToolSpec
from ..schema.quoting import shown
from .pipelines import Pipelines

if TYPE_CHECKING:
    from ..engine.output_rounds import OutputCheck
    from ..engine.tool_rounds import RoundsPlan
    from ..schema import ToolAnswer, ToolLoop
    from ..tools.policy import ToolPolicy
    from ..tools.toolset import ToolSet


class RoundPlanner:
    """Makes the plans of one LLM. What runs tools is imported with the first of them."""

    def __init__(self, pipelines: Pipelines) -> None:
        self._pipelines = pipelines

    def plan(
        self,
        run_tools: object,
        deps: object,
        llm: object,
        output_retries: int,
        output_check: OutputCheck | None = None,
        output: OutputType | None = None,
        loop: ToolLoop | None = None,
        answers: Mapping[str, ToolAnswer] = EMPTY,  # type: ignore[assignment]
    ) -> RoundsPlan:
        """Returns the plan, to which the prepared call adds the tools; raises `InvalidInputError` for an invalid
        `run_tools`.
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
            services = self._pipelines.services
            pipelines = self._pipelines
            setup = ToolSetup(
                {}, policy, deps, llm, lambda: services.artifacts, pipelines.secrets, pipelines.lowered_in
            )
        return RoundsPlan(setup, output_retries, output_check, output, loop, answers)


def check_run_tools(run_tools: object, tools: ToolSet) -> None:
    """Raises `InvalidInputError` for tools with the names of the loop's own, and limits on tools that a call lacks."""
    from ..tools.loop import check_names_of_tools
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
