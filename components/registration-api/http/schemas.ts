import { jsonResponse } from "@swath/service/openapi";
import { Type } from "typebox";

import { TASK_STATES } from "../store/tasks.ts";

const Text = Type.String();
const Time = Type.String({ format: "date-time" });
const Url = Type.String({ minLength: 1, maxLength: 4096 });
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

export const RegisterBody = Type.Object({
  type: Type.String({
    minLength: 1,
    maxLength: 100,
    description: "stac-item, stac-collection, stac-catalog, ades, oaproc, catalogue, xml or application; in any case",
  }),
  url: Url,
  parent_identifier: Type.Optional(orNull(Type.String({ maxLength: 500 }))),
});
export const DeregisterBody = Type.Object({
  type: Type.Optional(Type.String({ maxLength: 100 })),
  identifier: Type.Optional(orNull(Type.String({ minLength: 1, maxLength: 500 }))),
  url: Type.Optional(orNull(Url)),
});
export const DocumentBody = Type.Object({}, { additionalProperties: true });
/** Not empty: `minLength` would count the characters of megabytes. */
export const XmlBody = Type.String({ pattern: "^[^]" });
/** What an operator mends of a request before it is repeated. */
export const RepairBody = Type.Optional(
  orNull(
    Type.Object(
      {
        url: Type.Optional(Url),
        parent_identifier: Type.Optional(orNull(Type.String({ maxLength: 500 }))),
        document: Type.Optional(Type.Object({}, { additionalProperties: true })),
        xml: Type.Optional(Type.String({ minLength: 1 })),
      },
      { additionalProperties: false },
    ),
  ),
);
export const RepeatAllBody = Type.Object({
  kind: Type.Optional(Type.String({ maxLength: 50 })),
  workspace: Type.Optional(Type.String({ maxLength: 63, description: "Empty: the platform's own." })),
});
export const TaskParams = Type.Object({ id: Type.String({ pattern: "^[0-9]{1,18}$" }) });
export const TaskQuery = Type.Object({
  state: Type.Optional(Type.Enum([...TASK_STATES])),
  kind: Type.Optional(Type.String({ maxLength: 50 })),
  workspace: Type.Optional(Type.String({ maxLength: 63, description: "Empty: the platform's own." })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
  before: Type.Optional(Type.String({ pattern: "^[0-9]{1,18}$", description: "The `next` of the page before." })),
});

export const JobQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
  before: Type.Optional(Type.String({ pattern: "^[0-9]{1,18}$", description: "Jobs before this one." })),
});

const Result = Type.Object({
  registered: Type.Integer(),
  unchanged: Type.Integer(),
  removed: Type.Integer(),
  failed: Type.Integer(),
  records: Type.Optional(Type.Array(Text, { description: "The first of them, by collection and id" })),
});
const Task = Type.Object({
  id: Text,
  kind: Text,
  workspace: orNull(Text),
  state: Type.Enum([...TASK_STATES], {
    description:
      "failed: set aside until somebody repeats it. superseded: something that was accepted later made it pointless.",
  }),
  attempts: Type.Integer(),
  next_attempt: Type.Optional(Time),
  reason: orNull(Text),
  request: Type.Object({}, { additionalProperties: true }),
  result: orNull(Result),
  requested_by: orNull(Text),
  created_at: Time,
  started_at: orNull(Time),
  finished_at: orNull(Time),
});
const Problem = Type.Object({ status: Type.Integer(), detail: Type.Unknown(), title: Type.Optional(Text) });
const refusal = (description: string) => jsonResponse(description, Problem, "application/problem+json");
const REFUSED = {
  401: refusal("No valid access token"),
  403: refusal("Not allowed"),
  422: refusal("The request is not valid; `detail` says where"),
  503: refusal("A service that is needed does not answer; try again"),
};
const Message = Type.Object({ message: Text });
const accepted = {
  ...jsonResponse("Accepted: it is not lost. `Location` is where it can be followed.", Message),
  headers: { location: { type: "string", description: "The task" } },
};

const open = { additionalProperties: true };
const Links = Type.Array(Type.Object({ rel: Text, href: Text, type: Type.Optional(Text) }));
const Job = Type.Object(
  { jobID: Text, processID: Text, type: Text, status: Text, created: Time, updated: Time, links: Links },
  open,
);
const Results = Type.Object({}, { ...open, description: "By the names of the outputs: a link to what was registered" });
const Process = Type.Object({ id: Text, version: Text, title: Text, links: Links }, open);
const NO_PROCESS = refusal("No such process");
const NO_JOB = refusal("No such job, or no result yet");
const FAILED = refusal("The inputs are not valid, or the job failed; `detail` says why");

/** Responses of each request, by status. */
export const RESPONSES = {
  processes: { 200: jsonResponse("The processes", Type.Object({ processes: Type.Array(Process), links: Links })) },
  process: { 200: jsonResponse("The process", Process), 404: NO_PROCESS },
  execution: {
    200: jsonResponse("The results", Results),
    201: {
      ...jsonResponse("A job, which goes on; `Location` is where it is followed", Job),
      headers: accepted.headers,
    },
    400: refusal("Inputs that say nothing that can be done"),
    404: NO_PROCESS,
    ...REFUSED,
    422: FAILED,
  },
  jobs: { 200: jsonResponse("A page", Type.Object({ jobs: Type.Array(Job), links: Links })), ...REFUSED },
  job: { 200: jsonResponse("The job", Job), 404: NO_JOB, 409: refusal("It has ended"), ...REFUSED },
  results: { 200: jsonResponse("The results", Results), 404: NO_JOB, ...REFUSED, 422: FAILED },
  register: { 202: accepted, 400: refusal("Nobody registers this type"), ...REFUSED },
  document: { 202: accepted, ...REFUSED },
  deregister: { 200: { ...accepted, description: "Taken out, or accepted" }, ...REFUSED },
  tasks: {
    200: jsonResponse("A page", Type.Object({ tasks: Type.Array(Task), next: Type.Optional(Text) })),
    ...REFUSED,
  },
  task: { 200: jsonResponse("The task", Task), 404: refusal("No such task"), ...REFUSED },
  problems: {
    200: jsonResponse(
      "The first records that could not be registered",
      Type.Object({ problems: Type.Array(Type.Object({ record: Text, reason: Text, at: Time })) }),
    ),
    404: refusal("No such task"),
    ...REFUSED,
  },
  changed: {
    200: jsonResponse("The task", Task),
    404: refusal("No such task"),
    409: refusal("Not in this state"),
    ...REFUSED,
  },
  repeated: {
    200: jsonResponse("How many are repeated", Type.Object({ repeated: Type.Integer() })),
    ...REFUSED,
  },
} as const;
