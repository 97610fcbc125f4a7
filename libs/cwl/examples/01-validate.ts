// Everything that is wrong with a document, each with its place.
import { formatProblem, validateDocument } from "@swath/cwl";

const text = `cwlVersion: v1.2
class: CommandLineTool
baseCommand: echo
inputs: {text: strin}
outputs: {}
`;
const report = await validateDocument("https://example.org/tool.cwl", { text });
console.log(report.valid); // → false
console.log(report.problems.map(formatProblem).join("\n").split(" (")[0]); // → https://example.org/tool.cwl:4:9: inputs.text.type: there is no type "strin"
