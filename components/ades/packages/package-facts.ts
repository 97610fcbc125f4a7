import {
  type LoadedDocument,
  type ParameterDescription,
  type ResourceEstimate,
  describeProcess,
  estimateResources,
  secretInputs,
} from "@swath/cwl";

import { type ProcessDescription, describePackage } from "./describe.ts";
import { type NamedImage, findImages, findResourceMistakes, hasHostTool, usesNetwork } from "./tool-requirements.ts";

/** What the service has to know of a package: plain data, so that it can be read in another thread. */
export interface PackageFacts {
  readonly description: ProcessDescription;
  readonly inputs: readonly ParameterDescription[];
  /** Which assets of its scenes it reads: the member `assets` of its hint `swath:StageIn`. */
  readonly stageIn: unknown;
  readonly resources: ResourceEstimate;
  /** What of its resources can never be had. */
  readonly resourceMistakes: readonly string[];
  /** Names of inputs that nobody may see. */
  readonly secrets: readonly string[];
  /** Whether one of its tools needs the network. */
  readonly network: boolean;
  /** Whether one of its tools names no container. */
  readonly hostTool: boolean;
  /** Container images that its tools name. */
  readonly images: readonly NamedImage[];
}

/** Class of the hint by which a package says which assets of its scenes it reads. */
const STAGE_IN = "urn:swath:StageIn";

export function readFacts(document: LoadedDocument): PackageFacts {
  const { process } = document;
  const { inputs } = describeProcess(document);
  return {
    description: toPlainNumbers(describePackage(document)),
    inputs,
    stageIn: [...process.requirements, ...process.hints].find((item) => item.class === STAGE_IN)?.fields["assets"],
    resources: estimateResources(document),
    resourceMistakes: findResourceMistakes(process),
    secrets: secretInputs(process),
    network: usesNetwork(process),
    hostTool: hasHostTool(process),
    images: findImages(process),
  };
}

/** JSON has no integers that a double cannot hold. */
function toPlainNumbers<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value, (_name, item: unknown) => (typeof item === "bigint" ? Number(item) : item)),
  ) as T;
}
