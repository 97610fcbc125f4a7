import { MAPPER_TYPES } from "../claims/mappers.ts";
import { isUuid } from "../store/database.ts";
import type { ProtocolMapper } from "../store/client-scopes.ts";
import { badRequest } from "./errors.ts";
import { readText } from "./request.ts";

export function toMapperRepresentation({ id, name, type, config }: ProtocolMapper): Record<string, unknown> {
  return { id, name, protocol: "openid-connect", protocolMapper: type, consentRequired: false, config };
}

/** Reads a mapper; what is left out stays as in `base`. @throws {AdminError} 400 */
export function readMapper(
  body: Readonly<Record<string, unknown>>,
  base?: ProtocolMapper,
): Omit<ProtocolMapper, "id"> & { readonly id: string | undefined } {
  const name = readText(body, "name") ?? base?.name;
  if (name === undefined || name === "") {
    throw badRequest("name is missing");
  }
  const type = readText(body, "protocolMapper") ?? base?.type ?? "";
  if (!MAPPER_TYPES.includes(type)) {
    throw badRequest(`protocolMapper is ${JSON.stringify(type)}; allowed: ${MAPPER_TYPES.join(", ")}`);
  }
  const id = readText(body, "id") ?? base?.id;
  if (id !== undefined && !isUuid(id)) {
    throw badRequest("id must be a UUID");
  }
  return { id, name, type, config: readConfig(body["config"]) ?? base?.config ?? {} };
}

function readConfig(value: unknown): Readonly<Record<string, string>> | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  if (typeof value !== "object" || Array.isArray(value)) {
    throw badRequest("config must be an object of texts");
  }
  const entries = Object.entries(value).filter(([, item]) => item !== null && item !== undefined);
  if (entries.length > 100 || entries.some(([, item]) => typeof item === "object" || String(item).length > 4096)) {
    throw badRequest("config must be an object of at most 100 texts");
  }
  return Object.fromEntries(entries.map(([name, item]) => [name, String(item)]));
}
