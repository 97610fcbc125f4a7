import { hideVariables, toFirstProcess } from "./first-process.ts";
import type { Command, Sandbox, View } from "./sandbox.ts";
import { FILTER_DESCRIPTOR } from "./system-calls.ts";
import { showSystem } from "./system-view.ts";

/** Who programs are: nobody in particular, with no rights over anything but their own folders. */
export const SANDBOX_USER = "1000";

/** Without `--disable-userns` (0.8) a program can make user name spaces, and have every capability within them. */
const NAME_SPACES = [
  "--unshare-user --disable-userns --unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup-try",
  // The first process is ours, since bubblewrap's own would show every argument, and so the paths of the host.
  `--uid ${SANDBOX_USER} --gid ${SANDBOX_USER} --die-with-parent --new-session --as-pid-1`,
].flatMap((line) => line.split(" "));

/** Nothing above the mounts can be written: what is written there is memory that nobody counts. */
const SEALED = ["--remount-ro", "/dev", "--remount-ro", "/"];

export interface Bubblewrap {
  readonly program: string;
  /** Path of a filter of system calls. */
  readonly filter: string | undefined;
}

/** A sandbox by bubblewrap. */
export function wrapInBubblewrap(
  { program, filter }: Bubblewrap,
  { scratch, view, workdir, limits }: Sandbox,
  { command, environment }: Command,
): Command {
  return {
    command: [
      ...(filter === undefined
        ? [program]
        : [
            "/bin/sh",
            "-c",
            `exec "$@" ${FILTER_DESCRIPTOR}<"$0"`,
            filter,
            program,
            "--seccomp",
            `${FILTER_DESCRIPTOR}`,
          ]),
      ...NAME_SPACES,
      ...[...showSystem(scratch), ...view].flatMap(toArguments),
      ...SEALED,
      "--chdir",
      workdir,
      "--",
      ...toFirstProcess(limits, command),
    ],
    environment: hideVariables(environment),
  };
}

function toArguments(view: View): readonly string[] {
  switch (view.kind) {
    case "read-only":
      return ["--ro-bind", view.source, view.target];
    case "writable":
      return ["--bind", view.source, view.target];
    case "memory":
      return [
        ["--perms", view.isReadOnly === true ? "0755" : "1777", "--size", String(view.bytes), "--tmpfs", view.target],
        view.isReadOnly === true ? ["--remount-ro", view.target] : [],
      ].flat();
    case "folder":
      return ["--dir", view.target];
    case "link":
      return ["--symlink", view.to, view.target];
    case "processes":
      return ["--proc", view.target];
    case "devices":
      return ["--dev", view.target];
  }
}
