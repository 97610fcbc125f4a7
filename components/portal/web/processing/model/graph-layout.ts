import type { ElkExtendedEdge, ElkNode } from "elkjs/lib/elk-api.js";

import { type WorkflowGraph, shorten } from "./workflow-graph.ts";

const HEIGHT = { input: 44, output: 44, step: 64 } as const;
/** Width of a letter of the picture's font, about. */
const LETTER = 7.6;
const PADDING = 40;
const NARROWEST = 172;

/** A node with its place; `x` and `y` count from the upper left corner of its parent. */
export interface PlacedNode {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Options of the layered layout (Eclipse Layout Kernel): from top to bottom, as people read. */
const OPTIONS = {
  "elk.algorithm": "layered",
  "elk.direction": "DOWN",
  "elk.hierarchyHandling": "INCLUDE_CHILDREN",
  "elk.layered.spacing.nodeNodeBetweenLayers": "48",
  "elk.spacing.nodeNode": "28",
  "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
};

/** A workflow as the layout library takes it: subworkflows hold their own nodes. */
export function toElk({ nodes, edges }: WorkflowGraph): ElkNode {
  const known = new Set(nodes.map(({ id }) => id));
  const childrenOf = (parent: string | undefined): ElkNode[] =>
    nodes
      .filter((node) => node.parent === parent)
      .map((node) => {
        const children = childrenOf(node.id);
        const width = Math.max(NARROWEST, shorten(node.label).length * LETTER + PADDING);
        return children.length === 0
          ? { id: node.id, width, height: HEIGHT[node.kind] }
          : {
              id: node.id,
              children,
              layoutOptions: { "elk.padding": "[top=56,left=20,bottom=20,right=20]" },
            };
      });
  return {
    id: "root",
    layoutOptions: OPTIONS,
    children: childrenOf(undefined),
    edges: edges
      .filter(({ from, to }) => known.has(from) && known.has(to))
      .map(({ from, to }, index): ElkExtendedEdge => ({ id: `e${index}`, sources: [from], targets: [to] })),
  };
}

/** The places of all nodes, parents before what they hold. */
export function readPlaces({ children = [] }: ElkNode): readonly PlacedNode[] {
  return children.flatMap((node) => [
    { id: node.id, x: node.x ?? 0, y: node.y ?? 0, width: node.width ?? 0, height: node.height ?? 0 },
    ...readPlaces(node),
  ]);
}
