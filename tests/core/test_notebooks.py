"""A notebook that Jupyter executes: what its cells show, and the tracebacks of cells that fail."""

from __future__ import annotations

import re
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.process
PATIENCE_SECONDS = 300
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
SHOWN = {
    """
from abstractcore import Session, ToolPolicy, create_llm
from abstractcore.testing import ScriptedReply
from abstractcore.traces import TraceStore

def weather(city: str) -> str:
    return f"rain in {city}"

store = TraceStore("traces.db")
keeping = store.keep("full")
llm = create_llm("scripted", replies=lambda call: call.messages[-1].text.upper())
llm.generate("<b>hello</b>")
""": ["&lt;B&gt;HELLO&lt;/B&gt;", "scripted/scripted: stop"],
    """
stream = llm.stream("one two")
next(stream.text())
stream
""": ["ONE", "Stream: open, 3 characters so far"],
    "list(stream.text())\nstream": ["ONE TWO", "scripted/scripted: stop"],
    "session = Session(llm)\nsession.ask('hi')\nsession": ["user", "hi", "assistant", "HI", "1 exchange"],
    "llm.map(['a', ('b', {'media': 'missing.pdf'})])": ["<table>", "MediaError", "1 response, 1 error"],
    """
replies = [ScriptedReply.tool_call("weather", {"city": "Ulm"}), "Rain."]
answer = create_llm("scripted", replies=replies).generate("?", tools=[weather], run_tools=True)
store.flush()
store.calls()
""": ["<table>", "scripted/scripted", "done"],
    "store.trace(answer.trace_id)": ["padding-left", "weather", "4 records"],
    "store.costs(by=['model'])": ["<table>", "known"],
    """
from abstractruntime import FunctionProgram, Runtime, Step, Wait
asks = FunctionProgram("asks", lambda state, item: Step({}, waits=(Wait("go", asked="Go on?"),)))
runtime = Runtime("sqlite:///runs.db", programs=[asks])
run = runtime.start("asks@1")
runtime.work()
run
""": ["asks@1", "waiting", "Go on?", "Ledger"],
}
"""Cells, and what the HTML of their result holds."""
FAILING = {
    "llm.generate('hi', respons_model=int)": "UnknownOptionError",
    "await create_llm('scripted', replies=[]).agenerate('hi')": "ScriptExhaustedError",
    """
typed = create_llm('scripted', replies=['x'], output_retries=0)
def ask():
    return typed.generate('hi', response_model=int)
ask()
""": "OutputValidationError",
    "session.ask('hi', respons_model=int)": "UnknownOptionError",
}


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The outputs of each cell of one notebook."""
    folder = tmp_path_factory.mktemp("notebook")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ABSTRACTCORE_DEBUG", raising=False)
        for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR"):
            patch.setenv(name, str(folder / name))
        patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
        cells = [nbformat.v4.new_code_cell(source) for source in (*SHOWN, *FAILING)]
        notebook = nbformat.v4.new_notebook(cells=cells)
        client = NotebookClient(
            notebook,
            allow_errors=True,
            kernel_name="python3",
            timeout=PATIENCE_SECONDS,
            resources={"metadata": {"path": str(folder)}},
        )
        client.execute()
    nbformat.validate(notebook)
    return {cell.source: cell.outputs for cell in notebook.cells}


@pytest.mark.parametrize("cell", SHOWN, ids=range(len(SHOWN)))
def test_result_of_a_cell_has_html_with_what_matters_and_a_short_text(cell: str, executed: dict[str, Any]):
    [output] = executed[cell]
    assert output.output_type == "execute_result", output
    assert [text for text in SHOWN[cell] if text not in output.data["text/html"]] == []
    assert len(output.data["text/plain"]) < 5_000


@pytest.mark.parametrize("cell", FAILING, ids=range(len(FAILING)))
def test_failing_cell_shows_the_users_lines_and_the_message(cell: str, executed: dict[str, Any]):
    [output] = executed[cell]
    assert output.output_type == "error"
    assert output.ename == FAILING[cell]
    shown = _COLOURS.sub("", "\n".join(output.traceback))
    assert "abstractcore/" not in shown
    assert "site-packages" not in shown
    assert shown.count("Cell In[") == cell.count("def ask") + 1
    assert f"\n{output.ename}: {output.evalue}" in shown
    assert len(shown.splitlines()) < 20
