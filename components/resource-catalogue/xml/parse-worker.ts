import { parentPort, workerData } from "node:worker_threads";

import { parseXml } from "./parse.ts";
import { XmlError } from "./xml-error.ts";
import type { ParsedXml } from "./read.ts";

/** Parses the document that this thread was started with. */
function parse(text: string): ParsedXml {
  try {
    return { root: parseXml(text) };
  } catch (error) {
    if (error instanceof XmlError) {
      return { fault: error.message };
    }
    throw error;
  }
}

parentPort?.postMessage(parse(workerData as string));
