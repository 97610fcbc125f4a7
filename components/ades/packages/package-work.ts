// What can be done with a package off the event loop.
import { describeRun, graphOf, reduceOntology } from "@swath/cwl";

import { OgcError } from "../errors.ts";
import { loadPackage, readCheckedPackage } from "./load-package.ts";
import { readFacts } from "./package-facts.ts";
import type { PackageWork, WorkResponse, WorkError, WorkRequest } from "./package-work-types.ts";
import { readYaml } from "./read-yaml.ts";

const works: {
  readonly [Kind in keyof PackageWork]: (
    requested: PackageWork[Kind]["requested"],
  ) => Promise<PackageWork[Kind]["found"]>;
} = {
  check: readCheckedPackage,
  facts: async ({ text, process }) => readFacts(await loadPackage(text, process)),
  graph: async ({ text, process }) => graphOf(await loadPackage(text, process)),
  reduceOntology: async ({ text, formats }) => await Promise.resolve(reduceOntology(text, formats)),
  convert: async ({ text }) => await Promise.resolve(readYaml(text)),
  describeRun: async ({ text, process, inputs, outputs, events }) =>
    describeRun({ document: await loadPackage(text, process), inputs, outputs, events }),
};

/** Called in a thread by the engine's loader: what a stranger sends may take long, and is then ended with the thread. */
export async function perform({ kind, requested: asked }: WorkRequest): Promise<WorkResponse> {
  try {
    return { found: await (works[kind] as (requested: unknown) => Promise<unknown>)(asked) };
  } catch (error) {
    return { error: toWorkError(error) };
  }
}

function toWorkError(error: unknown): WorkError {
  if (error instanceof OgcError) {
    const { message, status, title, type, extensions } = error;
    return { message, ogc: { status, title, type, extensions } };
  }
  return { message: error instanceof Error ? error.message : String(error) };
}
