"""The agent on pydantic-ai with DBOS on SQLite: a tool that requires approval, which the workflow waits for by `recv`.

`python on_dbos.py COMMAND`: `start`, `resume` or `approve`.
"""

from __future__ import annotations

import asyncio
import sys

from dbos import DBOS, SetWorkflowID
from payment import ANSWER, ARGUMENTS, CALL_ID, PROMPT, RUN_ID, ExternalSystems, report
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.durable_exec.dbos import DBOSDurability
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

SYSTEMS = ExternalSystems.from_environment()
WAIT_SECONDS = 7 * 24 * 3600
POLL_SECONDS = 0.02

DBOS(config={"name": "treasurer", "system_database_url": f"sqlite:///{SYSTEMS.folder}/dbos.sqlite"})


def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """A scripted model: asks for the payment, then answers."""
    has_result = any(isinstance(part, ToolReturnPart) for part in messages[-1].parts)
    SYSTEMS.request_model(has_result=has_result)
    if has_result:
        return ModelResponse([TextPart(ANSWER)])
    return ModelResponse([ToolCallPart("pay", ARGUMENTS, CALL_ID)])


agent = Agent(
    FunctionModel(model),
    name="treasurer",
    output_type=[str, DeferredToolRequests],
    capabilities=[DBOSDurability()],
)


@agent.tool_plain(requires_approval=True)
@DBOS.step()
async def pay(to: str, euros: int) -> str:
    """Pays somebody."""
    return SYSTEMS.pay(to, euros)


@DBOS.workflow()
async def treasurer(prompt: str) -> str:
    """Runs the agent, waits for the approval, and continues with it."""
    result = await agent.run(prompt)
    if isinstance(result.output, DeferredToolRequests):
        await DBOS.set_event_async("asked", [call.tool_name for call in result.output.approvals])
        approved = await DBOS.recv_async("approval", timeout_seconds=WAIT_SECONDS)
        SYSTEMS.reached("approved")
        approvals = {call.tool_call_id: approved for call in result.output.approvals}
        result = await agent.run(
            message_history=result.all_messages(), deferred_tool_results=DeferredToolResults(approvals=approvals)
        )
    return str(result.output)


async def settled() -> str:
    """Returns the workflow's status once it has ended or waits for an approval that nobody has given."""
    while True:
        status = await DBOS.get_workflow_status_async(RUN_ID)
        if status is None or status.status not in {"PENDING", "ENQUEUED"}:
            return status.status if status else "none"
        steps = {step["function_name"] for step in await DBOS.list_workflow_steps_async(RUN_ID)}
        if "DBOS.setEvent" in steps and "DBOS.recv" not in steps:
            return "waiting"
        await asyncio.sleep(POLL_SECONDS)


async def approve() -> None:
    """Gives the approval and waits for the end."""
    SYSTEMS.record_approval()
    await DBOS.send_async(RUN_ID, True, "approval")
    await (await DBOS.retrieve_workflow_async(RUN_ID)).get_result()


async def start() -> None:
    """Starts the workflow; one that has been started is left alone."""
    with SetWorkflowID(RUN_ID):
        await DBOS.start_workflow_async(treasurer, PROMPT)


async def main(command: str) -> None:
    """Runs the workflow until it is done or waits for approval, and reports which."""
    DBOS.launch()  # recovers the workflows that this executor had begun
    if command == "start":
        await start()
        if await settled() == "waiting":
            SYSTEMS.reached("waiting")
            await approve()
    elif command == "approve":
        await settled()
        await approve()
    elif await settled() == "none":
        await start()  # the process died before the workflow was recorded
    status = await settled()
    if status == "waiting":
        report("waiting")
    elif status == "SUCCESS":
        report("completed", output=await (await DBOS.retrieve_workflow_async(RUN_ID)).get_result())
    else:
        report("failed", error=status)
    DBOS.destroy()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
