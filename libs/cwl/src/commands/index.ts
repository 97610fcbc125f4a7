import type { CwlCommand } from "./command.ts";

interface CommandEntry {
  readonly summary: string;
  readonly load: () => Promise<CwlCommand>;
}

/** The commands below `cwl`, by name; each loads its code when it is called. */
export const cwlCommands: { readonly [name: string]: CommandEntry } = {
  run: {
    summary: "run a CWL document and print its output object",
    load: async () => (await import("./run.ts")).runCommand,
  },
  validate: {
    summary: "check a CWL document and say everything that is wrong with it",
    load: async () => (await import("./validate.ts")).validateCommand,
  },
  pack: {
    summary: "write a document and all it refers to as one",
    load: async () => (await import("./pack.ts")).packCommand,
  },
  graph: {
    summary: "print the nodes and edges of a workflow",
    load: async () => (await import("./graph.ts")).graphCommand,
  },
  test: {
    summary: "run the tests of a CWL conformance suite",
    load: async () => (await import("./test.ts")).testCommand,
  },
};
