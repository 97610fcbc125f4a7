import { openApiType, sendOpenApi } from "@swath/service/send-openapi";
import type { FastifyInstance } from "fastify";

import { conformancePage, landingPage } from "../pages/landing-pages.ts";
import { answer, formOf } from "./answer.ts";
import { apiDocument, readVersion } from "./api-document.ts";
import { type ApiContext, type ApiFlavor, OGC_REL, resolveApiBase, link } from "./context.ts";
import { formLinks } from "./page-links.ts";
import * as schemas from "./schemas/processes.ts";

const PART1 = "http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf";
const PART2 = "http://www.opengis.net/spec/ogcapi-processes-2/1.0/conf";
const PART4 = "http://www.opengis.net/spec/ogcapi-processes-4/1.0/conf";
const COMMON = "http://www.opengis.net/spec/ogcapi-common-1/1.0/conf";

/** Requirements classes that hold; `docs/reference/processing.md` has the test of each requirement. */
export const CONFORMANCE: readonly string[] = [
  `${COMMON}/core`,
  ...["core", "ogc-process-description", "json", "html", "oas30", "job-list", "callback", "dismiss"].map(
    (name) => `${PART1}/${name}`,
  ),
  ...["deploy-replace-undeploy", "ogcapppkg", "cwl", "docker"].map((name) => `${PART2}/${name}`),
  ...["job-management", "ogcapi-processes"].map((name) => `${PART4}/${name}`),
];

/** Where a client begins: the landing page, what is conformed to, and the API's own description (OGC 18-062r2 §7.2 to §7.4). */
export function addLandingRoutes(app: FastifyInstance, context: ApiContext, apiFlavor: ApiFlavor): void {
  const path = `/:user/${apiFlavor}`;
  app.get(path, { schema: schemas.landing }, (request, reply) => {
    const apiBase = resolveApiBase(context, request, apiFlavor);
    const { url, user } = apiBase;
    const body = {
      title: `Processing for ${user}`,
      description: "OGC API Processes with application packages.",
      links: [
        ...formLinks(url, "This document"),
        link(`${url}/api`, "service-desc", "OpenAPI 3.0", openApiType("3.0")),
        link(`${url}/api?v=3.1`, "service-desc", "OpenAPI 3.1", openApiType("3.1")),
        link(`${url}/api?f=html`, "service-doc", "Interactive page", "text/html"),
        link(`${url}/conformance`, OGC_REL.conformance, "Conformance"),
        link(`${url}/processes`, OGC_REL.processes, "Processes"),
        link(`${url}/jobs`, OGC_REL.jobs, "Jobs"),
      ],
    };
    return answer(request, reply, body, (landing, address) => landingPage(landing, apiBase, address));
  });

  app.get(`${path}/conformance`, { schema: schemas.conformance }, (request, reply) => {
    const apiBase = resolveApiBase(context, request, apiFlavor);
    return answer(request, reply, { conformsTo: CONFORMANCE }, (body, url) => conformancePage(body, apiBase, url));
  });

  const ofApi = { hide: true, querystring: { type: "object", properties: { f: {}, v: {} } } };
  app.get(`${path}/api`, { schema: ofApi }, (request, reply) => {
    void reply.header("vary", "Accept, Origin");
    if (formOf(request) === "html") {
      return reply.redirect("/docs");
    }
    const document = apiDocument(app.swagger(), resolveApiBase(context, request, apiFlavor));
    return sendOpenApi(request, reply, document, readVersion(request));
  });
}
