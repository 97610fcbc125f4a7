import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { BUCKET, startFixture } from "../../components/registration-api/test/fixture.ts";

// What public validators say of the STAC that registrars make: products of agencies, and rasters that come alone.
const PACKAGES = ["pystac[validation]==1.15.2", "stac-pydantic==3.7.1"];
const DATA = join(process.env["SWATH_SHARED"] ?? join(import.meta.dirname, "../../../shared"), "data");
const folder = mkdtempSync(join(tmpdir(), "swath-suite-"));
const hasPackages =
  spawnSync("python3", ["-m", "venv", folder]).status === 0 &&
  spawnSync(join(folder, "bin/pip"), ["install", "-q", "--disable-pip-version-check", ...PACKAGES], {
    timeout: 300_000,
  }).status === 0;
after(() => rmSync(folder, { recursive: true, force: true }));

test(
  "pystac and stac-pydantic take what is made of every scene",
  {
    skip: !hasPackages
      ? "needs python3 with venv, and the registry PyPI"
      : !existsSync(join(DATA, "agency")) && `needs scenes below ${DATA}`,
  },
  async () => {
    const fixture = await startFixture();
    try {
      const scenes = [
        ...globSync("agency/sentinel*/*.SAFE", { cwd: DATA }),
        ...globSync("agency/landsat/*/*_MTL.xml", { cwd: DATA }),
        ...globSync("{dem,landsat*,sentinel*,rasters}/**/*.tif", { cwd: DATA }),
      ];
      const items = join(folder, "items");
      mkdirSync(items);
      let made = 0;
      for (const [index, scene] of scenes.entries()) {
        const files = statSync(join(DATA, scene)).isDirectory()
          ? globSync(`${scene}/**/*.{xml,safe}`, { cwd: DATA }).filter((path) => !path.includes("/QI_DATA/"))
          : [scene];
        for (const path of files) {
          await fixture.put(path, readFileSync(join(DATA, path)));
        }
        const { body } = await fixture.register("/register", {
          type: "stac-item",
          url: `s3://${BUCKET}/${scene}`,
          parent_identifier: `scene-${index}`,
        });
        // Some of the rasters lie nowhere on Earth.
        if (body.state === "failed" && scene.startsWith("rasters/")) {
          assert.match(body.reason, /no georeference|cannot be expressed/, scene);
          continue;
        }
        assert.equal(body.state, "done", `${scene}: ${body.reason}`);
        const found = await fixture.callCatalogue(`/stac/collections/scene-${index}/items`);
        writeFileSync(join(items, `${index}.json`), JSON.stringify(found.body.features[0]));
        made += 1;
      }
      const { stdout, stderr } = spawnSync(
        join(folder, "bin/python"),
        [join(import.meta.dirname, "stac-validators.py"), items, join(DATA, "schemas")],
        { encoding: "utf8", timeout: 300_000 },
      );
      assert.equal(stdout.trim(), `ok ${made}`, stderr);
    } finally {
      await fixture.close();
    }
  },
);
