import "./workflow-picture.css";

import { Handle, type Node, type NodeProps, Position } from "@xyflow/react";
import { Ban, CircleCheck, CircleDashed, CircleX, Copy, LoaderCircle } from "lucide-react";

import { type StepState, describeState } from "../model/step-states.ts";
import { type GraphNode, shorten } from "../model/workflow-graph.ts";

export interface GraphNodeData extends Record<string, unknown> {
  readonly node: GraphNode;
  readonly state?: StepState;
  readonly hasChildren: boolean;
  readonly isSelected: boolean;
  readonly onSelect?: (step: string) => void;
}

type Props = NodeProps<Node<GraphNodeData>>;

const SIGNS = {
  waiting: CircleDashed,
  running: LoaderCircle,
  successful: CircleCheck,
  failed: CircleX,
  skipped: Ban,
  stopped: Ban,
} as const;

/** A step: what it is called, how far it is; a stack of them where it is repeated. */
export function StepNode({ data: { node, state, hasChildren, isSelected, onSelect } }: Props) {
  const Sign = state && SIGNS[state.status];
  const isRepeated = node.scatter.length > 0;
  const content = (
    <>
      <span className="swath-step-name">
        {Sign && <Sign size={16} aria-hidden className={state.status === "running" ? "swath-turning" : undefined} />}
        {shorten(node.label)}
        {isRepeated && <Copy size={14} aria-label={`for each ${node.scatter.join(", ")}`} />}
      </span>
      <span className="swath-step-state">
        {state === undefined ? (isRepeated ? `for each ${node.scatter.join(", ")}` : node.type) : describeState(state)}
      </span>
    </>
  );
  return (
    <div
      className="swath-step"
      data-status={state?.status}
      data-repeated={isRepeated || undefined}
      data-conditional={node.conditional || undefined}
      data-group={hasChildren || undefined}
      data-selected={isSelected || undefined}
      title={node.label}
    >
      <Handle type="target" position={Position.Top} />
      {onSelect === undefined ? (
        <div className="swath-step-face">{content}</div>
      ) : (
        <button
          type="button"
          className="swath-step-face nodrag nopan"
          aria-pressed={isSelected}
          onClick={() => onSelect(node.id)}
        >
          {content}
        </button>
      )}
      <Handle type="source" position={Position.Bottom} />
    </div>
  );
}

/** What goes in or comes out. */
export function TerminalNode({ data: { node } }: Props) {
  return (
    <div className="swath-terminal" data-kind={node.kind} title={`${node.label}: ${node.type}`}>
      {node.kind === "output" && <Handle type="target" position={Position.Top} />}
      <span className="swath-step-name">{shorten(node.label)}</span>
      <span className="swath-step-state">{node.type}</span>
      {node.kind === "input" && <Handle type="source" position={Position.Bottom} />}
    </div>
  );
}
