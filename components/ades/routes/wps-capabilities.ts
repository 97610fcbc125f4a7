import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { ECHO } from "../packages/echo.ts";
import type { ProcessDescription } from "../packages/describe.ts";
import { listProcesses } from "../store/processes.ts";
import { type ApiContext, resolveApiBase } from "./context.ts";

const OWS = 'xmlns:ows="http://www.opengis.net/ows/1.1"';
const VERSION = "1.0.0";
/** WPS has no pages. */
const MOST_PROCESSES = 1000;

/**
 * What clients of the earlier release line look for at `/{user}/zoo`: the capabilities of WPS 1.0.0 (OGC 05-007r7 §8). Processes are
 * described and executed by OGC API Processes alone; requests for that are refused with its address.
 */
export function addWpsCapabilities(scope: FastifyInstance, context: ApiContext): void {
  scope.addHook("onRequest", context.guard);
  scope.get("/:user/zoo", { schema: { hide: true } }, async (request, reply) => {
    const { service = "WPS", request: operation, version, acceptversions } = readKeys(request);
    const { user, url } = resolveApiBase(context, request, "wps3");
    if (service.toUpperCase() !== "WPS") {
      return sendException(reply, "InvalidParameterValue", "service", "The service is WPS.");
    }
    if (operation === undefined) {
      return sendException(reply, "MissingParameterValue", "request", "Add request=GetCapabilities.");
    }
    if (operation.toLowerCase() !== "getcapabilities") {
      const hint = `Only GetCapabilities is answered here; describe and execute processes below ${url}/processes.`;
      return sendException(reply, "OperationNotSupported", operation, hint);
    }
    const versions = (acceptversions ?? version ?? VERSION).split(",");
    if (!versions.includes(VERSION)) {
      return sendException(reply, "VersionNegotiationFailed", "version", `The version is ${VERSION}.`);
    }
    const { descriptions } = await listProcesses(context.db, user, { limit: MOST_PROCESSES - 1, skip: 0 });
    return reply
      .type("text/xml; charset=utf-8")
      .send(toCapabilities([ECHO, ...descriptions], { user, address: `${new URL(url).origin}/${user}/zoo` }));
  });
}

/** Names of parameters are not case sensitive (OGC 06-121r3 §11.5.2); of several values the first counts. */
function readKeys({ query }: FastifyRequest): Readonly<Partial<Record<string, string>>> {
  const entries = Object.entries(query as Readonly<Record<string, string | readonly string[]>>);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), [value].flat()[0] ?? ""]));
}

function toCapabilities(
  processes: readonly ProcessDescription[],
  { user, address }: { readonly user: string; readonly address: string },
): string {
  const get = `<ows:DCP><ows:HTTP><ows:Get xlink:href="${escapeXml(address)}?"/></ows:HTTP></ows:DCP>`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<wps:Capabilities xmlns:wps="http://www.opengis.net/wps/1.0.0" ${OWS} xmlns:xlink="http://www.w3.org/1999/xlink" service="WPS" version="${VERSION}" xml:lang="en">
<ows:ServiceIdentification><ows:Title>Processing for ${escapeXml(user)}</ows:Title><ows:ServiceType>WPS</ows:ServiceType><ows:ServiceTypeVersion>${VERSION}</ows:ServiceTypeVersion></ows:ServiceIdentification>
<ows:OperationsMetadata><ows:Operation name="GetCapabilities">${get}</ows:Operation></ows:OperationsMetadata>
<wps:ProcessOfferings>
${processes.map(toOffering).join("\n")}
</wps:ProcessOfferings>
<wps:Languages><wps:Default><ows:Language>en</ows:Language></wps:Default><wps:Supported><ows:Language>en</ows:Language></wps:Supported></wps:Languages>
</wps:Capabilities>
`;
}

const toOffering = ({ id, title, description, version }: ProcessDescription): string =>
  `<wps:Process wps:processVersion="${escapeXml(version)}"><ows:Identifier>${escapeXml(id)}</ows:Identifier><ows:Title>${escapeXml(title)}</ows:Title>${
    description === "" ? "" : `<ows:Abstract>${escapeXml(description)}</ows:Abstract>`
  }</wps:Process>`;

function sendException(reply: FastifyReply, code: string, locator: string, message: string): FastifyReply {
  return reply
    .code(400)
    .type("text/xml; charset=utf-8")
    .send(
      `<?xml version="1.0" encoding="UTF-8"?>\n<ows:ExceptionReport ${OWS} version="1.1.0"><ows:Exception exceptionCode="${code}" locator="${escapeXml(locator)}"><ows:ExceptionText>${escapeXml(message)}</ows:ExceptionText></ows:Exception></ows:ExceptionReport>\n`,
    );
}

const ENTITIES = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
]);

/** Text as it stands in elements and attributes; what XML 1.0 cannot hold becomes U+FFFD. */
function escapeXml(text: string): string {
  const storable = text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "\ufffd");
  return storable.replaceAll(/[&<>"]/g, (character) => ENTITIES.get(character) ?? character);
}
