import { html } from "@swath/pages";

import { refuseWrongPassword } from "../../pages/account-visit.ts";
import { ADMIN_ROLE } from "../../realms/create-realm.ts";
import { findRemoval, requestRemoval, withdrawRemoval } from "../../store/profile.ts";
import { findUserWithAccess } from "../../store/users.ts";
import { insertEvent } from "../../store/events.ts";
import { renderForm, renderProfilePage, toText } from "./page.ts";
import type { Section } from "./visit.ts";

const self = { path: "/profile_removal", title: "Remove your account" };
const DAY = 86_400;

/** Removal of the own account, after a time in which the user may think again. */
export const removalSection: Section = {
  ...self,
  show: async (ctx, notice) => {
    const { context, session, profile } = ctx;
    const due = await findRemoval(context.pool, session.user.id);
    const days = Math.round(profile.removalSeconds / DAY);
    return renderProfilePage(
      ctx,
      self,
      notice,
      due === undefined
        ? html`<p>
              Your account, your profile, your licences, API keys and storage details are removed, and cannot be brought
              back. Workspaces and their data stay until an operator removes them.
            </p>
            <p>
              The account goes ${days === 1 ? "one day" : `${days} days`} after you ask for it. Until then it works as
              before, and you can keep it after all.
            </p>
            ${renderForm(
              ctx,
              self,
              "remove",
              html`<label for="username">Your user name</label>
                <input id="username" name="username" autocomplete="off" required />
                <label for="password">Current password</label>
                <input id="password" name="password" type="password" autocomplete="current-password" required />
                <button type="submit">Remove my account</button>`,
            )}`
        : html`<p>You asked for the removal of your account. It goes after ${toText(due)}.</p>
            ${renderForm(ctx, self, "keep", html`<button type="submit">Keep my account</button>`)}`,
    );
  },
  modify: async (ctx) => {
    const { context, handle, session, profile, form, request } = ctx;
    const { pool } = context;
    const { user } = session;
    if (form["action"] === "keep") {
      return (await withdrawRemoval(pool, user.id))
        ? { good: "Your account stays." }
        : { bad: "No removal was asked for." };
    }
    if (form["action"] !== "remove") {
      return { bad: "There is no such action." };
    }
    if ((form["username"] ?? "").trim().toLowerCase() !== user.username) {
      return { bad: "That is not your user name." };
    }
    const wrong = await refuseWrongPassword(ctx, form["password"], "DELETE_ACCOUNT_ERROR");
    if (wrong !== undefined) {
      return { bad: wrong };
    }
    const { access } = (await findUserWithAccess(pool, handle.realm.id, user.id)) ?? {};
    if (access?.realm.includes(ADMIN_ROLE) === true) {
      return { bad: "An administrator cannot remove the own account; another administrator can." };
    }
    const due = await requestRemoval(pool, user.id, profile.removalSeconds);
    await insertEvent(pool, handle.realm.id, {
      type: "DELETE_ACCOUNT",
      userId: user.id,
      ip: request.ip,
      details: { due: due.toISOString() },
    });
    if (user.email !== undefined && user.emailVerified) {
      await profile.mailer
        .send({
          to: user.email,
          subject: "Your account will be removed",
          text: `Hello ${user.username},\n\nyou asked for the removal of your account. It is removed after ${toText(due)}.\nIf you want to keep it, log in and choose "Keep my account":\n\n${context.publicUrl}/web_ui/profile_removal\n`,
        })
        // The removal stands without the message, which only reminds.
        .catch((error: unknown) => request.log.warn({ err: error }, "the message about a removal was not sent"));
    }
    return { good: `Your account will be removed after ${toText(due)}.` };
  },
};
