import { execFileSync } from "node:child_process";
import {
  cpSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";

const NAME = "localhost/swath-examples:1.0.0";
const HOME = "opt/swath";
const checkout = join(import.meta.dirname, "../..");
/** Parts of packages that are of no use at run time. */
const LEFT_OUT = /\/h5wasm\/dist\/(?:iife|node)$|\.map$/;

/**
 * Builds the container image that the example packages name, from this checkout and the Node.js that runs; nothing is pulled.
 * @param engine `podman` or `docker`
 */
export function buildImage(engine: string, environment: NodeJS.ProcessEnv = {}): string {
  const root = mkdtempSync(join(tmpdir(), "swath-examples-image-"));
  try {
    for (const folder of [
      "tmp",
      "etc",
      "proc",
      "sys",
      "dev",
      "usr/bin",
      "usr/lib",
      "usr/lib64",
      `${HOME}/examples`,
      `${HOME}/libs`,
    ]) {
      mkdirSync(join(root, folder), { recursive: true });
    }
    for (const [link, target] of Object.entries({ bin: "usr/bin", lib: "usr/lib", lib64: "usr/lib64" })) {
      symlinkSync(target, join(root, link));
    }
    writeFileSync(join(root, "etc/passwd"), "root:x:0:0:root:/root:/\nnobody:x:65534:65534:nobody:/:/\n");
    writeFileSync(join(root, "etc/group"), "root:x:0:\nnogroup:x:65534:\n");
    addNode(root);
    cpSync(join(checkout, "examples/tools"), join(root, HOME, "examples/tools"), { recursive: true });
    copyFileSync(join(checkout, "examples/package.json"), join(root, HOME, "examples/package.json"));
    addPackages(root, "examples");
    addWorkspaces(root, "examples");
    const launcher = `#!/usr/bin/node\nimport("/${HOME}/examples/tools/main.ts");\n`;
    writeFileSync(join(root, "usr/bin/swath-examples"), launcher, { mode: 0o755 });
    const archive = join(root, "..", `${root.split("/").at(-1)}.tar`);
    try {
      execFileSync("tar", ["-C", root, "-cf", archive, "."]);
      execFileSync(engine, ["import", "--change", "ENV PATH=/usr/bin", archive, NAME], {
        env: { ...environment },
        stdio: ["ignore", "ignore", "inherit"],
      });
    } finally {
      rmSync(archive, { force: true });
    }
    return NAME;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function addNode(root: string): void {
  const target = join(root, "usr/bin/node");
  copyFileSync(realpathSync(process.execPath), target);
  addLibraries(root, process.execPath);
}

/** What the dynamic linker will look for, where it looks. */
function addLibraries(root: string, path: string): void {
  const listed = execFileSync("ldd", [path], { encoding: "utf8" });
  for (const [, library = ""] of listed.matchAll(/(\/\S+) \(0x/g)) {
    const inside = join(root, library.replace(/^\/lib/, "/usr/lib"));
    if (!library.startsWith(checkout) && !existsSync(inside)) {
      mkdirSync(dirname(inside), { recursive: true });
      copyFileSync(realpathSync(library), inside);
    }
  }
}

/** The libraries of the repository that a part of it needs, with their packages. */
function addWorkspaces(root: string, from: string): void {
  for (const name of Object.keys(readPackage(join(checkout, from)).dependencies).filter(isOwn)) {
    const folder = name.replace("@swath/", "libs/");
    // The type stripper of Node.js leaves node_modules alone: a library in TypeScript lies outside and is linked.
    const link = join(root, HOME, "node_modules", name);
    if (!existsSync(link)) {
      for (const part of ["src", "package.json"]) {
        cpSync(join(checkout, folder, part), join(root, HOME, folder, part), { recursive: true });
      }
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(relative(dirname(link), join(root, HOME, folder)), link);
      addPackages(root, folder);
      addWorkspaces(root, folder);
    }
  }
}

const isOwn = (name: string): boolean => name.startsWith("@swath/");

/** The packages of a workspace with everything they depend on, as far as it is installed (binaries of other machines are not). */
function addPackages(root: string, workspace: string): void {
  const added = new Set<string>();
  const add = (name: string, from: string): void => {
    const source = findPackage(name, from);
    if (source === undefined || added.has(source)) {
      return;
    }
    added.add(source);
    cpSync(source, join(root, HOME, relative(checkout, source)), {
      recursive: true,
      filter: (path) => !LEFT_OUT.test(path),
    });
    for (const binary of globSync("**/*.{node,so,so.*}", { cwd: source })) {
      addLibraries(root, join(source, binary));
    }
    const { dependencies, optionalDependencies } = readPackage(source);
    for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies })) {
      add(dependency, source);
    }
  };
  for (const name of Object.keys(readPackage(join(checkout, workspace)).dependencies)) {
    if (!isOwn(name)) {
      add(name, join(checkout, workspace));
    }
  }
}

/** Where Node.js would find a package. */
function findPackage(name: string, from: string): string | undefined {
  for (let folder = from; folder.startsWith(checkout); folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) {
      return candidate;
    }
  }
  return undefined;
}

function readPackage(folder: string): { readonly dependencies: object; readonly optionalDependencies: object } {
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  ) as {
    dependencies?: object;
    optionalDependencies?: object;
  };
  return { dependencies, optionalDependencies };
}
