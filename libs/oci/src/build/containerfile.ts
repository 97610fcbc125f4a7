import {
  type Instruction,
  DockerfileParser,
  JSONInstruction,
  ModifiableInstruction,
  PropertyInstruction,
} from "dockerfile-ast";

/** A mistake of a Containerfile, or what only a builder can do. */
export class ContainerfileError extends Error {
  override readonly name = "ContainerfileError";

  constructor(line: number, message: string) {
    super(`line ${line}: ${message}`);
  }
}

/** Files of the context that become a layer. */
export interface CopyStep {
  readonly kind: "copy";
  readonly line: number;
  /** As it is written, for the image's history. */
  readonly text: string;
  readonly sources: readonly string[];
  readonly target: string;
  readonly owner: { readonly uid: number; readonly gid: number };
  readonly mode: number | undefined;
}

/** A change of what the image says of itself. */
export interface ConfigStep {
  readonly kind: "config";
  readonly line: number;
  readonly text: string;
  readonly keyword: "ENV" | "LABEL" | "WORKDIR" | "USER" | "ENTRYPOINT" | "CMD" | "EXPOSE" | "ARG";
  /** Names and values of ENV, LABEL and ARG, words of the others. */
  readonly pairs: readonly (readonly [name: string, value: string | undefined])[];
  readonly words: readonly string[];
}

export interface Containerfile {
  /** `scratch` or the name of an image. */
  readonly base: string;
  readonly steps: readonly (CopyStep | ConfigStep)[];
}

const PAIRS = new Set(["ENV", "LABEL", "ARG"]);
const WORDS = new Set(["WORKDIR", "USER", "ENTRYPOINT", "CMD", "EXPOSE"]);
const MAX_BYTES = 1 << 20;

/**
 * Reads a Containerfile of one stage that runs nothing: FROM, COPY, ENV, LABEL, WORKDIR, USER, ENTRYPOINT, CMD, EXPOSE, ARG.
 * Variables stay as they are; `expandVariables` puts their values in, when the base image's are known.
 * @throws {ContainerfileError}
 */
export function parseContainerfile(text: string): Containerfile {
  if (Buffer.byteLength(text) > MAX_BYTES) {
    throw new ContainerfileError(1, `the file has more than ${MAX_BYTES} bytes`);
  }
  let base: string | undefined;
  const steps: (CopyStep | ConfigStep)[] = [];
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const keyword = instruction.getKeyword();
    const line = instruction.getRange().start.line + 1;
    if (keyword === "FROM") {
      if (base !== undefined) {
        throw new ContainerfileError(line, "a second FROM needs a builder; an image without RUN has one stage");
      }
      base = readBase(instruction, line);
    } else if (base === undefined && keyword !== "ARG") {
      throw new ContainerfileError(line, "FROM comes first");
    } else if (keyword === "COPY") {
      steps.push(readCopy(instruction as ModifiableInstruction, line));
    } else if (PAIRS.has(keyword) || WORDS.has(keyword)) {
      steps.push(readConfig(instruction, keyword as ConfigStep["keyword"], line));
    } else if (keyword === "RUN") {
      throw new ContainerfileError(
        line,
        "RUN needs a builder, with rights that nobody has here; copy what it makes, or begin with an image that has it",
      );
    } else {
      throw new ContainerfileError(
        line,
        `${keyword} is not one of those that are known here: FROM, COPY, ${[...PAIRS, ...WORDS].join(", ")}`,
      );
    }
  }
  if (base === undefined) {
    throw new ContainerfileError(1, "there is no FROM");
  }
  return { base, steps };
}

/** The text with the values of `$NAME`, `${NAME}`, `${NAME:-else}` and `${NAME:+then}`; a backslash keeps the sign. */
export function expandVariables(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replaceAll(
    /\\\$|\$(?:(\w+)|\{(\w+)(?::([-+])([^}]*))?\})/g,
    (whole, plain: string | undefined, braced: string | undefined, kind: string | undefined, other = "") => {
      if (whole === "\\$") {
        return "$";
      }
      const value = variables.get(plain ?? braced ?? "") ?? "";
      return kind === "+" ? (value === "" ? "" : String(other)) : value === "" && kind === "-" ? String(other) : value;
    },
  );
}

function readBase(instruction: Instruction, line: number): string {
  const [image, ...more] = instruction.getArguments().map((each) => each.getValue());
  if (image === undefined || (instruction instanceof ModifiableInstruction && instruction.getFlags().length > 0)) {
    throw new ContainerfileError(line, "FROM takes the name of an image; flags are not known here");
  }
  if (more.length > 0 && !(more.length === 2 && more[0]?.toUpperCase() === "AS")) {
    throw new ContainerfileError(line, "FROM takes one image");
  }
  return image;
}

function readCopy(instruction: ModifiableInstruction, line: number): CopyStep {
  let owner = { uid: 0, gid: 0 };
  let mode: number | undefined;
  for (const flag of instruction.getFlags()) {
    const value = flag.getValue() ?? "";
    if (flag.getName() === "chown") {
      const [, uid, gid = uid] = /^(\d{1,9})(?::(\d{1,9}))?$/.exec(value) ?? [];
      if (uid === undefined) {
        throw new ContainerfileError(
          line,
          "--chown takes numbers here, UID:GID: names are known inside of an image alone",
        );
      }
      owner = { uid: Number(uid), gid: Number(gid) };
    } else if (flag.getName() === "chmod") {
      if (!/^[0-7]{3,4}$/.test(value)) {
        throw new ContainerfileError(line, "--chmod takes an octal number, such as 755");
      }
      mode = Number.parseInt(value, 8);
    } else {
      throw new ContainerfileError(line, `COPY --${flag.getName()} is not known here`);
    }
  }
  const words = wordsOf(instruction, line);
  const target = words.at(-1);
  const sources = words.slice(0, -1);
  if (target === undefined || sources.length === 0 || sources.some((each) => each.startsWith("<<"))) {
    throw new ContainerfileError(line, "COPY takes files of the folder and a place in the image");
  }
  return { kind: "copy", line, text: textOf(instruction), sources, target, owner, mode };
}

function readConfig(instruction: Instruction, keyword: ConfigStep["keyword"], line: number): ConfigStep {
  const step = { kind: "config", line, text: textOf(instruction), keyword } as const;
  if (instruction instanceof PropertyInstruction) {
    const pairs = instruction.getProperties().map((property): readonly [string, string | undefined] => {
      const value = property.getValue() ?? undefined;
      // In single quotes a dollar is a dollar.
      const isLiteral = instruction.getTextContent().includes(`='${value}'`);
      return [property.getName(), isLiteral ? value?.replaceAll("$", String.raw`\$`) : value];
    });
    if (pairs.length === 0 || (keyword !== "ARG" && pairs.some(([, value]) => value === undefined))) {
      throw new ContainerfileError(line, `${keyword} takes NAME=VALUE`);
    }
    return { ...step, pairs, words: [] };
  }
  const isCommand = keyword === "ENTRYPOINT" || keyword === "CMD";
  const isList = instruction instanceof JSONInstruction && instruction.getJSONStrings().length > 0;
  const words =
    isCommand && !isList && instruction.getArguments().length > 0
      ? ["/bin/sh", "-c", instruction.getArgumentsContent() ?? ""]
      : wordsOf(instruction, line);
  if ((words.length === 0 && !isCommand) || (words.length > 1 && (keyword === "WORKDIR" || keyword === "USER"))) {
    throw new ContainerfileError(line, `${keyword} takes ${keyword === "EXPOSE" ? "ports" : "one value"}`);
  }
  if (keyword === "EXPOSE" && words.some((word) => !/^\d{1,5}(\/(tcp|udp))?$/.test(word))) {
    throw new ContainerfileError(line, "EXPOSE takes ports, such as 8080 or 53/udp");
  }
  return { ...step, pairs: [], words };
}

/** The words of an instruction, of a list in brackets or in a line. */
function wordsOf(instruction: Instruction, line: number): readonly string[] {
  const raw = (instruction.getArgumentsContent() ?? "").trim();
  const strings = instruction instanceof JSONInstruction ? instruction.getJSONStrings() : [];
  if (strings.length === 0) {
    return raw === "[]" ? [] : instruction.getArguments().map((each) => each.getValue());
  }
  try {
    return strings.map((each) => String(JSON.parse(each.getValue())));
  } catch {
    throw new ContainerfileError(line, "the list is not one of JSON strings");
  }
}

const textOf = (instruction: Instruction): string => instruction.getTextContent().replaceAll(/\s+/g, " ");
