"""The agent on pydantic-ai with Temporal: a tool that requires approval, which the workflow waits for as a signal.

`python on_temporal.py ATTEMPTS COMMAND`: how often the tool may be attempted (0: until it returns), and `start`,
`resume` or `approve`. Timeouts are short, so that a dead worker is noticed in seconds instead of in a minute.
"""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import timedelta

from temporalio import workflow
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.common import RetryPolicy
from temporalio.service import RPCError
from temporalio.worker import Worker
from temporalio.workflow import ActivityConfig

with workflow.unsafe.imports_passed_through():
    from payment import ANSWER, ARGUMENTS, CALL_ID, PROMPT, RUN_ID, ExternalSystems, report
    from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
    from pydantic_ai.durable_exec.temporal import PydanticAIPlugin, PydanticAIWorkflow, TemporalDurability
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel
    from pydantic_ai.toolsets import FunctionToolset

SYSTEMS = ExternalSystems.from_environment()
QUEUE = "treasurer"
POLL_SECONDS = 0.05
TIMEOUTS = ActivityConfig(start_to_close_timeout=timedelta(seconds=20), heartbeat_timeout=timedelta(seconds=5))
ATTEMPTS = ActivityConfig(retry_policy=RetryPolicy(maximum_attempts=int(sys.argv[1])))


def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """A scripted model: asks for the payment, then answers."""
    has_result = any(isinstance(part, ToolReturnPart) for part in messages[-1].parts)
    SYSTEMS.request_model(has_result=has_result)
    if has_result:
        return ModelResponse([TextPart(ANSWER)])
    return ModelResponse([ToolCallPart("pay", ARGUMENTS, CALL_ID)])


payments = FunctionToolset[None](id="payments")


@payments.tool_plain(requires_approval=True, metadata={"temporal": ATTEMPTS})
async def pay(to: str, euros: int) -> str:
    """Pays somebody."""
    return SYSTEMS.pay(to, euros)


agent = Agent(
    FunctionModel(model),
    name="treasurer",
    output_type=[str, DeferredToolRequests],
    toolsets=[payments],
    capabilities=[TemporalDurability(activity_config=TIMEOUTS)],
)


@workflow.defn
class Treasurer(PydanticAIWorkflow):
    """Runs the agent, waits for the approval, and continues with it."""

    __pydantic_ai_agents__ = (agent,)

    def __init__(self) -> None:
        self._asked = False
        self._approved: bool | None = None

    @workflow.run
    async def run(self, prompt: str) -> str:
        """Returns the answer."""
        result = await agent.run(prompt)
        if isinstance(result.output, DeferredToolRequests):
            self._asked = True
            await workflow.wait_condition(lambda: self._approved is not None)
            SYSTEMS.reached("approved")
            approvals = {call.tool_call_id: bool(self._approved) for call in result.output.approvals}
            result = await agent.run(
                message_history=result.all_messages(), deferred_tool_results=DeferredToolResults(approvals=approvals)
            )
        return str(result.output)

    @workflow.signal
    def answer(self, approved: bool) -> None:
        """Takes the answer of the person who was asked."""
        self._approved = approved

    @workflow.query
    def waiting(self) -> bool:
        """Returns whether an answer is awaited."""
        return self._asked and self._approved is None


async def settled(handle: WorkflowHandle[Treasurer, str]) -> str:
    """Returns the workflow's status once it has ended or waits for an approval that nobody has given."""
    while True:
        try:
            status = (await handle.describe()).status
        except RPCError:
            return "none"
        if status is not WorkflowExecutionStatus.RUNNING:
            return "ended"
        if await handle.query(Treasurer.waiting):
            return "waiting"
        await asyncio.sleep(POLL_SECONDS)


async def approve(handle: WorkflowHandle[Treasurer, str]) -> None:
    """Gives the approval."""
    SYSTEMS.record_approval()
    await handle.signal(Treasurer.answer, True)


async def main(command: str) -> None:
    """Works until the workflow is done or waits for approval, and reports which."""
    client = await Client.connect(os.environ["DURABILITY_SERVER"], plugins=[PydanticAIPlugin()])
    handle = client.get_workflow_handle_for(Treasurer.run, RUN_ID)
    async with Worker(client, task_queue=QUEUE, workflows=[Treasurer]):
        if command == "start" or await settled(handle) == "none":
            await client.start_workflow(Treasurer.run, PROMPT, id=RUN_ID, task_queue=QUEUE)
        if command == "start" and await settled(handle) == "waiting":
            SYSTEMS.reached("waiting")
            await approve(handle)
        elif command == "approve":
            await approve(handle)
        if await settled(handle) == "waiting":
            report("waiting")
            return
        try:
            report("completed", output=await handle.result())
        except WorkflowFailureError as error:
            report("failed", error=str(error.cause))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[2]))
