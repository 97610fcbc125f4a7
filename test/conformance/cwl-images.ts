// Builds the four images that the CWL conformance tests name, from programs of this machine, for podman. Nothing is
// pulled. `tools/node test/conformance/cwl-images.ts [DIRECTORY]` leaves a containers.conf in the directory.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Where a server of the test answers for commonwl.org. */
export const standInAddress = "127.0.77.1";

/** Image names as the documents write them, and what has to be in each. */
const images: Readonly<Record<string, readonly string[]>> = {
  "docker.io/library/alpine:latest": ["bash"],
  "docker.io/library/bash:4.4": ["bash"],
  "docker.io/library/debian:stable-slim": ["bash"],
  "docker.io/library/python:3-slim": ["bash", "python3"],
};

/** Core programs of every image; taken from the machine with the libraries they need. */
const programs = [
  "sh",
  "cat",
  "echo",
  "ls",
  "cp",
  "mv",
  "rm",
  "mkdir",
  "touch",
  "true",
  "false",
  "wc",
  "sort",
  "tr",
  "head",
  "tail",
  "grep",
  "sed",
  "find",
  "env",
  "date",
  "sleep",
  "basename",
  "dirname",
  "pwd",
  "test",
  "[",
  "printf",
  "rev",
  "tar",
  "gzip",
  "id",
  "chmod",
  "ln",
  "tee",
  "cut",
  "uniq",
  "seq",
  "md5sum",
  "sha1sum",
  "stat",
  "expr",
  "du",
  "readlink",
];

/**
 * Configuration that lets podman work as root on a machine whose limits cannot be raised. The host's network and a
 * hosts file of our own let a server of the test stand in for commonwl.org, which one document fetches.
 */
const containersConf = (hosts: string): string => `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
netns = "host"
base_hosts_file = "${hosts}"
[engine]
runtime = "runc"
events_logger = "none"
`;

/** Why images cannot be made here; undefined when they can. */
export function findContainersSkipReason(): string | undefined {
  for (const program of ["podman", "runc", "python3"]) {
    if (which(program) === undefined) {
      return `${program} is not installed (Debian: apt-get install podman runc python3-minimal)`;
    }
  }
  return process.getuid?.() === 0 ? undefined : "building images from the machine's programs needs root";
}

/** Makes what is missing and gives the environment under which podman finds its configuration. */
export function prepareContainers(directory: string): Record<string, string> {
  mkdirSync(directory, { recursive: true });
  const conf = join(directory, "containers.conf");
  const hosts = join(directory, "hosts");
  writeFileSync(hosts, `127.0.0.1 localhost\n${standInAddress} commonwl.org\n`);
  writeFileSync(conf, containersConf(hosts));
  const environment = { CONTAINERS_CONF: conf };
  for (const [name, extra] of Object.entries(images)) {
    try {
      podman(["image", "exists", name], environment);
    } catch {
      buildImage(name, extra, environment);
    }
  }
  return environment;
}

/** Writes one of the images to an archive that other engines read. */
export function saveImage(name: string, archive: string, environment: Record<string, string>): void {
  podman(["save", "--format", "docker-archive", "--output", archive, name], environment);
}

/** Names of the images. */
export const imageNames: readonly string[] = Object.keys(images);

function buildImage(name: string, extra: readonly string[], environment: Record<string, string>): void {
  const root = mkdtempSync(join(tmpdir(), "cwl-image-"));
  try {
    for (const folder of ["tmp", "etc", "var/lib", "var/spool", "proc", "sys", "dev", "root", "usr/bin", "usr/lib"]) {
      mkdirSync(join(root, folder), { recursive: true });
    }
    for (const [link, target] of [
      ["bin", "usr/bin"],
      ["lib", "usr/lib"],
      ["lib64", "usr/lib64"],
    ] as const) {
      symlinkSync(target, join(root, link));
    }
    mkdirSync(join(root, "usr/lib64"), { recursive: true });
    writeFileSync(join(root, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n");
    writeFileSync(join(root, "etc/group"), "root:x:0:\n");
    for (const program of [...programs, ...extra]) {
      addProgram(root, program);
    }
    if (extra.includes("python3")) {
      addPython(root);
    }
    // As in the published image: options alone go to bash.
    writeFileSync(
      join(root, "usr/bin/entrypoint"),
      '#!/bin/sh\ncase "$1" in -*) set -- bash "$@" ;; esac\nexec "$@"\n',
      { mode: 0o755 },
    );
    const change = name.includes("/bash:") ? "--change 'ENTRYPOINT [\"/usr/bin/entrypoint\"]'" : "";
    // The root of the image: whoever runs in it has to get past it.
    chmodSync(root, 0o755);
    execFileSync("sh", ["-c", `tar -C "${root}" -c . | podman import ${change} - "${name}"`], {
      env: { ...process.env, ...environment },
      stdio: ["ignore", "ignore", "pipe"],
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function addProgram(root: string, program: string): void {
  const path = which(program);
  if (path === undefined) {
    return;
  }
  const target = join(root, "usr/bin", program);
  if (!existsSync(target)) {
    copyFileSync(realpathSync(path), target);
    chmodSync(target, 0o755);
    addLibraries(root, path);
  }
}

function addLibraries(root: string, path: string): void {
  let listed = "";
  try {
    listed = execFileSync("ldd", [path], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    // A script or a static program: nothing to add.
  }
  for (const [, library = ""] of listed.matchAll(/(\/\S+) \(0x/g)) {
    const target = join(root, library.replace(/^\/lib/, "/usr/lib"));
    if (!existsSync(target)) {
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(realpathSync(library), target);
    }
  }
}

/** The interpreter's own library, without tests and caches. */
function addPython(root: string): void {
  const library = execFileSync(
    which("python3") ?? "python3",
    ["-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"],
    { encoding: "utf8" },
  ).trim();
  const copy = (from: string, to: string): void => {
    mkdirSync(to, { recursive: true });
    for (const entry of readdirSync(from, { withFileTypes: true })) {
      if (
        ["test", "tests", "__pycache__", "idlelib", "tkinter", "ensurepip", "lib2to3", "pydoc_data"].includes(
          entry.name,
        )
      ) {
        continue;
      }
      const [source, target] = [join(from, entry.name), join(to, entry.name)];
      if (statSync(source, { throwIfNoEntry: false })?.isDirectory() === true) {
        copy(source, target);
      } else if (existsSync(source)) {
        copyFileSync(source, target);
        if (source.endsWith(".so")) {
          addLibraries(root, source);
        }
      }
    }
  };
  copy(library, join(root, library));
  symlinkSync("python3", join(root, "usr/bin/python"));
}

function podman(args: readonly string[], environment: Record<string, string>): void {
  execFileSync("podman", args, { env: { ...process.env, ...environment }, stdio: "ignore" });
}

function which(program: string): string | undefined {
  // The system's own first: what a version manager puts before it is a script that works only on its machine.
  return ["/usr/bin", "/bin", ...(process.env["PATH"] ?? "").split(":")]
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path));
}

if (process.argv[1] === import.meta.filename) {
  const directory = process.argv[2] ?? join(tmpdir(), "cwl-containers");
  console.log(`CONTAINERS_CONF=${prepareContainers(directory)["CONTAINERS_CONF"]}`);
}
