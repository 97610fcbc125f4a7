// What the service's requests look like: the OpenAPI document is made of this. Requests themselves are read by `read-*.ts`, which
// refuse with the exceptions of the standard. Written in the words that OpenAPI 3.0 and 3.1 share.
import { type TSchema, Type } from "typebox";

import { CWL_TYPES } from "../packages/media-types.ts";
import { JOB_STATUSES } from "../store/tables.ts";

const open = { additionalProperties: true };
const Text = Type.String();
const Id = Type.String({ minLength: 1 });

const LinkItem = Type.Object(
  { href: Text, rel: Type.Optional(Text), type: Type.Optional(Text), title: Type.Optional(Text) },
  open,
);
const links = Type.Array(LinkItem);

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

/** The same in every form that an answer has. */
const json = (description: string, schema: TSchema, type = "application/json") => ({
  description,
  content: { [type]: { schema } },
});
const page = { "text/html": { schema: Type.String() } };
const withPage = (description: string, schema: TSchema) => ({
  description,
  content: { "application/json": { schema }, ...page },
});
const problem = (description: string) => json(description, Exception, "application/problem+json");
const REFUSED = { 401: problem("No valid access token"), 403: problem("Not allowed") };
const location = { location: { description: "Where it is", schema: { type: "string" } } };

const f = Type.Optional(Type.String({ description: "json or html; else what Accept says" }));
const limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 10_000, default: 100, description: "How many on a page" }),
);
const skip = Type.Optional(Type.Integer({ minimum: 0, default: 0, description: "How many before the page" }));
const user = Type.String({ description: "Whose space" });
const ofUser = Type.Object({ user });
const ofProcess = Type.Object({ user, id: Type.String({ description: "The process" }) });
const ofJob = Type.Object({ user, id: Type.String({ description: "The job" }) });
const asForm = Type.Object({ f });

const summary = {
  id: Id,
  version: Text,
  title: Type.Optional(Text),
  description: Type.Optional(Text),
  keywords: Type.Optional(Type.Array(Text)),
  metadata: Type.Optional(Type.Array(Type.Object({}, open))),
  mutable: Type.Boolean(),
  jobControlOptions: Type.Array(Type.String({ enum: ["sync-execute", "async-execute", "dismiss"] })),
  outputTransmission: Type.Array(Type.String({ enum: ["value", "reference"] })),
  links,
};
const ProcessSummary = Type.Object(summary, open);
const Description = { title: Type.Optional(Text), description: Type.Optional(Text), schema: Type.Object({}, open) };
const Process = Type.Object(
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
const StatusInfo = Type.Object(
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
const Results = Type.Record(
  Type.String(),
  Type.Any({ description: "A value, {value, mediaType}, or a link {href, type}" }),
);
const Execute = Type.Object(
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
const PackageBody = Type.Object(
  {
    processDescription: Type.Optional(Type.Object({}, open)),
    executionUnit: Type.Any({ description: "A link {href, type}, {value, mediaType}, or a list of one of them" }),
  },
  open,
);
const packageContent = {
  content: {
    "application/ogcapppkg+json": { schema: PackageBody },
    "application/json": { schema: PackageBody },
    ...Object.fromEntries(CWL_TYPES.map((type) => [type, { schema: Type.String() }])),
  },
};
const w = Type.Object({
  w: Type.Optional(Type.String({ description: "Which workflow, where the package has several" })),
});

const processes = ["processes"];
const jobs = ["jobs"];

export const landing = {
  tags: processes,
  operationId: "getLandingPage",
  summary: "Landing page",
  params: ofUser,
  querystring: asForm,
  response: { 200: withPage("The page", Type.Object({ title: Text, description: Text, links }, open)), ...REFUSED },
};
export const conformance = {
  tags: processes,
  operationId: "getConformance",
  summary: "What is conformed to",
  params: ofUser,
  querystring: asForm,
  response: { 200: withPage("Classes", Type.Object({ conformsTo: Type.Array(Text) })), ...REFUSED },
};
export const listProcesses = {
  tags: processes,
  operationId: "getProcesses",
  summary: "Processes that may be executed",
  params: ofUser,
  querystring: Type.Object({ limit, skip, f }),
  response: {
    200: withPage(
      "Processes",
      Type.Object({ processes: Type.Array(ProcessSummary), links, numberTotal: Type.Integer() }),
    ),
    ...REFUSED,
  },
};
export const deploy = {
  tags: processes,
  operationId: "deployProcess",
  summary: "Deploy a process from an application package",
  params: ofUser,
  querystring: w,
  body: packageContent,
  response: {
    201: { ...json("Deployed", ProcessSummary), headers: location },
    400: problem("The package is not valid; `errors` has every mistake with its line"),
    ...REFUSED,
    409: problem("A process of the id is deployed already"),
    415: problem("No media type of an application package"),
  },
};
export const describeProcess = {
  tags: processes,
  operationId: "getProcessDescription",
  summary: "A process with its inputs and outputs",
  params: ofProcess,
  querystring: asForm,
  response: { 200: withPage("The process", Process), ...REFUSED, 404: problem("No such process") },
};
export const readPackage = {
  tags: processes,
  operationId: "getPackage",
  summary: "The application package of a process",
  params: ofProcess,
  querystring: Type.Object({ f: Type.Optional(Type.String({ enum: ["yaml", "json", "ogc"] })) }),
  response: {
    200: {
      description: "The package",
      content: {
        "application/cwl+yaml": { schema: Type.String() },
        "application/cwl+json": { schema: Type.Object({}, open) },
        "application/ogcapppkg+json": { schema: PackageBody },
      },
    },
    ...REFUSED,
    404: problem("No such process"),
  },
};
export const replace = {
  tags: processes,
  operationId: "replaceProcess",
  summary: "Replace a process; running jobs go on with the former one",
  params: ofProcess,
  querystring: w,
  body: packageContent,
  response: {
    204: { description: "Replaced", headers: location },
    400: problem("The package is not valid"),
    ...REFUSED,
    404: problem("No such process"),
    415: problem("No media type of an application package"),
  },
};
export const undeploy = {
  tags: processes,
  operationId: "undeployProcess",
  summary: "Undeploy a process",
  params: ofProcess,
  response: { 204: { description: "Undeployed" }, ...REFUSED, 404: problem("No such process") },
};
export const execute = {
  tags: processes,
  operationId: "execute",
  summary: "Execute a process",
  params: ofProcess,
  headers: Type.Object({
    prefer: Type.Optional(
      Type.String({ description: "respond-async, wait=<seconds>, return=minimal, return=representation" }),
    ),
  }),
  body: { content: { "application/json": { schema: Execute } } },
  response: {
    200: {
      description: "Results: as they are, or a document",
      content: {
        "application/json": { schema: Type.Any() },
        "multipart/related": { schema: Type.Any() },
        "text/plain": { schema: Text },
      },
    },
    201: { ...json("The job", StatusInfo), headers: location },
    204: { description: "Results by reference, in Link" },
    400: problem("Inputs do not fit; `errors` has each of them"),
    ...REFUSED,
    404: problem("No such process"),
  },
};
const several = (item: TSchema, description: string) => Type.Optional(Type.Array(item, { description }));
export const listJobs = {
  tags: jobs,
  operationId: "getJobs",
  summary: "Jobs, the latest first",
  params: ofUser,
  querystring: Type.Object({
    type: several(Type.String({ enum: ["process"] }), "Kinds of jobs"),
    processID: several(Text, "Jobs of these processes"),
    status: several(Type.String({ enum: [...JOB_STATUSES] }), "Jobs in these states"),
    datetime: Type.Optional(
      Type.String({ description: "Created then: an instant, or from/to with .. for an open end" }),
    ),
    minDuration: Type.Optional(Type.Integer({ minimum: 0, description: "Seconds that they took at least" })),
    maxDuration: Type.Optional(Type.Integer({ minimum: 0, description: "Seconds that they took at most" })),
    limit,
    skip,
    cursor: Type.Optional(Type.String({ description: "Where the page begins, as a link of another page says" })),
    f,
  }),
  response: {
    200: withPage(
      "Jobs; numberTotal up to 10,000",
      Type.Object({ jobs: Type.Array(StatusInfo), links, numberTotal: Type.Optional(Type.Integer()) }),
    ),
    400: problem("A parameter is not valid"),
    ...REFUSED,
  },
};
export const readJob = {
  tags: jobs,
  operationId: "getStatus",
  summary: "Status of a job",
  params: ofJob,
  querystring: asForm,
  response: { 200: withPage("Its status", StatusInfo), ...REFUSED, 404: problem("No such job") },
};
export const dismissJob = {
  tags: jobs,
  operationId: "dismiss",
  summary: "Stop a job, or forget one that has ended",
  params: ofJob,
  response: { 200: json("Its last status", StatusInfo), ...REFUSED, 404: problem("No such job") },
};
export const readResults = {
  tags: jobs,
  operationId: "getResults",
  summary: "What came of a job",
  params: ofJob,
  querystring: asForm,
  response: {
    200: {
      description: "Results, in the form that was asked for",
      content: { "application/json": { schema: Results }, "multipart/related": { schema: Type.Any() }, ...page },
    },
    204: { description: "Results by reference, in Link" },
    ...REFUSED,
    404: problem("No such job, or it has not ended"),
    500: problem("The job failed; `detail` says why"),
  },
};
export const readOutput = {
  tags: jobs,
  operationId: "getResult",
  summary: "One output of a job in its own media type",
  params: Type.Object({ user, id: Text, output: Text }),
  response: {
    200: { description: "Its value", content: { "*/*": { schema: Type.Any() } } },
    ...REFUSED,
    404: problem("No such job"),
  },
};
export const readInputs = {
  tags: jobs,
  operationId: "getInputs",
  summary: "What a job was given; inputs that the package calls secret are left out of sight",
  params: ofJob,
  response: {
    200: json("Inputs", Type.Object({ inputs: Type.Object({}, open) }, open)),
    ...REFUSED,
    404: problem("No such job"),
  },
};
export const readSteps = {
  tags: jobs,
  operationId: "getSteps",
  summary: "Steps of a job",
  params: ofJob,
  response: {
    200: json("Steps", Type.Object({ steps: Type.Array(Type.Object({}, open)) })),
    ...REFUSED,
    404: problem("No such job"),
  },
};
export const readLogs = {
  tags: jobs,
  operationId: "getLogs",
  summary: "Log of a job; as a stream with Accept: text/event-stream, which goes on after Last-Event-ID",
  params: ofJob,
  response: {
    200: { description: "The log", content: { "text/plain": { schema: Text }, "text/event-stream": { schema: Text } } },
    ...REFUSED,
    404: problem("No such job"),
  },
};
export const readProvenance = {
  tags: jobs,
  operationId: "getProvenance",
  summary: "Where the results come from: a Workflow Run RO-Crate",
  params: ofJob,
  response: {
    200: json("The crate", Type.Object({}, open), "application/ld+json"),
    ...REFUSED,
    404: problem("No such job"),
  },
};
export const readNotifications = {
  tags: jobs,
  operationId: "getNotifications",
  summary: "Who was or will be told of a job",
  params: ofJob,
  response: {
    200: json("Notifications", Type.Object({ notifications: Type.Array(Type.Object({}, open)) })),
    ...REFUSED,
    404: problem("No such job"),
  },
};
