import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";

import initGdal from "gdal3.js/node.js";

import { ToolError } from "./errors.ts";
import type { Grid } from "./grid.ts";

/** GDAL as WebAssembly: the same library on every machine, without anything to install. */
export interface Gdal {
  /** Writes a Cloud-Optimised GeoTIFF: DEFLATE, 256-pixel blocks, overviews. */
  readonly writeCog: (
    path: string,
    grid: Grid,
    data: Float32Array | Uint8Array | Int16Array | Uint16Array,
    options: CogOptions,
  ) => Promise<void>;
  /** Brings a raster to another grid, taking the nearest pixel; a GeoTIFF. */
  readonly warp: (from: string, to: string, grid: Grid, noData: number) => Promise<void>;
  /** Coordinates from one reference system to another; longitude or easting first. */
  readonly transform: (
    points: readonly (readonly [number, number])[],
    from: string,
    to: string,
  ) => Promise<readonly (readonly [number, number])[]>;
  readonly close: () => Promise<void>;
}

export interface CogOptions {
  readonly noData: number;
  /** `nearest` for classes, `average` for measurements. */
  readonly overviews: "nearest" | "average";
}

/** GDAL's number of an ENVI data type (https://www.nv5geospatialsoftware.com/docs/enviheaderfiles.html, "data type"). */
const ENVI_TYPES = { Uint8Array: 1, Int16Array: 2, Float32Array: 4, Uint16Array: 12 } as const;
const PREDICTORS = {
  Uint8Array: "STANDARD",
  Int16Array: "STANDARD",
  Float32Array: "FLOATING_POINT",
  Uint16Array: "STANDARD",
} as const;

/** The library is there once in a process, and keeps the folder that it was started with. */
let started: ReturnType<typeof startGdal> | undefined;
let count = 0;

async function startGdal() {
  const folder = await mkdtemp(join(process.cwd(), ".gdal-"));
  const library = dirname(createRequire(import.meta.url).resolve("gdal3.js/dist/package/gdal3.node.js"));
  const messages: string[] = [];
  const gdal = await initGdal({
    // It puts "./" before the path of its data file.
    path: relative(process.cwd(), library),
    dest: folder,
    logHandler: () => undefined,
    errorHandler: (message) => messages.push(message),
  });
  return { folder, gdal, messages };
}

/** Starts GDAL, or uses it again. Everything it touches lies in a directory of its own below the working directory. */
export async function openGdal(): Promise<Gdal> {
  started ??= startGdal();
  const { folder, gdal, messages } = await started;
  await mkdir(folder, { recursive: true });
  type Dataset = Awaited<ReturnType<typeof gdal.open>>["datasets"][number];
  const run = async (name: string, work: (dataset: Dataset, output: string) => Promise<unknown>): Promise<string> => {
    const { datasets } = await gdal.open(`/output/${name}`).catch(() => ({ datasets: [] }));
    const [dataset] = datasets;
    if (dataset === undefined) {
      throw new ToolError(`GDAL cannot open ${name}: ${messages.splice(0).join("; ") || "no reason given"}`);
    }
    const output = `out${(count += 1)}`;
    try {
      await work(dataset, output);
    } catch (error) {
      throw new ToolError(`GDAL: ${messages.splice(0).join("; ") || String(error)}`, { cause: error });
    } finally {
      await gdal.close(dataset);
    }
    return join(folder, `${output}.tif`);
  };
  return {
    writeCog: async (path, grid, data, { noData, overviews }) => {
      const kind = data.constructor.name as keyof typeof ENVI_TYPES;
      const name = `raw${(count += 1)}`;
      const header = `ENVI\nsamples = ${grid.width}\nlines = ${grid.height}\nbands = 1\nheader offset = 0\nfile type = ENVI Standard\ndata type = ${ENVI_TYPES[kind]}\ninterleave = bsq\nbyte order = 0\n`;
      await writeFile(join(folder, `${name}.img`), new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
      await writeFile(join(folder, `${name}.hdr`), header);
      const written = await run(`${name}.img`, (dataset, output) =>
        gdal.gdal_translate(dataset, cogOptions(grid, kind, { noData, overviews }), output),
      );
      await rename(written, path);
      await Promise.all([`${name}.img`, `${name}.hdr`].map((file) => rm(join(folder, file))));
    },
    warp: async (from, to, grid, noData) => {
      const name = `in${(count += 1)}.tif`;
      await copyFile(from, join(folder, name));
      const written = await run(name, (dataset, output) => gdal.gdalwarp(dataset, warpOptions(grid, noData), output));
      await rename(written, to);
      await rm(join(folder, name));
    },
    transform: async (points, from, to) =>
      (await gdal.gdaltransform(
        points.map((point) => [...point]),
        ["-s_srs", from, "-t_srs", to, "-output_xy"],
      )) as unknown as readonly (readonly [number, number])[],
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

function cogOptions(grid: Grid, kind: keyof typeof ENVI_TYPES, { noData, overviews }: CogOptions): string[] {
  const corners = [grid.west, grid.north, grid.west + grid.width * grid.pixel, grid.north - grid.height * grid.pixel];
  const creation = {
    COMPRESS: "DEFLATE",
    PREDICTOR: PREDICTORS[kind],
    BLOCKSIZE: "256",
    OVERVIEW_RESAMPLING: overviews.toUpperCase(),
  };
  const place = ["-a_srs", `EPSG:${grid.epsg}`, "-a_ullr", ...corners.map(String), "-a_nodata", String(noData)];
  return ["-of", "COG", ...place, ...Object.entries(creation).flatMap(([name, value]) => ["-co", `${name}=${value}`])];
}

function warpOptions(grid: Grid, noData: number): string[] {
  const box = [grid.west, grid.north - grid.height * grid.pixel, grid.west + grid.width * grid.pixel, grid.north];
  const place = [
    "-t_srs",
    `EPSG:${grid.epsg}`,
    "-te",
    ...box.map(String),
    "-ts",
    String(grid.width),
    String(grid.height),
  ];
  return ["-of", "GTiff", ...place, "-r", "near", "-dstnodata", String(noData)];
}
