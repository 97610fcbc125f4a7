import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Bbox, Crs } from "../libs/raster/src/index.ts";

export interface Window {
  readonly bbox: Bbox;
  readonly size: number;
}

export interface Case {
  readonly windows: readonly Window[];
  readonly crs: Crs;
  readonly aimWarm: string;
  readonly aimFirst?: string;
}

const GDAL_SCRIPT = `
import json, sys, time
from osgeo import gdal
gdal.UseExceptions()
gdal.SetConfigOption("GDAL_NUM_THREADS", "1")
path, cases = sys.argv[1], json.load(open(sys.argv[2]))
png = gdal.GetDriverByName("PNG")
def render(source, window):
    size, box = window["size"], window["bbox"]
    memory = gdal.Warp("", source, format="MEM", dstSRS=window["crs"], outputBounds=box, width=size, height=size, resampleAlg="near")
    gdal.Translate("/vsimem/x.png", memory, format="PNG", outputType=gdal.GDT_Byte, scaleParams=[[0, 4000, 0, 255]] * 3, creationOptions=["ZLEVEL=3"])
    gdal.Unlink("/vsimem/x.png")
result = {}
for name, windows in cases.items():
    source = gdal.Open(path)
    times = []
    for turn in range(3):
        for window in windows:
            started = time.perf_counter()
            render(source, window)
            times.append((turn, (time.perf_counter() - started) * 1000))
    pick = lambda turn: sorted(t for n, t in times if n == turn)[len(windows) // 2]
    result[name] = {"first": pick(0), "warm": min(pick(1), pick(2))}
print(json.dumps(result))
`;

/** Median milliseconds of each case: with an empty cache, and with a warm one. `undefined` without the Python bindings. */
export function measureGdal(
  folder: string,
  path: string,
  cases: Readonly<Record<string, Case>>,
): Readonly<Record<string, { first: number; warm: number }>> | undefined {
  const [script, list] = [join(folder, "peer.py"), join(folder, "cases.json")];
  writeFileSync(script, GDAL_SCRIPT);
  writeFileSync(
    list,
    JSON.stringify(
      Object.fromEntries(
        Object.entries(cases).map(([name, { windows, crs }]) => [
          name,
          windows.map((window) => ({ ...window, crs: crs.id })),
        ]),
      ),
    ),
  );
  const { status, stdout } = spawnSync("/usr/bin/python3", [script, path, list], { encoding: "utf8" });
  return status === 0 ? (JSON.parse(stdout) as Record<string, { first: number; warm: number }>) : undefined;
}
