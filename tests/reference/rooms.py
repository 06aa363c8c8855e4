"""What is public: the packages whose names have pages, and the tasks that the index groups them by."""

from __future__ import annotations

from dataclasses import dataclass

ROOMS = (
    "abstractcore",
    "abstractcore.sessions",
    "abstractcore.search",
    "abstractcore.embeddings",
    "abstractcore.traces",
    "abstractcore.budgets",
    "abstractcore.mcp",
    "abstractcore.otel",
    "abstractcore.testing",
    "abstractruntime",
    "abstractruntime.agents",
    "abstractruntime.sandbox",
    "abstractruntime.facades",
)
"""Packages whose names programs import. A name of two packages has its page in the first one."""

MADE_FOR_USERS = frozenset(
    {
        "AsyncSpeechStream",
        "AsyncSpokenReply",
        "AsyncStream",
        "Audio",
        "Instrumentation",
        "Keeping",
        "LLM",
        "Music",
        "Run",
        "RunWait",
        "SpeechStream",
        "SpokenReply",
        "Stream",
        "Subscription",
        "Vision",
        "Voice",
    }
)
"""Classes that a function or an LLM creates: their pages show no arguments."""


@dataclass(frozen=True)
class Task:
    """A heading of the index, and the modules whose public names are under it: the longest path decides."""

    title: str
    modules: tuple[str, ...]


TASKS = (
    Task("Create a model and call it", ("abstractcore.client", "abstractcore.version", "abstractcore.ports.runtimes")),
    Task(
        "Read answers and streams",
        (
            "abstractcore.schema.responses",
            "abstractcore.schema.replies",
            "abstractcore.schema.deltas",
            "abstractcore.schema.tool_steps",
            "abstractcore.client.streams",
        ),
    ),
    Task("Write messages and calls as data", ("abstractcore.schema", "abstractcore.outputs.documents")),
    Task(
        "Send files",
        (
            "abstractcore.files",
            "abstractcore.schema.blobs",
            "abstractcore.schema.media_controls",
            "abstractcore.schema.media_decisions",
            "abstractcore.schema.media_facts",
            "abstractcore.schema.provider_resources",
            "abstractcore.schema.transcripts",
        ),
    ),
    Task(
        "Run tools",
        (
            "abstractcore.tools",
            "abstractcore.mcp",
            "abstractcore.ports.tools",
            "abstractcore.schema.tools",
            "abstractcore.schema.tool_loops",
        ),
    ),
    Task("Get typed answers, and check them", ("abstractcore.outputs.decisions", "abstractcore.schema.evidence")),
    Task("Keep conversations", ("abstractcore.sessions",)),
    Task("Share calls among models, within limits", ("abstractcore.routing", "abstractcore.limits")),
    Task("Search, embed and rank", ("abstractcore.search", "abstractcore.embeddings")),
    Task(
        "Speak, draw and compose",
        (
            "abstractcore.capabilities",
            "abstractcore.client.voice",
            "abstractcore.schema.media_results",
        ),
    ),
    Task(
        "See calls and costs",
        (
            "abstractcore.traces",
            "abstractcore.budgets",
            "abstractcore.telemetry",
            "abstractcore.otel",
            "abstractcore.ports.pricing",
            "abstractcore.schema.records",
            "abstractcore.schema.costs",
            "abstractcore.schema.token_counts",
        ),
    ),
    Task("Catch errors", ("abstractcore.errors", "abstractcore.schema.base_error")),
    Task("Test programs", ("abstractcore.testing", "abstractcore.middleware", "abstractcore.ports.scripts")),
    Task("Run programs that survive crashes", ("abstractruntime",)),
)


def task_of(module: str) -> Task:
    """Returns the task of names that this module defines."""

    def longest(task: Task) -> int:
        return max((len(each) for each in task.modules if f"{module}.".startswith(f"{each}.")), default=0)

    task = max(TASKS, key=longest)
    if not longest(task):
        raise LookupError(f"no task of the reference has the module {module}: add it to tests/reference/rooms.py")
    return task
