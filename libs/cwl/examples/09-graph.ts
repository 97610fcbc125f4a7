// The steps of a workflow and what passes between them, for pictures.
import { graphOf, loadDocument, toDot } from "@swath/cwl";

const text = `cwlVersion: v1.2
class: Workflow
inputs: {scene: File}
outputs: {}
steps:
  crop: {run: {class: Operation, inputs: {scene: File}, outputs: {out: File}}, in: {scene: scene}, out: [out]}
  stretch: {run: {class: Operation, inputs: {scene: File}, outputs: {}}, in: {scene: crop/out}, out: []}
`;
const graph = graphOf(await loadDocument("https://example.org/wf.cwl", { text }));
console.log(graph.nodes.length, graph.edges.length); // → 3 2
console.log(toDot(graph).split(" ")[0]); // → digraph
