import { isHostileText } from "@swath/service";

import { PdpError } from "./errors.ts";

/** What is asked of the decision point. */
export interface DecisionRequest {
  /** Names of attributes to their values; for names that are URNs the last part. */
  readonly subject: Readonly<Record<string, unknown>>;
  readonly action: string;
  readonly resourceId: string;
}

const MAX_ATTRIBUTES = 100;
const MAX_VALUE_CHARACTERS = 2000;

const invalid = (detail: string) => new PdpError(400, "bad request", detail);

/** Reads a request of the JSON profile of XACML 3.0. @throws {PdpError} 400 */
export function readDecisionRequest(body: unknown): DecisionRequest {
  const request = Object(body)["Request"] as Readonly<Record<string, unknown>> | undefined;
  if (typeof request !== "object" || request === null) {
    throw invalid("the body must be an object with Request");
  }
  const subject = readCategory(request, ["AccessSubject"]);
  const action = readCategory(request, ["Action"])["action-id"];
  const resourceId = readCategory(request, ["Resource"])["resource-id"];
  if (typeof action !== "string" || typeof resourceId !== "string" || action === "" || resourceId === "") {
    throw invalid("Action needs the attribute action-id, Resource the attribute resource-id, each a text");
  }
  return { subject, action, resourceId };
}

function readCategory(
  request: Readonly<Record<string, unknown>>,
  [name]: readonly [string],
): Readonly<Record<string, unknown>> {
  const value = request[name];
  const list = Array.isArray(value) ? (value as readonly unknown[]) : value === undefined ? [] : [value];
  if (list.length !== 1) {
    throw invalid(`${name} must be one; this request has ${list.length}`);
  }
  const attributes = Object(list[0])["Attribute"] as unknown;
  const items = Array.isArray(attributes) ? (attributes as readonly unknown[]) : [attributes];
  if (items.length > MAX_ATTRIBUTES) {
    throw invalid(`${name} has more than ${MAX_ATTRIBUTES} attributes`);
  }
  return Object.fromEntries(
    items.map((item) => {
      const { AttributeId: id, Value: provided } = Object(item) as { AttributeId?: unknown; Value?: unknown };
      const isBounded = provided !== undefined && JSON.stringify(provided).length <= MAX_VALUE_CHARACTERS;
      if (typeof id !== "string" || id === "" || id.length > 255 || isHostileText(id) || !isBounded) {
        throw invalid(
          `each attribute of ${name} needs AttributeId and a Value of at most ${MAX_VALUE_CHARACTERS} characters`,
        );
      }
      // `urn:oasis:names:tc:xacml:1.0:resource:resource-id` is `resource-id`.
      return [
        id.slice(id.lastIndexOf(":") + 1),
        Array.isArray(provided) && provided.length === 1 ? provided[0] : provided,
      ] as const;
    }),
  );
}

const OK = "urn:oasis:names:tc:xacml:1.0:status:ok";

export const PERMIT = { Response: [{ Decision: "Permit", Status: { StatusCode: { Value: OK } } }] } as const;

export const DENY = {
  Response: [
    {
      Decision: "Deny",
      Status: { StatusCode: { Value: OK } },
      Obligations: [
        {
          Id: "fail_to_permit",
          AttributeAssignment: [
            {
              AttributeId: "obligation-id",
              Value: "You cannot access this resource",
              Category: "urn:oasis:names:tc:xacml:1.0:subject-category:access-subject",
              DataType: "http://www.w3.org/2001/XMLSchema#string",
            },
          ],
        },
      ],
    },
  ],
} as const;
