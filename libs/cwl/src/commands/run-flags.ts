import { CwlError } from "../errors.ts";
import { replacedFlags, takenFlags } from "./flags-of-others.ts";

interface Flag {
  /** What stands in help for its value; a flag without one is on or off. */
  readonly value?: string;
  readonly multiple?: true;
  readonly help?: string;
  /** Said, and the run refused, when it is used: what to do instead. */
  readonly instead?: string;
}

const MAX_EVALUATION_SECONDS = 86_400;
/** What the reference runner allows. */
const EVALUATION_SECONDS = 60;

/** Options of `run`, by name. Those of other runners that need nothing here are taken as they are. */
const flags = {
  outdir: { value: "DIR", help: "where outputs are put (default: here)" },
  basedir: { value: "DIR", help: "what relative paths of inputs on the command line are relative to (default: here)" },
  overrides: { value: "FILE", help: "cwltool:overrides in a file of their own" },
  "allow-path": { value: "DIR", multiple: true, help: "expressions and tools may name files there too" },
  "no-container": { help: "run tools on this machine, but not those that require a container" },
  engine: {
    value: "NAME",
    help: "podman, docker, apptainer, singularity, udocker, the path of one, or none: on this machine, whatever tools require",
  },
  "engine-option": { value: "OPTION", multiple: true, help: "further option of the engine's run" },
  "auth-file": { value: "FILE", help: "registry credentials (containers-auth.json)" },
  podman: { help: "the same as --engine podman" },
  docker: { help: "the same as --engine docker" },
  singularity: { help: "the same as --engine singularity; images are kept in CWL_SINGULARITY_CACHE" },
  apptainer: { help: "the same as --engine apptainer" },
  udocker: { help: "the same as --engine udocker, which isolates nothing" },
  "user-space-docker-cmd": { value: "CMD", help: "run containers with this command, which works like udocker" },
  "enable-pull": { help: "pull images that are not there (default)" },
  "disable-pull": { help: "never pull images" },
  "strict-memory-limit": { help: "end tools on this machine that use more memory than they ask for" },
  "strict-cpu-limit": { help: "give containers the processors that their tool asks for, and no more" },
  cores: { value: "N", help: "processors for all tools together (default: all)" },
  ram: { value: "MIB", help: "memory for all tools together (default: all)" },
  journal: { value: "DIR", help: "write finished steps down there, and go on from them" },
  cachedir: { value: "DIR", help: "reuse results of earlier runs" },
  "tmpdir-prefix": { value: "DIR", help: "where scratch space is made" },
  "leave-tmpdir": { help: "keep scratch space" },
  "preserve-environment": {
    value: "NAME",
    multiple: true,
    help: "hand a variable on to tools on this machine, also one of CWL_ or SWATH_",
  },
  "preserve-entire-environment": {
    help: "hand all variables on to tools on this machine, but those of CWL_ and SWATH_",
  },
  target: { value: "NAME", multiple: true, help: "make this output of the workflow alone, or those of this step" },
  "single-step": { value: "STEP", help: "run the process of one step alone" },
  "eval-timeout": { value: "SECONDS", help: "how long one expression may take (default: 60)" },
  "write-summary": { value: "FILE", help: "write the output object there too" },
  provenance: { value: "DIR", help: "write the record of the run as an RO-Crate" },
  "make-template": { help: "print an input object to fill in, and run nothing" },
  "print-deps": { help: "print the files that the document is made of, and run nothing" },
  json: { help: "print events as JSON lines on standard error" },
  timestamps: { help: "begin each line of the log with the time" },
  quiet: { help: "print nothing but outputs and errors" },
  verbose: { help: "print commands and logs of tools above the tree of a workflow too" },
  debug: { help: "the same as --verbose" },
  help: { help: "print this" },
  "no-color": { help: "no colours (also NO_COLOR)" },
  "disable-color": { help: "the same as --no-color" },
  "on-error": { value: "stop|continue", help: "whether steps that do not need what failed still run (default: stop)" },
  ...takenFlags,
  ...replacedFlags,
} as const satisfies { readonly [name: string]: Flag };

const table: { readonly [name: string]: Flag } = flags;

type FlagName = keyof typeof flags;

export type RunFlags = {
  readonly [K in FlagName]: (typeof flags)[K] extends { readonly multiple: true }
    ? readonly string[] | undefined
    : (typeof flags)[K] extends { readonly value: string }
      ? string | undefined
      : boolean | undefined;
};

/** For `parseArgs`. */
export const parseOptions: { [name: string]: { type: "string" | "boolean"; multiple?: boolean } } = Object.fromEntries(
  Object.entries(table).map(([name, flag]) => [
    name,
    { type: flag.value === undefined ? ("boolean" as const) : ("string" as const), multiple: flag.multiple === true },
  ]),
);

export function takesValue(word: string): boolean {
  return table[word.slice(2)]?.value !== undefined && !word.includes("=");
}

export function isFlag(name: string): boolean {
  return Object.hasOwn(table, name);
}

/** Refuses flags that cannot be honoured, with what to do instead. */
export function checkFlags(used: RunFlags): void {
  for (const name of Object.keys(used)) {
    const instead = table[name]?.instead;
    if (instead !== undefined) {
      throw new CwlError("unsupported", `--${name}: ${instead}`);
    }
  }
  const seconds = used["eval-timeout"];
  if (seconds !== undefined && !(Number(seconds) > 0 && Number(seconds) <= MAX_EVALUATION_SECONDS)) {
    throw new CwlError(
      "invalid-inputs",
      `--eval-timeout must be seconds above 0 and at most ${MAX_EVALUATION_SECONDS}, not ${JSON.stringify(seconds)}`,
    );
  }
  for (const [name, unit] of [
    ["cores", "processors"],
    ["ram", "MiB"],
  ] as const) {
    const amount = used[name];
    if (amount !== undefined && !(Number(amount) > 0 && Number.isFinite(Number(amount)))) {
      throw new CwlError(
        "invalid-inputs",
        `--${name} must be a number of ${unit} above 0, not ${JSON.stringify(amount)}`,
      );
    }
  }
  const onError = used["on-error"];
  if (onError !== undefined && onError !== "stop" && onError !== "continue") {
    throw new CwlError("invalid-inputs", `--on-error must be stop or continue, not ${JSON.stringify(onError)}`);
  }
}

export function evaluationMilliseconds(used: RunFlags): number {
  return Number(used["eval-timeout"] ?? EVALUATION_SECONDS) * 1000;
}

export function helpOf(usage: string): string {
  const entries = Object.entries(table);
  const lineOf = ([name, { value }]: [string, Flag], text: string): string => {
    const flag = `--${name}${value === undefined ? "" : ` ${value}`}`;
    return flag.length < 32 ? `  ${flag.padEnd(32)}${text}` : `  ${flag}\n${" ".repeat(34)}${text}`;
  };
  return [
    `usage: ${usage}`,
    "",
    ...entries.flatMap((entry) => (entry[1].help === undefined ? [] : lineOf(entry, entry[1].help))),
    "",
    "Flags of other runners that are not here, and what takes their place:",
    ...entries.flatMap((entry) => (entry[1].instead === undefined ? [] : lineOf(entry, entry[1].instead))),
    "",
    "Inputs of the process follow the document as --NAME VALUE, or stand in a YAML or JSON file.",
  ].join("\n");
}
