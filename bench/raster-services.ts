import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { waitUntil } from "@swath/testing";

import { PROCESS_ENVIRONMENT } from "../components/data-access/process-environment.ts";

const NGINX = "/usr/sbin/nginx";
const MAPSERV = "/usr/lib/cgi-bin/mapserv";
const LOOPBACK = "127.0.0.1";

export interface Tile {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}

/** A server of tiles of one scene. */
export interface TileServer {
  readonly name: string;
  readonly pid: number;
  readonly urlOf: (tile: Tile) => string;
  readonly close: () => Promise<void>;
}

/** Data access over a folder of items, as the platform starts it, keeping no rendered pictures unless told otherwise. */
export async function startDataAccess(
  layersFolder: string,
  port: number,
  env: Readonly<Record<string, string>> = {},
): Promise<TileServer> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../components/data-access/main.ts")], {
    env: {
      ...process.env,
      ...PROCESS_ENVIRONMENT,
      LAYERS_FOLDER: layersFolder,
      LISTEN: `${LOOPBACK}:${port}`,
      MANAGEMENT_LISTEN: `${LOOPBACK}:0`,
      THREADS: "2",
      TILE_CACHE_BYTES: "0",
      LOG_LEVEL: "error",
      ...env,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  await waitUntil("data access", async () => isUp(`http://${LOOPBACK}:${port}/collections`));
  return {
    name: "ours",
    pid: child.pid!,
    urlOf: ({ z, x, y }) =>
      `http://${LOOPBACK}:${port}/collections/scene/tiles/WebMercatorQuad/${z}/${x}/${y}.png?expression=data_b1;data_b2;data_b3&rescale=0,4000&resampling=nearest`,
    close: () => stop(child),
  };
}

/** nginx with files of a folder, and MapServer behind it by FastCGI where that is installed (Debian's cgi-mapserver). */
export async function startNginx(
  folder: string,
  port: number,
  scene: string,
): Promise<
  { readonly files: string; readonly mapserver?: TileServer; readonly close: () => Promise<void> } | undefined
> {
  if (!existsSync(NGINX)) {
    return undefined;
  }
  const work = join(folder, "nginx");
  mkdirSync(join(work, "www"), { recursive: true });
  // Started as root, nginx reads files as another user.
  chmodSync(folder, 0o755);
  const map = existsSync(MAPSERV) ? await startMapserver(work, scene) : undefined;
  writeFileSync(
    join(work, "nginx.conf"),
    `daemon off; worker_processes 1; pid ${work}/pid; error_log /dev/null;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000;
  types { image/png png; }
  client_body_temp_path ${work}; proxy_temp_path ${work}; fastcgi_temp_path ${work}; uwsgi_temp_path ${work}; scgi_temp_path ${work};
  server {
    listen ${LOOPBACK}:${port};
    location / { root ${work}/www; }
    location /map { fastcgi_pass unix:${work}/map.sock; fastcgi_keep_conn on;
      fastcgi_param REQUEST_METHOD $request_method; fastcgi_param QUERY_STRING $query_string; fastcgi_param SCRIPT_NAME /map;
      fastcgi_param SERVER_NAME ${LOOPBACK}; fastcgi_param SERVER_PORT ${port}; }
  }
}
`,
  );
  const child = spawn(NGINX, ["-c", join(work, "nginx.conf"), "-p", work], { stdio: ["ignore", "ignore", "inherit"] });
  await waitUntil(
    "nginx",
    async () => (await fetch(`http://${LOOPBACK}:${port}/`).catch(() => undefined)) !== undefined,
  );
  return {
    files: join(work, "www"),
    ...(map !== undefined && {
      mapserver: {
        name: "MapServer, FastCGI",
        pid: map.pid,
        urlOf: (tile: Tile) => {
          const query = new URLSearchParams({
            map: "scene",
            service: "WMS",
            version: "1.1.1",
            request: "GetMap",
            layers: "scene",
            styles: "",
            srs: "EPSG:3857",
            bbox: bboxOf(tile).join(","),
            width: "256",
            height: "256",
            format: "image/png",
          });
          return `http://${LOOPBACK}:${port}/map?${query.toString()}`;
        },
        close: async () => undefined,
      },
    }),
    close: async () => {
      await stop(child);
      await map?.close();
    },
  };
}

/** Two processes that take requests from one socket, which each has as its standard input: what spawn-fcgi does. */
const FASTCGI = `
import os, socket, sys
path, program = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
os.chmod(path, 0o777)
listener.listen(64)
os.dup2(listener.fileno(), 0)
os.fork()
os.execv(program, [program])
`;

async function startMapserver(work: string, scene: string) {
  const config = join(work, "mapserver.conf");
  const mapFile = join(work, "scene.map");
  writeFileSync(config, `CONFIG\n  MAPS\n    scene "${mapFile}"\n  END\nEND\n`);
  writeFileSync(
    mapFile,
    `MAP
  NAME "scene" SIZE 256 256 EXTENT 499980 5102640 554880 5157540 IMAGETYPE "png"
  PROJECTION "init=epsg:32633" END
  OUTPUTFORMAT NAME "png" DRIVER "AGG/PNG" MIMETYPE "image/png" IMAGEMODE RGBA TRANSPARENT ON FORMATOPTION "COMPRESSION=3" END
  WEB METADATA "ows_title" "scene" "ows_enable_request" "*" "ows_srs" "EPSG:3857 EPSG:32633" "ows_onlineresource" "http://localhost/map?" END END
  LAYER
    NAME "scene" TYPE RASTER STATUS ON DATA "${scene}"
    PROJECTION "init=epsg:32633" END
    PROCESSING "BANDS=1,2,3" PROCESSING "SCALE=0,4000" PROCESSING "RESAMPLE=NEAREST" PROCESSING "CLOSE_CONNECTION=DEFER"
    METADATA "ows_title" "scene" END
  END
END
`,
  );
  const child = spawn("/usr/bin/python3", ["-c", FASTCGI, join(work, "map.sock"), MAPSERV], {
    env: { ...process.env, MAPSERVER_CONFIG_FILE: config },
    stdio: "ignore",
    detached: true,
  });
  await waitUntil("the socket of MapServer", () => existsSync(join(work, "map.sock")));
  return {
    pid: child.pid!,
    close: async () => {
      const exited = once(child, "exit");
      // Both processes; they hear of a gentler signal with the next request only.
      process.kill(-child.pid!, "SIGKILL");
      await exited;
    },
  };
}

/** TiTiler (PyPI's titiler.application and uvicorn), by the Python that TITILER_PYTHON names; `undefined` without it. */
export async function startTitiler(
  port: number,
): Promise<(Omit<TileServer, "urlOf"> & { readonly urlFor: (file: string, tile: Tile) => string }) | undefined> {
  const python = process.env["TITILER_PYTHON"];
  if (python === undefined) {
    return undefined;
  }
  const child = spawn(
    python,
    [
      "-m",
      "uvicorn",
      "titiler.application.main:app",
      "--host",
      LOOPBACK,
      "--port",
      String(port),
      "--workers",
      "2",
      "--log-level",
      "error",
    ],
    {
      // As its documentation advises.
      env: {
        ...process.env,
        GDAL_DISABLE_READDIR_ON_OPEN: "EMPTY_DIR",
        GDAL_HTTP_MERGE_CONSECUTIVE_RANGES: "YES",
        GDAL_INGESTED_BYTES_AT_OPEN: "32768",
        GDAL_CACHEMAX: "200",
        VSI_CACHE: "TRUE",
        VSI_CACHE_SIZE: "5000000",
        CPL_VSIL_CURL_ALLOWED_EXTENSIONS: ".tif",
      },
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  await waitUntil("TiTiler", async () => child.exitCode !== null || isUp(`http://${LOOPBACK}:${port}/healthz`));
  if (child.exitCode !== null) {
    throw new Error(`TITILER_PYTHON (${python}) needs the packages titiler.application and uvicorn`);
  }
  return {
    name: "TiTiler, 2 processes",
    pid: child.pid!,
    urlFor: (file, { z, x, y }) =>
      `http://${LOOPBACK}:${port}/cog/tiles/WebMercatorQuad/${z}/${x}/${y}.png?url=${encodeURIComponent(file)}&bidx=1&bidx=2&bidx=3&rescale=0,4000`,
    close: () => stop(child),
  };
}

const WORLD = 20_037_508.342_789_244;

export function bboxOf({ z, x, y }: Tile): readonly [number, number, number, number] {
  const side = (2 * WORLD) / 2 ** z;
  return [x * side - WORLD, WORLD - (y + 1) * side, (x + 1) * side - WORLD, WORLD - y * side];
}

async function isUp(url: string): Promise<boolean> {
  const response = await fetch(url).catch(() => undefined);
  await response?.body?.cancel();
  return response?.ok === true;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  }
}
