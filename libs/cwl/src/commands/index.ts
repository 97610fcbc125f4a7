import type { CwlCommand } from "./command.ts";

/** The commands below `cwl`, by name; each loads its code when it is called. */
export const cwlCommands: {
  readonly [name: string]: { readonly summary: string; readonly load: () => Promise<CwlCommand> };
} = {
  run: {
    summary: "run a CWL document and print its output object",
    load: async () => (await import("./run.ts")).runCommand,
  },
};
