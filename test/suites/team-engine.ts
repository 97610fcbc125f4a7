import { execFile } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { type Artifact, compileClasses, fetchArtifacts, folderOfSuite } from "./java-suites.ts";

const run = promisify(execFile);
const ENGINE = "5.6.1";
/** Maven Central's: the engine, what the Java classes of the suites need, and the documents of schemas.opengis.net and www.w3.org. */
const ARTIFACTS: readonly Artifact[] = [
  ...["core", "resources", "spi"].map((name): Artifact => [
    "org.opengis.cite.teamengine",
    `teamengine-${name}`,
    ENGINE,
  ]),
  ["jaxen", "jaxen", "1.0-FCS"],
  ["saxpath", "saxpath", "1.0-FCS"],
  ["org.locationtech.jts", "jts-core", "1.19.0"],
  ["org.locationtech.proj4j", "proj4j", "1.1.3"],
  ["org.jvnet.ogc", "ogc-schemas", "2.6.1"],
  ["org.hisrc.w3c", "w3c-schemas", "1.4.0"],
];
const RUN_TIMEOUT = 900_000;

/** A suite in CTL, of a clone of `github.com/opengeospatial/<repository>`. */
export interface CtlSuite {
  readonly repository: string;
  /** Below `src/main/scripts/ctl`. */
  readonly source: string;
  readonly test: string;
  readonly suite: string;
  readonly parameters: Readonly<Record<string, string>>;
}

export interface Outcome {
  readonly name: string;
  /** `Passed`, `Failed`, `Skipped - Prerequisites not satisfied` … */
  readonly status: string;
  readonly output: string;
}

export interface TeamEngine {
  /** Outcomes of tests in the order in which they ended. Tests that failed only because one of theirs did are left out. */
  readonly run: (suite: CtlSuite) => Promise<readonly Outcome[]>;
  readonly close: () => void;
}

/**
 * OGC's TEAM Engine, fetched from Maven Central, with the Java classes of cloned suites compiled against it. Documents that the
 * suites fetch from schemas.opengis.net and www.w3.org come from Maven Central as well.
 *
 * @param classes - Patterns of Java sources below the folder of the clones.
 */
export async function startTeamEngine(classes: readonly string[] = []): Promise<TeamEngine> {
  const work = mkdtempSync(join(tmpdir(), "swath-ets-"));
  try {
    return await buildEngine(work, classes);
  } catch (error) {
    rmSync(work, { recursive: true, force: true });
    throw error;
  }
}

async function buildEngine(work: string, classes: readonly string[]): Promise<TeamEngine> {
  await fetchArtifacts(work, ARTIFACTS);
  // The engine reads its own scripts as files.
  for (const [pattern, folder] of [
    ["lib/teamengine-*.jar", "scripts"],
    ["lib/*-schemas-*.jar", "schemas"],
  ] as const) {
    for (const jar of globSync(pattern, { cwd: work })) {
      await run("unzip", ["-q", "-o", join(work, jar), "-d", join(work, folder)]);
    }
  }
  await compileClasses(work, classes);
  mkdirSync(join(work, "base"));
  const schemas = await serveSchemas(join(work, "schemas"));
  return {
    run: async ({ repository, source, test, suite, parameters }) => {
      const session = repository;
      mkdirSync(join(work, "logs", session), { recursive: true });
      const root = folderOfSuite(repository);
      const { stdout } = await run(
        "nice",
        [
          "java",
          "-Dhttp.proxyHost=127.0.0.1",
          `-Dhttp.proxyPort=${schemas.port}`,
          "-Dhttp.nonProxyHosts=127.0.0.1|localhost",
          `-DTE_BASE=${join(work, "base")}`,
          "-cp",
          `${join(work, "scripts")}:${join(work, "classes")}:${join(work, "lib")}/*:${join(root, "src/main/resources")}`,
          "com.occamlab.te.Test",
          `-source=${join(root, "src/main/scripts/ctl", source)}`,
          `-test=${test}`,
          `-suite=${suite}`,
          "-mode=test",
          `-logdir=${join(work, "logs")}`,
          `-session=${session}`,
          ...Object.entries(parameters).map(([name, value]) => `@${name}=${value}`),
        ],
        { cwd: work, maxBuffer: 64 * 2 ** 20, timeout: RUN_TIMEOUT },
      );
      return readOutcomes(stdout);
    },
    close: () => {
      schemas.close();
      rmSync(work, { recursive: true, force: true });
    },
  };
}

/** A proxy that answers for the two hosts of schemas, and has nothing of any other. */
async function serveSchemas(folder: string): Promise<{ readonly port: number; readonly close: () => void }> {
  const hosts: Readonly<Record<string, string>> = { "schemas.opengis.net": "ogc", "www.w3.org": "w3c" };
  const server = createServer((request, response) => {
    const { hostname, pathname } = new URL(request.url ?? "", "http://none");
    const path = join(folder, hosts[hostname] ?? "none", pathname);
    if (path.startsWith(folder) && /\.(xsd|dtd)$/.test(path) && existsSync(path)) {
      response.writeHead(200, { "content-type": "application/xml" }).end(readFileSync(path));
    } else {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Its exit status tells nothing; each test prints a line when it ends. */
function readOutcomes(output: string): readonly Outcome[] {
  const lines = output.split("\n");
  return lines.flatMap((line, at): readonly Outcome[] => {
    const [, name = "", status = ""] = /^ *Test (\S+:\S+) ([A-Z].*)$/.exec(line) ?? [];
    if (name === "" || status.endsWith("Inherited")) {
      return [];
    }
    const start = lines.findLastIndex((each, index) => index < at && each.trim().startsWith(`Testing ${name} `));
    return [{ name, status, output: lines.slice(start, at).join("\n") }];
  });
}
