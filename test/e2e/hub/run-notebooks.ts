import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

/** In a notebook server's kernel: runs the examples of the home from the first cell to the last, and prints what each ended with. */
const PROGRAM = `
import json, nbclient, nbformat, os
for name in sorted(os.listdir(os.path.expanduser("~/examples"))):
    notebook = nbformat.read(os.path.expanduser("~/examples/" + name), 4)
    try:
        nbclient.NotebookClient(notebook, timeout=240, kernel_name="python3").execute()
    except Exception as error:
        print(json.dumps({"name": name, "error": str(error)[-2000:]}))
        continue
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    print(json.dumps({
        "name": name,
        "texts": ["".join(output.get("data", {}).get("text/plain", output.get("text", ""))) for output in outputs],
        "kinds": sorted({kind for output in outputs for kind in output.get("data", {})}),
    }))
`;

/** What an example notebook gave. */
export interface NotebookRun {
  readonly name: string;
  /** The cell that failed, with its traceback. */
  readonly error?: string;
  readonly texts?: readonly string[];
  /** Media types of its outputs. */
  readonly kinds?: readonly string[];
}

/** Runs the example notebooks by the server whose page is open. */
export async function runNotebooks(page: Page): Promise<readonly NotebookRun[]> {
  const printed = await runInKernel(page, PROGRAM);
  return printed
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as NotebookRun);
}

/** Runs code in a kernel of the notebook server whose page is open, by its REST API and WebSocket. */
export function runInKernel(page: Page, code: string): Promise<string> {
  const program = readFileSync(join(import.meta.dirname, "run-in-kernel.js"), "utf8");
  return page.evaluate(`(() => {${program}; return runInKernel(${JSON.stringify(code)}); })()`);
}
