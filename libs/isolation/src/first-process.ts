import { SYSTEM_PATH, findProgram } from "./find-program.ts";
import type { Command, SandboxLimits } from "./sandbox.ts";

/** Names of the program's own variables until it is in its sandbox. */
const PREFIX = "SANDBOX_VARIABLE_";

/**
 * The first process of a sandbox: closes every descriptor but the first three, gives the program its variables, runs it, and waits for
 * what it leaves. Privileged mode (`-p`) reads no start-up file that the program's variables name; `--norc` none of its home, which bash
 * takes where its input is a socket.
 */
const FIRST_PROCESS = [
  'for __each in /proc/self/fd/*; do __each=${__each##*/}; ((__each > 2)) && eval "exec $__each>&-"; done',
  "unset PWD OLDPWD SHLVL",
  `for __each in "\${!${PREFIX}@}"; do export "\${__each#${PREFIX}}=\${!__each}"; unset "$__each"; done`,
  "unset __each",
  // The shell's own word of a signal that ended the program is none of the program's.
  'exec 3>&2 2>/dev/null; "$@" 2>&3 3>&-',
  "exit $?",
];

/** A command as the first process of a sandbox runs it, within its limits. It shows no path of the host. */
export function toFirstProcess(limits: SandboxLimits, command: readonly string[]): readonly string[] {
  const script = [limit(limits), ...FIRST_PROCESS].join("\n");
  return [findProgram(["bash"]) ?? "/bin/bash", "--norc", "-p", "-c", script, "sandbox", ...command];
}

/**
 * Variables for the programs that make a sandbox, which have the service's rights: a program's own, such as LD_PRELOAD, mean nothing to
 * them, since they bear other names until the program starts. Names that no shell knows are passed as they are; no loader reads them.
 */
export function hideVariables(environment: Command["environment"]): Command["environment"] {
  return {
    PATH: SYSTEM_PATH,
    ...Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [
        /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? `${PREFIX}${name}` : name,
        value,
      ]),
    ),
  };
}

/** Soft and hard limits, by the shell itself: a program for it would cost a millisecond. Sizes are in KiB. */
function limit({ processes, openFiles, fileBytes, dataBytes }: SandboxLimits): string {
  const toKiB = (bytes: number) => Math.ceil(bytes / 1024);
  return [
    `ulimit -c 0 -n ${openFiles} -u ${processes}`,
    ...(fileBytes === undefined ? [] : [`-f ${toKiB(fileBytes)}`]),
    ...(dataBytes === undefined ? [] : [`-d ${toKiB(dataBytes)}`]),
  ].join(" ");
}
