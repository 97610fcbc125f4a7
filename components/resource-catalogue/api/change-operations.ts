import {
  Any,
  JSON_TYPE,
  type Operations,
  answer,
  content,
  empty,
  errors,
  object,
  path,
  query,
  text,
  texts,
} from "./schemas.ts";

const tags = ["changes"];
const collections = { anyOf: [texts("Ids of collections; all when left out."), { type: "null" }] };
const Key = object({
  id: { type: "string" },
  title: { type: "string" },
  workspace: { type: ["string", "null"] },
  collections,
  made_at: { type: "string", format: "date-time" },
});
const Subscription = object({
  id: { type: "string" },
  url: { type: "string" },
  collections,
  failures: { type: "integer" },
  last_error: { type: ["string", "null"] },
  after: { type: "string" },
  made_at: { type: "string", format: "date-time" },
});

/** Changes, and what the caller may do. */
export const CHANGE_OPERATIONS: Operations = {
  "GET /permissions": {
    summary: "Read what the caller may do",
    tags,
    querystring: query({ collection: text("Also whose this collection is, and whether the caller may change it.") }),
    response: { 200: answer("Rights of the caller.", object({ isOperator: { type: "boolean" } })), ...errors(404) },
  },
  "GET /changes": {
    summary: "Read or follow changes",
    description: "CloudEvents 1.0, in order: as pages, or as server-sent events (`Accept: text/event-stream`).",
    tags,
    querystring: query({
      after: text("Position of the last change that is known."),
      limit: { type: "integer", minimum: 1, maximum: 1000, default: 500, description: "Changes of one page." },
      collections: texts("Ids of collections."),
      beat: { type: "number", description: "Seconds between comments that say whether everything has been told." },
    }),
    response: {
      200: {
        description: "Changes, and where to go on.",
        content: {
          [JSON_TYPE]: {
            schema: object({ changes: { type: "array", items: Any }, next: { type: "string" } }, ["changes", "next"]),
          },
          "text/event-stream": { schema: { type: "string" } },
        },
      },
      ...errors(400, 401, 410),
    },
  },
  "GET /feed-keys": {
    summary: "List feed keys",
    tags,
    response: {
      200: answer("Keys that the caller owns.", object({ keys: { type: "array", items: Key } }, ["keys"])),
      ...errors(),
    },
  },
  "POST /feed-keys": {
    summary: "Create a feed key",
    tags,
    body: content(
      object({ title: { type: "string" }, workspace: { type: ["string", "null"] }, collections }),
      JSON_TYPE,
    ),
    response: { 201: answer("The key, which is shown once.", Key), ...errors(400, 401, 403, 409) },
  },
  "DELETE /feed-keys/:id": {
    summary: "Delete a feed key",
    tags,
    params: path("id"),
    response: { 204: empty("Deleted."), ...errors(404) },
  },
  "GET /subscriptions": {
    summary: "List subscriptions",
    tags,
    response: {
      200: answer(
        "Subscriptions.",
        object({ subscriptions: { type: "array", items: Subscription } }, ["subscriptions"]),
      ),
      ...errors(401, 403),
    },
  },
  "POST /subscriptions": {
    summary: "Subscribe an address to changes",
    tags,
    body: content(
      object(
        {
          url: { type: "string", format: "uri" },
          secret: { type: ["string", "null"], minLength: 16 },
          collections,
          after: { type: "string" },
        },
        ["url"],
      ),
      JSON_TYPE,
    ),
    response: { 201: answer("The subscription.", Subscription), ...errors(400, 401, 403, 409) },
  },
  "GET /subscriptions/:id": {
    summary: "Read a subscription",
    tags,
    params: path("id"),
    response: { 200: answer("The subscription.", Subscription), ...errors(401, 403, 404) },
  },
  "DELETE /subscriptions/:id": {
    summary: "Delete a subscription",
    tags,
    params: path("id"),
    response: { 204: empty("Deleted."), ...errors(401, 403, 404) },
  },
};
