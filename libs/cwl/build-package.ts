// Writes this library as an npm package: JavaScript and declarations, as Node reads no TypeScript below node_modules.
//
//     tools/node libs/cwl/build-package.ts FOLDER && npm publish FOLDER
import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

const here = import.meta.dirname;

export function buildPackage(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  compile(folder);
  const made = join(folder, "dist");
  for (const path of globSync("**/*.js", { cwd: made })) {
    // Threads and helper processes are started by the address of their file, which the compiler leaves alone.
    const file = join(made, path);
    const text = readFileSync(file, "utf8");
    const rewritten = text.replaceAll(/"((?:\.\.?\/)+[\w-]+)\.ts"/g, '"$1.js"');
    if (rewritten !== text) {
      writeFileSync(file, rewritten);
    }
  }
  cpSync(join(here, "README.md"), join(folder, "README.md"));
  cpSync(join(here, "../../LICENSE"), join(folder, "LICENSE"));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifestOf(readManifest()), undefined, 2)}\n`);
}

function compile(folder: string): void {
  const options = [
    "--ignoreConfig",
    "--target es2024",
    "--lib es2024,esnext.disposable,esnext.iterator,esnext.error",
    "--types node",
    "--module nodenext",
    "--strict --skipLibCheck --verbatimModuleSyntax --exactOptionalPropertyTypes --noUncheckedIndexedAccess",
    "--declaration --rewriteRelativeImportExtensions",
  ].flatMap((line) => line.split(" "));
  const places = ["--rootDir", here, "--outDir", join(folder, "dist")];
  const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  const sources = ["main.ts", ...globSync("src/**/*.ts", { cwd: here })].filter((path) => !path.endsWith(".test.ts"));
  const { status, stdout } = spawnSync(
    process.execPath,
    [tsc, ...options, ...places, ...sources.map((path) => join(here, path))],
    {
      encoding: "utf8",
      cwd: here,
    },
  );
  if (status !== 0) {
    throw new Error(`the library does not compile:\n${stdout}`);
  }
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: { readonly [name: string]: string };
  readonly private?: boolean;
}

function readManifest(): Manifest {
  return JSON.parse(readFileSync(join(here, "package.json"), "utf8")) as Manifest;
}

/** The manifest with addresses of what was made, and what a registry shows. */
function manifestOf({ private: _private, exports, ...rest }: Manifest): object {
  const made = (path: string, ending: string): string => path.replace("./src/", "./dist/src/").replace(/\.ts$/, ending);
  return {
    ...rest,
    license: "Apache-2.0",
    engines: { node: ">=24" },
    bin: { "swath-cwl": "./dist/main.js" },
    exports: Object.fromEntries(
      Object.entries(exports).map(([name, path]) => [name, { types: made(path, ".d.ts"), default: made(path, ".js") }]),
    ),
    files: ["dist"],
  };
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) {
    process.stderr.write("usage: build-package.ts FOLDER\n");
    process.exitCode = 2;
  } else {
    buildPackage(resolve(folder));
  }
}
