// Requests about jobs, as the OpenAPI document describes them.
import { type TSchema, Type } from "typebox";

import { JOB_STATUSES } from "../../store/job-states.ts";
import {
  asForm,
  f,
  json,
  limit,
  links,
  offset,
  jobParams,
  userParams,
  open,
  page,
  problem,
  REFUSED,
  Results,
  skip,
  StatusInfo,
  Text,
  user,
  withPage,
} from "./parts.ts";

const jobs = ["jobs"];

const several = (item: TSchema, description: string) => Type.Optional(Type.Array(item, { description }));
export const listJobs = {
  tags: jobs,
  operationId: "getJobs",
  summary: "Jobs, the latest first",
  params: userParams,
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
    offset,
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
  params: jobParams,
  querystring: asForm,
  headers: Type.Object({
    prefer: Type.Optional(
      Type.String({
        description: "wait=<seconds>: answered when the job has ended, or after so many seconds, at most 60",
      }),
    ),
  }),
  response: { 200: withPage("Its status", StatusInfo), ...REFUSED, 404: problem("No such job") },
};
export const dismissJob = {
  tags: jobs,
  operationId: "dismiss",
  summary: "Stop a job, or forget one that has ended",
  params: jobParams,
  response: { 200: json("Its last status", StatusInfo), ...REFUSED, 404: problem("No such job") },
};
export const readResults = {
  tags: jobs,
  operationId: "getResults",
  summary: "What came of a job",
  params: jobParams,
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
  params: jobParams,
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
  params: jobParams,
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
  params: jobParams,
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
  params: jobParams,
  response: {
    200: json("The crate", Type.Object({}, open), "application/ld+json"),
    ...REFUSED,
    404: problem("No such job"),
  },
};
export const readNotifications = {
  tags: jobs,
  operationId: "getNotifications",
  summary: "Subscribers of a job and their notifications",
  params: jobParams,
  response: {
    200: json("Notifications", Type.Object({ notifications: Type.Array(Type.Object({}, open)) })),
    ...REFUSED,
    404: problem("No such job"),
  },
};
export const listFiles = {
  tags: jobs,
  operationId: "getFiles",
  summary: "Files of a job's results",
  params: jobParams,
  response: {
    200: json(
      "Files",
      Type.Object({
        files: Type.Array(
          Type.Object({
            path: Type.String({ description: "Below the folder of the results" }),
            href: Text,
            type: Text,
            size: Type.Optional(Type.Integer({ description: "Bytes" })),
            updated: Type.Optional(Text),
          }),
        ),
        links,
      }),
    ),
    ...REFUSED,
    404: problem("No such job"),
  },
};
const bytes = { "application/octet-stream": { schema: Type.String({ format: "binary" }) } };
export const readFile = {
  tags: jobs,
  operationId: "getFile",
  summary: "A file of a job's results; parts of it by Range",
  params: Type.Object({ user, id: Text, "*": Type.String({ description: "The path that the list says" }) }),
  querystring: Type.Object({ download: Type.Optional(Type.String({ description: "Browsers save the file" })) }),
  response: {
    200: { description: "The file, in its media type", content: bytes },
    206: { description: "The part of it that Range asks for", content: bytes },
    ...REFUSED,
    404: problem("No such job or file"),
    416: problem("Range lies outside the file"),
  },
};
