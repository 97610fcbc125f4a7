import { ScimError, invalidValue } from "./errors.ts";

/** A text of a resource. @throws {ScimError} 400 */
export function readText(resource: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = resource[name];
  if (value === undefined || value === null) {
    return undefined;
  }
  if (typeof value !== "string" || value.length > 2000) {
    throw invalidValue(`${name} must be a text of at most 2000 characters`);
  }
  return value;
}

/** @throws {ScimError} 400 */
export function readResource(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new ScimError(400, "the body must be a JSON object", "invalidSyntax");
  }
  return body as Readonly<Record<string, unknown>>;
}
