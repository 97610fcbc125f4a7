import { lstatSync, readlinkSync, statSync } from "node:fs";

import type { Sandbox, View } from "./sandbox.ts";

/** Lists of names without much ado around each. */
const words = (...lines: readonly string[]): readonly string[] => lines.flatMap((line) => line.split(" "));

/** Of `/etc`, what programs need and that is no secret. */
const ETC = words(
  "alternatives ld.so.cache ld.so.conf ld.so.conf.d passwd group nsswitch.conf localtime hosts resolv.conf",
  "host.conf protocols services ssl/certs ssl/openssl.cnf ca-certificates ca-certificates.conf pki/tls/certs",
  "pki/ca-trust/extracted fonts mime.types magic crypto-policies",
);
/**
 * Of `/proc`, what is not of processes: to be read only, or not at all (the lists of the OCI run time specification). Where the
 * service is root, a program has root's number outside its user name space, and without these root's switches of the kernel.
 */
const PROC_READ_ONLY = ["sys", "sysrq-trigger", "bus", "fs", "irq"];
const PROC_HIDDEN = words(
  "acpi asound kcore keys key-users kmsg kpagecgroup kpagecount kpageflags latency_stats sched_debug scsi",
  "timer_list timer_stats vmallocinfo slabinfo kallsyms mtrr interrupts",
);
/** Bytes of memory that programs may share through files (`/dev/shm`): as much as containers have. */
const SHARED_MEMORY_BYTES = 64 * 2 ** 20;

/**
 * What every program in a sandbox sees: the system's programs and libraries, no other process, nobody's files and nothing of `/etc`
 * that is secret. Nothing above the mounts can be written: what is written there is memory that nobody counts.
 */
export function showSystem(scratch: Sandbox["scratch"]): readonly View[] {
  return [
    ...["/usr", "/opt", "/nix/store"].flatMap(showFolder),
    ...["/bin", "/sbin", "/lib", "/lib32", "/lib64"].flatMap(showTop),
    ...ETC.flatMap((name) => showFolder(`/etc/${name}`)),
    { kind: "processes", target: "/proc" },
    ...PROC_READ_ONLY.flatMap((name) => showFolder(`/proc/${name}`)),
    ...PROC_HIDDEN.flatMap((name) => hide(`/proc/${name}`)),
    { kind: "devices", target: "/dev" },
    { kind: "memory", target: "/dev/shm", bytes: SHARED_MEMORY_BYTES },
    { kind: "folder", target: "/run" },
    ...["/tmp", "/var/tmp"].map((target): View =>
      "folder" in scratch
        ? { kind: "writable", source: scratch.folder, target }
        : { kind: "memory", target, bytes: scratch.bytes },
    ),
  ];
}

const find = (path: string) => statSync(path, { throwIfNoEntry: false });

const showFolder = (path: string): readonly View[] =>
  find(path) === undefined ? [] : [{ kind: "read-only", source: path, target: path }];

/** Links into `/usr` on most systems, folders on some. */
function showTop(path: string): readonly View[] {
  const info = lstatSync(path, { throwIfNoEntry: false });
  return info?.isSymbolicLink() === true
    ? [{ kind: "link", target: path, to: readlinkSync(path) }]
    : info === undefined
      ? []
      : [{ kind: "read-only", source: path, target: path }];
}

function hide(path: string): readonly View[] {
  const info = find(path);
  if (info === undefined) {
    return [];
  }
  return info.isDirectory()
    ? [{ kind: "memory", target: path, bytes: 4096, isReadOnly: true }]
    : [{ kind: "read-only", source: "/dev/null", target: path }];
}
