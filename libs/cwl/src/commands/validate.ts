import { parseArgs } from "node:util";
import { formatProblem } from "../errors.ts";
import { validateDocument } from "../validate/validate.ts";
import type { CwlCommand } from "./command.ts";

export const validateCommand: CwlCommand = {
  name: "validate",
  summary: "check a CWL document and say everything that is wrong with it",
  usage: "validate [--eo] [--json] DOCUMENT[#id]",
  run: async (args, io) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { eo: { type: "boolean", default: false }, json: { type: "boolean", default: false } },
    });
    const [reference] = positionals;
    if (reference === undefined || positionals.length > 1) {
      io.error(`usage: ${validateCommand.usage}`);
      return 2;
    }
    const report = await validateDocument(reference, { fetcher: io.fetcher, applicationPackage: values.eo });
    if (values.json) {
      io.print(JSON.stringify({ valid: report.valid, problems: report.problems }, undefined, 2));
    } else {
      for (const problem of report.problems) {
        io.error(`${problem.severity}: ${formatProblem(problem)}`);
      }
      io.print(report.valid ? `${reference} is valid CWL` : `${reference} is not valid CWL`);
    }
    return report.valid ? 0 : 1;
  },
};
