import { type ContainerEngine, findContainerEngine } from "@swath/isolation";
import type { AdesSettings } from "./storage.ts";

/**
 * The container engine in use; `undefined` where there is none or none is wanted.
 * @throws {Error} for one that was asked for and is not installed
 */
export function findEngine({ CONTAINER_ENGINE: requested }: AdesSettings): ContainerEngine | undefined {
  const report = findContainerEngine(requested);
  if (report.outcome === "missing" && report.wasRequested) {
    throw new Error(report.reason);
  }
  return report.outcome === "found" ? report.engine : undefined;
}
