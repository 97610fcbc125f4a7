// What requests and answers consist of: the OpenAPI document is made of this. Written in the words that OpenAPI 3.0 and 3.1
// share. Requests themselves are read by `read-*.ts`, which refuse with the exceptions of the standard.
import { jsonResponse as json } from "@swath/service/openapi";
import { type TSchema, Type } from "typebox";

import { CWL_TYPES } from "../../packages/media-types.ts";
import { JOB_STATUSES } from "../../store/job-states.ts";

export const open = { additionalProperties: true };
export const Text = Type.String();
const Id = Type.String({ minLength: 1 });

const LinkItem = Type.Object(
  { href: Text, rel: Type.Optional(Text), type: Type.Optional(Text), title: Type.Optional(Text) },
  open,
);
export const links = Type.Array(LinkItem);

const Exception = Type.Object(
  {
    type: Text,
    title: Type.Optional(Text),
    status: Type.Optional(Type.Integer()),
    detail: Type.Optional(Text),
    instance: Type.Optional(Text),
  },
  open,
);

export { json };
export const page = { "text/html": { schema: Type.String() } };
export const withPage = (description: string, schema: TSchema) => ({
  description,
  content: { "application/json": { schema }, ...page },
});
export const problem = (description: string) => json(description, Exception, "application/problem+json");
export const REFUSED = { 401: problem("No valid access token"), 403: problem("Not allowed") };
export const location = { location: { type: "string", description: "Where it is" } };

export const f = Type.Optional(Type.String({ description: "json or html; else what Accept says" }));
export const limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 10_000, default: 100, description: "How many on a page" }),
);
export const skip = Type.Optional(Type.Integer({ minimum: 0, default: 0, description: "How many before the page" }));
export const offset = Type.Optional(Type.Integer({ minimum: 0, description: "The same as skip" }));
export const user = Type.String({ description: "Whose space" });
export const userParams = Type.Object({ user });
export const processParams = Type.Object({ user, id: Type.String({ description: "The process" }) });
export const jobParams = Type.Object({ user, id: Type.String({ description: "The job" }) });
export const asForm = Type.Object({ f });

const summary = {
  id: Id,
  version: Text,
  title: Type.Optional(Text),
  description: Type.Optional(Text),
  keywords: Type.Optional(Type.Array(Text)),
  metadata: Type.Optional(Type.Array(Type.Object({}, open))),
  warnings: Type.Optional(Type.Array(Text)),
  mutable: Type.Boolean(),
  jobControlOptions: Type.Array(Type.String({ enum: ["sync-execute", "async-execute", "dismiss"] })),
  outputTransmission: Type.Array(Type.String({ enum: ["value", "reference"] })),
  links,
};
export const ProcessSummary = Type.Object(summary, open);
const Description = { title: Type.Optional(Text), description: Type.Optional(Text), schema: Type.Object({}, open) };
export const Process = Type.Object(
  {
    ...summary,
    inputs: Type.Record(
      Type.String(),
      Type.Object(
        { ...Description, minOccurs: Type.Optional(Type.Integer()), maxOccurs: Type.Optional(Type.Integer()) },
        open,
      ),
    ),
    outputs: Type.Record(Type.String(), Type.Object(Description, open)),
  },
  open,
);
export const StatusInfo = Type.Object(
  {
    jobID: Id,
    id: Type.Optional(Id),
    processID: Id,
    type: Type.String({ enum: ["process"] }),
    status: Type.String({ enum: [...JOB_STATUSES] }),
    message: Type.Optional(Text),
    progress: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
    created: Type.Optional(Type.String({ format: "date-time" })),
    started: Type.Optional(Type.String({ format: "date-time" })),
    finished: Type.Optional(Type.String({ format: "date-time" })),
    updated: Type.Optional(Type.String({ format: "date-time" })),
    links: Type.Optional(links),
  },
  open,
);
export const Results = Type.Record(
  Type.String(),
  Type.Any({ description: "A value, {value, mediaType}, or a link {href, type}" }),
);
export const Execute = Type.Object(
  {
    inputs: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Any({ description: "A value, {value, mediaType}, {href, type}, or a list of them" }),
      ),
    ),
    outputs: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object(
          {
            format: Type.Optional(Type.Object({ mediaType: Type.Optional(Text) }, open)),
            transmissionMode: Type.Optional(Type.String({ enum: ["value", "reference"], default: "value" })),
          },
          open,
        ),
      ),
    ),
    response: Type.Optional(Type.String({ enum: ["raw", "document"], default: "raw" })),
    subscriber: Type.Optional(
      Type.Object(
        {
          successUri: Type.Optional(Type.String({ format: "uri" })),
          inProgressUri: Type.Optional(Type.String({ format: "uri" })),
          failedUri: Type.Optional(Type.String({ format: "uri" })),
        },
        { description: "Who is told: the results at successUri, the status at the others" },
      ),
    ),
  },
  open,
);
export const PackageBody = Type.Object(
  {
    processDescription: Type.Optional(Type.Object({}, open)),
    executionUnit: Type.Any({ description: "A link {href, type}, {value, mediaType}, or a list of one of them" }),
  },
  open,
);
export const packageContent = {
  content: {
    "application/ogcapppkg+json": { schema: PackageBody },
    "application/json": { schema: PackageBody },
    ...Object.fromEntries(CWL_TYPES.map((type) => [type, { schema: Type.String() }])),
  },
};
export const w = Type.Object({
  w: Type.Optional(Type.String({ description: "Which workflow, where the package has several" })),
});
