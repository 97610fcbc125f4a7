// An executor of one's own: commands run wherever it says.
import { createProcessExecutor, loadDocument, runProcess } from "@swath/cwl";
import type { Executor } from "@swath/cwl";

const text = `cwlVersion: v1.2
class: CommandLineTool
requirements: {ResourceRequirement: {coresMin: 2, ramMin: 100}}
baseCommand: "true"
inputs: {}
outputs: {}
`;
const local = createProcessExecutor();
const host: Executor = {
  ...local,
  kind: "logging",
  run: async (job, controls) => {
    console.log(job.command, job.cores, job.ramMiB); // → [ 'true' ] 2 100
    return await local.run(job, controls);
  },
};
const document = await loadDocument("https://example.org/true.cwl", { text });
console.log(await runProcess({ document, inputs: {}, outDir: "mine", executors: { host } })); // → {}
