import { execFileSync } from "node:child_process";
import { lstatSync, readlinkSync, statSync } from "node:fs";

import { findProgram } from "./find-program.ts";

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
 * service is root, a tool has root's number outside its user name space, and without these root's switches of the kernel.
 */
const PROC_READ_ONLY = ["sys", "sysrq-trigger", "bus", "fs", "irq"];
const PROC_HIDDEN = words(
  "acpi asound kcore keys key-users kmsg kpagecgroup kpagecount kpageflags latency_stats sched_debug scsi",
  "timer_list timer_stats vmallocinfo slabinfo kallsyms mtrr interrupts",
);
/** Who tools are: nobody in particular, with no rights over anything but their own directories. */
const USER = "1000";

/** Bytes of memory that programs may share through files (`/dev/shm`): as much as containers have. */
const SHARED_MEMORY_BYTES = 64 * 2 ** 20;

/** What every isolated program sees of the system. */
export interface SystemView {
  /** Folders of programs and what belongs to them, beside the system's own; shown where they are. */
  readonly folders: readonly string[];
}

/**
 * Arguments of bubblewrap for a program that sees the system's programs and libraries, no other process, nobody's files and
 * nothing of `/etc` that is secret. Its files are to be mounted after these, then `SEALED`.
 */
export function showSystem({ folders }: SystemView): readonly string[] {
  return [
    ...words(
      "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try",
      `--uid ${USER} --gid ${USER} --die-with-parent --new-session`,
      "--ro-bind /usr /usr --ro-bind-try /opt /opt --ro-bind-try /nix/store /nix/store",
    ),
    ...["/bin", "/sbin", "/lib", "/lib32", "/lib64"].flatMap(showTop),
    ...ETC.flatMap((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]),
    ...words("--proc /proc"),
    ...PROC_READ_ONLY.flatMap(showProc),
    ...PROC_HIDDEN.flatMap(hideProc),
    ...words(`--dev /dev --size ${SHARED_MEMORY_BYTES} --tmpfs /dev/shm --dir /run --dir /var/tmp`),
    ...folders.flatMap((folder) => ["--ro-bind-try", folder, folder]),
  ];
}

/** Links into `/usr` on most systems, folders on some. */
function showTop(path: string): readonly string[] {
  const info = lstatSync(path, { throwIfNoEntry: false });
  if (info === undefined) {
    return [];
  }
  return info.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
}

const showProc = (name: string): readonly string[] => ["--ro-bind-try", `/proc/${name}`, `/proc/${name}`];

function hideProc(name: string): readonly string[] {
  const path = `/proc/${name}`;
  const info = statSync(path, { throwIfNoEntry: false });
  if (info === undefined) {
    return [];
  }
  return info.isDirectory() ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path];
}

/** Nothing above the mounts can be written: what is written there is memory that nobody counts. */
export const SEALED = words("--remount-ro /dev --remount-ro /");

/** The command that installs bubblewrap on this system. */
export function installCommand(): string {
  const commands = [
    ["apt-get", "apt-get install bubblewrap"],
    ["dnf", "dnf install bubblewrap"],
    ["apk", "apk add bubblewrap"],
    ["pacman", "pacman -S bubblewrap"],
    ["zypper", "zypper install bubblewrap"],
  ] as const;
  return commands.find(([program]) => findProgram([program]) !== undefined)?.[1] ?? "apt-get install bubblewrap";
}

/** Why bubblewrap does not work here, where it does not. */
export function noBubblewrapReason(command: string, system: readonly string[]): string | undefined {
  try {
    execFileSync(command, [...system, "--tmpfs", "/tmp", "--unshare-net", ...SEALED, "--", "/bin/sh", "-c", ":"], {
      env: {},
      stdio: ["ignore", "ignore", "pipe"],
      timeout: 10_000,
    });
    return undefined;
  } catch (error) {
    const { stderr, message } = error as { readonly stderr?: Buffer | null; readonly message: string };
    return (stderr?.toString().trim() || message).slice(0, 300);
  }
}
