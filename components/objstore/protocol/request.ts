import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";

import { S3Error } from "../errors.ts";
import type { Payload } from "../signature/payload.ts";
import type { Address } from "./address.ts";
import type { Query } from "./query.ts";
import { renderXml, type XmlElement } from "./xml.ts";

/** One request on its way through an operation. */
export interface S3Request {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  /** What describes the object: the headers of the message, or the fields of a form. */
  readonly headers: IncomingHttpHeaders;
  readonly method: string;
  readonly address: Address;
  readonly query: Query;
  readonly requestId: string;
  /** Headers of every answer, names and values in turn: who answered, and CORS. */
  readonly baseHead: readonly string[];
  readonly payload: Payload;
  /** Answers `Expect: 100-continue` once, before the body is first read. */
  readonly acceptBody: () => void;
}

export function header(request: S3Request, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(",") : value;
}

/** A whole number from the query. @throws {S3Error} InvalidArgument outside 0…`maximum` (larger ones are cut where `cut`) */
export function readInteger(request: S3Request, name: string, absent: number, maximum: number): number {
  const text = request.query.get(name);
  if (text === undefined || text === "") {
    return absent;
  }
  if (!/^\d{1,10}$/.test(text)) {
    throw new S3Error("InvalidArgument", `${name} must be a whole number from 0 to ${maximum}.`, {
      details: { ArgumentName: name, ArgumentValue: text.slice(0, 100) },
    });
  }
  return Math.min(Number(text), maximum);
}

export function sendXml(request: S3Request, root: string, content: XmlElement, status = 200): void {
  send(request, status, renderXml(root, content), "application/xml");
}

export function send(request: S3Request, status: number, body = "", type?: string): void {
  const { response, method } = request;
  if (type !== undefined) {
    response.setHeader("content-type", type);
  }
  if (status !== 204 && status !== 304) {
    response.setHeader("content-length", Buffer.byteLength(body));
  }
  response.writeHead(status).end(method === "HEAD" ? undefined : body);
}

/** Writes the head of an answer: names and values in turn, the base among them. One array costs a third of setting each header. */
export function startHead({ response }: S3Request, status: number, head: readonly string[]): void {
  response.writeHead(status, head as string[]);
}

/** A whole answer from memory. */
export function sendHead(request: S3Request, status: number, head: readonly string[], body?: Uint8Array): void {
  startHead(request, status, head);
  request.response.end(body);
}
