import { html } from "@swath/pages";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { IdentityContext, LoginFace, UserProfile } from "../../context.ts";
import { SECURITY_HEADERS } from "../../oidc/provider.ts";
import { logInForPage } from "../../pages/account-login.ts";
import type { Notice } from "../../pages/account-visit.ts";
import { findBrowserSession } from "../../pages/browser-session.ts";
import { renderErrorPage } from "../../pages/error-page.ts";
import { FORM_TOKEN, isFormToken } from "../../pages/form-token.ts";
import { renderPage } from "../../pages/layout.ts";
import { readFields } from "../../pages/read-fields.ts";
import { sendErrorPage } from "../../pages/send-error-page.ts";
import { findRealmOr404 } from "../../protocol/realm-scope.ts";
import { ADMIN_ROLE } from "../../realms/create-realm.ts";
import { listCapturedMail } from "../../store/captured-mail.ts";
import { findUserWithAccess } from "../../store/users.ts";
import { confirm, isConfirmation, sendConfirmation } from "./confirmation.ts";
import { entrySections } from "./entry-sections.ts";
import { toText } from "./page.ts";
import { profileSection } from "./profile-section.ts";
import { removalSection } from "./removal-section.ts";
import { termsSection } from "./terms-section.ts";
import { PROFILE, PROFILE_PURPOSE, type ProfileContext, type Section } from "./visit.ts";

const SECTIONS: readonly Section[] = [profileSection, termsSection, ...entrySections, removalSection];
const MAX_MESSAGES = 50;
const hide = { schema: { hide: true } };

/** The user profile of variant B: pages where users keep what the platform knows of them. */
export function addProfileRoutes(
  app: FastifyInstance,
  context: IdentityContext,
  face: LoginFace,
  profile: UserProfile,
): void {
  app.setErrorHandler(sendErrorPage);
  const logIn = (reply: FastifyReply, path: string) =>
    // The client of the account page has its redirect URIs below that page; from there it goes on to the profile.
    logInForPage(context, face.realm, reply, { page: "account/profile", state: path });
  const open = async (request: FastifyRequest, reply: FastifyReply): Promise<ProfileContext | undefined> => {
    const handle = await findRealmOr404(context, face.realm);
    void reply.headers(SECURITY_HEADERS).header("cache-control", "no-store").type("text/html; charset=utf-8");
    const session = await findBrowserSession(context, handle, request, reply);
    return (
      session && {
        context,
        profile,
        handle,
        session,
        request: request as ProfileContext["request"],
        reply,
        form: readFields(request),
      }
    );
  };
  const send = async (ctx: ProfileContext, section: Section, outcome: Notice & { shown?: string }) => {
    // As it is now, after what was just changed.
    const session = await findBrowserSession(context, ctx.handle, ctx.request, ctx.reply);
    const page = await section.show({ ...ctx, session: session ?? ctx.session }, outcome, outcome.shown);
    return ctx.reply.code(outcome.bad === undefined ? 200 : 400).send(page);
  };
  const addForm = (
    url: string,
    section: Section,
    handle: (ctx: ProfileContext) => Promise<Notice & { shown?: string }>,
  ) =>
    app.post(url, hide, async (request, reply) => {
      const ctx = await open(request, reply);
      if (ctx === undefined) {
        return logIn(reply, section.path);
      }
      if (!isFormToken(ctx.handle.realm, PROFILE_PURPOSE, ctx.session.uid, ctx.form[FORM_TOKEN])) {
        return reply.code(403).send(
          renderErrorPage({
            title: "This form has expired",
            message: "The form did not come from this page. Go back and try again.",
          }),
        );
      }
      return send(ctx, section, await handle(ctx));
    });

  for (const section of SECTIONS) {
    app.get(`${PROFILE}${section.path}`, hide, async (request, reply) => {
      const ctx = await open(request, reply);
      return ctx === undefined ? logIn(reply, section.path) : send(ctx, section, {});
    });
    addForm(`${PROFILE}${section.path}/modify`, section, section.modify);
  }
  addForm(`${PROFILE}/confirmation_mail`, profileSection, sendConfirmation);

  const home = `${PROFILE}${profileSection.path}`;
  app.get(PROFILE, hide, (_request, reply) => reply.redirect(home));
  app.get(`${PROFILE}/login`, hide, (_request, reply) => logIn(reply, profileSection.path));
  app.get(`${PROFILE}/oauth/callback`, hide, (_request, reply) => reply.redirect(home));
  app.get(`/realms/${face.realm}/account/profile`, hide, (request, reply) => {
    const { state } = request.query as { state?: unknown };
    return reply.redirect(`${PROFILE}${SECTIONS.find(({ path }) => path === state)?.path ?? profileSection.path}`);
  });
  app.get(`${PROFILE}/logout`, hide, (_request, reply) =>
    reply.redirect(`/realms/${face.realm}/protocol/openid-connect/logout`),
  );
  addConfirmationRoutes(app, context, face);
  addOutboxRoute(app, context, open, (reply) => logIn(reply, profileSection.path));
}

/** The address of a message. Programs that look into mail fetch it too, so that only the button on its page confirms. */
function addConfirmationRoutes(app: FastifyInstance, context: IdentityContext, { realm }: LoginFace): void {
  const url = `${PROFILE}/confirmation/:token`;
  // Requests are logged with their path, which is a secret here.
  const quiet = { ...hide, logLevel: "warn" } as const;
  const tokenOf = ({ params }: FastifyRequest) => (params as { token: string }).token;
  const sendExpired = (reply: FastifyReply) =>
    reply.code(404).send(
      renderErrorPage({
        title: "No longer good",
        message: "This address was used already, or has expired. Ask for another message in your profile.",
      }),
    );
  const prepare = (reply: FastifyReply) =>
    reply.headers(SECURITY_HEADERS).header("cache-control", "no-store").type("text/html; charset=utf-8");

  app.get(url, quiet, async (request, reply) => {
    prepare(reply);
    if (!(await isConfirmation(context, tokenOf(request)))) {
      return sendExpired(reply);
    }
    return reply.send(
      renderPage({
        title: "Confirm your e-mail address",
        content: html`<h1>Confirm your e-mail address</h1>
          <form method="post" action="${PROFILE}/confirmation/${encodeURIComponent(tokenOf(request))}">
            <button type="submit">Confirm</button>
          </form>`,
      }),
    );
  });
  app.post(url, quiet, async (request, reply) => {
    prepare(reply);
    if (!(await isConfirmation(context, tokenOf(request))) || !(await confirm(context, realm, tokenOf(request)))) {
      return sendExpired(reply);
    }
    return reply.send(
      renderPage({
        title: "E-mail address confirmed",
        content: html`<h1>E-mail address confirmed</h1>
          <p role="status">Thank you.</p>
          <p><a href="${PROFILE}">Your profile</a></p>`,
      }),
    );
  });
}

/** Messages that were kept because there is no mail server, for operators. */
function addOutboxRoute(
  app: FastifyInstance,
  context: IdentityContext,
  open: (request: FastifyRequest, reply: FastifyReply) => Promise<ProfileContext | undefined>,
  logIn: (reply: FastifyReply) => FastifyReply,
): void {
  app.get(`${PROFILE}/outbox`, hide, async (request, reply) => {
    const ctx = await open(request, reply);
    if (ctx === undefined) {
      return logIn(reply);
    }
    const { access } = (await findUserWithAccess(context.pool, ctx.handle.realm.id, ctx.session.user.id)) ?? {};
    if (access?.realm.includes(ADMIN_ROLE) !== true) {
      return reply
        .code(403)
        .send(renderErrorPage({ title: "Not for you", message: "Only operators read the outbox." }));
    }
    const messages = await listCapturedMail(context.pool, MAX_MESSAGES);
    return reply.send(
      renderPage({
        title: "Outbox",
        wide: true,
        content: html`<h1>Outbox</h1>
          <p>
            ${
              ctx.profile.mailer.captures
                ? "This deployment has no mail server (SMTP_URL): messages are kept here."
                : "Messages are sent by the mail server; these were kept before there was one."
            }
          </p>
          ${messages.length === 0 && html`<p>There are no messages.</p>`}
          ${messages.map(
            ({ recipient, subject, body, createdAt }) =>
              html`<h2>${subject}</h2>
                <p class="hint">To ${recipient}, ${toText(createdAt)}</p>
                ${body
                  .split("\n")
                  .filter((line) => line !== "")
                  .map((line) =>
                    line.startsWith(`${context.publicUrl}/`)
                      ? html`<p><a href="${line}">${line}</a></p>`
                      : html`<p>${line}</p>`,
                  )}`,
          )}`,
      }),
    );
  });
}
