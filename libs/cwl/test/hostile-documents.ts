// Documents that are small to write and large to read, made at random from seeds.

export interface HostileDocument {
  readonly kind: string;
  readonly text: string;
  /** Further files by name, for what the document refers to. */
  readonly files: { readonly [name: string]: string };
}

type Random = () => number;

/** Numbers from 0 to below 1 that are the same for the same seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Small mostly: a large document costs as much as many small ones. */
const upTo = (random: Random, most: number): number => 1 + Math.floor(random() ** 4 * most);
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
const tool = (more: object): object => ({
  class: "CommandLineTool",
  baseCommand: "true",
  inputs: [],
  outputs: [],
  ...more,
});
const graph = (items: readonly object[]): string => JSON.stringify({ cwlVersion: "v1.2", $graph: items });
const stepsOf = (run: readonly string[]): object =>
  Object.fromEntries(run.map((target, index) => [`s${index}`, { in: {}, out: [], run: target }]));
const workflow = (id: string, run: readonly string[], more: object = {}): object => ({
  id,
  class: "Workflow",
  requirements: { SubworkflowFeatureRequirement: {} },
  inputs: [],
  outputs: [],
  steps: stepsOf(run),
  ...more,
});

/** Each makes the text of one kind of attack, of a size that the numbers say. */
const kinds: { readonly [kind: string]: (random: Random) => string | { text: string; files: Record<string, string> } } =
  {
    "a type with many suffixes": (random) =>
      graph([
        tool({ id: "main", inputs: { a: `string${pick(random, ["?", "[]", "[]?"]).repeat(upTo(random, 300_000))}` } }),
      ]),
    "a type that imports a type, often": (random) => {
      const depth = upTo(random, 40);
      const width = upTo(random, 10);
      const types = times(depth, (level) => ({
        name: `#e${level}`,
        type: "record",
        fields: times(width, (index) => ({
          name: `f${index}`,
          type: level + 1 === depth ? "string" : { $import: `#e${level + 1}` },
        })),
      }));
      return graph([
        ...types,
        tool({ id: "main", requirements: [{ class: "SchemaDefRequirement", types: [{ $import: "#e0" }] }] }),
      ]);
    },
    "one type imported in many tools": (random) => {
      const type = { name: "#e", type: "enum", symbols: ["a"] };
      const count = upTo(random, 60);
      return graph([
        type,
        ...times(count, (index) =>
          tool({ id: `t${index}`, requirements: [{ class: "SchemaDefRequirement", types: [{ $import: "#e" }] }] }),
        ),
        workflow(
          "main",
          times(count, (index) => `#t${index}`),
        ),
      ]);
    },
    "imports in a circle": (random) => {
      const count = upTo(random, 12);
      return graph([
        ...times(count, (index) => ({
          name: `#e${index}`,
          type: "record",
          fields: [{ name: "f", type: { $import: `#e${(index + 1) % count}` } }],
        })),
        tool({ id: "main", requirements: [{ class: "SchemaDefRequirement", types: [{ $import: "#e0" }] }] }),
      ]);
    },
    "files that import files": (random) => {
      const count = upTo(random, 150);
      const width = upTo(random, 5);
      const files = Object.fromEntries(
        times(count, (index) => [
          `f${index}.yml`,
          JSON.stringify(
            times(width, () =>
              index + 1 < count || random() < 0.2 ? { $import: `f${(index + 1) % count}.yml` } : "x",
            ),
          ),
        ]),
      );
      return { text: JSON.stringify({ cwlVersion: "v1.2", ...tool({ "x:y": { $import: "f0.yml" } }) }), files };
    },
    "workflows that run workflows twice": (random) => {
      const depth = upTo(random, 150);
      const width = upTo(random, 3);
      return graph([
        ...times(depth, (level) =>
          workflow(
            level === 0 ? "main" : `w${level}`,
            times(width, () => `#w${level + 1}`),
          ),
        ),
        tool({ id: `w${depth}` }),
      ]);
    },
    "workflows with types of their own that run workflows twice": (random) => {
      const depth = upTo(random, 13);
      const types = (name: string): object => ({
        requirements: {
          SubworkflowFeatureRequirement: {},
          SchemaDefRequirement: { types: [{ name, type: "enum", symbols: ["a"] }] },
        },
      });
      return graph([
        ...times(depth, (level) => [
          workflow(level === 0 ? "main" : `a${level}`, [`#a${level + 1}`, `#b${level + 1}`], types(`a${level}`)),
          workflow(`b${level}`, [`#a${level + 1}`, `#b${level + 1}`], types(`b${level}`)),
        ]).flat(),
        tool({ id: `a${depth}` }),
        tool({ id: `b${depth}` }),
      ]);
    },
    "aliases of aliases": (random) => {
      const depth = upTo(random, 12);
      const width = upTo(random, 12);
      const lines = times(
        depth,
        (level) => `  a${level}: &a${level} [${times(width, () => (level === 0 ? "x" : `*a${level - 1}`)).join(", ")}]`,
      );
      return `cwlVersion: v1.2\nclass: CommandLineTool\nbaseCommand: "true"\ninputs: []\noutputs: []\nx:y:\n${lines.join("\n")}\n`;
    },
    "aliases that hold themselves": (random) =>
      `cwlVersion: v1.2\nclass: CommandLineTool\nx:y: &a {${times(upTo(random, 20), (index) => `k${index}: *a`).join(", ")}}\ninputs: []\noutputs: []\n`,
    "many aliases": (random) => {
      const count = upTo(random, 400);
      return `x:a: &a [1]\n${times(count, (index) => `x:k${index}: *a\n`).join("")}cwlVersion: v1.2\nclass: CommandLineTool\ninputs: []\noutputs: []\n`;
    },
    "merges of merges": (random) => {
      const depth = upTo(random, 14);
      const lines = times(
        depth,
        (level) =>
          `x:m${level}: &m${level} {${level === 0 ? "a: 1" : `<<: [*m${level - 1}, *m${level - 1}], b${level}: *m${level - 1}`}}`,
      );
      return `${lines.join("\n")}\ncwlVersion: v1.2\nclass: CommandLineTool\ninputs: []\noutputs: []\n`;
    },
    "brackets in brackets": (random) => pick(random, ["[", "{a: ", "- ", '{"a": [']).repeat(upTo(random, 3000)),
    "an indentation that never ends": (random) =>
      times(upTo(random, 400), (level) => `${" ".repeat(level)}a:\n`).join(""),
    "many keys, some of them twice": (random) => {
      const count = upTo(random, 2000);
      const key = (index: number): string => `x:k${random() < 0.01 ? 0 : index}`;
      return `cwlVersion: v1.2\nclass: CommandLineTool\ninputs: []\noutputs: []\n${times(count, (index) => `${key(index)}: 1\n`).join("")}`;
    },
    "many inputs": (random) =>
      JSON.stringify({
        cwlVersion: "v1.2",
        ...tool({
          inputs: Object.fromEntries(
            times(upTo(random, 500), (index) => [`i${index}`, pick(random, ["int", "File?", "nothing", "string[]"])]),
          ),
        }),
      }),
    "unions in unions": (random) => {
      let type: unknown = "string";
      for (let level = upTo(random, 150); level > 0; level -= 1) {
        type = random() < 0.5 ? ["null", type] : { type: "array", items: [type, "int"] };
      }
      return JSON.stringify({ cwlVersion: "v1.2", ...tool({ inputs: { a: { type } } }) });
    },
    "records that hold each other": (random) => {
      const count = upTo(random, 12);
      const types = times(count, (index) => ({
        name: `r${index}`,
        type: "record",
        fields: times(index + 1, (other) => ({
          name: `f${other}`,
          type: ["null", `r${other}`, { type: "array", items: `r${other}` }],
        })),
      }));
      const ports = { requirements: { SchemaDefRequirement: { types } } };
      return graph([
        tool({
          id: "t",
          ...ports,
          inputs: { a: "r0" },
          outputs: { b: { type: "r1", outputBinding: { outputEval: "$(inputs.a)" } } },
        }),
        workflow("main", [], {
          ...ports,
          inputs: { a: "r0" },
          steps: {
            x: { in: { a: "a" }, out: ["b"], run: "#t" },
            y: { in: { a: "x/b" }, out: ["b"], run: "#t" },
          },
        }),
      ]);
    },
    "expressions without an end": (random) => {
      const piece = pick(random, ["$(", "${", "$(a[", "$(/[", "$('", "$(a)", "\\$(", "$((/(/", "${//", "${{{//"]);
      return JSON.stringify({
        cwlVersion: "v1.2",
        ...tool({ requirements: { InlineJavascriptRequirement: {} }, arguments: [piece.repeat(upTo(random, 3000))] }),
      });
    },
    "long names": (random) => {
      const name = "n".repeat(upTo(random, 20_000));
      return JSON.stringify({ cwlVersion: "v1.2", ...tool({ [name]: 1, inputs: { [name]: name }, baseComand: name }) });
    },
    "lists that end at the margin": (random) => `a: [\n${times(upTo(random, 300), () => "[\n1\n],\n").join("")}]\n`,
    "bytes of any kind": (random) => String.fromCharCode(...times(upTo(random, 400), () => Math.floor(random() * 256))),
    "a good document with a hole": (random) => {
      const text = JSON.stringify({ cwlVersion: "v1.2", ...tool({ inputs: { a: "File" }, outputs: { b: "stdout" } }) });
      const at = upTo(random, text.length - 1);
      return (
        text.slice(0, at) +
        pick(random, ["", "null", "[", "}", ":", "\u0000", "&a", "*a", "$import"]) +
        text.slice(at + upTo(random, 5))
      );
    },
  };

export const hostileKinds: readonly string[] = Object.keys(kinds);

export function hostileDocument(kind: string, seed: number): HostileDocument {
  const made = kinds[kind]?.(randomFrom(seed)) ?? "";
  return typeof made === "string" ? { kind, text: made, files: {} } : { kind, ...made };
}
