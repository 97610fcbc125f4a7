import { Worker } from "node:worker_threads";

import { decodeXml } from "./decode.ts";
import type { XmlElement } from "./element.ts";
import { parseXml } from "./parse.ts";
import { XmlError } from "./xml-error.ts";

/** A document as text and as elements. */
export interface XmlDocument {
  readonly text: string;
  readonly root: XmlElement;
}

/** What a thread sends back. */
export type ParsedXml = { readonly root: XmlElement } | { readonly fault: string };

/** Documents up to here are parsed at once; larger ones in a thread, so that other requests go on. */
const MAX_INLINE_LENGTH = 128 * 1024;
const MAX_PARSE_MS = 20_000;
const MAX_HEAP_MIB = 768;
/** Threads at a time, and documents that wait for one. */
const MAX_THREADS = 2;
const MAX_WAITING = 16;

let running = 0;
const waiting: (() => void)[] = [];

/** Parses a document off the event loop where it is large. @throws {XmlError} */
export async function readXml(bytes: Buffer): Promise<XmlDocument> {
  const text = decodeXml(bytes);
  return { text, root: text.length <= MAX_INLINE_LENGTH ? parseXml(text) : await parseInThread(text) };
}

async function parseInThread(text: string): Promise<XmlElement> {
  if (running >= MAX_THREADS) {
    if (waiting.length >= MAX_WAITING) {
      throw new XmlError("cannot be read now: too many large documents are waiting; try again in a moment");
    }
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
    });
  }
  running += 1;
  try {
    return await runThread(text);
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

async function runThread(text: string): Promise<XmlElement> {
  const worker = new Worker(new URL("./parse-worker.ts", import.meta.url), {
    workerData: text,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    const parsed = await new Promise<ParsedXml>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", (cause) => reject(new XmlError("needs more memory to be read than is given", { cause })));
      worker.once("exit", () => reject(new XmlError("could not be read")));
      timer = setTimeout(() => reject(new XmlError("takes too long to be read")), MAX_PARSE_MS);
    });
    if ("fault" in parsed) {
      throw new XmlError(parsed.fault);
    }
    return parsed.root;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
