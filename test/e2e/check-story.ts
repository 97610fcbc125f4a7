import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { listTestUsers } from "@swath/manifest";

import { openTarget, readDeployedPlan } from "../../cli/targets/open-target.ts";
import { type StoryEnd, liveStory } from "../../cli/tour/story.ts";
import { openStory } from "../../cli/tour/tour.ts";
import { createTypist } from "../../cli/tour/typist.ts";

interface StoryPlace {
  /** Name of a deployment with all components, on either target. */
  readonly name: string;
  /** By which its commands find it. */
  readonly env: NodeJS.ProcessEnv;
  /** Image of the package's tools, where it is another than that of the examples. */
  readonly toolImage?: string;
}

/** Lives the story on a deployment, and checks with requests of its own that it came true. */
export async function checkStory({ name, env: provided, toolImage }: StoryPlace): Promise<StoryEnd> {
  const target = openTarget(name, provided);
  const plan = await readDeployedPlan(target);
  const folder = mkdtempSync(join(tmpdir(), "swath-story-"));
  let shown = "";
  try {
    const { platform, env } = await openStory({ target, plan, name, env: provided, folder });
    const typist = createTypist({ stdout: { write: (text) => (shown += text) }, env, folder });
    const pictures: Buffer[] = [];
    const packageFile = toolImage === undefined ? undefined : writePackage(folder, toolImage);
    const place = { ...platform, ...(packageFile !== undefined && { packageFile }) };
    const end = await liveStory(place, {
      typist,
      showPicture: async (file) => void pictures.push(readFileSync(join(folder, file))),
    });
    assert.doesNotMatch(shown, /password(?!-file|\b)|changeme/, "no password is shown");
    checkPictures(pictures);

    const [first, second] = end.jobs;
    const token = '-H "authorization: Bearer $(bin/swath token)"';
    const read = async (person: string, url: string) =>
      JSON.parse(await typist.type(person, `curl -fsS ${token} '${url}'`));
    const own = platform.address("resource-catalogue", "ws-eric");
    const alice = listTestUsers(plan.settings.variables).find((user) => user.name === "alice");
    assert.ok(alice !== undefined);
    writeFileSync(join(folder, "alice.password"), await target.readSecret(alice.password), { mode: 0o600 });
    await typist.type("alice", `bin/swath login ${name} --user alice --password-file $TOUR/alice.password`);
    for (const job of end.jobs) {
      const { features } = await read("eric", `${own}/stac/collections/${job}/items`);
      assert.deepEqual(
        features.map(({ id }: { id: string }) => id),
        ["S2B_T31UFS_20190411_L1C_lommel_ndvi"],
      );
      const [{ bbox, assets, links }] = features;
      // The area that was asked for, within a pixel or two, and not the whole scene.
      [5.24, 51.23, 5.29, 51.28].forEach((edge, index) => assert.ok(Math.abs(bbox[index] - edge) < 0.01, bbox));
      const hrefs = Object.values(assets as Record<string, { href: string }>).map(({ href }) => href);
      assert.ok(
        hrefs.every((href) => href.includes("ws-eric") || href.startsWith(own)),
        hrefs.join(" "),
      );
      const via = links.find(({ rel }: { rel: string }) => rel === "via")?.href as string;
      assert.equal((await read("eric", via)).jobID, job, "a result leads to its job");
      // Who is a reader finds it, who was not let in does not.
      const found = await read("bob", `${own}/stac/search?collections=${job}`);
      assert.equal(found.features.length, 1);
      await typist.type("alice", `curl -fsS ${token} '${own}/stac/collections/${job}'`, { fails: /40[134]/ });
    }
    const processing = `${platform.address("ades")}/eric/ogc-api`;
    assert.equal((await read("eric", `${processing}/jobs/${first}`)).processID, "ndvi");
    assert.equal((await read("eric", `${processing}/jobs/${second}`)).processID, "gndvi");
    assert.equal((await read("eric", `${processing}/processes/gndvi`)).version, "1.1.0");
    assert.match(end.reference, /^registry\..+\/ws-eric\/gndvi:1\.1\.0$/);
    await checkDifference(typist, end, folder);
    const { servers } = await read("eric", `${platform.address("application-hub")}/hub/api/users/eric`);
    assert.equal(servers.notebook?.ready, true);
    assert.equal(new URL(end.notebook).origin, new URL(servers.notebook.swath.opens as string).origin);
    // A reader only reads.
    await typist.type("bob", "bin/swath cp README.md s3://ws-eric/of-bob.md", { fails: /the store refused/ });
    return end;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${shown.slice(-4000)}`, {
      cause: error,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writePackage(folder: string, image: string): string {
  const example = readFileSync(join(import.meta.dirname, "../../examples/packages/ndvi.cwl"), "utf8");
  const path = join(folder, "ndvi.cwl");
  writeFileSync(path, example.replaceAll("localhost/swath-examples:1.0.0", image));
  return path;
}

/** Three PNG pictures, each of something else. */
function checkPictures(pictures: readonly Buffer[]): void {
  assert.equal(pictures.length, 3);
  for (const picture of pictures) {
    assert.equal(picture.subarray(1, 4).toString(), "PNG");
    assert.ok(picture.length > 1000, "there is something in it");
  }
  assert.equal(new Set(pictures.map((picture) => picture.toString("base64"))).size, 3);
}

/** The changed package calculates something else: its results are others. */
async function checkDifference(
  typist: ReturnType<typeof createTypist>,
  { jobs }: StoryEnd,
  folder: string,
): Promise<void> {
  const values: Buffer[] = [];
  for (const job of jobs) {
    const printed = await typist.type("eric", `bin/swath results ${job} --download $TOUR/${job}`);
    const file = printed.split("\n").find((line) => line.endsWith(".tif")) ?? "";
    assert.ok(file.startsWith(folder), printed);
    values.push(readFileSync(file));
  }
  assert.ok(!values[0]?.equals(values[1] ?? Buffer.alloc(0)));
}
