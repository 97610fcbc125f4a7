// A workflow with a scatter, and what happens in it.
import { loadDocument, runProcess } from "@swath/cwl";

const text = `cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, InlineJavascriptRequirement: {}}
inputs: {list: "int[]"}
outputs: {squares: {type: "int[]", outputSource: square/out}}
steps:
  square:
    scatter: number
    in: {number: list}
    out: [out]
    run: {class: ExpressionTool, inputs: {number: int}, outputs: {out: int}, expression: "\${return {out: inputs.number * inputs.number};}"}
`;
const document = await loadDocument("https://example.org/squares.cwl", { text });
const outputs = await runProcess({
  document,
  inputs: { list: [1, 2, 3] },
  outDir: "squares",
  onEvent: (event) => {
    if (event.type === "step-scattered") {
      console.log(event.step, event.jobs); // → square 3
    }
  },
});
console.log(outputs); // → { squares: [ 1, 4, 9 ] }
