import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { IdentityContext } from "../context.ts";
import { toEngineRequest } from "../oidc/engine-request.ts";
import { findProvider, interactionPath } from "../oidc/provider.ts";
import { findRealmOr404 } from "../protocol/realm-scope.ts";
import { insertEvent } from "../store/events.ts";
import { renderErrorPage } from "./error-page.ts";
import { FORM_TOKEN, isFormToken } from "./form-token.ts";
import { respondLogin } from "./login-steps.ts";
import { PASSKEY_PAGE_HEADERS } from "./passkey-form.ts";
import { type Params, type Question, send, finish, text } from "./question.ts";

/** The pages between the authorization endpoint and the way back to the client. */
export function addInteractionRoutes(app: FastifyInstance, context: IdentityContext): void {
  const path = interactionPath(":realm", ":uid");
  const open = async (request: FastifyRequest<Params>, reply: FastifyReply): Promise<Question | undefined> => {
    const handle = await findRealmOr404(context, request.params.realm);
    const provider = findProvider(context, handle);
    void reply.headers(PASSKEY_PAGE_HEADERS).type("text/html; charset=utf-8");
    try {
      const raw = toEngineRequest(context.publicUrl, request);
      const interaction = await provider.interactionDetails(raw, reply.raw);
      if (interaction.uid === request.params.uid) {
        return { context, handle, provider, interaction, request, reply };
      }
    } catch (error) {
      if (!(error instanceof Error && error.name === "SessionNotFound")) {
        throw error;
      }
    }
    return undefined;
  };
  const expired = (reply: FastifyReply) =>
    reply.code(400).send(
      renderErrorPage({
        title: "This login has expired",
        message:
          "It took too long, was finished in another window, or cookies are blocked. Go back to the application and try again.",
      }),
    );

  app.get<Params>(path, { schema: { hide: true } }, async (request, reply) => {
    const question = await open(request, reply);
    return question === undefined ? expired(reply) : send(question);
  });
  app.post<Params>(path, { schema: { hide: true } }, async (request, reply) => {
    const question = await open(request, reply);
    if (question === undefined) {
      return expired(reply);
    }
    const form = (request.body ?? {}) as Readonly<Record<string, unknown>>;
    if (!isFormToken(question.handle.realm, "interaction", question.interaction.uid, form[FORM_TOKEN])) {
      return reply.code(403).send(
        renderErrorPage({
          title: "This form has expired",
          message: "The form did not come from this page. Go back and try again.",
        }),
      );
    }
    return question.interaction.prompt.name === "consent"
      ? respondConsent(question, form["consent"] === "yes")
      : respondLogin(question, form);
  });
}

async function respondConsent(question: Question, agreed: boolean): Promise<void> {
  const { context, handle, interaction, provider, request } = question;
  if (!agreed) {
    await finish(question, { error: "access_denied", error_description: "The user did not agree" });
    return;
  }
  const { missingOIDCScope = [] } = interaction.prompt.details as { missingOIDCScope?: readonly string[] };
  const accountId = interaction.session?.accountId;
  const clientId = text(interaction.params["client_id"]);
  const known = interaction.grantId === undefined ? undefined : await provider.Grant.find(interaction.grantId);
  const grant = known ?? new provider.Grant({ ...(accountId !== undefined && { accountId }), clientId });
  grant.addOIDCScope(missingOIDCScope.join(" "));
  const grantId = await grant.save();
  await insertEvent(context.pool, handle.realm.id, {
    type: "GRANT_CONSENT",
    userId: accountId,
    clientId,
    ip: request.ip,
  });
  // With the login just before, if there was one: a login that the client demanded is not demanded again.
  await finish(question, { ...interaction.lastSubmission, consent: { grantId } });
}
