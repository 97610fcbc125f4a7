import { STYLE } from "@swath/pages";
import type { CallerLimits } from "@swath/service/caller-limits";
import { createApp, createJsonBodyParser } from "@swath/service/fastify";
import { addOpenApi } from "@swath/service/openapi";
import type { FastifyInstance } from "fastify";

import { rememberStorage } from "./execution/remember-storage.ts";
import { CWL_TYPES, OGC_YAML } from "./packages/media-types.ts";
import { openPackageReader } from "./packages/package-reader.ts";
import { STYLE_PATH } from "./pages/page.ts";
import { type ApiContext, type ApiFlavor, isEarlierLine } from "./routes/context.ts";
import { addCors } from "./routes/cors.ts";
import { addExecutionRoutes } from "./routes/execution.ts";
import { addJobFileRoutes } from "./routes/job-files.ts";
import { addJobManagementRoutes } from "./routes/job-management.ts";
import { addJobRecordRoutes } from "./routes/job-records.ts";
import { addJobRoutes } from "./routes/jobs.ts";
import { addLandingRoutes } from "./routes/landing.ts";
import { addPackageRoutes } from "./routes/packages.ts";
import { addProcessRoutes } from "./routes/processes.ts";
import { createFindPlace } from "./routes/result-place.ts";
import { addResultRoutes } from "./routes/results.ts";
import { listMethods, refuseOtherMethods } from "./routes/method-not-allowed.ts";
import { refuseUnknownParameters } from "./routes/refuse-unknown.ts";
import { sendError } from "./routes/send-error.ts";
import { addWpsCapabilities } from "./routes/wps-capabilities.ts";

const DESCRIPTION = `OGC API Processes, Part 1 and Part 2, for every user below \`/{user}/ogc-api\`, and the same below \`/{user}/wps3\`.

Deploy an application package (CWL), execute it with references to scenes, follow the job, and find its results as a STAC catalogue
in the object storage.`;

/** Everything that one face has. */
const ROUTES = [
  addLandingRoutes,
  addProcessRoutes,
  addPackageRoutes,
  addExecutionRoutes,
  addJobRoutes,
  addJobManagementRoutes,
  addResultRoutes,
  addJobRecordRoutes,
  addJobFileRoutes,
] as const;

/** Reading and checking one takes seconds of a processor at most; a repository of hundreds is deployed in minutes. */
const DEPLOYMENTS = { name: "deployments", perUser: 300, perAddress: 300, seconds: 60 };

/** Each looks at its job three times a second. */
export const STREAMS = { name: "event streams", perUser: 100, perAddress: 100, total: 1000 };

/** The whole HTTP face of the service. */
export async function createProcessingService({
  limits,
  ...provided
}: Omit<ApiContext, "closing" | "packages" | "storageOf" | "findPlace" | "deployments" | "streams"> & {
  readonly limits: CallerLimits;
}): Promise<FastifyInstance> {
  const closing = new AbortController();
  const packages = openPackageReader();
  const storageOf = rememberStorage(provided.settings);
  const context: ApiContext = {
    ...provided,
    packages,
    deployments: limits.createRate(DEPLOYMENTS),
    streams: limits.createPlaces(STREAMS),
    storageOf,
    findPlace: createFindPlace(storageOf),
    closing: closing.signal,
  };
  const app = createApp(context.logger, {
    bodyLimit: 10 * 1024 * 1024,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 256 },
  });
  app.addHook("preClose", (done) => {
    closing.abort(new Error("the service stops"));
    done();
  });
  app.addHook("onClose", () => packages.close());
  await addOpenApi(app, {
    title: "Processing service",
    version: "1.0.0",
    description: DESCRIPTION,
    tags: [
      { name: "processes", description: "What may be executed" },
      { name: "jobs", description: "What is and was executed" },
    ],
  });
  // ZOO-Project has its pages at the latter.
  for (const path of ["/", "/swagger-ui/oapip"]) {
    app.get(path, { schema: { hide: true } }, (_request, reply) => reply.redirect("/docs"));
  }
  app.get(STYLE_PATH, { schema: { hide: true } }, (_request, reply) =>
    reply.type("text/css; charset=utf-8").header("cache-control", "public, max-age=300").send(STYLE),
  );
  addCors(app, context.settings.PLATFORM_DOMAIN);
  addContentTypes(app);
  // The earlier face has the same requests; described once.
  await app.register(async (scope) => addFace(scope, context, "ogc-api"));
  await app.register(async (scope) => {
    scope.addHook("onRoute", (route) => {
      route.schema = { ...route.schema, hide: true };
    });
    addFace(scope, context, "wps3");
  });
  if (isEarlierLine(context)) {
    await app.register(async (scope) => addWpsCapabilities(scope, context));
  }
  return app;
}

function addFace(scope: FastifyInstance, context: ApiContext, apiFlavor: ApiFlavor): void {
  scope.setErrorHandler(sendError);
  // Schemas describe; each route reads its request itself, with the exceptions of the standard.
  scope.setValidatorCompiler(() => () => true);
  scope.addHook("onRequest", context.guard);
  refuseUnknownParameters(scope);
  const methods = listMethods(scope);
  for (const add of ROUTES) {
    add(scope, context, apiFlavor);
  }
  refuseOtherMethods(scope, methods);
}

function addContentTypes(app: FastifyInstance): void {
  for (const type of [...CWL_TYPES, OGC_YAML]) {
    app.addContentTypeParser(type, { parseAs: "string" }, (_request, body, done) => done(null, body));
  }
  app.addContentTypeParser("application/ogcapppkg+json", { parseAs: "buffer" }, createJsonBodyParser());
}
