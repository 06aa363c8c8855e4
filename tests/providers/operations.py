"""Operations of wire formats other than chat."""

from abstractcore.ports import HasOperations, Operations, Transpiler


def operations_of(transpiler: Transpiler) -> Operations:
    """Its operations by name, maybe none."""
    return transpiler.operations if isinstance(transpiler, HasOperations) else {}
