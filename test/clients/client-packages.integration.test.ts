// The clients for programs, as people get them: by pip and npm from the hub, and a login with the identity service.
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { createApp, readyServer } from "@swath/service/fastify";
import { createLogger } from "@swath/service";
import { runCommand, waitUntil } from "@swath/testing";

import { addClientPackages } from "../../components/application-hub/client-packages/routes.ts";
import { Browser, readPageForm } from "../../components/identity/test/browser.ts";
import { PASSWORD, type TestIdentity, startIdentity } from "../../components/identity/test/start-identity.ts";

const root = join(import.meta.dirname, "../..");
const hasVenv = spawnSync("python3", ["-c", "import venv, ensurepip"]).status === 0;
const withPython = hasVenv ? {} : { skip: "needs python3 with venv (apt-get install python3-venv)" };

let folder: string;
let base: string;
let identity: TestIdentity;
let stop: () => Promise<void>;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "swath-clients-"));
  identity = await startIdentity();
  const app = createApp(createLogger("clients", "silent"));
  await addClientPackages(app);
  const server = await readyServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/clients`;
  stop = () => app.close();
  if (hasVenv) {
    assert.equal(spawnSync("python3", ["-m", "venv", join(folder, "venv")]).status, 0);
  }
});
after(async () => {
  await stop?.();
  await identity?.close();
  rmSync(folder, { recursive: true, force: true });
});

const environment = (config: string): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  HOME: folder,
  XDG_CONFIG_HOME: join(folder, config),
  npm_config_cache: join(folder, "npm"),
});
const pip = (...args: readonly string[]) =>
  runCommand(join(folder, "venv/bin/pip"), ["--disable-pip-version-check", "--no-cache-dir", ...args], {
    env: environment("pip"),
  });

test(
  "pip installs it from the index and by the address of the wheel, and it imports nothing else",
  withPython,
  async () => {
    const installed = await pip("install", "--index-url", `${base}/python/`, "swath-client");
    assert.equal(installed.status, 0, installed.stdout + installed.stderr);
    const listed = await pip("show", "--files", "swath-client");
    assert.match(listed.stdout, /^Version: \d+\.\d+\.\d+$/m);
    assert.match(listed.stdout, /swath\/py\.typed/);
    const wheel = /href="\/clients(\/python\/[^"#]+)#sha256=/.exec(
      await (await fetch(`${base}/python/swath-client/`)).text(),
    );
    const again = await pip("install", "--no-index", "--force-reinstall", `${base}${wheel?.[1]}`);
    assert.equal(again.status, 0, again.stdout + again.stderr);
    // With the standard library alone: -S -s would hide it, so what it imports is looked at.
    const program = `
import sys
before = set(sys.modules)
import swath, typing, inspect
new = {name.split(".")[0] for name in set(sys.modules) - before} - {"swath"}
print(sorted(new - set(sys.stdlib_module_names)))
for name in swath.__all__:
    if inspect.isfunction(getattr(swath, name)):
        hints = inspect.signature(getattr(swath, name))
        assert hints.return_annotation is not inspect.Signature.empty, name
        assert all(each.annotation is not inspect.Parameter.empty for each in hints.parameters.values()), name
`;
    const { status, stdout, stderr } = await runCommand(join(folder, "venv/bin/python"), ["-c", program]);
    assert.equal(status, 0, stderr);
    assert.equal(stdout.trim(), "[]");
  },
);

test("npm installs it by its address, with types that a program is checked with", async () => {
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{"type": "module", "private": true}\n');
  const options = { cwd: project, env: environment("npm") };
  const npm = await runCommand(
    "npm",
    ["install", "--no-audit", "--no-fund", `${base}/javascript/swath-client.tgz`],
    options,
  );
  assert.equal(npm.status, 0, npm.stdout + npm.stderr);
  writeFileSync(
    join(project, "right.ts"),
    'import { Files, login, open, search } from "swath-client";\nconst user: string = await login("https://eo.example.org");\nconst [item] = await search({ limit: 1 });\nconst values = await open(item, "red", { maxSize: 9 });\nconst names: string[] = await new Files().list(`${user}${values.width}`);\nexport { names };\n',
  );
  writeFileSync(
    join(project, "wrong.ts"),
    'import { search } from "swath-client";\nawait search({ limit: "many" });\n',
  );
  const check = (file: string) =>
    runCommand(
      process.execPath,
      [
        join(root, "node_modules/typescript/bin/tsc"),
        "--ignoreConfig",
        "--noEmit",
        "--strict",
        "--target",
        "es2024",
        "--module",
        "nodenext",
        "--lib",
        "es2024,dom",
        "--types",
        "",
        file,
      ],
      options,
    );
  const right = await check("right.ts");
  assert.equal(right.status, 0, right.stdout);
  assert.match((await check("wrong.ts")).stdout, /wrong\.ts\(2,\d+\): error TS2322/);
});

test("what is served is the same bytes each time", async () => {
  for (const path of ["python/swath-client/", "javascript/"]) {
    const page = await (await fetch(`${base}/${path}`)).text();
    const [, file = ""] = /href="\/clients(\/[^"#]+)/.exec(page) ?? [];
    const read = async () => Buffer.from(await (await fetch(`${base}${file}`)).arrayBuffer());
    assert.ok((await read()).equals(await read()));
  }
  assert.equal((await fetch(`${base}/python/other/`)).status, 404);
});

/** Allows a login that a program has begun, in a browser. */
async function allow(address: string): Promise<void> {
  const browser = new Browser();
  const form = readPageForm(await browser.open(address));
  const response = await browser.open(form.action, { form: { ...form.fields, username: "eric", password: PASSWORD } });
  const question = readPageForm(response);
  const done = await browser.open(question.action, { form: { ...question.fields, decision: "allow" } });
  assert.match(done.text, /The program is logged in/);
}

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
}

async function checkLogin(config: string, { command, args, cwd }: Program): Promise<void> {
  const child: ChildProcess = spawn(command, args, {
    cwd,
    env: environment(config),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => (said += text));
  }
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  await waitUntil("it prints where to log in", () => Promise.resolve(/check that the page shows the code/.test(said)));
  await allow(/^Open (\S+)$/m.exec(said)?.[1] ?? "");
  assert.equal(await ended, 0, said);
  assert.match(said, /^hello eric$/m);
  const file = join(folder, config, "swath/logins.json");
  assert.equal(statSync(file).mode & 0o777, 0o600, "readable for its owner alone");
  // A second time nobody is asked, also when the access token has ended.
  const saved = JSON.parse(readFileSync(file, "utf8"));
  const old = saved.logins[0].accessToken;
  writeFileSync(file, JSON.stringify({ ...saved, logins: [{ ...saved.logins[0], accessTokenEnds: 0 }] }));
  const again = await runCommand(command, args, { ...(cwd !== undefined && { cwd }), env: environment(config) });
  assert.equal(again.status, 0, again.stderr);
  assert.match(again.stdout, /^hello eric$/m);
  assert.doesNotMatch(again.stdout + again.stderr, /check that the page/);
  assert.notEqual(JSON.parse(readFileSync(file, "utf8")).logins[0].accessToken, old);
}

test("Python logs in with a browser, once", withPython, async () => {
  const program = `
import swath
print("hello", swath.login("http://platform.test", issuer=${JSON.stringify(identity.issuer)}), flush=True)
swath.environment()["token"]
`;
  await checkLogin("python", { command: join(folder, "venv/bin/python"), args: ["-u", "-c", program] });
});

test("JavaScript logs in with a browser, once", async () => {
  const project = join(folder, "project");
  assert.ok(existsSync(join(project, "node_modules/swath-client")));
  const program = `
import { environment, login } from "swath-client";
console.log("hello", await login("http://platform.test", { issuer: ${JSON.stringify(identity.issuer)} }));
await environment();
`;
  await checkLogin("javascript", {
    command: process.execPath,
    args: ["--input-type=module", "-e", program],
    cwd: project,
  });
});
