import { isHostileText } from "@swath/service";

import { PdpError } from "./pdp/errors.ts";

/** A resource as clients of the enforcement point send it. */
export interface ResourceRequest {
  readonly name: string;
  /** `icon_uri`: a path, and all below it. */
  readonly path: string;
  readonly scopes: readonly string[] | undefined;
  readonly owner: string | undefined;
  readonly terms: readonly string[];
  /** What came, as the answer repeats it. */
  readonly echo: Readonly<Record<string, unknown>>;
}

const MAX_SCOPES = 50;
const MAX_PATH_CHARACTERS = 1000;

const invalid = (detail: string) => new PdpError(400, "bad request", detail);

/** @param present fields that stay where they are left out @throws {PdpError} 400 */
export function readResourceRequest(
  body: unknown,
  present?: Pick<ResourceRequest, "name" | "path" | "scopes">,
): ResourceRequest {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw invalid("the body must be a JSON object");
  }
  const fields = body as Readonly<Record<string, unknown>>;
  const text = (name: string) => {
    const value = fields[name];
    if (
      value !== undefined &&
      (typeof value !== "string" || value.length > MAX_PATH_CHARACTERS || isHostileText(value))
    ) {
      throw invalid(`${name} must be a text of at most ${MAX_PATH_CHARACTERS} characters`);
    }
    return value === "" ? undefined : value;
  };
  const texts = (name: string): readonly string[] | undefined => {
    const value = fields[name];
    if (value === undefined) {
      return undefined;
    }
    const isList = Array.isArray(value) && value.length <= MAX_SCOPES;
    if (!isList || value.some((item) => typeof item !== "string" || !/^[\w.:#/-]{1,255}$/.test(item))) {
      throw invalid(`${name} must be a list of at most ${MAX_SCOPES} names`);
    }
    return value as readonly string[];
  };
  const name = text("name") ?? present?.name;
  const path = text("icon_uri") ?? present?.path;
  if (name === undefined || path === undefined) {
    throw invalid("name and icon_uri are needed");
  }
  // What stands for other texts in patterns of paths, and what can be read in two ways.
  if (!path.startsWith("/") || /[*{}%\\;?#\s]|\/\/|\/\.{1,2}(\/|$)/.test(path)) {
    throw invalid("icon_uri must be a path like /eric, without patterns, dots and escapes");
  }
  const scopes = texts("resource_scopes") ?? texts("scopes");
  return {
    name,
    path: path.replace(/\/+$/, "") || "/",
    scopes: scopes === undefined || scopes.length === 0 ? present?.scopes : scopes,
    owner: text("uuid"),
    terms: texts("T&C") ?? [],
    echo: Object.fromEntries(Object.entries(fields).filter(([, value]) => JSON.stringify(value).length < 2000)),
  };
}
