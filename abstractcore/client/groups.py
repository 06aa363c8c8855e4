"""Groups of models: one LLM whose calls several others share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, cast

from ..engine import Pipeline
from ..errors import (
    ConfigurationError,
    FallbackExhaustedError,
    MemberFailure,
    UnsupportedContentError,
    UnsupportedOptionError,
)
from ..middleware import OfflineEndpoint
from ..ports import (
    Answer,
    CallContext,
    Middleware,
    ModelProfile,
    Operation,
    Pricing,
    ProviderSession,
    Runtime,
)
from ..routing import Router, Routing
from ..routing.router import member_names
from ..schema import CallWarning
from ..scrubbing import Secrets
from .group_calls import GroupCalls
from .group_members import GroupMember
from .llm import LLM
from .pipelines import Pipelines
from .services import Connections, Services

if TYPE_CHECKING:
    from ..ports import Transpiler
    from ..schema import Lowered, ModelCall, Plan, TokenCount

GROUP: Final = "group"
"""The provider of a group, in its calls as data."""
AUTO: Final = "auto"
"""That of an LLM whose model is chosen at its first call."""


class ChosenMembers(NamedTuple):
    """The members of a group; those of them that it has created, and closes; how they share its calls."""

    llms: Sequence[LLM]
    owned: Sequence[LLM]
    routing: Routing
    reason: str = ""
    """Why they were chosen, if nobody has listed them."""


class _NoFormat:
    """Stands for the wire format of a group, which sends nothing itself."""

    def encode(self, call: ModelCall) -> NoReturn:
        """Raises `ConfigurationError`: each member encodes its own call."""
        hint = "Use that of one of its models: llm.members[0]."
        raise ConfigurationError("a group of models has no wire format of its own.", hint=hint)

    decode = encode


def _session_of_group(model: str) -> ProviderSession:
    return ProviderSession(model, cast("Transpiler", _NoFormat()), OfflineEndpoint(), ModelProfile())


class GroupPipelines(Pipelines):
    """The pipelines of a group. What they know of models is known of the first member.

    `members` are chosen when they are first needed, if they are given as a function.
    """

    def __init__(
        self,
        provider: str,
        model: str,
        members: ChosenMembers | Callable[[], ChosenMembers],
        pricing: Pricing,
        services: Services,
        connections: Connections,
        middleware: Sequence[Middleware],
        media_options: Mapping[str, Any],
        secrets: Secrets,
        create: Callable[[str], LLM],
    ) -> None:
        session = _session_of_group(model)
        super().__init__(provider, session, pricing, services, connections, middleware, media_options, secrets, create)
        self._choose = None if isinstance(members, ChosenMembers) else members
        self._chosen = members if isinstance(members, ChosenMembers) else None
        self._calls: GroupCalls | None = None
        self._members: tuple[GroupMember, ...] = ()

    @property
    def chosen(self) -> ChosenMembers:
        """The members, which are chosen when they are first needed."""
        if self._chosen is None:
            assert self._choose is not None
            chosen = self._choose()
            self._chosen = self._chosen or chosen
        return self._chosen

    @property
    def is_chosen(self) -> bool:
        """Whether the members are known."""
        return self._chosen is not None

    def choose(self) -> None:
        """Chooses the members, if they are not known. Blocks."""
        _ = self.chosen

    @property
    def group_members(self) -> tuple[GroupMember, ...]:
        """The members, as the group calls them."""
        if not self._members:
            self._members = tuple(each.as_member() for each in self.chosen.llms)
        return self._members

    @property
    def members(self) -> Sequence[LLM]:
        return tuple(each.llm for each in self.group_members)

    @property
    def calls(self) -> GroupCalls:
        """What shares the calls among the members."""
        if self._calls is None:
            calls = GroupCalls(Router(self.members, self.chosen.routing), self.group_members)
            self._calls = self._calls or calls
        return self._calls

    @property
    def _lead(self) -> GroupMember:
        return self.group_members[0]

    @property
    def session(self) -> ProviderSession:
        return self._lead.pipelines.session

    @property
    def pricing(self) -> Pricing:
        return self._lead.pipelines.pricing

    def shown(self) -> str:
        if self._chosen is None:
            return f"{self._provider}: chosen at the first call"
        names = ", ".join(member_names(self.members))
        return f"{self._provider}: {names}, {self._chosen.reason}" if self._chosen.reason else f"group of {names}"

    def find_operation(self, name: str) -> Operation[Any, Any]:
        """Returns the operation of the first member that has it; raises the error of the first one."""
        failure: UnsupportedOptionError | None = None
        for each in self.group_members:
            try:
                return each.for_operation(name).pipelines.find_operation(name)
            except UnsupportedOptionError as error:
                failure = failure or error
        assert failure is not None
        raise failure

    def lower(self, call: ModelCall) -> Lowered:
        return self._lead.pipelines.lower(self._lead.own_call(call))

    async def lower_in(self, runtime: Runtime, call: ModelCall) -> Lowered:
        return await self._lead.pipelines.lower_in(runtime, self._lead.own_call(call))

    def estimate(self, call: ModelCall) -> TokenCount:
        return self._lead.pipelines.estimate(self._lead.own_call(call))

    def plan(self, call: ModelCall, warnings: tuple[CallWarning, ...]) -> Plan:
        """Returns the plan of the first member that can make the call; raises `FallbackExhaustedError`."""
        failures: list[MemberFailure] = []
        for each, name in zip(self.group_members, member_names(self.members), strict=True):
            try:
                return each.pipelines.plan(each.own_call(call), (*warnings, *map(_skipped, failures)))
            except (UnsupportedContentError, UnsupportedOptionError) as error:
                failures.append(MemberFailure(name, error, is_sent=False))
        shown_failures = "; ".join(map(str, failures))
        raise FallbackExhaustedError(f"no member can make this call: {shown_failures}", causes=failures)

    def keep_password(self, sha256: str, password: str) -> None:
        super().keep_password(sha256, password)
        for each in self.group_members:
            each.pipelines.keep_password(sha256, password)

    def close(self) -> None:
        """Closes the LLMs that the group has created."""
        for each in () if self._chosen is None else self._chosen.owned:
            each.close()

    def _new_pipeline(self, *arguments: Any, **keywords: Any) -> Pipeline:
        return GroupPipeline(self, *arguments, **keywords)


class GroupPipeline(Pipeline):
    """The pipeline of a group: its innermost function asks the members, and sends nothing itself."""

    def __init__(self, group: GroupPipelines, *arguments: Any, **keywords: Any) -> None:
        self._group = group
        super().__init__(*arguments, **keywords)
        self._is_sync = self.runtime is group.services.sync_runtime

    async def _perform(self, context: CallContext) -> Answer:
        if not self._group.is_chosen:
            await self.runtime.call(self._group.choose)
        return await self._group.calls.answer(context, sync=self._is_sync)

    def separates_output(self, call: ModelCall) -> bool:
        """Returns whether the typed answer of one of the members takes a call of its own."""
        return call.output is not None and any(each.separates_output(call) for each in self._group.group_members)


def _skipped(failure: MemberFailure) -> CallWarning:
    return CallWarning("member_skipped", "model", str(failure))
