// What is rendered for each minor version of Kubernetes against the schemas that its API server publishes, strictly: fields that a version
// does not know are errors. The schemas are those of PyPI's kubernetes-validate; two of its releases have all versions together.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { runCommand } from "@swath/testing";
import { parseAllDocuments } from "yaml";

const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
const root = join(import.meta.dirname, "../..");
const RELEASES = [
  { release: "1.24.0", minors: [20, 21, 22, 23, 24] },
  { release: "1.37.0", minors: [25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37] },
] as const;
/** Everything that is rendered only where it is asked for. */
const SETTINGS: readonly Record<string, string>[] = [
  { PLATFORM_VARIANT: "A", REQUIRE_DUMMY_SERVICE: "true" },
  { PLATFORM_VARIANT: "B", REQUIRE_DUMMY_SERVICE: "true" },
  {
    PLATFORM_VARIANT: "A",
    OPEN_INGRESS: "true",
    USE_TLS: "false",
    ADES_STORAGE_ACCESS: "ReadWriteMany",
    METRICS_NAMESPACE: "monitoring",
    SERVICE_MONITORS: "true",
    SERVICE_REPLICAS_MAX: "5",
    POD_TOLERATIONS: "dedicated=eo:NoSchedule",
  },
];
/** Kinds of others, of which these schemas say nothing. */
const OWN_GROUPS = /^(?:v1$|(?:apps|batch|autoscaling|policy)\/|[\w.-]+\.k8s\.io\/)/;
const OTHERS = /^(?:gateway\.networking\.k8s\.io|snapshot\.storage\.k8s\.io)\//;

const folder = mkdtempSync(join(tmpdir(), "kubernetes-schemas-"));
let missing: string | undefined;

before(async () => {
  for (const { release } of RELEASES) {
    const place = join(folder, release);
    const made = await runCommand("python3", ["-m", "venv", place]).catch((error: Error) => ({
      status: 1,
      stderr: error.message,
    }));
    // Its older release reads its own version by setuptools.
    const packages = [`kubernetes-validate==${release}`, "setuptools<80"];
    const installed =
      made.status === 0
        ? await runCommand(join(place, "bin/pip"), ["install", "--quiet", ...packages], { env: { PATH, HOME } })
        : made;
    if (installed.status !== 0) {
      missing = `needs python3 with venv, and PyPI: ${installed.stderr.trim().split("\n").at(-1)}`;
    }
  }
});
after(() => rmSync(folder, { recursive: true, force: true }));

const validate = (release: string, minor: number, file: string) =>
  runCommand(
    join(folder, release, "bin/kubernetes-validate"),
    ["--strict", "--quiet", "--kubernetes-version", `1.${minor}`, file],
    { env: { PATH, HOME } },
  );

for (const { release, minors } of RELEASES) {
  for (const minor of minors) {
    test(`Kubernetes 1.${minor}`, async (t) => {
      if (missing !== undefined) {
        t.skip(missing);
        return;
      }
      for (const [index, settings] of SETTINGS.entries()) {
        const { status, stdout, stderr } = await runCommand(
          process.execPath,
          [
            join(root, "cli/main.ts"),
            ..."deploy template swath swath.example.org 192.0.2.10 --secrets none --for".split(" "),
            `1.${minor}`,
          ],
          { env: { PATH, HOME, NODE_COMPILE_CACHE, SWATH_STATE_DIR: "/nonexistent/swath", ...settings } },
        );
        assert.equal(status, 0, stderr);
        const objects = parseAllDocuments(stdout, { version: "1.1" })
          .map((document) => document.toJS() as { apiVersion: string } | null)
          .filter((object) => object !== null);
        const own = objects.filter(({ apiVersion }) => OWN_GROUPS.test(apiVersion) && !OTHERS.test(apiVersion));
        assert.ok(own.length > 100, `${own.length} objects`);
        const file = join(folder, `${minor}-${index}.yaml`);
        writeFileSync(file, own.map((object) => `---\n${JSON.stringify(object)}\n`).join(""));
        const checked = await validate(release, minor, file);
        assert.equal(checked.status, 0, checked.stdout + checked.stderr);
        assert.doesNotMatch(checked.stdout + checked.stderr, /ERROR/);
      }
    });
  }
}

test("a field that there is not is found", async (t) => {
  if (missing !== undefined) {
    t.skip(missing);
    return;
  }
  for (const { release, minors } of RELEASES) {
    const file = join(folder, "wrong.yaml");
    writeFileSync(
      file,
      '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}, "dataa": {"a": "b"}}\n',
    );
    const { stdout, stderr } = await validate(release, minors[0], file);
    assert.match(stdout + stderr, /dataa/);
  }
});
