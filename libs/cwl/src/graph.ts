import type { LoadedDocument } from "./load/load.ts";
import type { Process, Source, Workflow } from "./model/process.ts";
import { formatType } from "./model/types.ts";

/** A picture of a workflow as data: what to draw, and what leads where. Ids are paths of step names. */
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
  readonly scatter: readonly string[];
  readonly conditional: boolean;
  /** Id of the step whose subworkflow holds this node. */
  readonly parent: string | undefined;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  /** Output of the step that it leaves (or the input's name), and input that it enters. */
  readonly fromPort: string;
  readonly toPort: string;
}

/** Nodes and edges of a workflow and its subworkflows; a tool is drawn as one step. */
export function graphOf(document: LoadedDocument): WorkflowGraph {
  const nodes: GraphNode[] = [];
  const edges: GraphEdge[] = [];
  const { process } = document;
  addProcess(process.class === "Workflow" ? process : singleStep(process), "", nodes, edges);
  return { nodes, edges };
}

function addProcess(workflow: Workflow, prefix: string, nodes: GraphNode[], edges: GraphEdge[]): void {
  const parent = prefix === "" ? undefined : prefix.slice(0, -1);
  const idOf = (source: Source): string =>
    source.step === undefined ? `${prefix}in:${source.port}` : prefix + source.step;
  const common = { scatter: [], conditional: false, parent };
  for (const input of workflow.inputs) {
    nodes.push({
      id: `${prefix}in:${input.name}`,
      kind: "input",
      label: input.label ?? input.name,
      type: formatType(input.type),
      ...common,
    });
  }
  for (const step of workflow.steps) {
    const id = prefix + step.name;
    nodes.push({
      id,
      kind: "step",
      label: step.label ?? step.name,
      type: step.run.class,
      scatter: step.scatter,
      conditional: step.when !== undefined,
      parent,
    });
    for (const input of step.inputs) {
      for (const source of input.sources) {
        edges.push({ from: idOf(source), to: id, fromPort: source.port, toPort: input.name });
      }
    }
    if (step.run.class === "Workflow") {
      addProcess(step.run, `${id}/`, nodes, edges);
    }
  }
  for (const output of workflow.outputs) {
    const id = `${prefix}out:${output.name}`;
    nodes.push({ id, kind: "output", label: output.label ?? output.name, type: formatType(output.type), ...common });
    for (const source of output.sources) {
      edges.push({ from: idOf(source), to: id, fromPort: source.port, toPort: output.name });
    }
  }
}

/** A tool as a workflow of one step, so that it can be drawn the same way. */
function singleStep(process: Exclude<Process, Workflow>): Workflow {
  const sink = { sourceIsList: false, linkMerge: undefined, pickValue: undefined };
  return {
    ...process,
    class: "Workflow",
    outputs: process.outputs.map((output) => ({
      ...output,
      ...sink,
      sources: [{ step: process.name, port: output.name }],
    })),
    steps: [
      {
        name: process.name,
        label: process.label,
        doc: process.doc,
        run: process,
        inputs: process.inputs.map((input) => ({
          name: input.name,
          ...sink,
          sources: [{ step: undefined, port: input.name }],
          default: undefined,
          valueFrom: undefined,
          loadContents: false,
          loadListing: undefined,
          label: undefined,
          location: input.location,
        })),
        outputs: process.outputs.map((output) => output.name),
        requirements: [],
        hints: [],
        scatter: [],
        scatterMethod: undefined,
        when: undefined,
        loop: undefined,
        location: process.location,
      },
    ],
  };
}

/** The graph in the DOT language of Graphviz. */
export function toDot(graph: WorkflowGraph): string {
  const quote = (text: string): string => `"${text.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`;
  const shapes = { input: "parallelogram", output: "parallelogram", step: "box" };
  return [
    "digraph workflow {",
    "  rankdir=TB;",
    ...graph.nodes.map(
      (node) =>
        `  ${quote(node.id)} [label=${quote(node.label)}, shape=${shapes[node.kind]}${node.scatter.length > 0 ? ", peripheries=2" : ""}${node.conditional ? ", style=dashed" : ""}];`,
    ),
    ...graph.edges.map((edge) => `  ${quote(edge.from)} -> ${quote(edge.to)} [label=${quote(edge.toPort)}];`),
    "}",
  ].join("\n");
}
