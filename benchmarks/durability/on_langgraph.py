"""The agent on LangGraph with its SQLite checkpointer, and `interrupt` in the tool for the approval.

`python on_langgraph.py DURABILITY COMMAND`: the durability mode of LangGraph, and `start`, `resume` or `approve`.
"""

from __future__ import annotations

import sys

from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, Durability, interrupt
from payment import ANSWER, ARGUMENTS, CALL_ID, PROMPT, RUN_ID, ExternalSystems, report

SYSTEMS = ExternalSystems.from_environment()
CONFIG: RunnableConfig = {"configurable": {"thread_id": RUN_ID}}


@tool
def pay(to: str, euros: int) -> str:
    """Pays somebody."""
    if not interrupt({"tool": "pay", "to": to, "euros": euros}):
        return "denied"
    SYSTEMS.reached("approved")
    return SYSTEMS.pay(to, euros)


def model(state: MessagesState) -> dict[str, list[AIMessage]]:
    """A scripted model: asks for the payment, then answers."""
    has_result = isinstance(state["messages"][-1], ToolMessage)
    SYSTEMS.request_model(has_result=has_result)
    if has_result:
        return {"messages": [AIMessage(ANSWER)]}
    return {"messages": [AIMessage("", tool_calls=[ToolCall(name="pay", args=ARGUMENTS, id=CALL_ID)])]}


def compiled(checkpointer: SqliteSaver) -> CompiledStateGraph:
    """Returns the loop of an agent, as the documentation draws it: model, tools, model."""
    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tools", ToolNode([pay]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(checkpointer=checkpointer)


def main(durability: Durability, command: str) -> None:
    """Runs the thread until it is done or waits for approval, and reports which."""
    with SqliteSaver.from_conn_string(str(SYSTEMS.folder / "langgraph.sqlite")) as checkpointer:
        graph = compiled(checkpointer)

        def approve() -> None:
            SYSTEMS.record_approval()
            graph.invoke(Command(resume=True), CONFIG, durability=durability)

        def start() -> None:
            graph.invoke({"messages": [("user", PROMPT)]}, CONFIG, durability=durability)

        if command == "start":
            start()
            SYSTEMS.reached("waiting")
            approve()
        elif command == "approve":
            approve()
        elif graph.get_state(CONFIG).created_at is None:
            start()  # the process died before its first checkpoint
        else:  # a no-op if the thread has ended; `next` does not tell while writes of a dead process are pending
            graph.invoke(None, CONFIG, durability=durability)
        state = graph.get_state(CONFIG)
        if state.interrupts:
            report("waiting")
        elif state.next:
            report("failed", next=state.next)
        else:
            report("completed", output=state.values["messages"][-1].content)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])  # pyright: ignore[reportArgumentType]
