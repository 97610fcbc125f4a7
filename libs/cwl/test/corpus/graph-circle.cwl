cwlVersion: v1.2
$graph:
- {id: main, class: Workflow, requirements: {SubworkflowFeatureRequirement: {}}, inputs: [], outputs: [], steps: {a: {in: [], out: [], run: '#b'}}}
- {id: b, class: Workflow, inputs: [], outputs: [], steps: {a: {in: [], out: [], run: '#main'}}}
