import { issueTokens } from "../protocol/issue-tokens.ts";
import { type Visit, findConsoleClient } from "./visit.ts";

/** The admin API said no: what was wrong, for people. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

type Method = "POST" | "PUT" | "DELETE";

/**
 * Changes something as every other client does: by a request to the admin REST API, in this process, with an access token of the
 * administrator that never leaves it. So the console can do nothing that the API would refuse, and all of it is in the event log.
 * @returns the body, and the id at the end of `Location`
 * @throws {Refusal} with the API's own words
 */
export async function callAdmin(
  visit: Visit,
  method: Method,
  path: string,
  body?: object,
): Promise<{ readonly body: Readonly<Record<string, unknown>>; readonly id: string }> {
  const { app, request } = visit;
  const answer = await app.inject({
    method,
    url: `/admin/realms${path}`,
    headers: { authorization: `Bearer ${await makeToken(visit)}` },
    remoteAddress: request.ip,
    ...(body !== undefined && { payload: body }),
  });
  const isJson = answer.body !== "" && String(answer.headers["content-type"]).includes("json");
  const parsed = isJson ? (answer.json() as Readonly<Record<string, unknown>>) : {};
  if (answer.statusCode >= 400) {
    const message = parsed["errorMessage"] ?? parsed["error_description"] ?? parsed["error"];
    throw new Refusal(answer.statusCode, typeof message === "string" ? message : "The change was refused.");
  }
  const location = answer.headers["location"];
  return { body: parsed, id: typeof location === "string" ? (location.split("/").at(-1) ?? "") : "" };
}

async function makeToken({ home, session, access }: Visit): Promise<string> {
  const client = await findConsoleClient(home);
  return (await issueTokens(home, { client, user: session.user, access, scope: "openid" })).access_token;
}
