import { createApp } from "@swath/service/fastify";
import { addOpenApi } from "@swath/service/openapi";
import type { FastifyInstance } from "fastify";

import { sendOgcError } from "./errors.ts";
import { type ApiContext, type Face, link, spaceOf } from "./routes/context.ts";
import { addJobFileRoutes } from "./routes/job-files.ts";
import { addJobRoutes } from "./routes/jobs.ts";
import { addPackageRoutes } from "./routes/packages.ts";
import { addProcessRoutes } from "./routes/processes.ts";

const DESCRIPTION = `OGC API Processes, Part 1 and Part 2, for every user below \`/{user}/ogc-api\` and \`/{user}/wps3\`.

Deploy an application package (CWL), execute it with references to scenes, follow the job, and find its results as a STAC catalogue
in the object storage.`;

const CONFORMANCE = [
  "http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf/core",
  "http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf/ogc-process-description",
  "http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf/json",
  "http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf/job-list",
  "http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf/dismiss",
  "http://www.opengis.net/spec/ogcapi-processes-2/1.0/conf/deploy-replace-undeploy",
  "http://www.opengis.net/spec/ogcapi-processes-2/1.0/conf/ogcapppkg",
  "http://www.opengis.net/spec/ogcapi-processes-2/1.0/conf/cwl",
];

/** The whole HTTP face of the service. */
export async function createProcessingService(context: ApiContext): Promise<FastifyInstance> {
  const app = createApp(context.logger, { bodyLimit: 10 * 1024 * 1024 });
  await addOpenApi(app, {
    title: "Processing service",
    version: "1.0.0",
    description: DESCRIPTION,
    tags: [
      { name: "processes", description: "What may be executed" },
      { name: "jobs", description: "What is and was executed" },
    ],
  });
  app.get("/", { schema: { hide: true } }, (_request, reply) => reply.redirect("/docs"));
  for (const type of ["application/cwl", "application/cwl+yaml", "application/x-yaml", "text/yaml"]) {
    app.addContentTypeParser(type, { parseAs: "string" }, (_request, body, done) => done(null, body));
  }
  app.addContentTypeParser(
    "application/ogcapppkg+json",
    { parseAs: "string" },
    app.getDefaultJsonParser("error", "error"),
  );
  await app.register(async (scope) => {
    scope.setErrorHandler(sendOgcError);
    scope.addHook("onRequest", context.guard);
    for (const face of ["wps3", "ogc-api"] as const) {
      addLanding(scope, face);
      addProcessRoutes(scope, context, face);
      addPackageRoutes(scope, context, face);
      addJobRoutes(scope, context, face);
      addJobFileRoutes(scope, context, face);
    }
  });
  return app;
}

function addLanding(app: FastifyInstance, face: Face): void {
  const path = `/:user/${face}`;
  app.get(path, { schema: { tags: ["processes"], summary: "Landing page" } }, (request) => {
    const { base, user } = spaceOf(request, face);
    return {
      title: `Processing for ${user}`,
      description: "OGC API Processes with application packages.",
      links: [
        link(base, "self", "This document"),
        link("/openapi.json", "service-desc", "OpenAPI", "application/vnd.oai.openapi+json;version=3.1"),
        link("/docs", "service-doc", "Interactive page", "text/html"),
        link(`${base}/conformance`, "http://www.opengis.net/def/rel/ogc/1.0/conformance", "Conformance"),
        link(`${base}/processes`, "http://www.opengis.net/def/rel/ogc/1.0/processes", "Processes"),
        link(`${base}/jobs`, "http://www.opengis.net/def/rel/ogc/1.0/job-list", "Jobs"),
      ],
    };
  });
  app.get(`${path}/conformance`, { schema: { tags: ["processes"], summary: "What is conformed to" } }, () => ({
    conformsTo: CONFORMANCE,
  }));
  app.get(`${path}/api`, { schema: { hide: true } }, (_request, reply) => reply.redirect("/openapi.json"));
}
