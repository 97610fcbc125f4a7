import type { FastifyInstance, FastifyRequest } from "fastify";

import { noSuchJob } from "../errors.ts";
import { mediaTypeOf } from "../staging/out/media-type.ts";
import { findJob } from "../store/jobs.ts";
import type { JobResult } from "../store/tables.ts";
import { type ApiContext, type ApiFlavor, link, apiPathOf } from "./context.ts";
import { type Place, listFiles, noSuchFile } from "./result-files.ts";
import * as schemas from "./schemas/jobs.ts";
import { sendDocument, sendFile, sendHead } from "./send-file.ts";

/** The files of a job's results, for clients that have no key of the object storage: a list, and each by its path. */
export function addJobFileRoutes(app: FastifyInstance, context: ApiContext, apiFlavor: ApiFlavor): void {
  const path = `/:user/${apiFlavor}/jobs/:id/files`;

  const findPlace = async (request: FastifyRequest): Promise<Place | undefined> => {
    const { id } = request.params as { id: string };
    const { user } = apiPathOf(request, apiFlavor);
    const job = await findJob(context.db, user, id);
    if (job === undefined) {
      throw noSuchJob(id);
    }
    return context.findPlace(user, job.result as JobResult | null);
  };

  app.get(path, { schema: schemas.listFiles }, async (request) => {
    const place = await findPlace(request);
    const { id } = request.params as { id: string };
    const base = `${apiPathOf(request, apiFlavor).base}/jobs/${id}`;
    const files = place === undefined ? [] : await listFiles(place);
    return {
      files: files.map(({ name, size, updated }) => ({
        path: name,
        href: `${base}/files/${name.split("/").map(encodeURIComponent).join("/")}`,
        type: mediaTypeOf(name),
        size,
        updated,
      })),
      links: [link(`${base}/files`, "self", "Files of the results"), link(base, "up", "The job")],
    };
  });

  app.get(`${path}/*`, { exposeHeadRoute: false, schema: schemas.readFile }, async (request, reply) => {
    const { place, key } = await openFile(request, findPlace);
    return (await sendDocument(place, key, request, reply)) ?? sendFile(place, key, request, reply);
  });
  app.head(`${path}/*`, { schema: { ...schemas.readFile, hide: true } }, async (request, reply) => {
    const { place, key } = await openFile(request, findPlace);
    return (await sendDocument(place, key, request, reply)) ?? sendHead(place, key, reply);
  });
}

async function openFile(
  request: FastifyRequest,
  findPlace: (request: FastifyRequest) => Promise<Place | undefined>,
): Promise<{ readonly place: Place; readonly key: string }> {
  const { "*": path = "" } = request.params as { "*"?: string };
  const place = await findPlace(request);
  // A key is taken as it is; what looks like a way out of the job's folder is none of its files.
  if (place === undefined || path.split("/").some((part) => part === "" || part === "." || part === "..")) {
    throw noSuchFile(path);
  }
  return { place, key: `${place.prefix}${path}` };
}
