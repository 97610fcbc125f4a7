import type { NewProcess } from "../store/processes.ts";

/** The id that the earlier release line derived from a workflow and its version: `ndvi-1_0_0`. */
export const versionedId = (workflow: string, version: string): string =>
  `${workflow}-${version.slice(0, 64).replaceAll(/[^\w-]/g, "_")}`;

/** The process under that id; one that the request itself names keeps its name. */
export function withVersionedId(process: NewProcess): NewProcess {
  const { description, entry } = process;
  const { id, version } = description;
  return entry === undefined
    ? { ...process, description: { ...description, id: versionedId(id, version) }, entry: id }
    : process;
}
