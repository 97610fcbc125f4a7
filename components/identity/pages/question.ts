import type { FastifyReply, FastifyRequest } from "fastify";
import type Provider from "oidc-provider";

import type { IdentityContext } from "../context.ts";
import { toEngineRequest } from "../oidc/engine-request.ts";
import { SECURITY_HEADERS, interactionPath } from "../oidc/provider.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { makeFormToken } from "./form-token.ts";
import { describePasskeyUse, makeChallenge, mayUsePasskeys } from "../login/passkeys.ts";
import { renderConsentPage, renderLoginPage } from "./login-page.ts";

export type Params = { Params: { realm: string; uid: string } };
type Interaction = Awaited<ReturnType<Provider["interactionDetails"]>>;

/** A question to the person in the browser that the protocol engine has: log in, choose a password, agree. */
export interface Question {
  readonly context: IdentityContext;
  readonly handle: RealmHandle;
  readonly provider: Provider;
  readonly interaction: Interaction;
  readonly request: FastifyRequest<Params>;
  readonly reply: FastifyReply;
}

/** Purposes of challenges: the whole login, or its second step. */
export const LOGIN_CHALLENGE = "login";
export const FACTOR_CHALLENGE = "factor";

export const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Where the form of a question goes, and the token that it carries. */
export function formOf({ handle, interaction }: Pick<Question, "handle" | "interaction">) {
  return {
    action: interactionPath(handle.realm.name, interaction.uid),
    token: makeFormToken(handle.realm, "interaction", interaction.uid),
  };
}

/** Sends the first page of the question: the login, or the consent. */
export async function send(
  { context, handle, interaction, request, reply }: Question,
  error?: string,
): Promise<unknown> {
  const page = await toPage({ context, handle, interaction, request }, error);
  return reply.code(error === undefined ? 200 : 400).send(page);
}

async function toPage(
  { context, handle, interaction, request }: Pick<Question, "context" | "handle" | "interaction" | "request">,
  error?: string,
): Promise<string> {
  const { action, token } = formOf({ handle, interaction });
  const clientId = text(interaction.params["client_id"]);
  const client = await handle.findClient(clientId);
  const clientName = client?.settings.name || clientId;
  if (interaction.prompt.name === "consent") {
    const { missingOIDCScope } = interaction.prompt.details as { missingOIDCScope?: readonly string[] };
    return renderConsentPage({ action, token, clientName, scopes: missingOIDCScope ?? [] });
  }
  const username = (request.body as { username?: unknown } | undefined)?.username ?? interaction.params["login_hint"];
  const passkeyOptions = mayUsePasskeys(context)
    ? await describePasskeyUse(context, undefined, makeChallenge(handle, LOGIN_CHALLENGE, interaction.uid))
    : undefined;
  return renderLoginPage({
    action,
    token,
    clientName,
    username: typeof username === "string" ? username : "",
    passkeyOptions,
    error,
  });
}

/** Back to the engine, which goes on from there. */
export async function finish(
  { context, provider, request, reply }: Question,
  result: Parameters<Provider["interactionFinished"]>[2],
): Promise<void> {
  const raw = toEngineRequest(context.publicUrl, request);
  reply.hijack();
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
    reply.raw.setHeader(name, value);
  }
  await provider.interactionFinished(raw, reply.raw, result, { mergeWithLastSubmission: false });
}
