import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { findFreePort, waitUntil } from "@swath/testing";

import { example, startFixture } from "./fixture.ts";

// An online archive as web servers list one: nginx with its own pages, validators and log.
const NGINX = "/usr/sbin/nginx";
const SAFE = "S2A_MSIL2A_20230625T234621_N0509_R073_T01WCP_20230626T022157.SAFE";
const PRODUCT = join(import.meta.dirname, "../../../libs/products/test/data", SAFE);
const GRANULE = "GRANULE/L2A_T01WCP_A041826_20230625T234624";

test(
  "an online archive is asked only for what changed since the last run",
  { skip: !existsSync(NGINX) && `needs ${NGINX}` },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "swath-archive-"));
    const fixture = await startFixture();
    after(async () => {
      await fixture.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const { send, register, callCatalogue } = fixture;
    const data = join(folder, "data/2023");
    const log = join(folder, "access.log");
    mkdirSync(data, { recursive: true });
    const put = (name: string, bytes: Buffer): void => writeFileSync(join(data, name), bytes);
    put("a_20230102.tif", example("scenes/lommel/B04.tif"));
    put("b_20230103.tif", example("scenes/lommel/B04.tif"));
    put("broken_20230104.tif", Buffer.from("no raster"));
    mkdirSync(join(data, SAFE, GRANULE), { recursive: true });
    for (const file of ["MTD_MSIL2A.xml", `${GRANULE}/MTD_TL.xml`]) {
      copyFileSync(join(PRODUCT, file), join(data, SAFE, file));
    }
    const port = await findFreePort();
    writeFileSync(
      join(folder, "nginx.conf"),
      `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; worker_processes 1;${process.getuid?.() === 0 ? " user root;" : ""}
events {}
http {
  log_format asked "$request_method $uri $status"; access_log ${log} asked;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  server { listen 127.0.0.1:${port}; root ${folder}/data; autoindex on; }
}
`,
    );
    const server = spawn(NGINX, ["-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")], {
      stdio: "ignore",
    });
    t.after(() => server.kill());
    const url = `http://127.0.0.1:${port}/`;
    await waitUntil("nginx", async () => (await fetch(url).catch(() => undefined))?.ok === true);
    const config = { resource: { url, type: "OADS" }, collection: "archive", deletions: true };
    assert.equal((await send("PUT", "/harvesters/archive", config)).status, 200);
    /** What came of a run, and which scenes were read in it. */
    const run = async (): Promise<readonly unknown[]> => {
      const before = readFileSync(log).length;
      const { body } = await register("/harvesters/archive/run", undefined);
      const { registered, unchanged, removed, failed } = body.result;
      const response = readFileSync(log).subarray(before).toString().split("\n");
      const read = response.flatMap((line) => /^GET \/2023\/(.*(?:tif|MTD_MSIL2A\.xml)) 20\d$/.exec(line)?.[1] ?? []);
      const names = [...new Set(read.map((path) => path.slice(0, 3)))].toSorted();
      return [body.state, registered, unchanged, removed, failed, names.join(" ")];
    };
    assert.deepEqual(await run(), ["done", 3, 0, 0, 1, "S2A a_2 b_2 bro"]);
    // What was refused is read and named at every run.
    assert.deepEqual(await run(), ["done", 0, 3, 0, 1, "bro"]);

    put("b_20230103.tif", example("scenes/lommel/B08.tif"));
    put("c_20230105.tif", example("scenes/lommel/B04.tif"));
    rmSync(join(data, "broken_20230104.tif"));
    assert.deepEqual((await run()).slice(3), [0, 0, "b_2 c_2"]);

    const xml = readFileSync(join(PRODUCT, "MTD_MSIL2A.xml"), "utf8");
    writeFileSync(join(data, SAFE, "MTD_MSIL2A.xml"), xml.replace(/(<PROCESSING_BASELINE>)[^<]*/, "$105.10"));
    assert.deepEqual(await run(), ["done", 1, 3, 0, 0, "S2A"]);

    // What somebody took out of the catalogue comes back; what is gone from the archive goes.
    const items = `${fixture.catalogueUrl}/stac/collections/archive/items`;
    assert.equal((await fetch(`${items}/a_20230102`, { method: "DELETE" })).status, 204);
    rmSync(join(data, "c_20230105.tif"));
    assert.deepEqual(await run(), ["done", 1, 2, 1, 0, "a_2"]);
    const found = await callCatalogue("/stac/collections/archive/items");
    assert.deepEqual(found.body.features.map(({ id }: { id: string }) => id.slice(0, 3)).toSorted(), [
      "S2A",
      "a_2",
      "b_2",
    ]);
  },
);
