import assert from "node:assert/strict";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { waitUntil } from "@swath/testing";

import { describedPackage as shellPackage } from "./described-package.ts";
import { type TestAdes, startAdes } from "./start-ades.ts";

const API = "/eric/ogc-api";
const ASYNC = { prefer: "respond-async" };

interface Told {
  readonly path: string;
  readonly key: string | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any -- messages are looked into freely
  readonly body: any;
}

let ades: TestAdes;
let subscriber: Server;
const told: Told[] = [];
/** What the subscriber answers next to what is told of a job; 200 when there is nothing. */
const responses = new Map<string, number[]>();
before(async () => {
  ades = await startAdes({ env: { ALLOW_PRIVATE: "127.0.0.1/32" } });
  subscriber = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (part: string) => (text += part));
    request.on("end", () => {
      told.push({
        path: request.url ?? "",
        key: request.headers["idempotency-key"] as string | undefined,
        body: JSON.parse(text),
      });
      const [, name = ""] = (request.url ?? "").split("/");
      response.writeHead(responses.get(name)?.shift() ?? 200).end();
    });
  });
  await new Promise<void>((resolve) => subscriber.listen(0, "127.0.0.1", resolve));
});
after(async () => {
  subscriber.close();
  await ades.close();
});

const addresses = (name: string) => {
  const base = `http://127.0.0.1:${(subscriber.address() as AddressInfo).port}/${name}`;
  return { successUri: `${base}/success`, inProgressUri: `${base}/progress`, failedUri: `${base}/failed?token=secret` };
};
const start = async (process: string, name: string, inputs: object = { name: "x" }) => {
  const { status, body, headers } = await ades.send(`${API}/processes/${process}/execution`, {
    json: { inputs, subscriber: addresses(name) },
    headers: ASYNC,
  });
  assert.equal(status, 201, JSON.stringify(body));
  return headers.get("location") ?? "";
};
const toldOf = (name: string) => told.filter(({ path }) => path.startsWith(`/${name}/`));
const notifications = async (location: string) => (await ades.send(`${location}/notifications`)).body.notifications;

test("/req/callback/job-callback: progress, then the results", async () => {
  await ades.send(`${API}/processes`, {
    text: shellPackage("greet", 'sleep 3; printf "hi $1"'),
    type: "application/cwl",
  });
  const location = await start("greet", "good");
  await waitUntil("success is told", () => toldOf("good").some(({ path }) => path.endsWith("/success")));
  const [progress, success] = toldOf("good");
  assert.deepEqual(
    [progress?.path, progress?.body.status, progress?.body.jobID],
    ["/good/progress", "running", location.slice(-36)],
  );
  assert.ok(progress?.body.links[0].href.startsWith(ades.url));
  assert.deepEqual(success?.body, { text: "hi x", length: 4 });
  await waitUntil("it is noted", async () =>
    (await notifications(location)).every(({ status }: { status: string }) => status === "delivered"),
  );
});

test("/req/callback/job-callback: failure and dismissal are told with the status; secrets in addresses are not shown", async () => {
  await ades.send(`${API}/processes`, { text: shellPackage("broken", "exit 3"), type: "application/cwl" });
  const location = await start("broken", "bad");
  await waitUntil("failure is told", () => toldOf("bad").some(({ path }) => path.startsWith("/bad/failed")));
  const failed = toldOf("bad").find(({ path }) => path === "/bad/failed?token=secret");
  assert.equal(failed?.body.status, "failed");
  assert.doesNotMatch(JSON.stringify(await notifications(location)), /secret/);
});

test("a subscriber that fails is told again, with the same key; one that is gone for good is not", async () => {
  responses.set("again", [503]);
  await start("echo", "again", { stringInput: "Value1" });
  await waitUntil("success is told", () => toldOf("again").filter(({ path }) => path.endsWith("/success")).length > 0);
  await waitUntil("whatever failed is told again", () => toldOf("again").length >= 2);
  const keys = toldOf("again").map(({ key, path }) => `${path} ${key}`);
  assert.equal(new Set(keys).size, 1, keys.join("\n"));
  responses.set("gone", [410]);
  const location = await start("echo", "gone", { stringInput: "Value1" });
  await waitUntil("it is given up", async () =>
    (await notifications(location)).some(({ error }: { error?: string }) => error?.includes("410") === true),
  );
});

test("what is to be told outlives the service", async () => {
  responses.set("later", [503, 503, 503, 503]);
  const location = await start("echo", "later", { stringInput: "Value1" });
  await waitUntil("it was tried, and that is noted", async () =>
    (await notifications(location)).some(({ error }: { error?: string }) => error?.includes("503") === true),
  );
  await ades.kill();
  responses.delete("later");
  await ades.start();
  await waitUntil("it is told after all", async () =>
    (await notifications(location)).some(
      ({ kind, status }: { kind: string; status: string }) => kind === "success" && status === "delivered",
    ),
  );
  assert.deepEqual(toldOf("later").at(-1)?.body, { stringOutput: "Value1" });
});

test("a subscriber whose name is not known is told later", async () => {
  const { headers } = await ades.send(`${API}/processes/echo/execution`, {
    json: { inputs: { stringInput: "Value1" }, subscriber: { successUri: "http://localhost.localdomain.invalid:1/x" } },
    headers: ASYNC,
  });
  const found = await waitUntil("it was tried", async () => {
    const [first] = await notifications(headers.get("location") ?? "");
    return first?.error === undefined ? undefined : first;
  });
  assert.equal(found.status, "waiting");
});
