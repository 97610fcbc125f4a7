// The public S3 suite (github.com/ceph/s3-tests) against the object store, as its repository has it. It is brought by whoever runs
// this, not kept here: S3_TESTS=<checkout> npm run test:suites -- s3
//
// Needs Python 3 with venv and the package registry of Python. S3_TESTS_GROUPS names the groups to run, separated by commas; left out:
// `core`, which is what the store is held to.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { callAdmin } from "../../components/objstore/test/call-admin.ts";
import { startObjstore } from "../../components/objstore/test/start-objstore.ts";

const PACKAGES = ["PyYAML", "boto3", "gevent", "httplib2", "isodate", "lxml", "munch", "pytest", "pytz", "requests"];
const MINUTE = 60_000;
/** How long a day of lifecycle rules is for the suite. */
const DAY_SECONDS = 4;

/** What of the suite belongs to a group, in the words of its own markers, and how many of its tests must pass. */
interface Group {
  readonly files: readonly string[];
  readonly marks: string;
  readonly least: number;
}

const S3_FILES = ["s3tests/functional/test_s3.py", "s3tests/functional/test_headers.py"];
const ENCRYPTION = "encryption or sse_s3 or bucket_encryption";
const OTHERS = "fails_on_aws or fails_on_rgw or cloud_transition or cloud_restore or lifecycle_transition";
const LOGGING = "bucket_logging or bucket_logging_cleanup";

const GROUPS: Readonly<Record<string, Group>> = {
  core: { files: S3_FILES, marks: `not (${OTHERS} or ${LOGGING} or ${ENCRYPTION})`, least: 492 },
  encryption: { files: S3_FILES, marks: ENCRYPTION, least: 10 },
  lifecycle: { files: S3_FILES, marks: "lifecycle_expiration", least: 10 },
  iam: {
    files: ["s3tests/functional/test_iam.py", "s3tests/functional/test_sts.py"],
    marks: "not fails_on_aws",
    least: 0,
  },
};

const checkout = process.env["S3_TESTS"];
const expected = (process.env["S3_TESTS_GROUPS"] ?? "core").split(",");
const skip =
  checkout === undefined || !existsSync(join(checkout, "s3tests"))
    ? "S3_TESTS must name a checkout of github.com/ceph/s3-tests"
    : false;

test("the public S3 suite", { skip }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "s3-suite-"));
  const python = join(folder, "venv/bin/python");
  try {
    if (!makeEnvironment(folder, python)) {
      t.skip("the packages of the suite cannot be had from the package registry of Python (pypi.org)");
      return;
    }
    for (const name of expected) {
      const group = GROUPS[name];
      assert.ok(group, `S3_TESTS_GROUPS names "${name}"; groups: ${Object.keys(GROUPS).join(", ")}`);
      await t.test(name, (each) => runGroup(name, group, { folder, python, tell: (text) => each.diagnostic(text) }));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

function makeEnvironment(folder: string, python: string): boolean {
  const run = (program: string, ...args: string[]) =>
    spawnSync(program, args, { stdio: "ignore", timeout: 5 * MINUTE }).status === 0;
  return (
    run("python3", "-m", "venv", join(folder, "venv")) &&
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", ...PACKAGES)
  );
}

interface Place {
  readonly folder: string;
  readonly python: string;
  readonly tell: (text: string) => void;
}

async function runGroup(name: string, { files, marks, least }: Group, { folder, python, tell }: Place): Promise<void> {
  const store = await startObjstore(
    {
      OBJSTORE_DEFAULT_OWNERSHIP: "ObjectWriter",
      OBJSTORE_SIGNATURE_V2: "true",
      OBJSTORE_ENCRYPTION_KEYS: "suite:a-key-of-the-deployment",
    },
    {},
    { lifecycleDayMs: DAY_SECONDS * 1000 },
  );
  try {
    const settings = join(folder, `${name}.conf`);
    await writeFile(settings, await toSettings(store, name));
    const report = join(folder, `${name}.xml`);
    const args = [
      "-m",
      "pytest",
      "-q",
      "-p",
      "no:cacheprovider",
      "--tb=line",
      `--junitxml=${report}`,
      "-m",
      marks,
      ...files,
    ];
    const { signal } = await runPytest(python, args, settings);
    assert.equal(signal, null, "the suite took longer than an hour");
    const results = readResults(await readFile(report, "utf8"));
    for (const [group, { passed, failed }] of countGroups(results)) {
      tell(
        `${group}: ${passed} passed, ${failed.length} failed${failed.length === 0 ? "" : ` (${failed.join(", ")})`}`,
      );
    }
    const passed = results.filter((each) => each.outcome === "passed").length;
    tell(`${name}: ${passed} of ${results.length} passed`);
    assert.ok(passed >= least, `${passed} of the group ${name} passed, ${least} must`);
  } finally {
    await store.stop();
  }
}

/** Beside this process, which is the store. */
async function runPytest(
  python: string,
  args: readonly string[],
  settings: string,
): Promise<{ signal: string | null }> {
  const child = spawn(python, args, {
    cwd: checkout,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], S3TEST_CONF: settings },
    stdio: "ignore",
    timeout: 60 * MINUTE,
  });
  const [, signal] = (await once(child, "exit")) as [number | null, string | null];
  return { signal };
}

/** The suite's settings: people with accounts of their own. */
async function toSettings(store: Awaited<ReturnType<typeof startObjstore>>, group: string): Promise<string> {
  const { port } = new URL(store.url);
  const sections: string[] = [
    `[DEFAULT]\nhost = 127.0.0.1\nport = ${port}\nis_secure = False\nssl_verify = False`,
    "[fixtures]\nbucket prefix = suite-{random}-\niam name prefix = suite-\niam path prefix = /suite/",
  ];
  const people = {
    "s3 main": "main",
    "s3 alt": "alt",
    "s3 tenant": "tenant",
    iam: "iam",
    "iam root": "iamroot",
    "iam alt root": "iamalt",
  };
  for (const [section, name] of Object.entries(people)) {
    // Of users without accounts, whom another one administers, the suite believes that they share one: the deployment's.
    const isAdministrator = section === "iam";
    const isOfDeployment = isAdministrator || (group === "iam" && section === "s3 alt");
    const Action = isAdministrator ? ["s3:*", "iam:*"] : "s3:*";
    const policy = { Version: "2012-10-17", Statement: [{ Effect: "Allow", Action, Resource: "*" }] };
    const account = isOfDeployment ? "" : name;
    await callAdmin(store, "PUT", `/api/users/${name}`, { policy, account, email: `${name}@example.com` });
    const { body } = await callAdmin(store, "POST", "/api/access-keys", { user: name });
    sections.push(
      `[${section}]\ndisplay_name = ${name}\nuser_id = ${name}\nemail = ${name}@example.com\naccess_key = ${body.accessKey}\nsecret_key = ${body.secretKey}\napi_name =\ntenant = tenant\nlc_debug_interval = ${DAY_SECONDS}`,
    );
  }
  return `${sections.join("\n\n")}\n`;
}

interface Result {
  readonly name: string;
  readonly outcome: "passed" | "failed" | "skipped";
}

/** Outcomes in a JUnit report; a test whose tidying failed is counted by its own outcome. */
function readResults(xml: string): readonly Result[] {
  const results = new Map<string, Result>();
  for (const [, name = "", rest = ""] of xml.matchAll(
    /<testcase [^>]*? name="([^"]+)"[^>]*?(\/>|>[\s\S]*?<\/testcase>)/g,
  )) {
    const outcome = /<(failure|error)\b/.test(rest) ? "failed" : rest.includes("<skipped") ? "skipped" : "passed";
    results.set(name, { name, outcome });
  }
  return [...results.values()];
}

/** By the first words of the tests' names. */
function countGroups(results: readonly Result[]): Map<string, { passed: number; failed: string[] }> {
  const groups = new Map<string, { passed: number; failed: string[] }>();
  for (const { name, outcome } of results) {
    const group = /^test_([a-z0-9]+(?:_[a-z0-9]+)?)/.exec(name)?.[1] ?? "other";
    const counts = groups.get(group) ?? { passed: 0, failed: [] };
    counts.passed += Number(outcome === "passed");
    if (outcome === "failed") {
      counts.failed.push(name);
    }
    groups.set(group, counts);
  }
  return groups;
}
