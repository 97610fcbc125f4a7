cwlVersion: v1.2
class: Workflow
requirements:
hints:
inputs:
outputs: [null, {}]
steps: [null, [], {id: a, in: null, out: [null], run: null, scatter: [null]}]
