import type { FastifyRequest } from "fastify";

import { type CatalogueContext, baseOf } from "../http/context.ts";
import type { CswInput } from "./input.ts";

/** What an operation of CSW works with. */
export interface CswCall {
  readonly context: CatalogueContext;
  readonly request: FastifyRequest;
  readonly input: CswInput;
}

/** What an operation sends. */
export interface CswResponse {
  /** XML without a declaration, or a document byte for byte. */
  readonly body: string | Buffer;
  readonly type?: string;
}

export const XML_TYPE = "application/xml; charset=utf-8";

/** Address of the service on the host of the request. */
export const cswUrl = (request: FastifyRequest): string => `${baseOf(request)}/csw`;
