import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";

import { components } from "../cli/platform/components.ts";

const root = join(import.meta.dirname, "..");
const sources = globSync("{cli,components,libs,test,tools,bench}/**/*.{ts,tsx}", {
  cwd: root,
  exclude: (path) => path.includes("node_modules") || path.includes("/dist"),
}).filter((file) => !file.includes("node_modules") && !file.includes("/dist/"));
const read = (file: string) => readFileSync(join(root, file), "utf8");

/** Files over 400 lines, each with its reason. */
const LONG_FILES: Readonly<Record<string, string>> = {
  "cli/targets/embedded/ingress/exchange.ts": "one state machine: a request and its answer between two sockets",
};

test("no source file is longer than 400 lines", () => {
  const long = sources.filter((file) => !(file in LONG_FILES) && read(file).split("\n").length > 401);
  assert.deepEqual(long, []);
});

test("every component has its files and its line in the list", () => {
  const folders = readdirSync(join(root, "components"));
  for (const folder of folders) {
    for (const file of ["README.md", "package.json", "manifest.ts", "main.ts"]) {
      assert.ok(existsSync(join(root, "components", folder, file)), `components/${folder}/${file} is missing`);
    }
    for (const heading of [
      "Purpose",
      "Specifications and conformance",
      "Configuration",
      "Run alone",
      "Where to add",
      "Limits",
    ]) {
      assert.match(
        read(`components/${folder}/README.md`),
        new RegExp(`^## ${heading}`, "m"),
        `components/${folder}/README.md: ${heading}`,
      );
    }
  }
  assert.deepEqual(components.map(({ name }) => name).toSorted(), folders.toSorted());
});

test("imports run downwards only: cli → components/*/manifest.ts → libs", () => {
  const wrong = sources
    .filter((file) => !file.startsWith("test/") && !file.startsWith("bench/") && !file.startsWith("tools/"))
    .flatMap((file) => importsOf(file).flatMap((target) => findFault(file, target)));
  assert.deepEqual(wrong, []);
});

test("XML is read by libs/xml alone, which refuses what is not well formed", () => {
  const readers = sources.filter(
    (file) =>
      !file.startsWith("libs/xml/") &&
      !file.includes("/test/") &&
      /from "(?:saxes|sax|fast-xml-parser|xml2js|@xmldom\/xmldom)"/.test(read(file)),
  );
  assert.deepEqual(readers, [], "use @swath/xml");
});

test("caches of limited size are those of lru-cache", () => {
  const byHand = /\.size >=? \w+\) \{\s+[\w.#]+\.(?:clear|delete)\(/;
  assert.match("if (kept.size >= MAX_KEPT) {\n  kept.clear();", byHand);
  const wrong = sources.filter((file) => /^(cli|components|libs)\//.test(file) && byHand.test(read(file)));
  assert.deepEqual(wrong, [], "use lru-cache");
});

test("migrations of a component have the numbers from 1 on, each once", () => {
  for (const folder of globSync("{components,libs}/*/migrations", { cwd: root })) {
    const numbers = readdirSync(join(root, folder))
      .toSorted()
      .map((file) => Number.parseInt(file, 10));
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => index + 1),
      folder,
    );
  }
});

test("the tree speaks of the project alone", () => {
  const files = globSync(
    "{*.md,docs/**/*.md,cli/**/*.ts,components/**/*.{ts,tsx,md},libs/**/*.{ts,tsx,md},deploy/**/*,package-lock.json}",
    {
      cwd: root,
      exclude: (path) => path.includes("node_modules"),
    },
  ).filter((file) => !file.includes("node_modules") && existsSync(join(root, file)) && !isDirectory(file));
  for (const file of files) {
    assert.doesNotMatch(read(file), /\/work\/(main|wt|shared)|"resolved": "http/, file);
  }
});

/** Tables whose names come from a closed set, not from a request or a file: a table of operations, characters that a pattern found. */
const CLOSED_TABLES = new Set([
  "cli/targets/embedded/tls/acme/settings.ts DIRECTORIES",
  "components/identity/login/common-passwords.ts LOOKALIKES",
  "components/objstore/operations/table.ts OPERATIONS",
  "components/objstore/protocol/xml-reader.ts NAMED",
  "components/resource-catalogue/xml/escape.ts ENTITIES",
  "components/resource-catalogue/xml/parse.ts NAMED",
  "libs/pages/src/html.ts ENTITIES",
  "libs/ui/src/map/draw-by-keyboard.ts MOVES",
]);

test("names are looked up in maps or among own members: an object has constructor and __proto__, too", () => {
  const wrong = sources
    .filter((file) => !/\.test\.tsx?$|\/test\/|\/web\/|^(?:test|bench|tools)\//.test(file))
    .flatMap((file) => {
      const text = read(file);
      return [...text.matchAll(/^(?:export )?const (\w+): (?:Readonly<)?(?:Partial<)?Record<string,[^=]*= ?\{/gm)]
        .map(([, table = ""]) => table)
        .filter((table) => new RegExp(`\\b${table}\\[[^"'\\]]`).test(text) && !text.includes(`Object.hasOwn(${table}`))
        .map((table) => `${file} ${table}`);
    })
    .filter((found) => !CLOSED_TABLES.has(found));
  assert.deepEqual(wrong, [], "use a Map, or ask Object.hasOwn first");
});

/** Facts of a deployment that one place knows, how a second place would build them, and the files that may. */
const SINGLE_PLACES: readonly {
  readonly fact: string;
  readonly useInstead: string;
  readonly pattern: RegExp;
  /** Lines that have to be found. */
  readonly planted: readonly string[];
  readonly allowed: readonly string[];
}[] = [
  {
    fact: "the address of a realm",
    useInstead: "realmPath, adminRealmPath, identityIssuer or issuerAt of @swath/manifest",
    pattern:
      /(?<!\/internal)\/realms\/(\$\{|master`)|\}\/?realms\/|publicUrl\("(identity|auth)"\)|\bhost\("(identity|auth)"\)/,
    planted: [
      "const issuer = `${url}/realms/${realm}`;",
      'ISSUER: `${context.publicUrl("identity")}/x`,',
      'const login = host("auth");',
      "fetch(`${base}/realms/master/protocol`)",
    ],
    // The service that has the realms.
    allowed: ["libs/manifest/src/realm-paths.ts", "components/identity/"],
  },
  {
    fact: "the host of a service",
    useInstead: "host and publicUrl of the deployment's context, or listUrls of its plan",
    pattern: /(\/\/|`)\$\{(service|name|label|host)\}\.\$\{(\w+\.)*domain\}|`\w+:\/\/[\w-]+\.\$\{(\w+\.)*domain\}/,
    planted: ["const url = `https://${service}.${settings.domain}`;", "open(`https://ades.${domain}/`);"],
    // The plan makes the hosts; the two helpers can be pointed at a deployment that this machine knows nothing of.
    allowed: ["cli/platform/plan.ts", "cli/helpers/defaults.ts", "cli/helpers/login-service/create-workspace-b.ts"],
  },
  {
    fact: "the prefix of workspaces",
    useInstead: "workspacePrefix or isWorkspaceName of @swath/manifest",
    pattern: /"(ws|guide-user)-?"/,
    planted: ['const name = "ws-" + user;'],
    // Settings name what holds without a deployment.
    allowed: [
      "libs/manifest/src/workspace-prefix.ts",
      "components/workspace-api/config.ts",
      "components/application-hub/config.ts",
      // The package of web sockets.
      "cli/targets/kubernetes/exec/run-in-pod.ts",
    ],
  },
  {
    fact: "a signature of S3",
    useInstead: "createS3Signer of @swath/s3",
    pattern: /"(aws4fetch|@smithy\/signature-v4|@aws-sdk\/s3-request-presigner)"|aws4_request/,
    planted: [
      'import { AwsV4Signer } from "aws4fetch";',
      'import { SignatureV4 } from "@smithy/signature-v4";',
      '[day, region, "s3", "aws4_request"].reduce(',
    ],
    // The service that verifies signatures.
    allowed: ["libs/s3/", "components/objstore/signature/", "components/objstore/iam/query-api.ts"],
  },
  {
    fact: "a transaction on a connection of its own",
    useInstead: "inTransaction of @swath/postgres/pool",
    pattern: /query\("begin"\)/,
    planted: ['await client.query("begin");'],
    allowed: [
      "libs/postgres/",
      // Work that goes on with its connection afterwards, as it holds a lock of the session.
      "components/resource-catalogue/store/partitions/",
      // One connection, without a pool.
      "cli/rotation/second-role.ts",
    ],
  },
  {
    fact: "which addresses are public",
    useInstead: "createAddressGuard or isPublicAddress of @swath/addresses",
    pattern: /range\(\) [=!]== "unicast"|169\.254\.0\.0|fe80::/,
    planted: ['return address.range() === "unicast";', '["169.254.0.0", 16],', '"fe80::/10",'],
    allowed: [
      "libs/addresses/",
      // Whether a public certificate authority can reach the deployment; addresses of documentation stand for public ones in examples.
      "cli/config/addresses.ts",
      // CIDR blocks of NetworkPolicies.
      "cli/targets/kubernetes/render/pod-networks.ts",
      "components/workspace-api/steps/namespace-objects.ts",
    ],
  },
];

for (const { fact, useInstead, pattern, planted, allowed } of SINGLE_PLACES) {
  test(`${fact} is built in one place`, () => {
    const missed = planted.filter((line) => !pattern.test(line));
    assert.deepEqual(missed, [], "the pattern finds planted lines");
    const wrong = sources
      .filter((file) => /^(cli|components|libs)\//.test(file) && !/\.test\.ts$|\/test\/|^libs\/testing\//.test(file))
      .filter((file) => !allowed.some((path) => file.startsWith(path)))
      .flatMap((file) =>
        read(file)
          .split("\n")
          .flatMap((line, index) =>
            pattern.test(line) && !/^\s*(\/?\*|\/\/)/.test(line) ? [`${file}:${index + 1}`] : [],
          ),
      );
    assert.deepEqual(wrong, [], `use ${useInstead}`);
  });
}

/** Paths that a file imports, from the root; packages by their name. */
function importsOf(file: string): readonly string[] {
  return [...read(file).matchAll(/(?:from|import\()\s*"([^"]+)"/g)].map(([, target = ""]) =>
    target.startsWith(".") ? relative(root, resolve(root, dirname(file), target)) : target,
  );
}

function findFault(file: string, target: string): readonly string[] {
  const fault = (why: string) => [`${file} imports ${target}: ${why}`];
  const [kind, name] = file.split("/");
  if (target.endsWith("/main.ts")) {
    return fault("nothing imports a main.ts");
  }
  if (kind === "cli") {
    return target.startsWith("components/") && !/^components\/[^/]+\/manifest\.ts$/.test(target)
      ? fault("only manifests")
      : [];
  }
  if (/^(cli|test|bench)\//.test(target)) {
    return file.endsWith(".test.ts") ? [] : fault("upwards");
  }
  if (kind === "components") {
    const isOther = /^components\/([^/]+)/.exec(target)?.[1];
    return isOther !== undefined && isOther !== name ? fault("a component imports a component") : [];
  }
  if (kind === "libs") {
    if (target.startsWith("components/")) {
      return fault("upwards");
    }
    return name === "cwl" && target.startsWith("@swath/") && !["@swath/cwl", "@swath/testing"].includes(target)
      ? fault("libs/cwl knows nothing of ours")
      : [];
  }
  return [];
}

function isDirectory(file: string): boolean {
  return readdirSync(join(root, dirname(file)), { withFileTypes: true }).some(
    (entry) => entry.isDirectory() && entry.name === file.split("/").at(-1),
  );
}
