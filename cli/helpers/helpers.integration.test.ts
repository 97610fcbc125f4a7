import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { type IncomingMessage, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";

import { runCommand } from "@swath/testing";

const bin = join(import.meta.dirname, "../../deploy/bin");

/** Answers as identity service, identity API and workspace API of a deployment that is just starting. */
const seen: { what: string; body: string; authorization: string | undefined }[] = [];
let unavailable = 0;
let responses: Record<string, [number, unknown]> = {};
const server = createServer((request, response) => {
  void readText(request).then((body) => {
    const what = `${request.method} ${request.url}`;
    seen.push({ what, body, authorization: request.headers.authorization });
    const [status, value] = unavailable-- > 0 ? [503, {}] : (responses[what] ?? [404, {}]);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  });
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const TOKEN = "POST /realms/master/protocol/openid-connect/token";
const USERS = "POST /admin/realms/master/users";
after(() => server.close());
beforeEach(() => {
  seen.splice(0);
  unavailable = 0;
  responses = { [TOKEN]: [200, { access_token: "t.o.k" }] };
});

const run = (helper: string, ...args: readonly string[]) =>
  runCommand(join(bin, helper), args, {
    env: { PATH: process.env["PATH"], HOME: "/nonexistent", SWATH_CLUSTER: "none" },
  });

test("--cluster names the deployment; one that does not exist is an error", async () => {
  for (const option of [["--cluster", "nope"], ["--cluster=nope"]]) {
    const { status, stderr } = await run("create-user", ...option, "-U", "carol", "-P", "pass&word", "-a", url);
    assert.equal(status, 1);
    assert.match(stderr, /there is no cluster "nope"/);
  }
});

test("a refused request tells the reason that the server gives", async () => {
  responses[USERS] = [422, { detail: [{ loc: ["body", "username"], msg: "must not be empty", type: "value_error" }] }];
  const { status, stderr } = await run(
    "create-user",
    "-a",
    url,
    "-p",
    "admin-password",
    "-U",
    "carol",
    "-P",
    "pass&word",
  );
  assert.equal(status, 1);
  assert.match(stderr, /user carol cannot be created: body\.username: must not be empty \(422\)/);
});

test("create-user logs in as the administrator and creates; one who exists is no error", async () => {
  responses[USERS] = [201, ""];
  const args = ["-a", url, "-p", "admin-password", "-U", "carol", "-P", "pass&word"];
  const created = await run("create-user", ...args);
  assert.equal(created.status, 0, created.stderr);
  assert.equal(created.stdout, "created user carol\n");
  assert.equal(
    seen[0]?.body,
    "scope=openid+profile+email&grant_type=password&username=admin&password=admin-password&client_id=admin-cli",
  );
  assert.equal(seen[1]?.authorization, "Bearer t.o.k");
  assert.match(seen[1]?.body ?? "", /"value":"pass&word"/);
  responses[USERS] = [409, { errorMessage: "exists" }];
  assert.equal((await run("create-user", ...args)).stdout, "user carol exists already\n");
});

test("a service that is starting is waited for; a wrong password is not tried again", async () => {
  responses[USERS] = [201, ""];
  unavailable = 1;
  const args = ["-a", url, "-p", "x", "-U", "carol", "-P", "y"];
  const waited = await run("create-user", ...args);
  assert.equal(waited.status, 0, waited.stderr);
  assert.match(waited.stderr, /answered 503; trying again in 1 s/);
  seen.splice(0);
  responses[TOKEN] = [401, { error: "invalid_grant", error_description: "Invalid user credentials" }];
  const wrong = await run("create-user", ...args);
  assert.equal(wrong.status, 1);
  assert.match(wrong.stderr, /admin cannot log in at .*: Invalid user credentials \(401\)/);
  assert.equal(seen.length, 1);
});

test("every helper shows its help and ends with status 0, without a deployment", async () => {
  for (const helper of readdirSync(bin)) {
    for (const option of ["--help", "-h"]) {
      const { status, stdout, stderr } = await run(helper, option);
      assert.deepEqual([status, stderr], [0, ""], `${helper} ${option}`);
      assert.match(stdout, new RegExp(`^Usage: ${helper.replace(".", "\\.")}`), helper);
    }
  }
});

test("a missing password without a terminal ends with status 1 and says what to do", async () => {
  for (const args of [
    ["create-user", "-U", "carol", "-a", url],
    ["create-user", "-U", "carol", "-P", "x", "-a", url],
    ["create-workspace", "-W", "carol", "-a", url, "-w", url],
    ["create-client", "--id=x", "-a", url, "-i", url],
  ]) {
    const [helper = "", ...rest] = args;
    const { status, stderr } = await run(helper, ...rest);
    assert.equal(status, 1);
    assert.match(stderr, /the password of (carol|admin) is missing: give -[pP]/);
  }
  assert.equal(seen.length, 0);
});

test("create-workspace: owner and name stand for each other; an existing one is no error", async () => {
  responses["POST /workspaces"] = [201, { name: "ws-carol" }];
  responses["GET /workspaces/ws-carol"] = [200, { name: "ws-carol", status: "ready" }];
  for (const option of ["-O", "-W"]) {
    const { status, stdout } = await run("create-workspace", "-a", url, "-w", url, "-p", "x", option, "carol");
    assert.equal(status, 0);
    assert.equal(stdout, '{"name":"ws-carol"}\n');
    assert.equal(seen.at(-1)?.what, "GET /workspaces/ws-carol");
    assert.equal(seen.at(-2)?.body, '{"preferred_name":"carol","default_owner":"carol"}');
  }
  const impatient = await run("create-workspace", "-a", url, "-w", url, "-p", "x", "-W", "carol", "--no-wait");
  assert.equal(impatient.status, 0);
  assert.equal(seen.at(-1)?.what, "POST /workspaces");
  responses["POST /workspaces"] = [422, { detail: { error: "Namespace already exists" } }];
  assert.equal((await run("create-workspace", "-a", url, "-w", url, "-p", "x", "-W", "carol")).status, 0);
  responses["POST /workspaces"] = [422, { detail: "preferred_name is not a text" }];
  assert.equal((await run("create-workspace", "-a", url, "-w", url, "-p", "x", "-W", "carol")).status, 1);
});

test("create-client creates the client with its resources and opens its default resource to the scope view", async () => {
  const resources = "/admin/realms/master/clients/u-1/authz/resource-server/resource";
  responses["POST /clients"] = [200, { client: "u-1" }];
  responses["GET /admin/realms/master/clients?clientId=ades"] = [200, [{ id: "u-1", clientId: "ades" }]];
  responses[`GET ${resources}`] = [200, [{ _id: "r-1", name: "Default Resource" }]];
  responses[`GET ${resources}/r-1`] = [200, { _id: "r-1", name: "Default Resource", scopes: [] }];
  responses[`PUT ${resources}/r-1`] = [204, ""];
  const args = [
    "-a",
    url,
    "-i",
    url,
    "-t",
    "given",
    "--id=ades",
    "--secret=hush",
    "--resource=eric",
    "--uris=/eric/*",
    "--users=eric",
  ];
  const { status, stderr } = await run("create-client", ...args);
  assert.equal(status, 0, stderr);
  assert.equal(seen[0]?.what, "POST /clients");
  assert.equal(seen[0]?.authorization, "Bearer given");
  assert.deepEqual(JSON.parse(seen[0]?.body ?? ""), {
    clientId: "ades",
    name: "ades",
    description: "Client ades",
    secret: "hush",
    resources: [{ name: "eric", uris: ["/eric/*"], scopes: ["view"], permissions: { user: ["eric"] } }],
  });
  assert.match(seen.find(({ what }) => what.startsWith("PUT"))?.body ?? "", /"scopes":\[\{"name":"view"\}\]/);

  seen.splice(0);
  responses["POST /clients"] = [409, { error: "exists" }];
  const portal = ["-a", url, "-i", url, "-t", "given", "--id=portal", "--name=Portal", "--public", "--description=d"];
  assert.equal((await run("create-client", ...portal)).status, 0);
  assert.deepEqual(JSON.parse(seen[0]?.body ?? ""), {
    clientId: "portal",
    name: "Portal",
    description: "d",
    publicClient: true,
  });
  assert.equal(seen.length, 1);
  assert.equal((await run("create-client", ...portal, "--secret=x")).status, 1);

  seen.splice(0);
  await run("create-client", ...portal, "--redirect-uris=https://app.example/back, http://127.0.0.1/*");
  const { redirectUris } = JSON.parse(seen[0]?.body ?? "") as { readonly redirectUris: readonly string[] };
  assert.deepEqual(redirectUris, ["https://app.example/back", "http://127.0.0.1/*"]);
});

async function readText(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request as AsyncIterable<Buffer>) {
    text += chunk.toString();
  }
  return text;
}

test(
  "on a terminal a missing password is asked for, and not shown",
  { skip: existsSync("/usr/bin/script") ? false : "needs script (apt-get install bsdutils)" },
  async () => {
    responses[USERS] = [201, ""];
    // `script` gives the helper a terminal of its own; what is typed is typed after each question.
    const child = spawn("/usr/bin/script", ["-qefc", `"${join(bin, "create-user")}" -a ${url} -U carol`, "/dev/null"], {
      env: { PATH: process.env["PATH"], HOME: "/nonexistent", SWATH_CLUSTER: "none", TERM: "dumb" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    let stdout = "";
    const response = new Map([
      ["Password of carol: ", "typed-by-carol\r"],
      ["Password of admin: ", "typed-by-admin\r"],
    ]);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      for (const [question, reply] of response) {
        if (stdout.includes(question)) {
          response.delete(question);
          child.stdin.write(reply);
        }
      }
    });
    const status = await new Promise((resolve) => child.once("close", resolve));
    assert.equal(status, 0, stdout);
    assert.match(stdout, /Password of carol: /);
    assert.match(stdout, /Password of admin: /);
    assert.doesNotMatch(stdout, /typed-by/);
    assert.match(seen.find(({ what }) => what === TOKEN)?.body ?? "", /password=typed-by-admin/);
    assert.match(seen.find(({ what }) => what === USERS)?.body ?? "", /"value":"typed-by-carol"/);
  },
);
