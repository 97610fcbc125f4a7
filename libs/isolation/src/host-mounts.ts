import { readFileSync } from "node:fs";

/** A mount of this machine. */
export interface HostMount {
  readonly target: string;
  /** Options that a user name space cannot take away, and must repeat. */
  readonly locked: readonly string[];
}

const LOCKABLE = ["ro", "noexec"];

/** Mounts of this machine in the order in which they were made (proc_pid_mountinfo(5)). */
export function listHostMounts(text = readFileSync("/proc/self/mountinfo", "utf8")): readonly HostMount[] {
  return text.split("\n").flatMap((line) => {
    const [, , , , target, options] = line.split(" ");
    return target === undefined || options === undefined
      ? []
      : [
          {
            target: target.replaceAll(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8))),
            locked: LOCKABLE.filter((name) => options.split(",").includes(name)),
          },
        ];
  });
}

/** The mount that a path is on. */
export function findMountOf(path: string, mounts: readonly HostMount[]): HostMount | undefined {
  return mounts
    .filter(({ target }) => isWithin(path, target))
    .reduce<HostMount | undefined>(
      (nearest, each) => (each.target.length >= (nearest?.target.length ?? 0) ? each : nearest),
      undefined,
    );
}

/** Mounts below a path, those above others first. */
export function listMountsBelow(path: string, mounts: readonly HostMount[]): readonly HostMount[] {
  const below = mounts.filter(({ target }) => target !== path && isWithin(target, path));
  return [...new Map(below.map((each) => [each.target, each])).values()].toSorted(
    (one, other) => one.target.length - other.target.length,
  );
}

const isWithin = (path: string, folder: string): boolean =>
  folder === "/" || path === folder || path.startsWith(`${folder}/`);
