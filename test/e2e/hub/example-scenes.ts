import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { runCommand } from "@swath/testing";

import type { HubFixture } from "./hub-fixture.ts";

const ROOT = join(import.meta.dirname, "../../..");
export const SCENES = join(ROOT, "examples/scenes");
const NAMES = ["canberra", "lommel", "maribor-0818", "maribor-0820"];

/** The example scenes: as a catalogue of files in the bucket of eric's workspace, and as a private collection of the catalogue. */
export async function putExampleScenes(hub: HubFixture): Promise<void> {
  const command = async (program: string, args: readonly string[]) => {
    const { status, stderr } = await runCommand(join(ROOT, program), args, { env: hub.cluster.env });
    assert.equal(status, 0, stderr);
  };
  await command("deploy/bin/create-workspace", ["-W", "eric", "--cluster", hub.cluster.name]);
  await command("bin/swath", ["cp", "-r", SCENES, "s3://ws-eric/scenes", "--root", "--platform", hub.cluster.name]);
  const headers = { authorization: `Bearer ${await hub.tokenOf("eric")}` };
  const create = async (path: string, body: unknown) => {
    const url = `http://resource-catalogue.${hub.cluster.domain}:${hub.cluster.port}/stac${path}`;
    const { status, text } = await hub.send("POST", url, { headers, body });
    assert.equal(status, 201, text);
  };
  await create("/collections?workspace=ws-eric", {
    type: "Collection",
    stac_version: "1.0.0",
    id: "scenes",
    title: "Example scenes",
    description: "Crops of real scenes",
    license: "proprietary",
    extent: {
      spatial: { bbox: [[5.2, -36, 150, 51.4]] },
      temporal: { interval: [["1990-01-01T00:00:00Z", null]] },
    },
    links: [],
  });
  for (const name of NAMES) {
    const item = JSON.parse(readFileSync(join(SCENES, name, "item.json"), "utf8")) as {
      readonly assets: Readonly<Record<string, { readonly href: string }>>;
    };
    const assets = Object.fromEntries(
      Object.entries(item.assets).map(([key, asset]) => [
        key,
        { ...asset, href: `s3://ws-eric/scenes/${name}/${asset.href.replace(/^\.\//, "")}` },
      ]),
    );
    await create("/collections/scenes/items", { ...item, assets, collection: "scenes", links: [] });
  }
}
