import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { waitUntil } from "@swath/testing";

import { BUCKET, makeItem, startDocuments, startFixture } from "./fixture.ts";

// Each process is killed (SIGKILL) while requests are accepted, objects are put and a harvest runs.
const fixture = await startFixture();
after(fixture.close);
const { send, callCatalogue, put } = fixture;
const PARTS = ["api", "worker", "postgres", "objstore", "catalogue"] as const;
const PAGE = 100;
const PAGES = 40;
/** Requests and objects that are accepted before the next process is killed: as much work on a slow machine as on a fast one. */
const ACCEPTED_EACH = 16;
const KEPT_EACH = 8;
/** Less than the time of a test, so that a failure says what was waited for. */
const SECONDS = 240;

test("whatever process is killed, at whatever stage: what was accepted is there, once", async (t) => {
  const source = await startDocuments((path) => {
    const page = Number(new URL(path, "http://localhost").searchParams.get("page") ?? 0);
    const features = Array.from({ length: PAGE }, (_, index) =>
      makeItem(`harvested-${page * PAGE + index}`, { collection: "harvested" }),
    );
    const links = page + 1 < PAGES ? [{ rel: "next", href: `/search?page=${page + 1}` }] : [];
    return { type: "FeatureCollection", features, links };
  });
  t.after(source.close);
  await send("PUT", "/harvesters/watch", {
    resource: { url: `s3://${BUCKET}/watched/`, type: "Bucket" },
    collection: "watched",
    schedule: "2s",
  });
  await send("PUT", "/harvesters/pages", {
    resource: { url: `${source.url}/search`, type: "STACAPI" },
    pause_ms: 200,
    collection: "harvested",
  });
  let harvest = "";
  await waitUntil("the harvest", async () => {
    harvest = (await send("POST", "/harvesters/pages/run")).headers.get("location") ?? "";
    return harvest !== "";
  });

  const accepted = new Map<string, number>();
  const kept = new Set<string>();
  let acceptedCount = 0;
  let isOver = false;
  /** Requests one after another; what is not answered may be there or not. */
  const registerAll = async (name: string): Promise<void> => {
    for (let number = 0; !isOver; number += 1) {
      // Every record is changed five times; the last change that was accepted is what stays.
      const id = `${name}-${Math.floor(number / 5)}`;
      const properties = { datetime: "2024-06-01T10:00:00Z", change: number % 5 };
      const item = makeItem(id, { collection: "requested", properties, assets: {} });
      const status = await send("POST", "/register-json", item).then(
        (response) => response.status,
        () => 0,
      );
      if (status === 202) {
        accepted.set(id, number % 5);
        acceptedCount += 1;
        await sleep(20);
      } else {
        // It may have been accepted before its sender was told: the next change settles that.
        accepted.delete(id);
        number = Math.ceil((number + 1) / 5) * 5 - 1;
        await sleep(200);
      }
    }
  };
  const putAll = async (): Promise<void> => {
    for (let number = 0; !isOver; number += 1) {
      const id = `put-${number}`;
      await put(`watched/${id}.json`, JSON.stringify(makeItem(id, { assets: {} }))).then(
        () => kept.add(id),
        () => sleep(200),
      );
      await sleep(40);
    }
  };
  /** Waits until more has been accepted, by the processes that run now. */
  const acceptMore = async (): Promise<void> => {
    const [requests, objects] = [acceptedCount + ACCEPTED_EACH, kept.size + KEPT_EACH];
    await waitUntil("more accepted", () => acceptedCount >= requests && kept.size >= objects);
  };
  const work = [registerAll("a"), registerAll("b"), putAll()];
  for (const part of PARTS) {
    await acceptMore();
    await fixture.kill(part);
    await sleep(300);
    await fixture.start(part);
    if (part === "worker") {
      // Its leases end now rather than in a minute.
      await fixture.query("update registration.task set lease_until = now() where state = 'running'");
    }
  }
  await acceptMore();
  isOver = true;
  await Promise.all(work);

  // Waits between attempts end now.
  const requeueNow = (): Promise<unknown> =>
    fixture.query("update registration.task set due_at = now() where state = 'queued' and due_at > now()");
  // One look at all of them: between two, a task may go from one state to the other and be seen in neither.
  const countOpen = async (): Promise<number> => {
    const { rowCount } = await fixture.query(
      `select from registration.task where state in ('queued', 'running') and (kind <> 'harvest' or payload->>'harvester' <> 'watch')`,
    );
    return rowCount;
  };
  await waitUntil(
    "the end of all tasks",
    async () => {
      await requeueNow();
      return (await countOpen()) === 0;
    },
    SECONDS,
  );
  const { body: failed } = await send("GET", "/tasks?state=failed");
  assert.deepEqual(failed.tasks, []);
  const done = await fixture.settle(harvest);
  assert.equal(done.body.state, "done", JSON.stringify(done.body));

  const harvested = await idsOf("harvested");
  assert.equal(harvested.size, PAGE * PAGES);
  const requested = await itemsOf("requested");
  for (const [id, change] of accepted) {
    assert.equal(requested.get(id), change, id);
  }
  await waitUntil(
    "the objects",
    async () => {
      const watched = await idsOf("watched");
      return [...kept].every((id) => watched.has(id));
    },
    SECONDS,
  );
});

async function itemsOf(collection: string): Promise<ReadonlyMap<string, unknown>> {
  const found = new Map<string, unknown>();
  let path: string | undefined = `/stac/collections/${collection}/items?limit=1000`;
  while (path !== undefined) {
    const { body } = await callCatalogue(path);
    for (const { id, properties } of body.features) {
      assert.ok(!found.has(id), `${id} is there twice`);
      found.set(id, properties.change);
    }
    const next = body.links.find(({ rel }: { rel: string }) => rel === "next");
    path = next === undefined ? undefined : new URL(next.href).pathname + new URL(next.href).search;
  }
  return found;
}

const idsOf = async (collection: string): Promise<ReadonlySet<string>> => new Set((await itemsOf(collection)).keys());
