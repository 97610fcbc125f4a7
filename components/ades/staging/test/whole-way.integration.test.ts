import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { type DirectoryValue, createProcessExecutor, loadDocument, runProcess } from "@swath/cwl";

import { stageIn } from "../stage-in.ts";
import { stageOut } from "../stage-out.ts";
import { SCENES, makeFolder, openAccess, startNginx, startObjstore, findNginxSkipReason } from "./servers.ts";

const run = promisify(execFile);
const why =
  findNginxSkipReason ??
  (existsSync("/usr/bin/gdal_calc.py")
    ? undefined
    : "gdal_calc.py is not installed (Debian packages gdal-bin, python3-gdal)");

test(
  "scenes from a web server become a vegetation index in the object store, which GDAL opens there and finds to be its own",
  { ...(why !== undefined && { skip: why }) },
  async (t) => {
    const folder = await makeFolder();
    const [nginx, objstore] = [await startNginx(SCENES), await startObjstore()];
    t.after(async () => {
      await Promise.all([nginx.stop(), objstore.stop(), rm(folder, { recursive: true, force: true })]);
    });
    const signal = AbortSignal.timeout(120_000);
    const scenes: DirectoryValue[] = [];
    for (const name of ["canberra", "lommel"]) {
      const { path } = await stageIn({
        source: { href: `${nginx.url}/${name}/item.json`, as: "directory" },
        target: join(folder, name),
        assets: ["red", "nir"],
        access: openAccess(),
        signal,
      });
      scenes.push({ class: "Directory", location: `file://${path}` });
    }
    const examples = join(SCENES, "..");
    const outputs = await runProcess({
      document: await loadDocument(join(examples, "packages/ndvi.cwl#ndvi")),
      inputs: { scenes },
      executors: { host: createProcessExecutor() },
      hostFallback: true,
      outDir: join(folder, "out"),
      path: `${join(examples, "bin")}:/usr/bin:/bin`,
      inputRoots: [folder],
      signal,
    });
    const results = outputs["results"] as DirectoryValue;
    const { collection } = await stageOut({
      directory: new URL(results.location ?? "").pathname,
      target: { ...objstore.endpoint, bucket: "results" },
      prefix: "processing-results/ndvi-1",
      jobId: "ndvi-1",
      signal,
    });
    assert.equal(collection.links.filter(({ rel }) => rel === "item").length, 2);

    const env = {
      PATH: "/usr/bin:/bin",
      AWS_ACCESS_KEY_ID: objstore.endpoint.credentials?.accessKeyId,
      AWS_SECRET_ACCESS_KEY: objstore.endpoint.credentials?.secretAccessKey,
      AWS_S3_ENDPOINT: new URL(objstore.endpoint.endpoint).host,
      AWS_HTTPS: "NO",
      AWS_VIRTUAL_HOSTING: "FALSE",
      GDAL_DISABLE_READDIR_ON_OPEN: "EMPTY_DIR",
    };
    const key = collection.links.find(({ rel, href }) => rel === "item" && href.includes("lommel"))?.href ?? "";
    const published = `/vsis3/${key.slice("s3://".length).replace(/\.json$/, ".tif")}`;
    const bands = ["B08", "B04"].map((band) => join(SCENES, `lommel/${band}.tif`));
    const difference = join(folder, "difference.tif");
    // With doubles: the sum of two unsigned 16-bit numbers does not fit into one.
    const own = "((A.astype(float)-B)/(A.astype(float)+B)).astype(numpy.float32)";
    const files = ["-A", bands[0] ?? "", "-B", bands[1] ?? "", "-C", published];
    await run(
      "/usr/bin/gdal_calc.py",
      [...files, `--calc=numpy.abs(${own}-C)`, "--type=Float32", `--outfile=${difference}`, "--quiet"],
      { env },
    );
    const { stdout } = await run("/usr/bin/gdalinfo", ["-stats", "-json", difference], { env });
    const {
      bands: [band],
    } = JSON.parse(stdout) as { bands: { maximum: number; metadata: { "": { STATISTICS_VALID_PERCENT: string } } }[] };
    assert.equal(band?.maximum, 0);
    assert.equal(Number(band.metadata[""].STATISTICS_VALID_PERCENT), 100);
  },
);
