import { loadDocument } from "../load/load.ts";
import { toJson } from "../model/values.ts";
import { packDocument } from "../pack/pack.ts";
import type { CwlCommand } from "./command.ts";

export const packCommand: CwlCommand = {
  name: "pack",
  summary: "write a document and all it refers to as one",
  usage: "pack DOCUMENT[#id]",
  run: async (args, io) => {
    const [reference] = args;
    if (reference === undefined || args.length > 1) {
      io.error(`usage: ${packCommand.usage}`);
      return 2;
    }
    io.print(toJson(await packDocument(await loadDocument(reference, { fetcher: io.fetcher })), 2));
    return 0;
  },
};
