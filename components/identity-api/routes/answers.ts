// What the interface answers: the OpenAPI document is made of this. Answers are those of the identity service's admin interface, sent whole.
import { jsonResponse as answer } from "@swath/service/openapi";
import { Type } from "typebox";

const more = { additionalProperties: true };
const Text = Type.String();

const failure = (description: string) =>
  answer(
    description,
    Type.Object({
      error: Type.Optional(Type.Unknown({ description: "A text, or the list of what is wrong with the request" })),
      errorMessage: Type.Optional(Text),
      requestId: Type.Optional(Text),
    }),
  );

const REFUSED = {
  401: failure("No valid access token"),
  403: failure("The token is not an administrator's"),
  503: failure("The identity service does not answer; try again"),
};
const NAMED = { ...REFUSED, 404: failure("There is no such client, resource or policy") };
const WRITTEN = {
  ...NAMED,
  400: failure("No body, or none that is understood"),
  422: failure("The body is not valid"),
};

const Resource = Type.Object(
  {
    _id: Text,
    name: Text,
    uris: Type.Optional(Type.Array(Text)),
    scopes: Type.Optional(Type.Array(Type.Object({ name: Text }, more))),
    ownerManagedAccess: Type.Optional(Type.Boolean()),
  },
  more,
);
const Policy = Type.Object({ id: Text, name: Text, type: Text }, more);
const Made = Type.Object({}, more);
const Enabled = Type.Object({ enabled: Type.Boolean() });
const Empty = Type.Object({});

/** Answers of each request, by status. */
export const RESPONSE_SCHEMAS = {
  createClient: {
    200: answer(
      "The client's id, and what it protects",
      Type.Object({ client: Text, resources: Type.Optional(Type.Array(Made)) }),
    ),
    ...WRITTEN,
  },
  createResources: { 200: answer("The resources", Type.Array(Made)), ...WRITTEN, 409: failure("It exists") },
  changed: { 200: answer("Done", Empty), ...WRITTEN },
  deleted: { 200: answer("Done", Empty), ...NAMED },
  resources: { 200: answer("Resources", Type.Array(Resource)), ...NAMED },
  resource: { 200: answer("The resource", Resource), ...NAMED },
  policies: { 200: answer("Policies", Type.Array(Policy)), ...NAMED },
  createPolicy: { 200: answer("The policy", Policy), ...WRITTEN, 409: failure("It exists") },
  changePolicy: { 200: answer("Changed", Made), ...WRITTEN },
  enabled: { 200: answer("Whether it does", Enabled), ...WRITTEN },
} as const;
