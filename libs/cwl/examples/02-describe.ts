// What a process takes and gives, for forms and process descriptions.
import { describeProcess, loadDocument } from "@swath/cwl";

const text = `cwlVersion: v1.2
class: CommandLineTool
baseCommand: crop
inputs: {scene: {type: File, label: Scene}, size: {type: int?, default: 512}}
outputs: {cropped: stdout}
`;
const document = await loadDocument("https://example.org/crop.cwl", { text });
for (const input of describeProcess(document).inputs) {
  console.log(input.name, input.typeText, input.required); // → scene File true
} // → size int? false
