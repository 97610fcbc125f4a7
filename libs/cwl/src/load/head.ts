import type { CwlVersion, Process } from "../model/process.ts";

/** The fields every kind of process has. */
export interface ProcessHead {
  readonly id: string;
  readonly name: string;
  readonly label: string | undefined;
  readonly doc: string | undefined;
  readonly version: CwlVersion;
  readonly inputs: Process["inputs"];
  readonly requirements: Process["requirements"];
  readonly hints: Process["hints"];
  readonly location: Process["location"];
  readonly metadata: Process["metadata"];
}
