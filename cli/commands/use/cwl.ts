import type { Command } from "../command.ts";

export const cwlCommand: Command = {
  name: "cwl",
  summary: "run, validate, pack, draw and test CWL documents",
  hasWords: true,
  usage: `
Usage: swath cwl run [options] DOCUMENT[#ID] [INPUTS | --NAME VALUE ...]
       swath cwl validate [--eo] [--json] DOCUMENT
       swath cwl pack DOCUMENT
       swath cwl graph [--dot] DOCUMENT
       swath cwl test [options] CONFORMANCE_TESTS.yaml [-- RUNNER OPTIONS]

"swath cwl run --help" lists every option of run.`,
  run: async ({ args }) => {
    const { runCwl } = await import("@swath/cwl/command");
    return runCwl(args);
  },
};
