// Requests about jobs that are made before they are started, as the OpenAPI document describes them.
import { Type } from "typebox";

import { Execute, REFUSED, StatusInfo, json, location, jobParams, userParams, open, problem } from "./parts.ts";

const jobs = ["jobs"];
const body = { content: { "application/json": { schema: Execute } } };
const LOCKED = { 423: problem("The job waits, is at work or has ended") };

export const createJob = {
  tags: jobs,
  operationId: "createJob",
  summary: "Make a job without starting it; `process` is the address of its process",
  params: userParams,
  body,
  response: {
    201: { ...json("The job", StatusInfo), headers: location },
    400: problem("Inputs do not fit; `errors` has each of them"),
    ...REFUSED,
    404: problem("No such process"),
  },
};
export const updateJob = {
  tags: jobs,
  operationId: "updateJob",
  summary: "Change a job that is not started yet",
  params: jobParams,
  body,
  response: { 204: { description: "Changed" }, ...REFUSED, 404: problem("No such job"), ...LOCKED },
};
export const startJob = {
  tags: jobs,
  operationId: "startJob",
  summary: "Start a job that was made before",
  params: jobParams,
  response: {
    200: { ...json("Its status", StatusInfo), headers: location },
    ...REFUSED,
    404: problem("No such job"),
    ...LOCKED,
  },
};
export const readDefinition = {
  tags: jobs,
  operationId: "getDefinition",
  summary: "The request that a job was made with",
  params: jobParams,
  response: { 200: json("The request", Type.Object({}, open)), ...REFUSED, 404: problem("No such job") },
};
