// One tool, run on this machine.
import { readFile } from "node:fs/promises";
import { loadDocument, runProcess } from "@swath/cwl";
import type { FileValue } from "@swath/cwl";

const text = `cwlVersion: v1.2
class: CommandLineTool
baseCommand: echo
inputs: {text: {type: string, inputBinding: {}}}
outputs: {out: stdout}
stdout: out.txt
`;
const document = await loadDocument("https://example.org/echo.cwl", { text });
const outputs = await runProcess({ document, inputs: { text: "hello" }, outDir: "results" });
const { location = "", basename } = outputs["out"] as FileValue;
console.log(basename, (await readFile(new URL(location), "utf8")).trim()); // → out.txt hello
