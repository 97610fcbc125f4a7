/** A workflow as the processing service tells it (`GET …/processes/{id}/graph`). Ids are paths of step names. */
export interface WorkflowGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

export interface GraphNode {
  readonly id: string;
  readonly kind: "input" | "output" | "step";
  readonly label: string;
  /** Type of an input or output; class of the process that a step runs. */
  readonly type: string;
  /** Inputs over which a step is repeated. */
  readonly scatter: readonly string[];
  readonly conditional: boolean;
  /** Step whose subworkflow holds this node. */
  readonly parent?: string;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly fromPort: string;
  readonly toPort: string;
}

/** Most letters of a label that are drawn; the whole is in the node's description. */
const MAX_LABEL = 34;

export const shorten = (text: string): string => (text.length <= MAX_LABEL ? text : `${text.slice(0, MAX_LABEL - 1)}…`);

/** What a screen reader says of a workflow: each step with what it gets and gives. */
export function describeGraph({ nodes, edges }: WorkflowGraph): readonly string[] {
  const labels = new Map(nodes.map(({ id, label }) => [id, label]));
  const join = (ids: readonly string[]) => [...new Set(ids)].map((id) => labels.get(id) ?? id).join(", ");
  return nodes
    .filter(({ kind }) => kind === "step")
    .map(({ id, label, scatter, conditional }) => {
      const before = join(edges.filter(({ to }) => to === id).map(({ from }) => from));
      const after = join(edges.filter(({ from }) => from === id).map(({ to }) => to));
      return [
        label,
        ...(scatter.length > 0 ? [`once for each of ${scatter.join(", ")}`] : []),
        ...(conditional ? ["only if its condition holds"] : []),
        ...(before === "" ? [] : [`from ${before}`]),
        ...(after === "" ? [] : [`to ${after}`]),
      ].join("; ");
    });
}
