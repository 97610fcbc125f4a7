import { readlinkSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { SANDBOX_USER } from "./bubblewrap.ts";
import { findProgram } from "./find-program.ts";
import { hideVariables, toFirstProcess } from "./first-process.ts";
import { type HostMount, findMountOf, listHostMounts, listMountsBelow } from "./host-mounts.ts";
import type { Command, Sandbox, View } from "./sandbox.ts";
import { FILTER_DESCRIPTOR, type FilterLoader, loadByPerl } from "./system-calls.ts";
import { showSystem } from "./system-view.ts";

/** How a new network name space gets its loopback interface: not every system lets, or has, each. */
export type Loopback = "sysfs" | "ip" | "perl";

/** What this machine's util-linux can do. */
export interface UtilLinux {
  /** As root without user name spaces, where there are none. */
  readonly hasUserNamespaces: boolean;
  readonly loopback: Loopback;
  /** A filter of system calls, and who gives it to the kernel. */
  readonly filter: { readonly path: string; readonly loader: FilterLoader } | undefined;
}

/** Where the new root is put together; see `new-root.fstab`. */
const ROOT = "/sys/kernel";
const DEVICES = ["null", "zero", "full", "random", "urandom", "tty"];
const DEVICE_LINKS: readonly (readonly [target: string, to: string])[] = [
  ["/dev/fd", "/proc/self/fd"],
  ["/dev/stdin", "/proc/self/fd/0"],
  ["/dev/stdout", "/proc/self/fd/1"],
  ["/dev/stderr", "/proc/self/fd/2"],
];
const NAME_SPACES = ["--mount", "--net", "--ipc", "--uts", "--cgroup", "--pid", "--fork", "--kill-child"];
/** Mounts that no program in it may use for more than their files. */
const PLAIN = ["nosuid", "nodev"];

/** Programs that it is made from; each is part of util-linux or coreutils but bash. */
export const PARTS = ["unshare", "mount", "umount", "pivot_root", "setpriv", "mkdir", "cp", "ln", "sh", "bash"];

/** A sandbox by the programs of util-linux, as bubblewrap would make it. */
export function wrapInUtilLinux(
  { hasUserNamespaces, loopback, filter }: UtilLinux,
  { scratch, view, workdir, limits, file }: Sandbox,
  { command, environment }: Command,
): Command {
  const layout = arrange([...showSystem(scratch), ...view], listHostMounts());
  const fstab = `${file}.mounts`;
  writeFileSync(fstab, layout.fstab.join(""), { mode: 0o600 });
  const newRoot = join(import.meta.dirname, loopback === "sysfs" ? "new-root-loopback.fstab" : "new-root.fstab");
  const script = [
    "set -e",
    ...(filter === undefined ? [] : [`exec ${FILTER_DESCRIPTOR}<${quote(filter.path)}`]),
    `${find("mount")} --all --fstab ${quote(newRoot)}`,
    LOOPBACK[loopback](),
    `cd ${ROOT}`,
    `${find("mkdir")} -p ${layout.folders.map(toRelative).join(" ")}`,
    ...layout.files.map((path) => `: >${toRelative(path)}`),
    ...makeLinks(layout.links),
    `${find("mount")} --all --fstab ${quote(fstab)}`,
    ...layout.remounts.map((each) => `${find("mount")} -o ${each.options.join(",")} ${quote(each.target)}`),
    `${find("mount")} -o remount,bind,ro,${PLAIN.join(",")} ${ROOT}`,
    // One more, which the program is put into, and none below that.
    ...(hasUserNamespaces ? ["echo 1 >/proc/sys/user/max_user_namespaces"] : []),
    `${find("pivot_root")} . mnt`,
    "cd /",
    `${find("umount")} -l /mnt`,
    `cd ${quote(workdir)}`,
    'exec "$@"',
  ].join("\n");
  return {
    command: [
      // Ends with what started it, as the first process ends with this.
      [find("setpriv"), "--pdeathsig", "KILL", find("unshare")],
      hasUserNamespaces ? ["--user", "--map-root-user"] : [],
      NAME_SPACES,
      [find("sh"), "-c", script, "sandbox"],
      hasUserNamespaces
        ? [find("unshare"), "--user", `--map-user=${SANDBOX_USER}`, `--map-group=${SANDBOX_USER}`, "--keep-caps"]
        : [],
      [find("setpriv"), ...(hasUserNamespaces ? [] : ["--clear-groups"]), "--no-new-privs"],
      ["--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"],
      filter?.loader === "setpriv" ? ["--seccomp-filter", `/proc/self/fd/${FILTER_DESCRIPTOR}`] : [],
      filter?.loader === "perl" ? loadByPerl() : [],
      toFirstProcess(limits, command),
    ].flat(),
    environment: hideVariables(environment),
  };
}

/** The first two have the service's rights only where it has those over its own name spaces, which it has. */
const LOOPBACK: Readonly<Record<Loopback, () => string>> = {
  sysfs: () => "echo 9 >/sys/class/net/lo/flags",
  ip: () => `${find("ip")} link set lo up`,
  // SIOCSIFFLAGS with IFF_UP (netdevice(7)).
  perl: () =>
    `${find("perl")} -e '$r=pack(q(a16s x14),q(lo),1);socket(S,2,2,0)&&ioctl(S,0x8914,$r)||die qq(the loopback interface: $!\\n)'`,
};

interface Layout {
  readonly folders: string[];
  readonly files: string[];
  readonly links: (readonly [target: string, to: string])[];
  readonly fstab: string[];
  readonly remounts: { readonly target: string; readonly options: readonly string[] }[];
}

function arrange(views: readonly View[], mounts: readonly HostMount[]): Layout {
  const layout: Layout = { folders: ["/mnt", "/dev/pts"], files: [], links: [], fstab: [], remounts: [] };
  /** Below these, whatever is there is what was mounted. */
  const covered: string[] = [];
  const isCovered = (path: string) => covered.some((each) => path.startsWith(`${each}/`));
  const mount = (source: string, target: string, type: string, options: readonly string[]) => {
    layout.fstab.push([escape(source), escape(`${ROOT}${target}`), type, options.join(","), "0", "0\n"].join(" "));
  };
  const needFolder = (path: string) => {
    if (!isCovered(path)) {
      layout.folders.push(path);
    }
  };
  const needFile = (path: string) => {
    if (!isCovered(path)) {
      layout.folders.push(join(path, ".."));
      layout.files.push(path);
    }
  };
  const show = (view: Extract<View, { source: string }>) => {
    const { source, target } = view;
    if (source.startsWith("/dev/")) {
      needFile(target);
      mount(source, target, "none", ["bind"]);
      return;
    }
    if (source.startsWith("/proc/")) {
      mount(`${ROOT}${source}`, target, "none", ["bind", "ro", ...PLAIN]);
      return;
    }
    const real = realpathSync(source);
    const isFolder = statSync(real).isDirectory();
    const access = view.kind === "read-only" ? ["ro"] : [];
    const lock = (path: string) => [...new Set([...access, ...PLAIN, ...(findMountOf(path, mounts)?.locked ?? [])])];
    (isFolder ? needFolder : needFile)(target);
    mount(real, target, "none", [isFolder ? "rbind" : "bind", ...lock(real), ...(isFolder ? ["X-mount.mkdir"] : [])]);
    if (isFolder) {
      covered.push(target);
      for (const below of listMountsBelow(real, mounts)) {
        // Options of a mount are not those of the mounts below it.
        layout.remounts.push({
          target: `${ROOT}${target}${below.target.slice(real.length)}`,
          options: ["remount", "bind", ...lock(below.target)],
        });
      }
    }
  };
  for (const view of views) {
    switch (view.kind) {
      case "read-only":
      case "writable":
        show(view);
        break;
      case "memory":
        needFolder(view.target);
        mount("sandbox", view.target, "tmpfs", [
          `size=${view.bytes}`,
          `mode=${view.isReadOnly === true ? "755" : "1777"}`,
          ...PLAIN,
          "X-mount.mkdir",
          ...(view.isReadOnly === true ? ["ro"] : []),
        ]);
        covered.push(view.target);
        break;
      case "folder":
        needFolder(view.target);
        break;
      case "link":
        layout.links.push([view.target, view.to]);
        break;
      case "processes":
        needFolder(view.target);
        mount("proc", view.target, "proc", [...PLAIN, "noexec"]);
        covered.push(view.target);
        break;
      case "devices":
        for (const name of DEVICES) {
          needFile(`/dev/${name}`);
          mount(`/dev/${name}`, `/dev/${name}`, "none", ["bind"]);
        }
        layout.links.push(...DEVICE_LINKS);
        mount("devpts", "/dev/pts", "devpts", ["newinstance", "ptmxmode=0666", "mode=620", "nosuid", "noexec"]);
        layout.links.push(["/dev/ptmx", "pts/ptmx"]);
        break;
    }
  }
  return layout;
}

/** Links of the host are copied, all by one program; others are made one by one. */
function makeLinks(links: Layout["links"]): readonly string[] {
  const alike = links.filter(([target, to]) => readLink(target) === to);
  return [
    ...(alike.length === 0 ? [] : [`${find("cp")} -P --parents ${alike.map(([target]) => quote(target)).join(" ")} .`]),
    ...links
      .filter((each) => !alike.includes(each))
      .map(([target, to]) => `${find("ln")} -s ${quote(to)} ${toRelative(target)}`),
  ];
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // It is not a link here, or not there.
    return undefined;
  }
}

const find = (name: string): string => findProgram([name]) ?? name;
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const toRelative = (path: string): string => quote(path.slice(1));
/** As fstab(5) has it, in octal. */
const escape = (path: string): string =>
  path.replaceAll(/[\s\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);
