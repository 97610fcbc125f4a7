import type { EnvValue } from "@swath/manifest";

/**
 * Variables of a process that load code, choose interpreters, redirect its traffic or belong to the supervisor. A plan sets none of
 * them: with one, whoever writes a plan would choose what runs.
 */
const RUNTIME_VARIABLE =
  /^(NODE_|LD_|DYLD_|GLIBC_|GCONV_|MALLOC_|UV_|V8_|PYTHON|PERL|RUBY|JAVA_|OPENSSL_|SSL_|NPM_|GIT_|BASH_|SHELLOPTS$|ENV$|IFS$|PATH$|HOME$|TMPDIR$|(HTTPS?|ALL|NO)_PROXY$|SWATH_POD$|LISTEN$|LISTEN_|MANAGEMENT_LISTEN$)/;

/** Sizes of heaps are the exception: `--max-semi-space-size=4`, and no other option of Node.js. */
const MEMORY_VARIABLES: Readonly<Record<string, RegExp>> = {
  NODE_OPTIONS: /^--max-(semi-space|old-space)-size=\d{1,6}( --max-(semi-space|old-space)-size=\d{1,6})?$/,
  MALLOC_ARENA_MAX: /^\d{1,3}$/,
  MALLOC_MMAP_THRESHOLD_: /^\d{1,9}$/,
  MALLOC_TRIM_THRESHOLD_: /^\d{1,9}$/,
};

/** Whether a plan may give a variable this value. */
export function isPlanVariable(name: string, value: EnvValue): boolean {
  const memory = Object.hasOwn(MEMORY_VARIABLES, name) ? MEMORY_VARIABLES[name] : undefined;
  return memory === undefined
    ? /^[A-Z][A-Z0-9_]{0,99}$/.test(name) && !RUNTIME_VARIABLE.test(name)
    : typeof value === "string" && memory.test(value);
}

/** What was sent is no plan that the supervisor runs; says where and why. */
export class DesiredStateError extends Error {
  override readonly name = "DesiredStateError";
}
