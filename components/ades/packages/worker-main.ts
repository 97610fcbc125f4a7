// Reads packages, one after another, in a thread of its own: what a stranger sends may take long, and is then ended with the thread.
import { describeRun, graphOf } from "@swath/cwl";
import { parentPort } from "node:worker_threads";
import { parse } from "yaml";

import { OgcError } from "../errors.ts";
import { loadPackage, readCheckedPackage } from "./load-package.ts";
import { readFacts } from "./package-facts.ts";
import type { PackageWork, WorkAnswer, WorkError, WorkRequest } from "./worker-messages.ts";

const works: {
  readonly [Kind in keyof PackageWork]: (asked: PackageWork[Kind]["asked"]) => Promise<PackageWork[Kind]["found"]>;
} = {
  check: readCheckedPackage,
  facts: async ({ text, process }) => readFacts(await loadPackage(text, process)),
  graph: async ({ text, process }) => graphOf(await loadPackage(text, process)),
  convert: async ({ text }) => parse(text, { maxAliasCount: 1000 }) as unknown,
  describeRun: async ({ text, process, inputs, outputs, events }) =>
    describeRun({ document: await loadPackage(text, process), inputs, outputs, events }),
};

parentPort?.on("message", ({ id, kind, asked }: WorkRequest) => {
  void (works[kind] as (asked: unknown) => Promise<unknown>)(asked)
    .then((found) => send({ id, found }))
    .catch((error: unknown) => send({ id, error: toWorkError(error) }));
});

function send(answer: WorkAnswer): void {
  parentPort?.postMessage(answer);
}

function toWorkError(error: unknown): WorkError {
  if (error instanceof OgcError) {
    const { message, status, title, type, extensions } = error;
    return { message, ogc: { status, title, type, extensions } };
  }
  return { message: error instanceof Error ? error.message : String(error) };
}
