// The JupyterLab profile's settings with a real Jupyter Server 2. Name a Python that has jupyter_server:
//
//     JUPYTER_PYTHON=~/venv/bin/python npm run test:suites -- jupyter-server
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { findFreePort, waitUntil } from "@swath/testing";

import { parseProfiles } from "../../components/application-hub/profiles/parse.ts";

// oxlint-disable-next-line node/no-process-env -- which Python is the caller's to say
const { JUPYTER_PYTHON: python = "", PATH = "" } = process.env;
const skip = python === "" ? "JUPYTER_PYTHON names no Python that has jupyter_server" : false;
const hub = join(import.meta.dirname, "../../components/application-hub");
const BASE = "/user/eric/";
const home = mkdtempSync(join(tmpdir(), "swath-jupyter-"));
let origin = "";
let stop = () => {};

before(async () => {
  if (skip !== false) {
    return;
  }
  const port = await findFreePort();
  origin = `http://127.0.0.1:${port}`;
  const profile = parseProfiles(readFileSync(join(hub, "profiles/shipped.yml"), "utf8")).find(
    ({ id }) => id === "jupyterlab",
  );
  assert.ok(profile?.embedded?.kind === "program");
  const given: Readonly<Record<string, string>> = { port: String(port), base: BASE, home, origin };
  const args = profile.embedded.command
    .slice(1)
    .map((arg) => arg.replaceAll(/\{(\w+)\}/g, (_, name: string) => given[name] ?? ""));
  const child = spawn(python, ["-m", "jupyter_server", ...args, "--allow-root"], {
    env: { PATH, HOME: home, PYTHONPATH: join(hub, "clients/python") },
    stdio: "ignore",
  });
  stop = () => child.kill();
  await waitUntil("the server answers", async () => {
    assert.equal(child.exitCode, null);
    return (await fetch(`${origin}${BASE}api`).catch(() => undefined))?.ok === true;
  });
});
after(() => {
  stop();
  rmSync(home, { recursive: true, force: true });
});

const send = (method: string, path: string, headers: Readonly<Record<string, string>>, body?: object) =>
  fetch(`${origin}${BASE}${path}`, {
    method,
    redirect: "manual",
    headers: { "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const FILE = { type: "file", format: "text", content: "x" };
const eric = { "x-swath-user": "eric%20m%C3%BCller" };

test("the server knows its visitor by name, and nobody without one", { skip }, async () => {
  const { identity } = (await (await send("GET", "api/me", eric)).json()) as { identity: Record<string, string> };
  assert.deepEqual([identity["username"], identity["display_name"]], ["eric müller", "eric müller"]);
  for (const path of ["api/contents", "api/kernels", "api/me"]) {
    assert.ok([302, 403].includes((await send("GET", path, {})).status), path);
  }
});

test("a client with a token changes files; a page of another site does not", { skip }, async () => {
  const withToken = { ...eric, authorization: "token stand-in" };
  assert.equal((await send("PUT", "api/contents/a.txt", withToken, FILE)).status, 201);
  assert.equal((await send("PUT", "api/contents/b.txt", eric, FILE)).status, 403);
  const own = { ...eric, cookie: "_xsrf=v", "x-xsrftoken": "v" };
  assert.equal((await send("PUT", "api/contents/b.txt", own, FILE)).status, 201);
});
