import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { cpSync, globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";

import { openSealed, runCommand } from "@swath/testing";
import { parseAllDocuments } from "yaml";

import { isWhole } from "./support/on-demand.ts";

const root = join(import.meta.dirname, "../..");
const { PATH, HOME, KUBECONFIG, NODE_COMPILE_CACHE } = process.env;
const base = { PATH, HOME, NODE_COMPILE_CACHE, SWATH_STATE_DIR: "/nonexistent/swath" };

/** YAML of the whole deployment, as `deploy/swath/swath.sh template` prints it. */
async function renderTemplate(env: Record<string, string>, ...options: readonly string[]): Promise<string> {
  const args = [
    join(root, "cli/main.ts"),
    "deploy",
    "template",
    "swath",
    "swath.example.org",
    "192.0.2.10",
    ...options,
  ];
  const { status, stdout, stderr } = await runCommand(process.execPath, args, { env: { ...base, ...env } });
  assert.equal(status, 0, stderr);
  return stdout;
}

interface SealedSecret {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: { readonly encryptedData: Readonly<Record<string, string>> };
}

/** Both variants, with and without TLS and open hosts. */
const SETTINGS: readonly Record<string, string>[] = [
  {},
  { REQUIRE_DUMMY_SERVICE: "true", OPEN_INGRESS: "true", USE_TLS: "false" },
  { REQUIRE_DUMMY_SERVICE: "true", PLATFORM_VARIANT: "B" },
];

test("the template is YAML and nothing else, the same bytes for the same input", async () => {
  for (const env of SETTINGS) {
    const first = await renderTemplate(env);
    assert.match(first, /^---\napiVersion: v1\nkind: Namespace\n/);
    assert.equal(await renderTemplate(env), first);
  }
});

test("no generated secret is printed", async () => {
  const text = await renderTemplate({});
  assert.match(text, /swath\.io\/generate/);
  // The portal's page of settings says how a default comes about, not what it is.
  assert.doesNotMatch(text.replaceAll(/derived: changeme\w* where /g, ""), /changeme/);
});

test("as a tree for kustomize and helm it is the same objects, and nothing of others is overwritten", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "swath-tree-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  interface Named {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace?: string; annotations?: object };
  }
  /** Without what says that data stay, which the tree alone has. */
  const plain = (objects: readonly Named[]) =>
    objects
      .map((object) => {
        const { annotations = {}, ...metadata } = object.metadata;
        const kept = Object.entries(annotations).filter(([name]) => !/^(argocd|helm|kustomize)\./.test(name));
        return toText({
          ...object,
          metadata: { ...metadata, ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }) },
        });
      })
      .toSorted();
  /** The same text for the same fields in any order. */
  const toText = (value: unknown): string =>
    JSON.stringify(value, (_, part: unknown) =>
      typeof part === "object" && part !== null && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : part,
    );
  const readObjects = (text: string) =>
    parseAllDocuments(text, { version: "1.1" }).flatMap((document) => (document.toJS() as Named | null) ?? []);
  const expected = plain(readObjects(await renderTemplate({}, "--secrets", "none")));
  for (const [layout, program, args] of [
    ["kustomize", "kubectl", ["kustomize"]],
    ["helm", "helm", ["template", "swath"]],
  ] as const) {
    const out = join(folder, layout);
    const options = ["--secrets", "none", "--layout", layout, "--out", out];
    assert.match(await renderTemplate({}, ...options), /^\d+ files in /);
    const first = globSync("**/*.yaml", { cwd: out }).length;
    writeFileSync(join(out, "own.txt"), "mine");
    await renderTemplate({}, ...options);
    assert.equal(globSync("**/*.yaml", { cwd: out }).length, first, "written again, nothing is left over");
    const printed = await runCommand(program, [...args, out], { env: base }).catch(() => undefined);
    if (printed?.status !== 0) {
      t.diagnostic(`${program} is not here: ${printed?.stderr ?? "no such program"}`);
      continue;
    }
    const found = plain(readObjects(printed.stdout));
    assert.equal(found.length, expected.length, layout);
    for (const [index, object] of found.entries()) {
      assert.equal(object, expected[index], layout);
    }
  }
  const taken = join(folder, "taken");
  cpSync(join(folder, "kustomize"), taken, { recursive: true });
  writeFileSync(join(taken, "kustomization.yaml"), "resources: []\n");
  const args = [
    join(root, "cli/main.ts"),
    ..."deploy template swath swath.example.org 192.0.2.10 --secrets none".split(" "),
  ];
  const refused = await runCommand(process.execPath, [...args, "--layout", "kustomize", "--out", taken], { env: base });
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /kustomization\.yaml was not written by template; choose another folder/);
});

test("Secrets can be left out, or made by themselves with every key that pods read", async () => {
  const password = "an-administrators-own";
  const provided = { IDENTITY_SERVICE_ADMIN_PASSWORD: password };
  const encoded = Buffer.from(password).toString("base64");
  const [without, only] = await Promise.all([
    renderTemplate(provided, "--secrets", "none"),
    renderTemplate(provided, "--secrets", "only"),
  ]);
  const read = (text: string) => parseAllDocuments(text, { version: "1.1" }).map((document) => document.toJS());
  const secrets = read(only).filter((object) => object.kind === "Secret");
  assert.deepEqual(new Set(read(only).map(({ kind }) => kind)), new Set(["Namespace", "Secret"]));
  assert.doesNotMatch(without, /^kind: Secret$/m);
  assert.ok(!without.includes(encoded) && !without.includes(password), "nothing given is printed");
  assert.ok(only.includes(encoded));
  assert.match(without, /^# {3}um\/identity-settings: .*DATABASE_URL/m);
  const references = read(without)
    .flatMap((object) => object?.spec?.template?.spec?.containers?.map((one: object) => ({ ...one, object })) ?? [])
    .flatMap(({ env = [], object }) =>
      env.flatMap((each: { valueFrom?: { secretKeyRef?: { name: string; key: string; optional?: boolean } } }) =>
        each.valueFrom?.secretKeyRef === undefined
          ? []
          : [{ ...each.valueFrom.secretKeyRef, namespace: object.metadata.namespace }],
      ),
    );
  assert.ok(references.length > 20, String(references.length));
  for (const { namespace, name, key, optional = false } of references) {
    const secret = secrets.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
    assert.ok(secret?.data[key] || optional, `${namespace}/${name}: ${key}`);
  }
  // What is made has a value of its own each time.
  assert.notEqual(await renderTemplate(provided, "--secrets", "only"), only);
});

test("Secrets are sealed for the controller of a cluster, the generated ones with the same values the next time", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "swath-sealed-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const certificate = join(folder, "controller.pem");
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  writeFileSync(certificate, publicKey.export({ type: "spki", format: "pem" }));
  const env = { SWATH_STATE_DIR: join(folder, "state") };
  const readKinds = (text: string) =>
    parseAllDocuments(text, { version: "1.1" }).map((document) => document.toJS() as { kind?: string });
  const plain = readKinds(await renderTemplate(env)).filter((object) => object?.kind === "Secret");
  const sealed = async () =>
    readKinds(await renderTemplate(env, "--sealed", certificate)).filter((object) => object?.kind !== undefined);
  const open = (objects: readonly object[]) =>
    (objects as readonly SealedSecret[])
      .filter(({ kind }) => kind === "SealedSecret")
      .map(({ metadata: { namespace, name }, spec }) => [
        `${namespace}/${name}`,
        Object.entries(spec.encryptedData).map(([key, text]) => [
          key,
          openSealed(text, `${namespace}/${name}`, privateKey),
        ]),
      ]);
  const first = await sealed();
  assert.ok(!first.some(({ kind }) => kind === "Secret"));
  const opened = open(first);
  assert.equal(opened.length, plain.length);
  assert.deepEqual(open(await sealed()), opened);
});

test("apply takes its own options; what is an option of template alone is refused there", async () => {
  const deploy = (...args: readonly string[]) =>
    runCommand(process.execPath, [join(root, "cli/main.ts"), "deploy", ...args], { env: base });
  for (const args of [
    ["apply", "--no-backup", "Not a name"],
    ["apply", "Not a name", "--no-backup", "--yes"],
  ]) {
    const { status, stderr } = await deploy(...args);
    assert.equal(status, 1);
    assert.match(stderr, /cluster-name.*"Not a name"/);
    assert.doesNotMatch(stderr, /option/);
  }
  const { stderr } = await deploy("apply", "--sealed", "controller.pem");
  assert.match(stderr, /--sealed is an option of the action template/);
});

test("a bad action ends with status 1 and the usage", async () => {
  const { status, stderr, stdout } = await runCommand(
    process.execPath,
    [join(root, "cli/main.ts"), "deploy", "frobnicate"],
    { env: base },
  );
  assert.equal(status, 1);
  assert.equal(stdout, "");
  assert.match(stderr, /"frobnicate" is not an action; allowed: apply, delete, template/);
  assert.match(stderr, /usage: swath\.sh/);
});

test("domain and address are understood in both orders; two addresses are not", async () => {
  const run = (...args: string[]) =>
    runCommand(process.execPath, [join(root, "cli/main.ts"), "deploy", "template", "swath", ...args], {
      env: { ...base, REQUIRE_DUMMY_SERVICE: "true", OPEN_INGRESS: "true" },
    });
  const [one, other] = await Promise.all([run("a.example.org", "192.0.2.1"), run("192.0.2.1", "a.example.org")]);
  assert.equal(one.stdout, other.stdout);
  assert.match(one.stdout, /dummy-service-open\.a\.example\.org/);
  const wrong = await run("192.0.2.1", "192.0.2.2");
  assert.equal(wrong.status, 1);
  assert.match(wrong.stderr, /two addresses[\s\S]*variant A[\s\S]*variant B/);
});

/** What a wrapper deploys, in a variant, as YAML. */
async function renderWrapper(name: string, variant: string): Promise<string> {
  const options = join(root, "deploy", name, `${name}-options`);
  const script = '. "$1" && exec "$2" "$3" deploy template swath swath.example.org 192.0.2.10';
  const { status, stdout, stderr } = await runCommand(
    "sh",
    ["-euc", script, "sh", options, process.execPath, join(root, "cli/main.ts")],
    { env: { ...base, PLATFORM_VARIANT: variant } },
  );
  assert.equal(status, 0, `${name} ${variant}: ${stderr}`);
  return stdout;
}

const WRAPPERS = globSync("deploy/*/*-options", { cwd: root })
  .map((file) => basename(dirname(file)))
  .toSorted();

const splitDocuments = (text: string) => text.split(/^---\n/m).filter((document) => /^kind: /m.test(document));

test("a real API server accepts every document of every wrapper in both variants", async (t) => {
  const env = { PATH, HOME, KUBECONFIG };
  const reachable = await runCommand("kubectl", ["get", "nodes", "--request-timeout=3s"], { env }).catch(
    () => undefined,
  );
  if (reachable?.status !== 0) {
    t.skip("no Kubernetes cluster is reachable: set KUBECONFIG to one (kubectl must be installed)");
    return;
  }
  const rendered = new Map<string, string>();
  for (const [index, settings] of SETTINGS.entries()) {
    rendered.set(`settings ${index}`, await renderTemplate(settings));
  }
  assert.ok(WRAPPERS.length >= 7, WRAPPERS.join());
  // In CI each wrapper in one of the variants, in turn.
  for (const [index, name] of WRAPPERS.entries()) {
    for (const variant of isWhole ? ["A", "B"] : [index % 2 === 0 ? "A" : "B"]) {
      rendered.set(`${name} ${variant}`, await renderWrapper(name, variant));
    }
  }
  // A dry run does not remember namespaces, so they are made for as long as it takes.
  const all = [...rendered.values()].flatMap(splitDocuments);
  const namespaces = [...new Set(all.filter((document) => /^kind: Namespace$/m.test(document)))].join("---\n");
  await runCommand("kubectl", ["apply", "-f", "-"], { env, input: namespaces });
  try {
    for (const [name, text] of rendered) {
      const { status, stdout, stderr } = await runCommand(
        "kubectl",
        ["apply", "--dry-run=server", "--server-side", "--force-conflicts", "--field-manager=swath", "-f", "-"],
        { env, input: text },
      );
      assert.equal(status, 0, `${name}: ${stderr}`);
      assert.equal(stdout.trim().split("\n").length, splitDocuments(text).length, name);
      t.diagnostic(`${name}: ${splitDocuments(text).length} objects`);
    }
  } finally {
    await runCommand("kubectl", ["delete", "--wait=false", "-f", "-"], { env, input: namespaces });
    await runCommand("kubectl", ["wait", "--for=delete", "--timeout=120s", "-f", "-"], { env, input: namespaces });
  }
});
