// Projects that are caches of other registries, and replication from and to them.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { findFreePort, waitUntil } from "@swath/testing";

import { checkStore, filesOf } from "./check-store.ts";
import { ADMIN, IMAGE, INDEX, type RegistryClient, createClient, createProject, digestOf, imageOf } from "./client.ts";
import { query } from "./query.ts";
import { addRegistry, pull, pushIndex, replicate, runAgain, startStandIn } from "./remotes.ts";
import { ADMIN_PASSWORD, type TestRegistry, startTestRegistry } from "./start-registry.ts";

let near: TestRegistry;
let far: TestRegistry;
let admin: RegistryClient;
let farAdmin: RegistryClient;
let farId: number;

before(async () => {
  const env = { ALLOW_PRIVATE: "127.0.0.1", COLLECT_INTERVAL: "1s", CACHE_FRESHNESS: "1s" };
  [near, far] = await Promise.all([startTestRegistry(env), startTestRegistry()]);
  [admin, farAdmin] = [createClient(near.url), createClient(far.url)];
  await createProject(farAdmin, "tools");
  farId = await addRegistry(admin, "far", far.url, { access_key: "admin", access_secret: ADMIN_PASSWORD });
});
after(async () => {
  await near.close();
  await far.close();
});

test("a cache fetches what it lacks, has it when its upstream is gone, and follows tags that move", async () => {
  const { digest } = await pushIndex(farAdmin, "tools/deep/tool", "1");
  await createProject(admin, "cache", { registry_id: farId });
  assert.equal(await pull(admin, "cache/tools/deep/tool", "1"), digest);
  await waitUntil("the image is a proper one", async () => {
    const rows = await query(near.postgres.url, "select from registry.arriving_manifest");
    return rows.length === 0;
  });
  assert.equal((await admin.call("GET", "/v2/cache/tools/deep/tool/manifests/nothing")).code(), "MANIFEST_UNKNOWN");
  assert.equal(
    (await admin.call("GET", `/v2/cache/tools/deep/tool/blobs/${digestOf("nothing")}`)).code(),
    "BLOB_UNKNOWN",
  );
  // Moved there, moved here.
  const moved = await farAdmin.pushImage("tools/deep/tool", "1", [randomBytes(10_000)]);
  await waitUntil(
    "the tag has moved",
    async () =>
      (await admin.call("HEAD", "/v2/cache/tools/deep/tool/manifests/1")).headers.get("docker-content-digest") ===
      moved,
  );
  assert.equal(await pull(admin, "cache/tools/deep/tool", "1"), moved);
  await waitUntil("it is kept", async () => {
    const tags = (await admin.call("GET", "/v2/cache/tools/deep/tool/tags/list")).json() as { tags: string[] };
    const rows = await query(near.postgres.url, "select from registry.arriving_manifest");
    return tags.tags.includes("1") && rows.length === 0;
  });
  await far.kill();
  assert.equal(await pull(admin, "cache/tools/deep/tool", "1"), moved);
  await pull(admin, "cache/tools/deep/tool", digest);
  const never = await admin.call("GET", "/v2/cache/tools/other/manifests/1");
  assert.deepEqual([never.status, never.code()], [503, "UNAVAILABLE"]);
  await far.start();
  await checkStore(near.postgres.url, filesOf(near));
});

test("nobody pushes into a cache, and without a right nothing is fetched for anybody", async () => {
  const refused = await admin.call("POST", "/v2/cache/tools/x/blobs/uploads/");
  assert.deepEqual([refused.status, refused.code()], [403, "DENIED"]);
  assert.equal((await admin.putManifest("cache/tools/x", "1", imageOf(Buffer.from("{}"), []))).status, 403);
  await farAdmin.pushImage("tools/secret", "1");
  const nobody = createClient(near.url, "");
  assert.equal((await nobody.call("GET", "/v2/cache/tools/secret/manifests/1")).status, 401);
  const rows = await query(near.postgres.url, "select from registry.repository where name = 'cache/tools/secret'");
  assert.equal(rows.length, 0);
});

test("images of which clients wanted a part are fetched whole, also after the registry was killed", async () => {
  const layers = [randomBytes(30_000), randomBytes(30_000)];
  await farAdmin.pushImage("tools/part", "1", layers);
  const path = "/v2/cache/tools/part";
  assert.equal((await admin.call("GET", `${path}/manifests/1`)).status, 200);
  assert.equal((await admin.call("HEAD", `${path}/blobs/${digestOf(layers[1] as Buffer)}`)).status, 200);
  assert.equal((await admin.call("GET", `${path}/blobs/${digestOf(layers[0] as Buffer)}`)).status, 200);
  await near.kill();
  await query(near.postgres.url, "update registry.arriving_manifest set next_at = now()");
  await near.start();
  await waitUntil("the rest has come", async () => {
    const { body } = await admin.call("GET", `${path}/tags/list`);
    return body.toString().includes('"1"');
  });
  await far.kill();
  await pull(admin, "cache/tools/part", "1");
  await far.start();
  await checkStore(near.postgres.url, filesOf(near));
});

test("many clients at once fetch a blob from its upstream once, and who goes away ends nothing", async () => {
  const layer = randomBytes(3_000_000);
  const digest = digestOf(layer);
  let sent = 0;
  const upstream = await startStandIn((path, response) => {
    if (path === `/v2/big/blobs/${digest}`) {
      sent += 1;
      response.writeHead(200, { "content-length": layer.length });
      response.write(layer.subarray(0, 1_000_000));
      setTimeout(() => response.end(layer.subarray(1_000_000)), 300);
      return true;
    }
    return false;
  });
  await createProject(admin, "big", { registry_id: await addRegistry(admin, "big", upstream.url) });
  const controller = new AbortController();
  const leaving = fetch(`${near.url}/v2/big/big/blobs/${digest}`, {
    headers: { authorization: ADMIN },
    signal: controller.signal,
  }).then(async (response) => {
    assert.equal(response.status, 200);
    controller.abort();
  });
  await leaving;
  const all = await Promise.all([1, 2, 3, 4].map(() => admin.call("GET", `/v2/big/big/blobs/${digest}`)));
  assert.deepEqual(
    all.map(({ status, body }) => [status, digestOf(body)]),
    all.map(() => [200, digest]),
  );
  assert.equal(sent, 1);
  upstream.close();
});

test("content that is not what its digest says reaches no client whole and is not kept", async () => {
  const digest = digestOf("right");
  const upstream = await startStandIn((path, response) => {
    if (path.endsWith(`/blobs/${digest}`)) {
      response.writeHead(200, { "content-length": 5 });
      response.end("wrong");
      return true;
    }
    return false;
  });
  await createProject(admin, "liar", { registry_id: await addRegistry(admin, "liar", upstream.url) });
  await assert.rejects(admin.call("GET", `/v2/liar/image/blobs/${digest}`), /fetch failed|terminated/);
  const rows = await query(near.postgres.url, `select from registry.blob where digest = '${digest}'`);
  assert.equal(rows.length, 0);
  upstream.close();
});

test("Docker Hub's habits: names, tokens, limits that are respected, and the last known where it is asked too much", async () => {
  const config = Buffer.from("{}");
  const manifest = JSON.stringify(imageOf(config, []));
  const asked: string[] = [];
  let isSpent = false;
  const hub = await startStandIn((path, response, { method, headers, port }) => {
    asked.push(`${method} ${path}`);
    if (path.startsWith("/token")) {
      assert.equal(headers.authorization, `Basic ${Buffer.from("eric:hub password").toString("base64")}`);
      response.end(JSON.stringify({ token: "t", expires_in: 300 }));
    } else if (headers.authorization !== "Bearer t") {
      const realm = `http://127.0.0.1:${port}/token`;
      response.writeHead(401, { "www-authenticate": `Bearer realm="${realm}",service="registry.docker.io"` });
      response.end();
    } else if (isSpent) {
      response.writeHead(429, { "retry-after": "3600" });
      response.end();
    } else if (path.startsWith("/v2/library/alpine/manifests/")) {
      response.writeHead(200, {
        "content-type": IMAGE,
        "docker-content-digest": digestOf(manifest),
        "ratelimit-limit": "100;w=21600",
        "ratelimit-remaining": "76;w=21600",
      });
      response.end(method === "HEAD" ? undefined : manifest);
    } else {
      response.writeHead(200, { "content-length": config.length });
      response.end(config);
    }
    return true;
  });
  const id = await addRegistry(admin, "hub", hub.url, { access_key: "eric", access_secret: "hub password" });
  // The stand-in is not where Docker Hub is; what follows from the address is the kind.
  await query(near.postgres.url, `update registry.upstream set kind = 'docker-hub' where id = ${id}`);
  await createProject(admin, "hub", { registry_id: id });
  await pull(admin, "hub/alpine", "3");
  assert.ok(
    asked.some((each) => each.startsWith("GET /token") && each.includes("library%2Falpine%3Apull")),
    asked.join("\n"),
  );
  assert.equal(asked.filter((each) => each.startsWith("GET /token")).length, 1, "a token is used again");
  const shown = await admin.call("GET", `/api/v2.0/registries/${id}`);
  assert.equal(shown.json().rate_remaining, "76;w=21600");
  assert.equal(shown.body.includes("hub password"), false);
  const stored = await query(near.postgres.url, "select sealed_secret from registry.upstream where name = 'hub'");
  assert.equal(JSON.stringify(stored).includes("hub password"), false);
  isSpent = true;
  await waitUntil("it says that too much is asked", async () => {
    assert.equal((await admin.call("GET", "/v2/hub/alpine/manifests/3")).status, 200);
    return (await admin.call("GET", `/api/v2.0/registries/${id}`)).json().paused_until !== null;
  });
  const before = asked.length;
  assert.equal((await admin.call("GET", "/v2/hub/alpine/manifests/3")).status, 200);
  const other = await admin.call("GET", "/v2/hub/busybox/manifests/1");
  assert.equal(other.status, 429);
  assert.ok(Number(other.headers.get("retry-after")) > 3000);
  assert.equal(asked.length, before, "it is left alone");
  hub.close();
});

test("addresses: private ones are refused, and redirects and token services neither lead there nor get a login", async () => {
  const seen: (string | undefined)[] = [];
  const storage = await startStandIn((_path, response, { headers }) => {
    seen.push(headers.authorization);
    response.writeHead(200, { "content-length": 5 });
    response.end("right");
    return true;
  });
  const digest = digestOf("right");
  const upstream = await startStandIn((path, response) => {
    const place = path.startsWith("/v2/good/")
      ? `${storage.url}/x`
      : path.startsWith("/v2/loop/")
        ? path
        : "http://169.254.169.254/x";
    response.writeHead(307, { location: place });
    response.end();
    return true;
  });
  const id = await addRegistry(admin, "redirects", upstream.url, {
    access_key: "eric",
    access_secret: "never elsewhere",
  });
  await createProject(admin, "redirects", { registry_id: id });
  assert.equal((await admin.call("GET", `/v2/redirects/good/blobs/${digest}`)).body.toString(), "right");
  assert.deepEqual(seen, [undefined]);
  for (const name of ["bad", "loop"]) {
    const { status } = await admin.call("GET", `/v2/redirects/${name}/blobs/${digestOf(name)}`);
    assert.ok(status === 404 || status === 503, `${name} ${status}`);
  }
  const inside = await addRegistry(admin, "inside", "http://10.0.0.1:5000");
  const ping = await admin.call("POST", `/api/v2.0/registries/${inside}/ping`);
  assert.equal(ping.status, 502);
  assert.match(ping.body.toString(), /private address/);
  // Another address does not get the login of the first.
  const changed = await admin.call("PUT", `/api/v2.0/registries/${id}`, { body: { url: storage.url } });
  assert.equal(changed.status, 200, changed.body.toString());
  assert.equal((await admin.call("GET", `/api/v2.0/registries/${id}`)).json().credential, undefined);
  for (const url of [
    "https://u:p@registry.example.org",
    "ftp://registry.example.org",
    "https://r.example.org/x",
    "x",
  ]) {
    assert.equal((await admin.call("POST", "/api/v2.0/registries", { body: { name: "no", url } })).status, 400, url);
  }
  assert.equal((await createClient(near.url, "").call("GET", "/api/v2.0/registries")).status, 401);
  upstream.close();
  storage.close();
});

test("replication pulls what its patterns fit, with what refers to it, once", async () => {
  await createProject(admin, "mirror");
  const { digest } = await pushIndex(farAdmin, "tools/many", "v1");
  await pushIndex(farAdmin, "tools/many", "latest");
  const empty = Buffer.from("{}");
  await farAdmin.pushBlob("tools/many", empty);
  const subject = { mediaType: INDEX, digest, size: 1 };
  const signature = imageOf(empty, [empty], { artifactType: "application/vnd.cncf.notary.signature", subject });
  assert.equal((await farAdmin.putManifest("tools/many", digestOf(JSON.stringify(signature)), signature)).status, 201);
  const policy = {
    name: "mirror tools",
    src_registry: { id: farId },
    dest_namespace: "mirror",
    filters: [
      { type: "name", value: "tools/ma*" },
      { type: "tag", value: "v*" },
    ],
    trigger: { type: "scheduled", trigger_settings: { cron: "0 0 * * * *" } },
  };
  const { id, run } = await replicate(admin, policy);
  assert.deepEqual([run["status"], run["total"], run["succeed"], run["failed"]], ["Succeed", 1, 1, 0]);
  assert.ok(Number(run["bytes"]) > 100_000);
  assert.equal(await pull(admin, "mirror/tools/many", "v1"), digest);
  const referrers = (await admin.call("GET", `/v2/mirror/tools/many/referrers/${digest}`)).json();
  assert.equal(referrers.manifests.length, 1);
  assert.deepEqual((await admin.call("GET", "/v2/mirror/tools/many/tags/list")).json().tags, ["v1"]);
  const again = await runAgain(admin, id);
  assert.deepEqual([again["skipped"], again["bytes"]], [1, 0]);
  // What is due runs by itself.
  await pushIndex(farAdmin, "tools/many", "v2");
  await query(near.postgres.url, `update registry.replication set next_at = now() where id = ${id}`);
  await waitUntil(
    "it has run",
    async () => (await admin.call("HEAD", "/v2/mirror/tools/many/manifests/v2")).status === 200,
  );
  await checkStore(near.postgres.url, filesOf(near));
});

test("replication pushes, goes on after a kill, and says what failed", async () => {
  await createProject(admin, "source");
  await createProject(farAdmin, "taken");
  const digests = new Map<string, string>();
  for (let index = 0; index < 6; index++) {
    digests.set(`t${index}`, await admin.pushImage("source/image", `t${index}`, [randomBytes(200_000)]));
  }
  const policy = {
    name: "push source",
    dest_registry: { id: farId },
    dest_namespace: "taken",
    filters: [{ type: "name", value: "source/**" }],
  };
  const made = await admin.call("POST", "/api/v2.0/replication/policies", { body: policy });
  const id = Number(made.headers.get("location")?.split("/").at(-1));
  await admin.call("POST", "/api/v2.0/replication/executions", { body: { policy_id: id } });
  await near.kill();
  // Whoever had it is dead; nobody waits for its lease here.
  await query(
    near.postgres.url,
    "update registry.replication_run set leased_until = now() where leased_until is not null",
  );
  await near.start();
  await waitUntil("it has ended", async () => {
    const runs = (await admin.call("GET", `/api/v2.0/replication/executions?policy_id=${id}`)).json();
    return runs[0].status === "Succeed";
  });
  for (const [tag, digest] of digests) {
    assert.equal(await pull(farAdmin, "taken/image", tag), digest);
  }
  const { run } = await replicate(admin, { ...policy, name: "push nowhere", dest_namespace: "nowhere" });
  assert.deepEqual([run["status"], run["failed"]], ["Failed", 6]);
  const tasks = await admin.call("GET", `/api/v2.0/replication/executions/${String(run["id"])}/tasks`);
  assert.match(tasks.json()[0].status_text, /nowhere does not exist|unknown|right/i);
  for (const wrong of [
    { ...policy, name: "both", src_registry: { id: farId } },
    { ...policy, name: "none", dest_registry: null },
    { ...policy, name: "pattern", filters: [{ type: "name", value: "{" }] },
    { name: "into a cache", src_registry: { id: farId }, dest_namespace: "cache" },
  ]) {
    assert.equal((await admin.call("POST", "/api/v2.0/replication/policies", { body: wrong })).status, 400, wrong.name);
  }
  const inUse = await admin.call("DELETE", `/api/v2.0/registries/${farId}`);
  assert.equal(inUse.status, 412);
});

const DEBIAN = "/usr/bin/docker-registry";

test(
  "Debian's docker-registry as upstream of a cache, and at both ends of replication",
  { skip: existsSync(DEBIAN) ? false : "needs docker-registry (apt-get install docker-registry)" },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "docker-registry-"));
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}`;
    const config = join(folder, "config.yml");
    // It must be able to delete nothing, and listens on the loopback interface alone.
    writeFileSync(
      config,
      `version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: ${folder}/data}}\nhttp: {addr: "127.0.0.1:${port}"}\n`,
    );
    const child = spawn(DEBIAN, ["serve", config], { stdio: "ignore" });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    try {
      await waitUntil("it answers", async () => (await fetch(`${url}/v2/`).catch(() => undefined))?.ok === true);
      const id = await addRegistry(admin, "debian", url);
      assert.equal((await admin.call("POST", `/api/v2.0/registries/${id}/ping`)).status, 200);
      await createProject(admin, "outgoing");
      const { digest } = await pushIndex(admin, "outgoing/tool", "1");
      const out = { name: "to debian", dest_registry: { id }, filters: [{ type: "name", value: "outgoing/**" }] };
      const { run } = await replicate(admin, out);
      assert.deepEqual([run["status"], run["succeed"]], ["Succeed", 1], JSON.stringify(run));
      await createProject(admin, "incoming");
      const filters = [{ type: "name", value: "outgoing/*" }];
      const back = await replicate(admin, {
        name: "of debian",
        src_registry: { id },
        dest_namespace: "incoming",
        filters,
      });
      assert.equal(back.run["status"], "Succeed", JSON.stringify(back.run));
      assert.equal(await pull(admin, "incoming/outgoing/tool", "1"), digest);
      await createProject(admin, "debian", { registry_id: id });
      assert.equal(await pull(admin, "debian/outgoing/tool", "1"), digest);
    } finally {
      child.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
