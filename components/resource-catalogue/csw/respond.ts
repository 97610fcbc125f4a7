import { parseForm } from "@swath/service/parse-form";
import type { FastifyReply, FastifyRequest } from "fastify";

import type { CatalogueContext } from "../http/context.ts";
import { readParameters } from "../opensearch/parameters.ts";
import { respondToDescribe, respondToSearch } from "../opensearch/respond.ts";
import { readXml } from "../xml/read.ts";
import { getCapabilities } from "./capabilities.ts";
import { type CswCall, type CswResponse, XML_TYPE } from "./context.ts";
import { describeRecord } from "./describe-record.ts";
import { renderExceptionReport } from "./exception-report.ts";
import { getDomain } from "./get-domain.ts";
import { getRecordById, getRepositoryItem } from "./get-record.ts";
import { getRecords } from "./get-records.ts";
import { harvest } from "./harvest.ts";
import { type CswInput, guessVersion, readDocument, readKvp } from "./input.ts";
import { OwsError, toOwsError } from "./ows-error.ts";
import { type SoapVersion, soapType, wrapFault, wrapResponse } from "./soap.ts";
import { transact } from "./transaction.ts";
import { type CswVersion, OPERATIONS, XML_DECLARATION } from "./versions.ts";

const HANDLERS: ReadonlyMap<string, (call: CswCall) => CswResponse | Promise<CswResponse>> = new Map(
  Object.entries<(call: CswCall) => CswResponse | Promise<CswResponse>>({
    GetCapabilities: getCapabilities,
    DescribeRecord: describeRecord,
    GetDomain: getDomain,
    GetRecords: getRecords,
    GetRecordById: getRecordById,
    GetRepositoryItem: getRepositoryItem,
    Transaction: transact,
    Harvest: harvest,
  }),
);

/** Answers a request by key-value pairs: one with `mode=opensearch`, as pycsw has it, by OpenSearch. */
export async function respondToQuery(
  context: CatalogueContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const query = request.query as Readonly<Record<string, unknown>>;
  const mode = Object.entries(query).find(([name]) => name.toLowerCase() === "mode")?.[1];
  if (mode === undefined || mode === "") {
    return respond(context, request, reply, () => Promise.resolve(readKvp(query)));
  }
  if (mode !== "opensearch") {
    const wrong = new OwsError("InvalidParameterValue", "mode", "The parameter mode must be opensearch, or left out.");
    return sendError(request, reply, wrong, { version: guess(request) });
  }
  const operation = Object.entries(query).find(([name]) => name.toLowerCase() === "request")?.[1];
  return operation === undefined || operation === "GetCapabilities"
    ? respondToDescribe(request, reply)
    : respondToSearch(context, request, reply, readParameters(query));
}

/** Answers a document, or key-value pairs in a body. */
export const respondToBody = (
  context: CatalogueContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> => respond(context, request, reply, () => readBody(request));

/** What went wrong before a handler was called. */
export const respondToError = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  sendError(request, reply, error, { version: guess(request) });

async function readBody(request: FastifyRequest): Promise<CswInput> {
  const { body } = request as { readonly body: Buffer | undefined };
  if (body === undefined || body.length === 0) {
    throw new OwsError("NoApplicableCode", "body", "A request by POST must have a document of CSW as its body.", {
      status: 400,
    });
  }
  return request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded") === true && body[0] !== 0x3c
    ? readKvp(parseForm(body.toString()))
    : readDocument(await readXml(body));
}

async function respond(
  context: CatalogueContext,
  request: FastifyRequest,
  reply: FastifyReply,
  read: () => Promise<CswInput>,
): Promise<FastifyReply> {
  let form: ErrorForm = { version: guess(request) };
  try {
    const input = await read();
    const { version, operation, soap } = input;
    form = { version, ...(soap && { soap }) };
    const handler = OPERATIONS[version].includes(operation) ? HANDLERS.get(operation) : undefined;
    if (handler === undefined) {
      throw new OwsError(
        "InvalidParameterValue",
        "request",
        `The parameter request must be one of ${OPERATIONS[version].join(", ")}, not ${JSON.stringify(operation.slice(0, 60))}.`,
      );
    }
    const { body, type = XML_TYPE } = await handler({ context, request, input });
    if (typeof body !== "string") {
      return await reply.type(type).send(body);
    }
    return soap === undefined
      ? await reply.type(type).send(XML_DECLARATION + body)
      : await reply.type(soapType(soap)).send(XML_DECLARATION + wrapResponse(body, soap));
  } catch (error) {
    return await sendError(request, reply, error, form);
  }
}

interface ErrorForm {
  readonly version: CswVersion;
  readonly soap?: SoapVersion;
}

/** 2.0.2 sends what a client did wrong as 200, which its clients expect; what it may not do, or is too much, has its own status there too. */
function sendError(
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  { version, soap }: ErrorForm,
): FastifyReply {
  const known = toOwsError(error);
  if (known === undefined) {
    request.log.error({ err: error }, "request failed");
  }
  const shown =
    known ??
    new OwsError(
      "NoApplicableCode",
      undefined,
      `The catalogue failed to handle this request; its log has the cause under ${request.id}.`,
    );
  const report = renderExceptionReport(shown, version);
  const isQuiet = version === "2.0.2" && [400, 404, 409, 501].includes(shown.status);
  return reply
    .code(isQuiet ? 200 : shown.status)
    .headers(shown.headers)
    .type(soap === undefined ? XML_TYPE : soapType(soap))
    .send(XML_DECLARATION + (soap === undefined ? report : wrapFault(report, shown.message, soap)));
}

/** The version that a request was meant for, when it could not be read. */
function guess(request: FastifyRequest): CswVersion {
  const parameters = new Map(
    Object.entries((request.query ?? {}) as Record<string, unknown>).flatMap(([name, value]) =>
      typeof value === "string" ? [[name.toLowerCase(), value]] : [],
    ),
  );
  const start = Buffer.isBuffer(request.body) ? request.body.subarray(0, 2000).toString("latin1") : "";
  return guessVersion(start.includes("/csw/2.0.2") ? new Map([["version", "2.0.2"]]) : parameters);
}
