import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export const findGdalSkipReason = existsSync("/usr/bin/gdal_calc.py")
  ? undefined
  : "gdal_calc.py is not installed (Debian packages gdal-bin, python3-gdal)";

interface Published {
  /** `s3://bucket/key` of a GeoTIFF with the index. */
  readonly href: string;
  /** Host and port of the object store, and its keys. */
  readonly host: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** Local files of the bands that the index was made from. */
  readonly nir: string;
  readonly red: string;
}

/**
 * Opens an index in the object store with GDAL, and compares each pixel with GDAL's own calculation from the bands.
 * @returns the largest difference, and the share of pixels (percent) that both have
 */
export async function compareWithGdal(published: Published): Promise<{ maximum: number; validPercent: number }> {
  const folder = await mkdtemp(join(tmpdir(), "swath-ndvi-"));
  const env = {
    PATH: "/usr/bin:/bin",
    AWS_ACCESS_KEY_ID: published.accessKey,
    AWS_SECRET_ACCESS_KEY: published.secretKey,
    AWS_S3_ENDPOINT: published.host,
    AWS_HTTPS: "NO",
    AWS_VIRTUAL_HOSTING: "FALSE",
    GDAL_DISABLE_READDIR_ON_OPEN: "EMPTY_DIR",
  };
  try {
    const difference = join(folder, "difference.tif");
    // With doubles: the sum of two unsigned 16-bit numbers does not fit into one.
    const own = "((A.astype(float)-B)/(A.astype(float)+B)).astype(numpy.float32)";
    const files = ["-A", published.nir, "-B", published.red, "-C", `/vsis3/${published.href.slice("s3://".length)}`];
    await run(
      "/usr/bin/gdal_calc.py",
      [...files, `--calc=numpy.abs(${own}-C)`, "--type=Float32", `--outfile=${difference}`, "--quiet"],
      { env },
    );
    const { stdout } = await run("/usr/bin/gdalinfo", ["-stats", "-json", difference], { env });
    const { bands } = JSON.parse(stdout) as {
      bands: readonly { maximum: number; metadata: { "": { STATISTICS_VALID_PERCENT: string } } }[];
    };
    const [band] = bands;
    return {
      maximum: band?.maximum ?? Number.NaN,
      validPercent: Number(band?.metadata[""].STATISTICS_VALID_PERCENT),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
