"""Runs one notebook in the current folder and prints its code cells as JSON: [{"source", "error", "output"}].

Usage: run-notebook.py NOTEBOOK SECONDS_PER_CELL
"""

import json
import sys

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError

path, seconds = sys.argv[1], int(sys.argv[2])
notebook = nbformat.read(path, as_version=4)
client = NotebookClient(notebook, timeout=seconds, allow_errors=True, interrupt_on_timeout=True, kernel_name="python3")
broken = ""
try:
    client.execute()
except (CellTimeoutError, DeadKernelError) as error:
    # Cells after this one have not run; they have no execution count and count as failed.
    broken = type(error).__name__

cells = []
for cell in notebook.cells:
    if cell.cell_type != "code" or cell.source.strip() == "":
        continue
    texts, error = [], None
    for output in cell.outputs:
        if output.output_type == "error":
            error = f"{output.ename}: {output.evalue}"
        elif output.output_type == "stream":
            texts.append(output.text)
        elif "text/plain" in output.get("data", {}):
            texts.append(output.data["text/plain"] + "\n")
    if error is None and cell.execution_count is None:
        error = f"the cell did not run: {broken}"
    cells.append({"source": cell.source, "error": error, "output": "".join(texts)})
print(json.dumps(cells))
