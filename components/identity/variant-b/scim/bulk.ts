import type { ScimContext } from "./context.ts";
import { ScimError, toScimError } from "./errors.ts";
import { createScimGroup, deleteScimGroup, patchScimGroup, replaceScimGroup } from "./group-resource.ts";
import { createScimUser, deleteScimUser, patchScimUser, replaceScimUser } from "./user-resource.ts";
import { readResource } from "./values.ts";

type Json = Record<string, unknown>;

export const MAX_BULK_OPERATIONS = 100;
const RESPONSE_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:BulkResponse";

const RESOURCES = {
  Users: { create: createScimUser, replace: replaceScimUser, patch: patchScimUser, remove: deleteScimUser },
  Groups: { create: createScimGroup, replace: replaceScimGroup, patch: patchScimGroup, remove: deleteScimGroup },
} as const;

/** Several changes in one request, one after the other (RFC 7644 §3.7). @throws {ScimError} 400, 413 */
export async function applyBulk(context: ScimContext, body: unknown): Promise<object> {
  const { Operations: operations, failOnErrors } = readResource(body) as Json;
  if (!Array.isArray(operations)) {
    throw new ScimError(400, "Operations must be a list", "invalidSyntax");
  }
  if (operations.length > MAX_BULK_OPERATIONS) {
    throw new ScimError(413, `more than ${MAX_BULK_OPERATIONS} operations in one request`);
  }
  const made = new Map<string, string>();
  const results: Json[] = [];
  let failures = 0;
  for (const operation of operations as readonly unknown[]) {
    const { method, path, bulkId, data } = Object(operation) as Json;
    const told = { method, ...(typeof bulkId === "string" && { bulkId }) };
    try {
      const { status, id, resource } = await applyOne(context, String(method), String(path), resolve(data, made));
      if (typeof bulkId === "string" && id !== undefined) {
        made.set(bulkId, id);
      }
      const location = id === undefined ? undefined : `${context.base}/${resource}/${id}`;
      results.push({ ...told, ...(location && { location }), status: String(status) });
    } catch (error) {
      if (!(error instanceof ScimError)) {
        throw error;
      }
      results.push({ ...told, status: String(error.status), response: toScimError(error) });
      failures += 1;
      if (typeof failOnErrors === "number" && failures >= failOnErrors) {
        break;
      }
    }
  }
  return { schemas: [RESPONSE_SCHEMA], Operations: results };
}

async function applyOne(context: ScimContext, method: string, path: string, data: unknown) {
  const match = /^\/(Users|Groups)(?:\/([\w-]+))?$/.exec(path);
  const resource = match?.[1] as keyof typeof RESOURCES | undefined;
  const id = match?.[2];
  const kind = method.toUpperCase();
  if (resource === undefined || (kind === "POST") !== (id === undefined)) {
    throw new ScimError(400, `${kind} ${JSON.stringify(path.slice(0, 100))} is no operation`, "invalidPath");
  }
  const operations = RESOURCES[resource];
  if (id === undefined) {
    return { status: 201, id: String((await operations.create(context, data))["id"]), resource };
  }
  switch (kind) {
    case "PUT":
      await operations.replace(context, id, data);
      return { status: 200, id, resource };
    case "PATCH":
      await operations.patch(context, id, data);
      return { status: 200, id, resource };
    case "DELETE":
      await operations.remove(context, id);
      return { status: 204, id: undefined, resource };
    default:
      throw new ScimError(
        400,
        `method ${JSON.stringify(kind)} is not one of POST, PUT, PATCH, DELETE`,
        "invalidSyntax",
      );
  }
}

/** `bulkId:x` stands for the id of what the operation x has made before (§3.7.2). */
function resolve(value: unknown, made: ReadonlyMap<string, string>, depth = 0): unknown {
  if (typeof value === "string" && value.startsWith("bulkId:")) {
    const id = made.get(value.slice("bulkId:".length));
    if (id === undefined) {
      throw new ScimError(409, `${value.slice(0, 100)} was not made by an operation before this one`, "invalidValue");
    }
    return id;
  }
  if (depth > 10 || typeof value !== "object" || value === null) {
    return value;
  }
  return Array.isArray(value)
    ? value.map((item) => resolve(item, made, depth + 1))
    : Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resolve(item, made, depth + 1)]));
}
