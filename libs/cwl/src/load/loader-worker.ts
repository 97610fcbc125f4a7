// Loads documents in a thread of its own; started by loader.ts.
import { parentPort, workerData } from "node:worker_threads";
import { CwlError, messageOf } from "../errors.ts";
import { validateDocument } from "../validate/validate.ts";
import type { Fetcher } from "./fetcher.ts";
import type { FromLoader, LoadRequest, LoaderThread, ToLoader } from "./loader-messages.ts";

const { work } = workerData as LoaderThread;

const waiting = new Map<number, { resolve: (text: string) => void; reject: (error: Error) => void }>();
let fetches = 0;

/** Texts come from the thread that knows what may be reached. */
const fetcher: Fetcher = {
  readText: (uri, { limit }) =>
    new Promise((resolve, reject) => {
      fetches += 1;
      waiting.set(fetches, { resolve, reject });
      tell({ type: "fetch", id: fetches, uri, limit });
    }),
  download: () => Promise.reject(new CwlError("reference", "a document needs no files to be loaded")),
};

parentPort?.on("message", (message: ToLoader) => {
  if (message.type === "load") {
    void load(message.request);
    return;
  }
  if (message.type === "run") {
    void run(message.argument);
    return;
  }
  const requested = waiting.get(message.id);
  waiting.delete(message.id);
  if (message.type === "text") {
    requested?.resolve(message.text);
  } else {
    requested?.reject(new CwlError(message.code, message.message));
  }
});

async function run(argument: unknown): Promise<void> {
  try {
    const { perform } = (await import(work ?? "")) as { perform: (argument: unknown) => Promise<unknown> };
    tell({ type: "done", result: await perform(argument) });
  } catch (error) {
    tell({ type: "failed", message: messageOf(error) });
  }
}

async function load(request: LoadRequest): Promise<void> {
  try {
    const { text, localFiles, limits, applicationPackage, hasFetcher } = request;
    const report = await validateDocument(request.reference, {
      text,
      localFiles,
      limits,
      applicationPackage,
      ...(hasFetcher ? { fetcher } : {}),
    });
    const { document, problems } = report;
    if (document === undefined) {
      tell({ type: "loaded", document, problems });
    } else {
      const { store: _store, ...rest } = document;
      tell({ type: "loaded", document: rest, problems });
    }
  } catch (error) {
    tell({ type: "failed", message: messageOf(error) });
  }
}

function tell(message: FromLoader): void {
  parentPort?.postMessage(message);
}

if (work !== undefined) {
  // Loaded before it is needed; what is wrong with it is said by the first `run`.
  await import(work).catch(() => {});
}
tell({ type: "ready" });
