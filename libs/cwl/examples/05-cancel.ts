// Cancelling: when the promise settles, nothing of the run is left.
import { CwlError, loadDocument, runProcess } from "@swath/cwl";

const text = `cwlVersion: v1.2
class: CommandLineTool
baseCommand: [sleep, "600"]
inputs: {}
outputs: {}
`;
const document = await loadDocument("https://example.org/sleep.cwl", { text });
const stop = new AbortController();
const run = runProcess({
  document,
  inputs: {},
  outDir: "cancelled",
  signal: stop.signal,
  onEvent: ({ type }) => type === "step-started" && stop.abort(),
});
const error = await run.catch((reason: unknown) => reason);
console.log(error instanceof CwlError && error.code); // → cancelled
