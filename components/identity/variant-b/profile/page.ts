import { type Html, html } from "@swath/pages";

import type { Notice } from "../../pages/account-visit.ts";
import { FORM_TOKEN } from "../../pages/form-token.ts";
import { renderPage } from "../../pages/layout.ts";
import { findRemoval } from "../../store/profile.ts";
import { PROFILE, type ProfileContext, type Section, profileToken } from "./visit.ts";

const SECTIONS = [
  ["/profile_management", "Profile"],
  ["/TC_management", "Terms and conditions"],
  ["/licenses_management", "Licences"],
  ["/apis_management", "API keys"],
  ["/storage_details", "Storage details"],
  ["/profile_removal", "Remove account"],
] as const;

/** A page of the profile: its sections, what has just happened, and the content. */
export async function renderProfilePage(
  ctx: ProfileContext,
  { path, title }: Pick<Section, "path" | "title">,
  { good, bad }: Notice,
  content: Html,
): Promise<string> {
  const { context, session } = ctx;
  const due = await findRemoval(context.pool, session.user.id);
  return renderPage({
    title,
    wide: true,
    content: html`<nav aria-label="User profile">
        <ul class="row">
          ${SECTIONS.map(
            ([at, name]) =>
              html`<li><a href="${PROFILE}${at}" ${at === path ? html`aria-current="page"` : ""}>${name}</a></li>`,
          )}
          <li><a href="${PROFILE}/logout">Log out</a></li>
        </ul>
      </nav>
      <h1>${title}</h1>
      <p class="hint">Logged in as <strong>${session.user.username}</strong>.</p>
      ${
        due !== undefined &&
        html`<p role="note" class="hint">
          Your account will be removed after ${toText(due)}.
          <a href="${PROFILE}/profile_removal">Keep the account</a>
        </p>`
      }
      ${bad !== undefined && html`<p role="alert">${bad}</p>`}
      ${good !== undefined && html`<p role="status">${good}</p>`} ${content}`,
  });
}

/** A form of a section; `name` is what it does. */
export function renderForm(
  ctx: ProfileContext,
  { path }: Pick<Section, "path">,
  name: string,
  content: Html,
  action = `${PROFILE}${path}/modify`,
): Html {
  return html`<form method="post" action="${action}">
    <input type="hidden" name="${FORM_TOKEN}" value="${profileToken(ctx)}" />
    <input type="hidden" name="action" value="${name}" />
    ${content}
  </form>`;
}

/** `2026-11-21 05:00 UTC` */
export function toText(date: Date): string {
  return `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
