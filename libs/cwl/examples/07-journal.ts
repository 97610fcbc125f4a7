// A run that goes on from what it had done, after a failure or the death of its process.
import { loadDocument, removeJournal, runProcess } from "@swath/cwl";

const text = `cwlVersion: v1.2
class: CommandLineTool
baseCommand: "true"
inputs: {}
outputs: {}
`;
const document = await loadDocument("https://example.org/true.cwl", { text });
const options = { document, inputs: {}, outDir: "journalled", journal: "journal" };
await runProcess(options);
let started = 0;
await runProcess({ ...options, onEvent: ({ type }) => (started += type === "step-started" ? 1 : 0) });
console.log(started); // → 0
await removeJournal("journal", {});
