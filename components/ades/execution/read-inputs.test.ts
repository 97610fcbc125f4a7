import assert from "node:assert/strict";
import { test } from "node:test";

import { loadDocument } from "@swath/cwl";

import { type PackageFacts, readFacts } from "../packages/package-facts.ts";
import { resolveStagedInputs, readInputs } from "./read-inputs.ts";

const load = async (hint: string): Promise<PackageFacts> =>
  readFacts(
    await loadDocument("https://package.invalid/package.cwl", {
      localFiles: false,
      text: `cwlVersion: v1.2
class: CommandLineTool
$namespaces: { swath: "urn:swath:" }
hints: { ${hint} }
baseCommand: "true"
inputs:
  scenes: Directory[]
  red: { type: string, default: B04 }
  others: { type: "string[]?" }
  mask: File?
outputs: []
`,
    }),
  );

const scenes = ["https://example.org/a.json", { href: "s3://bucket/b.json" }];

test("only the assets that a package asks for are fetched of its scenes; it may name its own inputs", async () => {
  const document = await load('"swath:StageIn": { assets: { scenes: [$(inputs.red), $(inputs.others), scl] } }');
  const { sources } = readInputs(document, { scenes, others: ["B08", "B04"] });
  assert.deepEqual(
    sources.map(({ assets }) => assets),
    [
      ["B04", "B08", "scl"],
      ["B04", "B08", "scl"],
    ],
  );
  const [first, second] = readInputs(document, {
    scenes: [{ href: "https://example.org/a.json", assets: ["B01"] }, scenes[0]],
    red: { value: "B05" },
  }).sources;
  assert.deepEqual([first?.assets, second?.assets], [["B01"], ["B05", "scl"]]);
});

test("a package that asks for none gets them all", async () => {
  const { sources } = readInputs(await load(""), { scenes, mask: { href: "data:,x", checksum: "sha1$00", size: 1 } });
  assert.deepEqual(sources, [
    { href: "https://example.org/a.json", as: "directory" },
    { href: "s3://bucket/b.json", as: "directory" },
    { href: "data:,x", as: "file", checksum: "sha1$00", size: 1 },
  ]);
});

const KINDS = `cwlVersion: v1.2
class: CommandLineTool
baseCommand: "true"
inputs:
  i: int?
  l: long?
  r: { type: ["null", { type: record, fields: { x: int, y: "string?" } }] }
  u: ["null", int, string]
  f: { type: "File?", format: "https://www.iana.org/assignments/media-types/image/tiff" }
  e: { type: "File[]?", format: ["http://edamontology.org/format_3591", "http://edamontology.org/format_2330"] }
outputs: []
`;

test("what does not fit is said with its place and what would", async () => {
  const document = readFacts(
    await loadDocument("https://package.invalid/package.cwl", { localFiles: false, text: KINDS }),
  );
  const report = (inputs: Record<string, unknown>): string => {
    try {
      readInputs(document, inputs);
      return "";
    } catch (error) {
      return (error as Error).message.replace("The inputs do not fit the process: ", "");
    }
  };
  const ofInt = "allowed: int, a whole number from -2147483648 to 2147483647.";
  assert.equal(report({ i: 2 ** 31 }), `inputs.i is 2147483648; ${ofInt}`);
  assert.equal(report({ i: 1.5 }), `inputs.i is 1.5; ${ofInt}`);
  assert.equal(report({ i: -(2 ** 31), l: 2 ** 53 }), "");
  assert.match(report({ l: 1e30 }), /^inputs\.l is 1e\+30; allowed: long/);
  assert.equal(report({ r: { x: "1" } }), `inputs.r.x is "1"; ${ofInt}`);
  assert.equal(report({ r: 5 }), "inputs.r is 5; allowed: an object with x, y.");
  assert.equal(report({ u: true }), "inputs.u is true; allowed: int | string.");
  assert.match(report({ f: "here.tif" }), /^inputs\.f is "here\.tif"; allowed: File, \{"href": "…"\}/);
  assert.equal(
    report({ f: { href: "data:,x", type: "text/plain" } }),
    'inputs.f is of the type "text/plain"; allowed: image/tiff.',
  );
});

test("files have the format that the package asks for: of their media type, or the first", async () => {
  const document = readFacts(
    await loadDocument("https://package.invalid/package.cwl", { localFiles: false, text: KINDS }),
  );
  const tiff = "https://www.iana.org/assignments/media-types/image/tiff";
  for (const type of [undefined, "image/tiff; application=geotiff", "application/octet-stream"]) {
    const { values } = readInputs(document, { f: { href: "https://example.org/x", type } });
    assert.deepEqual(values["f"], { $staged: 0, format: tiff });
  }
  const { values } = readInputs(document, {
    e: [
      { href: "data:,x", type: "text/plain" },
      { href: "data:,y", format: "urn:own" },
    ],
  });
  assert.deepEqual(values["e"], [
    { $staged: 0, format: "http://edamontology.org/format_3591" },
    { $staged: 1, format: "urn:own" },
  ]);
  const staged = [{ path: "/in/0", kind: "file" }] as const;
  assert.deepEqual(resolveStagedInputs({ f: { $staged: 0, format: tiff } }, staged), {
    f: { class: "File", path: "/in/0", format: tiff },
  });
});

test("a record with a field named value is given as it is, or as a qualified value", async () => {
  const facts = readFacts(
    await loadDocument("https://package.invalid/package.cwl", {
      localFiles: false,
      text: `cwlVersion: v1.2
class: CommandLineTool
baseCommand: "true"
inputs:
  item: { type: { type: record, name: URI, fields: { value: string } } }
  maybe: { type: ["null", { type: record, name: MaybeURI, fields: { value: string } }] }
  list: { type: { type: array, items: { type: record, name: EachURI, fields: { value: string } } } }
outputs: []
`,
    }),
  );
  const uri = { value: "https://example.org/a.json" };
  for (const provided of [
    { item: uri, maybe: uri, list: [uri] },
    { item: { value: uri }, maybe: { value: uri }, list: { value: [uri] } },
  ]) {
    assert.deepEqual(readInputs(facts, provided).values, { item: uri, maybe: uri, list: [uri] });
  }
  assert.throws(
    () => readInputs(facts, { item: "text", list: [] }),
    /inputs\.item is "text"; allowed: an object with value/,
  );
});

test("reports at most 100 wrong values of a list, and refuses a list of more than 50,000", async () => {
  const document = await load("");
  const read = (others: readonly unknown[]) => () => readInputs(document, { scenes, others });
  assert.throws(read(Array.from({ length: 40_000 }, () => 1)), (error: Error & { extensions?: object }) => {
    assert.match(error.message, /others\[99\] is 1/);
    assert.doesNotMatch(error.message, /others\[100\]/);
    return true;
  });
  assert.throws(read(Array.from({ length: 50_001 }, () => "x")), /others has 50001 values; allowed: 50000/);
});

test("reads a long list of a union in one pass", async () => {
  const document = readFacts(
    await loadDocument("https://package.invalid/package.cwl", {
      localFiles: false,
      text: `cwlVersion: v1.2
class: CommandLineTool
baseCommand: "true"
inputs:
  list: { type: { type: array, items: [Directory, File, int] } }
outputs: []
`,
    }),
  );
  const list = Array.from({ length: 30_000 }, (_, i) => (i % 3 === 0 ? i : { href: `https://example.org/${i}` }));
  const { sources, values } = readInputs(document, { list });
  assert.equal(sources.length, 20_000);
  assert.deepEqual((values["list"] as readonly unknown[]).slice(0, 3), [0, { $staged: 0 }, { $staged: 1 }]);
});
