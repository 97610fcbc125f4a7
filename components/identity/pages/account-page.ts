import type { Passkey } from "../store/passkeys.ts";
import type { OtpDevice } from "../store/second-factors.ts";
import type { SessionView } from "../store/sessions.ts";
import type { User } from "../store/users.ts";
import { FORM_TOKEN } from "./form-token.ts";
import { html } from "@swath/pages";
import { renderPage } from "./layout.ts";
import { describeUserAgent } from "./user-agent.ts";

interface AccountPage {
  readonly realm: string;
  readonly user: User;
  readonly token: string;
  /** What makes one-time codes for the user. */
  readonly devices: readonly OtpDevice[];
  readonly passkeys: readonly Passkey[];
  /** Whether browsers have passkeys for the address of this service. */
  readonly mayAddPasskeys: boolean;
  /** How many recovery codes are left. */
  readonly recoveryCodes: number;
  readonly sessions: readonly SessionView[];
  /** Session of this browser. */
  readonly current: string;
  readonly minimumLength: number;
  /** Where the user profile of variant B is. */
  readonly profilePath?: string | undefined;
  readonly good?: string | undefined;
  readonly bad?: string | undefined;
}

/** Profile, password and sessions of the user who is logged in. */
export function renderAccountPage({
  realm,
  user,
  token,
  devices,
  passkeys,
  mayAddPasskeys,
  recoveryCodes,
  sessions,
  current,
  minimumLength,
  profilePath,
  good,
  bad,
}: AccountPage): string {
  const action = `/realms/${realm}/account`;
  const hidden = (name: string) =>
    html`<input type="hidden" name="${FORM_TOKEN}" value="${token}" />
      <input type="hidden" name="action" value="${name}" />`;
  return renderPage({
    title: "Your account",
    wide: true,
    content: html`<div class="row">
        <h1>Your account</h1>
        <form method="get" action="/realms/${realm}/protocol/openid-connect/logout">
          <button class="quiet" type="submit">Log out</button>
        </form>
      </div>
      ${bad !== undefined && html`<p role="alert">${bad}</p>`}
      ${good !== undefined && html`<p role="status">${good}</p>`}
      <p>Logged in as <strong>${user.username}</strong>; your id is <code>${user.id}</code>.</p>
      ${profilePath !== undefined && html`<p><a href="${profilePath}">Terms, licences, API keys and storage details</a></p>`}

      <h2>Profile</h2>
      <form method="post" action="${action}">
        ${hidden("profile")}
        <label for="first_name">First name</label>
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
        <input id="email" name="email" type="email" value="${user.email ?? ""}" autocomplete="email" maxlength="255" />
        <button type="submit">Save profile</button>
      </form>

      <h2>Password</h2>
      <form method="post" action="${action}">
        ${hidden("password")}
        <input type="hidden" name="username" value="${user.username}" autocomplete="username" />
        <label for="password">Current password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required />
        <label for="new_password">New password</label>
        <input
          id="new_password"
          name="new_password"
          type="password"
          autocomplete="new-password"
          minlength="${minimumLength}"
          required
          aria-describedby="rule"
        />
        <p class="hint" id="rule">At least ${minimumLength} characters. You are logged out everywhere else.</p>
        <label for="new_password_again">New password again</label>
        <input id="new_password_again" name="new_password_again" type="password" autocomplete="new-password" required />
        <button type="submit">Change password</button>
      </form>

      <h2>Second factor</h2>
      ${
        devices.length + passkeys.length === 0
          ? html`<p>None. With one, who knows your password cannot log in without your device.</p>`
          : html`<p>
              A one-time code or a passkey is asked for at each login. ${recoveryCodes} recovery codes are left.
            </p>`
      }
      ${devices.map(
        (device) =>
          html`<form method="post" action="${action}">
            ${hidden("otp-remove")}
            <input type="hidden" name="device" value="${device.id}" />
            <p><strong>${device.label}</strong>, set up ${toText(device.createdAt)}</p>
            <label for="remove-${device.id}">Current password</label>
            <input id="remove-${device.id}" name="password" type="password" autocomplete="current-password" required />
            <button class="quiet" type="submit">Remove ${device.label}</button>
          </form>`,
      )}
      <form method="post" action="${action}">
        ${hidden("otp-start")}
        <label for="otp-password">Current password</label>
        <input id="otp-password" name="password" type="password" autocomplete="current-password" required />
        <button type="submit">${devices.length === 0 ? "Set up one-time codes" : "Add another device"}</button>
      </form>
      ${passkeys.map(
        (passkey) =>
          html`<form method="post" action="${action}">
            ${hidden("passkey-remove")}
            <input type="hidden" name="device" value="${passkey.id}" />
            <p>
              <strong>${passkey.label}</strong>, a passkey, set up ${toText(passkey.createdAt)},
              ${passkey.lastUsedAt === undefined ? "not used yet" : html`last used ${toText(passkey.lastUsedAt)}`}
            </p>
            <label for="remove-${passkey.id}">Current password</label>
            <input id="remove-${passkey.id}" name="password" type="password" autocomplete="current-password" required />
            <button class="quiet" type="submit">Remove ${passkey.label}</button>
          </form>`,
      )}
      ${
        mayAddPasskeys &&
        html`<form method="post" action="${action}">
          ${hidden("passkey-start")}
          <label for="passkey-password">Current password</label>
          <input id="passkey-password" name="password" type="password" autocomplete="current-password" required />
          <button type="submit">Set up a passkey</button>
        </form>`
      }
      ${
        devices.length + passkeys.length > 0 &&
        html`<form method="post" action="${action}">
          ${hidden("recovery-codes")}
          <label for="codes-password">Current password</label>
          <input id="codes-password" name="password" type="password" autocomplete="current-password" required />
          <button class="quiet" type="submit">Make new recovery codes</button>
        </form>`
      }

      <h2>Active sessions</h2>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>Since</th>
              <th>Last used</th>
              <th>From</th>
              <th>For</th>
              <th><span class="hint">Action</span></th>
            </tr>
          </thead>
          <tbody>
            ${sessions.map(
              (session) =>
                html`<tr>
                  <td>${toText(session.startedAt)}</td>
                  <td>${toText(session.lastAccess)}</td>
                  <td>
                    ${session.ip ?? "unknown"}${session.userAgent === undefined ? "" : html`<br /><span class="hint" title="${session.userAgent}">${describeUserAgent(session.userAgent)}</span>`}
                  </td>
                  <td>${Object.values(session.clients).join(", ")}</td>
                  <td>
                    ${
                      session.id === current
                        ? html`this browser`
                        : html`<form method="post" action="${action}">
                            ${hidden("session")}
                            <input type="hidden" name="session" value="${session.id}" />
                            <button
                              class="quiet"
                              type="submit"
                              aria-label="Log out the session from ${session.ip ?? "unknown"} since ${toText(session.startedAt)}"
                            >
                              Log out
                            </button>
                          </form>`
                    }
                  </td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
      <form method="post" action="${action}">
        ${hidden("session")}
        <input type="hidden" name="session" value="others" />
        <button class="quiet" type="submit">Log out everywhere else</button>
      </form>`,
  });
}

/** `2026-11-21 05:00 UTC` */
function toText(date: Date): string {
  return `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
