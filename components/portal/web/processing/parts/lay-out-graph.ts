import ELK from "elkjs/lib/elk-api.js";
import workerUrl from "elkjs/lib/elk-worker.min.js?url";

import { type PlacedNode, readPlaces, toElk } from "../model/graph-layout.ts";
import type { WorkflowGraph } from "../model/workflow-graph.ts";

let engine: InstanceType<typeof ELK> | undefined;

/** Finds a place for every step, beside the page. */
export async function layOutGraph(graph: WorkflowGraph): Promise<readonly PlacedNode[]> {
  engine ??= new ELK({ workerUrl });
  return readPlaces(await engine.layout(toElk(graph)));
}
