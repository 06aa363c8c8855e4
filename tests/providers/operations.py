"""Operations of wire formats other than chat, and providers that have no chat."""

from typing import Any

from abstractcore.ports import HasOperations, Operations, Transpiler
from abstractcore.testing import CallStyle
from abstractcore_providers.formats.openai_chat import OpenAIChat


def operations_of(transpiler: Transpiler) -> Operations:
    """Its operations by name, maybe none."""
    return transpiler.operations if isinstance(transpiler, HasOperations) else {}


def has_chat(llm: Any) -> bool:
    """Whether its provider has chat models, as all have but vendors of embeddings."""
    return not isinstance(llm.transpiler, OpenAIChat) or llm.transpiler.dialect.has_chat


def ask(llm: Any, call_style: CallStyle | None = None) -> Any:
    """Makes a call: of a chat, or for a vector at a provider without one."""
    if not has_chat(llm):
        return llm.embed(["hi"])
    return llm.generate("hi") if call_style is None else call_style.generate(llm, "hi")
