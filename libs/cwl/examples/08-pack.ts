// A document and all it refers to, as one.
import { writeFileSync } from "node:fs";
import { loadDocument, packDocument } from "@swath/cwl";

writeFileSync("tool.cwl", "{cwlVersion: v1.2, class: CommandLineTool, baseCommand: 'true', inputs: {}, outputs: {}}");
writeFileSync(
  "workflow.cwl",
  "{cwlVersion: v1.2, class: Workflow, inputs: {}, outputs: {}, steps: {one: {run: tool.cwl, in: {}, out: []}}}",
);
const packed = (await packDocument(await loadDocument("workflow.cwl"))) as { $graph: { id: string }[] };
console.log(packed.$graph.map(({ id }) => id).toSorted()); // → [ 'main', 'tool.cwl' ]
