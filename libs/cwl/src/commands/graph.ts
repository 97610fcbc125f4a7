import { parseArgs } from "node:util";
import { graphOf, toDot } from "../graph.ts";
import { loadDocument } from "../load/load.ts";
import type { CwlCommand } from "./command.ts";

export const graphCommand: CwlCommand = {
  name: "graph",
  summary: "print the nodes and edges of a workflow",
  usage: "graph [--dot] DOCUMENT[#id]",
  run: async (args, io) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { dot: { type: "boolean", default: false } },
    });
    const [reference] = positionals;
    if (reference === undefined || positionals.length > 1) {
      io.error(`usage: ${graphCommand.usage}`);
      return 2;
    }
    const graph = graphOf(await loadDocument(reference, { fetcher: io.fetcher }));
    io.print(values.dot ? toDot(graph) : JSON.stringify(graph, undefined, 2));
    return 0;
  },
};
