import { execFile } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { isInstalled } from "@swath/testing";

const run = promisify(execFile);
/** Folder of the clones of OGC's suites. */
// oxlint-disable-next-line node/no-process-env -- a program of its own; the caller says where the suites are
const FOLDER = process.env["ETS_FOLDER"] ?? "";
const PROGRAMS = { java: "default-jdk-headless", javac: "default-jdk-headless", mvn: "maven", unzip: "unzip" };
const BUILD_TIMEOUT = 300_000;

export type Artifact = readonly [group: string, name: string, version: string];

export interface TestNgOutcome {
  /** With its class: `queries.QueryCollections.validateNoQueryParameters`. */
  readonly name: string;
  readonly status: string;
  readonly message: string;
}

export const folderOfSuite = (repository: string): string => join(FOLDER, repository);

/** Why suites cannot run here: programs, or clones, that are missing. */
export function suiteSkipReason(...repositories: readonly string[]): string | false {
  const missing = Object.entries(PROGRAMS).filter(([program]) => !isInstalled(program));
  if (missing.length > 0) {
    const packages = [...new Set(missing.map(([, name]) => name))].join(" ");
    return `${missing.map(([program]) => program).join(", ")}: not installed (on Debian: apt-get install ${packages})`;
  }
  const absent = repositories.filter((name) => FOLDER === "" || !existsSync(join(FOLDER, name, "pom.xml")));
  return absent.length === 0
    ? false
    : `needs clones of ${absent.map((name) => `github.com/opengeospatial/${name}`).join(", ")} in the folder that ETS_FOLDER names`;
}

/** Puts artifacts of Maven Central, with what they need, into `lib` below a folder. */
export async function fetchArtifacts(folder: string, artifacts: readonly Artifact[]): Promise<void> {
  const dependencies = artifacts.map(
    ([group, name, version]) =>
      `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency>`,
  );
  writeFileSync(
    join(folder, "pom.xml"),
    `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>swath</groupId><artifactId>ets</artifactId><version>1</version><packaging>pom</packaging><dependencies>${dependencies.join("")}</dependencies></project>`,
  );
  await run("nice", ["mvn", "-B", "-q", "dependency:copy-dependencies", `-DoutputDirectory=${join(folder, "lib")}`], {
    cwd: folder,
    timeout: BUILD_TIMEOUT,
  });
}

/**
 * Compiles Java sources of clones against `lib` of a folder, into its `classes`: the suites are published nowhere, and building them by their
 * own files needs snapshots of their common parent.
 * @param patterns - below the folder of the clones, each for one run of the compiler
 */
export async function compileClasses(folder: string, patterns: readonly string[]): Promise<void> {
  const own = join(folder, "classes");
  mkdirSync(own);
  for (const pattern of patterns) {
    const sources = globSync(pattern, { cwd: FOLDER }).map((name) => join(FOLDER, name));
    await run("nice", ["javac", "-nowarn", "-d", own, "-cp", `${join(folder, "lib")}/*:${own}`, ...sources], {
      timeout: BUILD_TIMEOUT,
      maxBuffer: 2 ** 24,
    });
  }
}

/** Outcomes of tests in `testng-results.xml`. */
export function readTestNgOutcomes(path: string): readonly TestNgOutcome[] {
  const xml = readFileSync(path, "utf8");
  return [...xml.matchAll(/<test-method\b([^>]*?)(?:\/>|>(.*?)<\/test-method>)/gs)].flatMap(
    ([, head = "", body = ""]) => {
      const attribute = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(head)?.[1] ?? "";
      const signature = attribute("signature");
      const message = /<message>\s*<!\[CDATA\[(.*?)\]\]>/s.exec(body)?.[1]?.trim() ?? "";
      const place = /instance:org\.opengis\.cite\.[^.]+\.([\w.]+)@/.exec(signature)?.[1] ?? "";
      return attribute("is-config") === "true" && attribute("status") === "PASS"
        ? []
        : [{ name: `${place}.${attribute("name")}`, status: attribute("status"), message }];
    },
  );
}
