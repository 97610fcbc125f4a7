import { html } from "@swath/pages";

import { saveProfile } from "../../pages/save-profile.ts";
import { renderForm, renderProfilePage } from "./page.ts";
import { PROFILE, type Section } from "./visit.ts";

const self = { path: "/profile_management", title: "Your profile" };

/** Name and e-mail address. Password, second factor and sessions are on the account page. */
export const profileSection: Section = {
  ...self,
  show: async (ctx, notice) => {
    const { user } = ctx.session;
    return renderProfilePage(
      ctx,
      self,
      notice,
      html`<p>Your unique user ID is <code>${user.id}</code>.</p>
        ${renderForm(
          ctx,
          self,
          "profile",
          html`<label for="first_name">First name</label>
            <input
              id="first_name"
              name="first_name"
              value="${user.firstName ?? ""}"
              autocomplete="given-name"
              maxlength="255"
            />
            <label for="last_name">Last name</label>
            <input
              id="last_name"
              name="last_name"
              value="${user.lastName ?? ""}"
              autocomplete="family-name"
              maxlength="255"
            />
            <label for="email">E-mail</label>
            <input
              id="email"
              name="email"
              type="email"
              value="${user.email ?? ""}"
              autocomplete="email"
              maxlength="255"
            />
            <button type="submit">Save profile</button>`,
        )}
        <h2>Confirmation of your e-mail address</h2>
        ${
          user.email === undefined
            ? html`<p>You have no e-mail address yet.</p>`
            : user.emailVerified
              ? html`<p><strong>${user.email}</strong> is confirmed.</p>`
              : html`<p><strong>${user.email}</strong> is not confirmed yet.</p>
                  ${renderForm(
                    ctx,
                    self,
                    "confirmation",
                    html`<button type="submit">Send a confirmation message</button>`,
                    `${PROFILE}/confirmation_mail`,
                  )}`
        }
        <h2>Password and sessions</h2>
        <p>
          <a href="/realms/${ctx.handle.realm.name}/account">Change your password, second factor and sessions</a>
        </p>`,
    );
  },
  modify: (ctx) => saveProfile(ctx, ctx.form),
};
