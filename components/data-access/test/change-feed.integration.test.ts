import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import { createPeer } from "@swath/service";
import { waitUntil } from "@swath/testing";

import { type ChangeFeed, createChangeFeed } from "../catalogue/change-feed.ts";
import { FEED_KEY, type Platform, collection, scene, startPlatform } from "./platform.ts";

/** A feed of the catalogue, with what it complained of. */
function follow(t: TestContext, url: string, key = FEED_KEY): { readonly feed: ChangeFeed; readonly errors: Error[] } {
  const peer = createPeer(url);
  const errors: Error[] = [];
  const feed = createChangeFeed({ peer, key, onError: (error) => errors.push(error) });
  t.after(async () => {
    await feed.close();
    await peer.close();
  });
  return { feed, errors };
}

/** A mark that holds for now. */
async function markCurrent(feed: ChangeFeed): Promise<number> {
  let mark = feed.mark();
  await waitUntil("the feed", () => {
    mark = feed.mark();
    return feed.isUnchanged(mark);
  });
  return mark;
}

const idsOf = async ({ dataAccess }: Platform): Promise<readonly string[]> => {
  const { status, json, bytes } = await dataAccess(undefined, "/collections");
  assert.equal(status, 200, bytes.toString());
  return (json as { collections: { id: string }[] }).collections.map(({ id }) => id);
};

test("layers follow the catalogue's changes, also over the end of its process", async (t) => {
  const platform = await startPlatform(t);
  const { catalogue, dataAccess, catalogueUrl, killCatalogue, startCatalogue } = platform;
  const create = async (path: string, body: unknown) => {
    const { status, bytes } = await catalogue("eric", path, { method: "POST", body });
    assert.equal(status, 201, bytes.toString());
  };
  const addCollection = (id: string, visibility: string) =>
    create(`/stac/collections?workspace=ws-eric&visibility=${visibility}`, collection(id));
  const addItem = (id: string, name: string) =>
    create(
      `/stac/collections/${id}/items`,
      scene(name, (href) => `https://example.org/${href}`),
    );
  for (const id of ["one", "other"]) {
    await addCollection(id, "public");
    await addItem(id, "first");
  }
  const { feed, errors } = follow(t, catalogueUrl);

  await t.test("what is told of one collection is told of no other", async () => {
    const mark = await markCurrent(feed);
    await addItem("one", "second");
    await waitUntil("the change", () => !feed.isUnchanged(mark, ["one"]));
    await waitUntil("the feed", () => feed.isUnchanged(mark, ["other"]));
    assert.equal(feed.isUnchanged(mark), false);
    assert.equal(feed.isUnchanged(feed.mark(), ["one"]), true);
  });

  await t.test("changes of what the public does not see are told, too", async () => {
    await addCollection("hidden", "workspace");
    const mark = await markCurrent(feed);
    await addItem("hidden", "first");
    await waitUntil("the change", () => !feed.isUnchanged(mark, ["hidden"]));
  });

  await t.test("while an older transaction holds changes back, nothing is relied on", async () => {
    const mark = await markCurrent(feed);
    await platform.withOpenTransaction(async () => {
      await addItem("one", "third");
      await waitUntil("the feed to be behind", () => !feed.isUnchanged(mark, ["other"]));
    });
    await waitUntil("the feed", () => feed.isUnchanged(mark, ["other"]));
    assert.equal(feed.isUnchanged(mark, ["one"]), false);
  });

  await t.test(
    "a layer is there once it is registered, hidden once it is private, gone once it is deregistered",
    async () => {
      await waitUntil("both layers", async () => (await idsOf(platform)).join(" ") === "one other");
      await addCollection("new", "public");
      await addItem("new", "first");
      await waitUntil("the new layer", async () => (await idsOf(platform)).includes("new"));
      // A picture of no scene, which no file has to be read for.
      const picture = "/collections/new/styles/ndvi/map?f=png&bbox=15.2,46.3,15.4,46.4&width=64&datetime=1990";
      assert.equal((await dataAccess(undefined, picture)).status, 200);
      assert.equal(
        (
          await catalogue("eric", "/stac/collections/new?visibility=workspace", {
            method: "PUT",
            body: collection("new"),
          })
        ).status,
        200,
      );
      await waitUntil("the layer to be hidden", async () => !(await idsOf(platform)).includes("new"));
      await waitUntil("its picture to be hidden", async () => (await dataAccess(undefined, picture)).status === 404);
      assert.equal((await dataAccess("eric", "/collections/new")).status, 200);
      const gone = await catalogue("eric", "/stac/collections/other/items/first", { method: "DELETE" });
      assert.equal(gone.status, 204);
      await waitUntil("the layer to go", async () => !(await idsOf(platform)).includes("other"));
    },
  );

  await t.test("a newer item with one band takes no style away, but adds its own", async () => {
    await addCollection("mixed", "public");
    await addItem("mixed", "first");
    const styles = async () => {
      const { json } = await dataAccess(undefined, "/collections/mixed/styles?f=json");
      return (json?.styles as { id: string }[] | undefined)?.map(({ id }) => id) ?? [];
    };
    const before = await waitUntil("its styles", async () => {
      const found = await styles();
      return found.includes("ndvi") && found;
    });
    const {
      properties,
      assets: { red },
      ...rest
    } = scene("second", (href) => `https://example.org/${href}`) as {
      readonly properties: object;
      readonly assets: Readonly<Record<string, object>>;
    };
    await create("/stac/collections/mixed/items", {
      ...rest,
      properties: { ...properties, datetime: "2024-08-20T10:00:00Z" },
      assets: { moisture: red },
    });
    const after = await waitUntil("the new style", async () => {
      const found = await styles();
      return found.includes("moisture") && found;
    });
    assert.deepEqual(after, [...before, "moisture"]);
  });

  await t.test(
    "a catalogue that is killed is not relied on; its changes are resumed where they broke off",
    async () => {
      const mark = await markCurrent(feed);
      await killCatalogue();
      await waitUntil("the feed to be lost", () => !feed.isUnchanged(mark));
      await platform.withOtherCatalogue(async (send) => {
        const body = scene("fourth", (href) => `https://example.org/${href}`);
        assert.equal((await send("eric", "/stac/collections/one/items", { method: "POST", body })).status, 201);
      });
      await startCatalogue();
      await waitUntil("the feed", () => feed.isUnchanged(mark, ["other"]));
      assert.equal(feed.isUnchanged(mark, ["one"]), false, "a change from before the stream was there again");
      assert.ok(errors.length > 0);
      await addCollection("later", "public");
      await addItem("later", "first");
      await waitUntil("the new layer", async () => (await idsOf(platform)).includes("later"));
    },
  );

  await t.test("without a key that the catalogue knows it is asked", async () => {
    const { feed: refused, errors: refusals } = follow(t, catalogueUrl, "another key");
    const mark = refused.mark();
    await waitUntil("the refusal", () => refusals.length > 0);
    assert.match(refusals[0]?.message ?? "", /401/);
    assert.equal(refused.isUnchanged(mark), false);
  });
});
