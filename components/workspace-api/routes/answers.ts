// What the interface answers: the OpenAPI document is made of this. Answers are sent whole, these schemas take nothing away.
import { jsonResponse as answer } from "@swath/service/openapi";
import { type TSchema, Type } from "typebox";

const Text = Type.String();
const Maybe = (schema: TSchema) => Type.Union([schema, Type.Null()]);
const Time = Type.String({ format: "date-time" });
const Role = Type.Union([Type.Literal("owner"), Type.Literal("writer"), Type.Literal("reader")]);
const Status = Type.Union([Type.Literal("provisioning"), Type.Literal("ready"), Type.Literal("deleting")]);
const StepState = Type.Union([Type.Literal("pending"), Type.Literal("done"), Type.Literal("failed")]);

const Failure = Type.Object({
  status: Type.Integer(),
  detail: Type.Unknown({ description: 'A text, {"error": …}, or the list of what is wrong with the request.' }),
  message: Type.Optional(Type.String({ description: "For people" })),
  title: Type.Optional(Text),
  instance: Type.Optional(Text),
  requestId: Type.Optional(Text),
});
const failure = (description: string) => answer(description, Failure);
const nothing = (description: string) => ({ description, type: "null" });

/** Refusals that every request may meet. */
const REFUSED = {
  401: failure("No valid access token"),
  403: failure("Not allowed"),
  422: failure("The request is not valid; `detail` says where"),
  503: failure("A service that is needed does not answer; try again"),
};
const NAMED = { ...REFUSED, 404: failure("No such workspace, or none of the caller's business") };
const CHANGED = { ...NAMED, 409: failure("The workspace is being deleted") };

const Credentials = Type.Object({
  bucketname: Text,
  access: Text,
  secret: Text,
  projectid: Text,
  endpoint: Text,
  region: Text,
});
const Usage = Type.Object({
  bytes: Type.Integer(),
  objects: Type.Integer(),
  quota_in_mb: Type.Integer({ description: "The quota in force, MiB" }),
  at: Time,
});
const Storage = Type.Object({
  credentials: Credentials,
  quota_in_mb: Maybe(Type.Integer({ description: "The workspace's own, MiB; null: the deployment's" })),
  usage: Maybe(Usage),
  note: Type.Optional(Text),
});
const Workspace = Type.Object({
  name: Text,
  status: Status,
  status_reason: Type.Optional(Type.String({ description: "Why it is not what was asked for yet" })),
  owner: Text,
  role: Role,
  members: Type.Array(Type.Object({ username: Text, role: Role })),
  endpoints: Type.Array(Type.Object({ id: Text, url: Text })),
  storage: Maybe(Storage),
  container_registry: Maybe(
    Type.Object({ url: Text, project: Text, username: Text, password: Text }, { description: "Not for readers" }),
  ),
  steps: Type.Array(
    Type.Object({
      name: Text,
      state: StepState,
      attempts: Type.Optional(Type.Integer()),
      error: Type.Optional(Maybe(Text)),
      updated_at: Time,
    }),
  ),
  repairs: Type.Array(Type.Object({ step: Text, what: Text, at: Time })),
  created_at: Time,
  checked_at: Maybe(Time),
});
const WorkspacePage = Type.Object({
  workspaces: Type.Array(
    Type.Object({ name: Text, status: Status, owner: Text, role: Type.Optional(Role), created_at: Time }),
  ),
  next: Type.Optional(Type.String({ description: "`after` of the next page" })),
});
const Message = Type.Object({ message: Text });
const Registrations = Type.Object({
  registrations: Type.Array(
    Type.Object({
      id: Text,
      queue: Text,
      payload: Type.Object({}, { additionalProperties: true }),
      state: StepState,
      message: Maybe(Text),
      requested_by: Maybe(Text),
      requested_at: Time,
      done_at: Maybe(Time),
    }),
  ),
});

const UNTAKEN = { 501: failure("The deployment has no resource catalogue") };
const registered = { 202: answer("Accepted", Message), ...NAMED, ...UNTAKEN };

/** Answers of each request, by status. */
export const RESPONSE_SCHEMAS = {
  create: {
    201: {
      ...answer("Being made", Type.Object({ name: Text })),
      headers: { location: { type: "string", description: "Where it is" } },
    },
    ...REFUSED,
  },
  list: { 200: answer("A page", WorkspacePage), ...REFUSED },
  read: { 200: answer("The workspace", Workspace), ...NAMED },
  change: { 204: nothing("Changed"), ...CHANGED },
  delete: { 204: nothing("Being deleted"), ...NAMED },
  rotateKeys: { 202: answer("Being replaced", Message), ...CHANGED },
  redeploy: { 204: nothing("Being compared"), ...NAMED },
  register: { ...registered, 400: failure("This type of resource is not registered by anybody") },
  registerDocument: registered,
  deregister: { 200: answer("Accepted", Message), ...NAMED, ...UNTAKEN },
  registrations: { 200: answer("The latest", Registrations), ...NAMED },
} as const;
