import { MAX_BULK_OPERATIONS } from "./bulk.ts";
import { GROUP_SCHEMA } from "./groups.ts";
import { toListResponse } from "./list.ts";
import { PLATFORM_SCHEMA, USER_SCHEMA } from "./users.ts";

/** What a client may expect of this service (RFC 7643 §5). */
export function describeService(base: string): object {
  const not = { supported: false };
  return {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
    patch: { supported: true },
    bulk: { supported: true, maxOperations: MAX_BULK_OPERATIONS, maxPayloadSize: 1_048_576 },
    filter: { supported: true, maxResults: 500 },
    changePassword: { supported: true },
    sort: { supported: true },
    etag: not,
    authenticationSchemes: [
      {
        type: "oauthbearertoken",
        name: "OAuth 2.0 access token",
        description: "Authorization: Bearer, with the token of somebody who may administer users",
        primary: true,
      },
    ],
    meta: { resourceType: "ServiceProviderConfig", location: `${base}/ServiceProviderConfig` },
  };
}

/** RFC 7643 §6. */
export function describeResourceTypes(base: string): object {
  const type = (name: string, endpoint: string, schema: string, extensions: readonly string[]) => ({
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
    id: name,
    name,
    endpoint,
    schema,
    schemaExtensions: extensions.map((extension) => ({ schema: extension, required: false })),
    meta: { resourceType: "ResourceType", location: `${base}/ResourceTypes/${name}` },
  });
  const types = [type("User", "/Users", USER_SCHEMA, [PLATFORM_SCHEMA]), type("Group", "/Groups", GROUP_SCHEMA, [])];
  return toListResponse(types, types.length, 0);
}

/** RFC 7643 §7: the attributes that this service keeps. */
export function describeSchemas(base: string): object {
  const text = (name: string, more: object = {}) => ({
    name,
    type: "string",
    multiValued: false,
    required: false,
    caseExact: false,
    mutability: "readWrite",
    returned: "default",
    uniqueness: "none",
    ...more,
  });
  const schema = (id: string, name: string, attributes: readonly object[]) => ({
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
    id,
    name,
    attributes,
    meta: { resourceType: "Schema", location: `${base}/Schemas/${id}` },
  });
  const schemas = [
    schema(USER_SCHEMA, "User", [
      text("userName", { required: true, uniqueness: "server" }),
      text("name", {
        type: "complex",
        subAttributes: [text("givenName"), text("familyName"), text("formatted", { mutability: "readOnly" })],
      }),
      ...["displayName", "nickName", "profileUrl", "title", "userType", "preferredLanguage", "locale", "timezone"].map(
        (name) => text(name),
      ),
      text("emails", {
        type: "complex",
        multiValued: true,
        subAttributes: [text("value", { uniqueness: "server" }), text("type"), text("primary", { type: "boolean" })],
      }),
      text("active", { type: "boolean" }),
      text("password", { mutability: "writeOnly", returned: "never" }),
    ]),
    schema(GROUP_SCHEMA, "Group", [
      text("displayName", { required: true }),
      text("members", { type: "complex", multiValued: true, subAttributes: [text("value"), text("display")] }),
    ]),
    schema(PLATFORM_SCHEMA, "Attributes of the platform", []),
  ];
  return toListResponse(schemas, schemas.length, 0);
}
