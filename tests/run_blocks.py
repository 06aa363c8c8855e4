"""Runs blocks of a page one after the other, in one process: `python run_blocks.py FOLDER < blocks.json`.

Each block has a namespace and a folder of its own, in which `examples` leads to the programs of this repository. A pair
in `outputs.json` in FOLDER is what it prints, and the traceback of what it raises. Only the standard library is needed,
so that any environment can run it.
"""

import contextlib
import io
import json
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(block: dict[str, str], folder: Path) -> tuple[str, str]:
    """Returns what a block prints, and the traceback of what it raises."""
    folder.mkdir()
    (folder / "examples").symlink_to(EXAMPLES, target_is_directory=True)
    os.chdir(folder)
    module = sys.modules["block"] = ModuleType("block")  # dataclasses look there
    variables, raised = dict(os.environ), ""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            code = compile(block["code"], block["name"], "exec", dont_inherit=True)
            exec(code, vars(module))
        except Exception:
            raised = traceback.format_exc()
    os.environ.clear()
    os.environ.update(variables)
    return printed.getvalue(), raised


if __name__ == "__main__":
    _folder = Path(sys.argv[1]).resolve()
    _outputs = [run(block, _folder / f"{number}") for number, block in enumerate(json.load(sys.stdin))]
    (_folder / "outputs.json").write_text(json.dumps(_outputs), encoding="utf-8")
