import "@xyflow/react/dist/base.css";

import { Loading } from "@swath/ui";
import { useComputedColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type Edge, MarkerType, type Node, ReactFlow } from "@xyflow/react";
import { useMemo } from "react";

import type { PlacedNode } from "../model/graph-layout.ts";
import type { StepState } from "../model/step-states.ts";
import type { WorkflowGraph } from "../model/workflow-graph.ts";
import { layOutGraph } from "./lay-out-graph.ts";
import { type GraphNodeData, StepNode, TerminalNode } from "./workflow-node.tsx";

interface WorkflowPictureProps {
  readonly graph: WorkflowGraph;
  /** How far each step is, where there is a job. */
  readonly states?: ReadonlyMap<string, StepState>;
  readonly selected?: string | undefined;
  readonly onSelect?: (step: string) => void;
}

// Not "input" and "output": the library draws frames around nodes of these names.
const NODE_TYPES = { step: StepNode, terminal: TerminalNode };
const MARGIN = 24;

/** A workflow drawn from top to bottom; with a job, each step in the colour of how far it is. */
export function WorkflowPicture({ graph, states, selected, onSelect }: WorkflowPictureProps) {
  const scheme = useComputedColorScheme("light");
  const layout = useQuery({
    queryKey: ["graph-layout", graph],
    queryFn: () => layOutGraph(graph),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const places = layout.data;
  const nodes = useMemo(
    () => (places === undefined ? [] : toNodes(graph, places, { states, selected, onSelect })),
    [graph, places, states, selected, onSelect],
  );
  const edges = useMemo(() => toEdges(graph), [graph]);
  if (layout.error) {
    // The words below the picture say the same.
    return null;
  }
  if (places === undefined) {
    return <Loading what="Drawing the workflow" />;
  }
  const roots = places.filter(({ id }) => graph.nodes.find((node) => node.id === id)?.parent === undefined);
  const height = Math.max(160, ...roots.map((place) => place.y + place.height)) + 2 * MARGIN;
  return (
    <div className="swath-graph" style={{ height: Math.min(height, 640) }}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        colorMode={scheme}
        fitView
        fitViewOptions={{ padding: 0.08, maxZoom: 1 }}
        minZoom={0.2}
        maxZoom={1.6}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        zoomOnScroll={false}
        preventScrolling={false}
        proOptions={{ hideAttribution: true }}
        aria-label="Workflow"
      />
    </div>
  );
}

interface Looks {
  readonly states: ReadonlyMap<string, StepState> | undefined;
  readonly selected: string | undefined;
  readonly onSelect: ((step: string) => void) | undefined;
}

function toNodes(graph: WorkflowGraph, places: readonly PlacedNode[], looks: Looks): Node<GraphNodeData>[] {
  return places.flatMap(({ id, x, y, width, height }) => {
    const node = graph.nodes.find((candidate) => candidate.id === id);
    if (node === undefined) {
      return [];
    }
    const state = looks.states?.get(id);
    return [
      {
        id,
        type: node.kind === "step" ? "step" : "terminal",
        position: { x, y },
        width,
        height,
        ...(node.parent !== undefined && { parentId: node.parent }),
        data: {
          node,
          hasChildren: graph.nodes.some(({ parent }) => parent === id),
          isSelected: looks.selected === id,
          ...(state && { state }),
          ...(looks.onSelect && { onSelect: looks.onSelect }),
        },
      },
    ];
  });
}

function toEdges({ edges }: WorkflowGraph): Edge[] {
  const drawn = new Map<string, Edge>();
  for (const { from, to } of edges) {
    const id = `${from} ${to}`;
    drawn.set(id, {
      id,
      source: from,
      target: to,
      type: "smoothstep",
      markerEnd: { type: MarkerType.ArrowClosed },
    });
  }
  return [...drawn.values()];
}
