import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Programs beside Node.js that services start: a shell (initdb does, and the launcher), what its scripts call, and what forces files to a disk. */
const PROGRAMS = ["/bin/sh", "/bin/mkdir", "/bin/chown", "/bin/sync"];
/** Loaded by name at run time, so nothing lists them: name service, and the C++ library of native modules. */
const LIBRARIES = [
  "libnss_dns.so.2",
  "libnss_files.so.2",
  "libresolv.so.2",
  "librt.so.1",
  "libdl.so.2",
  "libpthread.so.0",
];

/**
 * Lays out a root file system in `folder` from this machine's own files: the pinned Node.js, a shell, and the libraries they
 * need. It stands in for the public base image where none can be pulled.
 */
export function layOutMachineBase(folder: string, node: string): void {
  for (const name of ["bin", "etc", "lib", "lib64", "usr/bin", "usr/local/bin", "var", "root", "proc", "sys", "dev"]) {
    mkdirSync(join(folder, name), { recursive: true });
  }
  mkdirSync(join(folder, "tmp"));
  chmodSync(join(folder, "tmp"), 0o1777);
  writeFileSync(join(folder, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n");
  writeFileSync(join(folder, "etc/group"), "root:x:0:\nnogroup:x:65534:\n");
  writeFileSync(join(folder, "etc/nsswitch.conf"), "passwd: files\ngroup: files\nhosts: files dns\n");
  copyWithLibraries(folder, node, "/usr/local/bin/node");
  for (const program of PROGRAMS) {
    copyWithLibraries(folder, program, program);
  }
  const multiarch = dirname(findLoaded(node).find((path) => path.endsWith("/libc.so.6")) ?? "/lib/libc.so.6");
  for (const library of LIBRARIES) {
    copyFile(folder, join(multiarch, library));
  }
  // Where initdb's shell and others look for programs.
  symlinkSync("/bin/sh", join(folder, "usr/bin/sh"));
}

function copyWithLibraries(folder: string, program: string, target: string): void {
  copyFile(folder, program, target);
  for (const library of findLoaded(program)) {
    copyFile(folder, library);
  }
}

/** Absolute paths of the libraries a program is linked with. */
function findLoaded(program: string): readonly string[] {
  const { stdout } = spawnSync("ldd", [program], { encoding: "utf8" });
  return [...stdout.matchAll(/(\/\S+) \(0x/g)].flatMap(([, path]) => (path === undefined ? [] : [path]));
}

function copyFile(folder: string, source: string, target = source): void {
  const copy = join(folder, target);
  mkdirSync(dirname(copy), { recursive: true });
  copyFileSync(realpathSync(source), copy);
  chmodSync(copy, 0o755);
}

/** Version of Node.js that a checkout pins: `24.21.0`. */
export function pinnedNodeVersion(root: string): string {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    optionalDependencies: Record<string, string>;
  };
  return optionalDependencies[`node-linux-${process.arch}`] ?? process.versions.node;
}
