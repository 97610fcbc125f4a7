import { isScalar, LineCounter, type Document, parseDocument } from "yaml";
import { Value } from "typebox/value";

import { type Profile, ProfileFile } from "./model.ts";

/** A mistake of a profile file, at its place. */
export interface ProfileMistake {
  readonly line: number;
  /** `profiles[2].definition.slug` */
  readonly field: string;
  readonly message: string;
}

/** Every mistake of a profile file at once. */
export class ProfileFileError extends Error {
  override readonly name = "ProfileFileError";
  readonly mistakes: readonly ProfileMistake[];

  constructor(mistakes: readonly ProfileMistake[]) {
    super(mistakes.map(({ line, field, message }) => `line ${line}, ${field}: ${message}`).join("\n"));
    this.mistakes = mistakes;
  }
}

export const MAX_PROFILE_FILE_BYTES = 1_000_000;
const MAX_ALIASES = 100;
const MAX_MISTAKES = 50;

/**
 * Reads profiles in the form of the known `config.yml`.
 * @throws {ProfileFileError} with line and field of each mistake
 */
export function parseProfiles(text: string): readonly Profile[] {
  if (Buffer.byteLength(text) > MAX_PROFILE_FILE_BYTES) {
    throw new ProfileFileError([
      { line: 1, field: "file", message: `must have at most ${MAX_PROFILE_FILE_BYTES} bytes` },
    ]);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, maxAliasCount: MAX_ALIASES } as object);
  if (document.errors.length > 0) {
    throw new ProfileFileError(
      document.errors.slice(0, MAX_MISTAKES).map(({ message, pos }) => ({
        line: lines.linePos(pos[0]).line,
        field: "file",
        message: message.split("\n", 1)[0] ?? message,
      })),
    );
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    throw new ProfileFileError([{ line: 1, field: "file", message: (error as Error).message }]);
  }
  const mistakes = [...findSchemaMistakes(value), ...findContradictions(value)];
  if (mistakes.length > 0) {
    const placed = mistakes
      .slice(0, MAX_MISTAKES)
      .map(({ path, message }) => ({ line: lineOf(document, lines, path), field: toField(path), message }));
    throw new ProfileFileError(placed.toSorted((a, b) => a.line - b.line));
  }
  return (value as { profiles: Profile[] }).profiles;
}

interface Mistake {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

function findSchemaMistakes(value: unknown): readonly Mistake[] {
  const byPath = new Map<string, Mistake>();
  for (const { instancePath, message, keyword, params } of Value.Errors(ProfileFile, value)) {
    if (keyword === "anyOf" || keyword === "const" || (keyword === "type" && message === "must be null")) {
      // Other errors of the same place say which of the alternatives fits.
      byPath.set(
        instancePath,
        byPath.get(instancePath) ?? {
          path: toPath(instancePath, value),
          message: "has a value that is not allowed here",
        },
      );
      continue;
    }
    const details = params as {
      readonly additionalProperties?: readonly string[];
      readonly requiredProperties?: readonly string[];
    };
    const unknown = details.additionalProperties?.[0];
    const path = toPath(instancePath, value);
    if (keyword === "additionalProperties" && unknown !== undefined) {
      byPath.set(`${instancePath}/${unknown}`, {
        path: [...path, unknown],
        message: "is not a field that is known here",
      });
    } else if (keyword === "required" && details.requiredProperties !== undefined) {
      byPath.set(`${instancePath}#`, { path, message: `lacks ${details.requiredProperties.join(", ")}` });
    } else {
      byPath.set(instancePath, { path, message });
    }
  }
  // An alternative that does not fit is no news where a field inside of it is named.
  return [...byPath.entries()].flatMap(([key, mistake]) =>
    mistake.message.startsWith("has a value") &&
    [...byPath.keys()].some((other) => other !== key && other.startsWith(`${key}/`))
      ? []
      : mistake,
  );
}

/** What each field says by itself is right, and together they are not. */
function findContradictions(value: unknown): readonly Mistake[] {
  const profiles = (value as { profiles?: unknown } | null)?.profiles;
  if (!Array.isArray(profiles)) {
    return [];
  }
  const mistakes: Mistake[] = [];
  const ids = new Map<unknown, number>();
  const slugs = new Map<unknown, number>();
  for (const [index, profile] of (profiles as (Partial<Profile> | null)[]).entries()) {
    const note = (seen: Map<unknown, number>, key: unknown, path: readonly string[]) => {
      const first = seen.get(key);
      if (key !== undefined && first !== undefined) {
        mistakes.push({
          path: ["profiles", index, ...path],
          message: `is that of profiles[${first}] as well; each has its own`,
        });
      }
      seen.set(key, index);
    };
    note(ids, profile?.id, ["id"]);
    note(slugs, profile?.definition?.slug, ["definition", "slug"]);
    const volumes = new Set((Array.isArray(profile?.volumes) ? profile.volumes : []).map((volume) => volume?.name));
    for (const [at, volume] of (Array.isArray(profile?.volumes) ? profile.volumes : []).entries()) {
      const mounted = volume?.volume_mount?.name;
      if (mounted !== undefined && !volumes.has(mounted)) {
        mistakes.push({
          path: ["profiles", index, "volumes", at, "volume_mount", "name"],
          message: `names the volume ${mounted}, which this profile does not have`,
        });
      }
    }
    const maps = new Set((Array.isArray(profile?.config_maps) ? profile.config_maps : []).map((map) => map?.name));
    for (const [name, variable] of Object.entries(profile?.pod_env_vars ?? {})) {
      const from = typeof variable === "object" && variable !== null ? variable.from_config_map?.name : undefined;
      if (from !== undefined && !maps.has(from)) {
        mistakes.push({
          path: ["profiles", index, "pod_env_vars", name],
          message: `refers to the config map ${from}, which this profile does not have`,
        });
      }
    }
  }
  return mistakes;
}

function toPath(pointer: string, root: unknown): readonly (string | number)[] {
  let at = root;
  return pointer
    .split("/")
    .slice(1)
    .map((part) => {
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      const isIndex = Array.isArray(at);
      at = (at as Record<string, unknown> | undefined)?.[key];
      return isIndex ? Number(key) : key;
    });
}

const toField = (path: readonly (string | number)[]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`),
    "",
  ) || "file";

/** The line of a field, or of the nearest thing around it that is there. */
function lineOf(document: Document, lines: LineCounter, path: readonly (string | number)[]): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true) as { range?: [number, number, number] | null } | undefined;
    const start = node?.range?.[0];
    if (start !== undefined && (isScalar(node) || typeof node === "object")) {
      return lines.linePos(start).line;
    }
  }
  return 1;
}
