// Documents of strangers: read in a thread that has limits, without this machine's files.
import { createLoader, estimateResources } from "@swath/cwl";

const loader = createLoader({ threads: 1, memoryMiB: 256 });
const text = `cwlVersion: v1.2
class: CommandLineTool
requirements: {ResourceRequirement: {ramMin: 4096}}
baseCommand: "true"
inputs: {}
outputs: {}
`;
console.log(estimateResources(await loader.load("https://example.org/tool.cwl", { text })).ramMiB); // → 4096
const spying = text.replace("inputs: {}", "inputs: {$import: 'file:///etc/passwd'}");
const report = await loader.validate("https://example.org/spying.cwl", { text: spying, localFiles: false });
console.log(report.valid); // → false
await loader.close();
