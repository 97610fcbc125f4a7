// Requests about processes, as the OpenAPI document describes them.
import { Type } from "typebox";

import {
  asForm,
  Execute,
  f,
  json,
  limit,
  links,
  location,
  offset,
  processParams,
  userParams,
  open,
  PackageBody,
  packageContent,
  problem,
  REFUSED,
  Process,
  ProcessSummary,
  skip,
  StatusInfo,
  Text,
  w,
  withPage,
} from "./parts.ts";

const processes = ["processes"];

export const landing = {
  tags: processes,
  operationId: "getLandingPage",
  summary: "Landing page",
  params: userParams,
  querystring: asForm,
  response: { 200: withPage("The page", Type.Object({ title: Text, description: Text, links }, open)), ...REFUSED },
};
export const conformance = {
  tags: processes,
  operationId: "getConformance",
  summary: "Conformance classes",
  params: userParams,
  querystring: asForm,
  response: { 200: withPage("Classes", Type.Object({ conformsTo: Type.Array(Text) })), ...REFUSED },
};
export const listProcesses = {
  tags: processes,
  operationId: "getProcesses",
  summary: "Processes that may be executed",
  params: userParams,
  querystring: Type.Object({
    limit,
    skip,
    offset,
    q: Type.Optional(Type.String({ description: "A text in the id, title, description or keywords" })),
    sortby: Type.Optional(Type.String({ description: "id, title or deployed; with - the other way round" })),
    f,
  }),
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
  params: userParams,
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
  params: processParams,
  querystring: asForm,
  response: { 200: withPage("The process", Process), ...REFUSED, 404: problem("No such process") },
};
export const readPackage = {
  tags: processes,
  operationId: "getPackage",
  summary: "The application package of a process",
  params: processParams,
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
const Version = Type.Object({ id: Text, version: Text, number: Type.Integer(), current: Type.Boolean() }, open);
export const listVersions = {
  tags: processes,
  operationId: "getVersions",
  summary: "Versions of a process, the latest first; each is a process of its own, `id:version`",
  params: processParams,
  response: {
    200: json("Versions", Type.Object({ versions: Type.Array(Version) })),
    ...REFUSED,
    404: problem("No such process"),
  },
};
export const rollBack = {
  tags: processes,
  operationId: "rollBack",
  summary: "Make a former version of a process the current one again",
  params: processParams,
  body: { content: { "application/json": { schema: Type.Object({ version: Text }) } } },
  response: { 200: json("The process", ProcessSummary), ...REFUSED, 404: problem("No such process or version") },
};
export const replace = {
  tags: processes,
  operationId: "replaceProcess",
  summary: "Replace a process; running jobs go on with the former one",
  params: processParams,
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
  params: processParams,
  response: { 204: { description: "Undeployed" }, ...REFUSED, 404: problem("No such process") },
};
export const execute = {
  tags: processes,
  operationId: "execute",
  summary: "Execute a process",
  params: processParams,
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

const Graph = Type.Object({
  nodes: Type.Array(
    Type.Object(
      {
        id: Type.String({ description: "Path of step names" }),
        kind: Type.String({ enum: ["input", "output", "step"] }),
        label: Text,
        type: Type.String({ description: "Type of an input or output; class of the process that a step runs" }),
        parent: Type.Optional(Type.String({ description: "The step whose subworkflow holds it" })),
      },
      open,
    ),
  ),
  edges: Type.Array(Type.Object({ from: Text, to: Text, fromPort: Text, toPort: Text })),
});
export const readGraph = {
  tags: processes,
  operationId: "getGraph",
  summary: "The steps of a process and what leads where",
  params: processParams,
  response: { 200: json("Nodes and edges", Graph), ...REFUSED, 404: problem("No such process") },
};
export const checkPackage = {
  tags: processes,
  operationId: "checkPackage",
  summary: "Check an application package without deploying it",
  params: userParams,
  querystring: w,
  body: packageContent,
  response: {
    200: json(
      "What is wrong with it, if anything",
      Type.Object(
        {
          valid: Type.Boolean(),
          workflows: Type.Array(Text, { description: "Ids of its workflows" }),
          problems: Type.Array(
            Type.Object(
              {
                severity: Type.String({ enum: ["error", "warning"] }),
                message: Text,
                line: Type.Optional(Type.Integer()),
                hint: Type.Optional(Text),
              },
              open,
            ),
          ),
          process: Type.Optional(Process),
          graph: Type.Optional(Graph),
          package: Type.String({ description: "Its text" }),
        },
        open,
      ),
    ),
    400: problem("There is no package in the request, or none could be read"),
    ...REFUSED,
    415: problem("No media type of an application package"),
  },
};
