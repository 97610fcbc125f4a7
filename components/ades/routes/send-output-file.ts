import type { FastifyReply, FastifyRequest } from "fastify";

import { noSuchOutput } from "../errors.ts";
import { findStoredFile } from "../results/outputs.ts";
import { parseS3Url } from "../staging/in/s3-source.ts";
import type { Job } from "../store/jobs.ts";
import type { JobResult } from "../store/tables.ts";
import type { ApiContext } from "./context.ts";
import { noSuchFile } from "./result-files.ts";
import { sendDocument, sendFile, sendHead } from "./send-file.ts";

interface OutputFile {
  readonly job: Job;
  readonly result: JobResult;
  /** The output, which is a file. */
  readonly name: string;
}

/**
 * Sends the file that an output is, in its own media type; the part that `Range` names, as from `/files/`.
 * @throws {OgcError} 404, 416, 502
 */
export async function sendOutputFile(
  { findPlace }: ApiContext,
  { job, result, name }: OutputFile,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const file = findStoredFile(name, result);
  if (file === undefined) {
    throw noSuchOutput(name, Object.keys(result.outputs));
  }
  const { key } = parseS3Url(file.href);
  const place = await findPlace(job.owner, result);
  if (place === undefined) {
    throw noSuchFile(name);
  }
  return (
    (await sendDocument(place, key, request, reply)) ??
    (request.method === "HEAD" ? sendHead(place, key, reply) : sendFile(place, key, request, reply))
  );
}
