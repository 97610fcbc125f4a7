interface Size {
  readonly nodes: number;
  readonly depth: number;
}

const LEAF: Size = { nodes: 1, depth: 0 };

/** How large a value is for who walks it as a tree: what is shared counts each time, but is measured once. */
export function measure(value: unknown): Size {
  return measureInto(value, new Map());
}

function measureInto(value: unknown, known: Map<object, Size>): Size {
  if (typeof value !== "object" || value === null) {
    return LEAF;
  }
  let size = known.get(value);
  if (size === undefined) {
    let [nodes, depth] = [1, 0];
    for (const item of Object.values(value)) {
      const inner = measureInto(item, known);
      nodes += inner.nodes;
      depth = Math.max(depth, inner.depth + 1);
    }
    size = { nodes, depth };
    known.set(value, size);
  }
  return size;
}
