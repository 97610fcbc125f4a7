import { issueTokens } from "../protocol/issue-tokens.ts";
import { type ConsoleContext, findConsoleClient } from "./console-context.ts";

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
  ctx: ConsoleContext,
  method: Method,
  path: string,
  body?: object,
): Promise<{ readonly body: Readonly<Record<string, unknown>>; readonly id: string }> {
  const { app, request } = ctx;
  const response = await app.inject({
    method,
    url: `/admin/realms${path}`,
    headers: { authorization: `Bearer ${await makeToken(ctx)}` },
    remoteAddress: request.ip,
    ...(body !== undefined && { payload: body }),
  });
  const isJson = response.body !== "" && String(response.headers["content-type"]).includes("json");
  const parsed = isJson ? (response.json() as Readonly<Record<string, unknown>>) : {};
  if (response.statusCode >= 400) {
    const message = parsed["errorMessage"] ?? parsed["error_description"] ?? parsed["error"];
    throw new Refusal(response.statusCode, typeof message === "string" ? message : "The change was refused.");
  }
  const location = response.headers["location"];
  return { body: parsed, id: typeof location === "string" ? (location.split("/").at(-1) ?? "") : "" };
}

async function makeToken({ home, session, access }: ConsoleContext): Promise<string> {
  const client = await findConsoleClient(home);
  return (await issueTokens(home, { client, user: session.user, access, scope: "openid" })).access_token;
}
