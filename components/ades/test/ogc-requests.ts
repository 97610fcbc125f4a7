import type { TestResponse, TestAdes } from "./start-ades.ts";

export const EXCEPTIONS = "http://www.opengis.net/def/exceptions/ogcapi-processes-1/1.0";
export const REL = "http://www.opengis.net/def/rel/ogc/1.0";
export const API = "/eric/ogc-api";
export const ASYNC = { prefer: "respond-async" };

export interface TestLink {
  readonly rel: string;
  readonly href: string;
  readonly type: string;
}

/** The first link of a relation that an answer has. */
export const linkOf = ({ body }: TestResponse, rel: string): TestLink | undefined =>
  (body.links as TestLink[]).find((link) => link.rel === rel);

/** Sends an execute request as it is. */
export const execute = (
  ades: TestAdes,
  process: string,
  json: object,
  headers: Record<string, string> = {},
  apiFlavor = API,
): Promise<TestResponse> => ades.send(`${apiFlavor}/processes/${process}/execution`, { json, headers });
