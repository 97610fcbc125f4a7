import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { findProgram } from "./find-program.ts";

/** Descriptor that the filter is read from. Its number means the same on both sides of a new root. */
export const FILTER_DESCRIPTOR = 9;

/** Who gives a filter to the kernel where bubblewrap does not. */
export type FilterLoader = "setpriv" | "perl";

/**
 * The filter of system calls for this processor: a program for the kernel, made from the profile that Podman gives its containers
 * (`tools/make-filters.py`). Calls that it refuses fail with EPERM, those that it does not know with ENOSYS, as on an older kernel.
 * @returns `undefined` where there is none for this processor
 */
export function findFilter(): string | undefined {
  const path = join(import.meta.dirname, "../filters", `${process.arch}.bpf`);
  return existsSync(path) ? path : undefined;
}

/** The ways in which this machine can load a filter, the fastest first. */
export function listFilterLoaders(): readonly FilterLoader[] {
  const setpriv = findProgram(["setpriv"]);
  // From util-linux 2.40 on.
  const canFilter = setpriv !== undefined && spawnSync(setpriv, ["--help"]).stdout.includes("--seccomp-filter");
  return [
    ...(canFilter ? (["setpriv"] as const) : []),
    ...(findProgram(["perl"]) === undefined || PRCTL.get(process.arch) === undefined ? [] : (["perl"] as const)),
  ];
}

/** Number of prctl(2). */
const PRCTL = new Map<string, number>([
  ["x64", 157],
  ["arm64", 167],
]);

/** Loads the filter at the descriptor, and becomes the command that follows; PR_SET_SECCOMP (22) of prctl(2), mode 2. */
export function loadByPerl(): readonly string[] {
  const script = [
    `open(F,"<&=${FILTER_DESCRIPTOR}")&&sysread(F,$f,65536)||die "no filter: $!\\n"`,
    'syscall($n=shift,22,2,$p=pack("Sx![P]P",length($f)/8,$f))==0||die "the filter: $!\\n"',
    'exec {$ARGV[0]} @ARGV or die "$ARGV[0]: $!\\n"',
  ];
  return [findProgram(["perl"]) ?? "perl", "-e", script.join(";"), String(PRCTL.get(process.arch))];
}
