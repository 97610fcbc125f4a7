import { type Html, html } from "@swath/pages";
import { CONFIGURE_TOTP } from "../login/second-factor.ts";
import { listGroups, listGroupsOfUser } from "../store/groups.ts";
import { findFailures } from "../store/login-failures.ts";
import { type OtpDevice, listOtpDevices } from "../store/second-factors.ts";
import { type SessionView, listSessions } from "../store/sessions.ts";
import { type User, findPassword } from "../store/users.ts";
import { renderBadge } from "./badge.ts";
import type { View } from "./layout.ts";
import { renderTable, toTime } from "./list.ts";
import type { RealmContext } from "./page.ts";
import { renderRoles } from "./role-mapping.ts";

/** Everything about a user on one page. */
export async function showUser(ctx: RealmContext, user: User): Promise<View> {
  const { context, realm, to } = ctx;
  const { pool } = context;
  const [failures, sessions, roles, groups, password, devices] = await Promise.all([
    findFailures(pool, realm.id, user.username),
    listSessions(pool, realm.id, { userId: user.id, first: 0, max: 100 }),
    renderRoles(ctx, { kind: "user", id: user.id }, user.username),
    renderGroups(ctx, user),
    findPassword(pool, user.id),
    listOtpDevices(pool, user.id),
  ]);
  return {
    title: user.username,
    section: "users",
    above: [[to("/users"), "Users"]],
    content: html`${renderState(ctx, user, failures)} ${renderProfile(ctx, user)} ${renderPassword(ctx, user, password)}
      ${renderSecondFactor(ctx, user, devices)} ${roles} ${groups} ${renderSessions(ctx, user, sessions)}
      <p><a class="danger" href="${to(`/users/${user.id}/delete`)}">Delete ${user.username} …</a></p>`,
  };
}

function renderState(
  { form }: RealmContext,
  user: User,
  { numFailures, disabled }: { readonly numFailures: number; readonly disabled: boolean },
): Html {
  return html`<div class="panel inline">
    ${user.enabled ? renderBadge("enabled", "good") : renderBadge("disabled", "bad")}
    ${disabled && renderBadge("locked out", "bad")}
    <span class="hint">Id <code>${user.id}</code>, since ${toTime(user.createdAt)}</span>
    ${numFailures > 0 && html`<span class="hint">${numFailures} failed ${numFailures === 1 ? "login" : "logins"}</span>`}
    ${
      user.enabled
        ? form("disable").close({ button: "Disable", look: "quiet" })
        : form("enable").close({ button: "Enable", look: "quiet" })
    }
    ${numFailures > 0 && form("unlock").close({ button: "Unlock", look: "quiet" })}
  </div>`;
}

function renderProfile({ form }: RealmContext, user: User): Html {
  const { text, check, close } = form("profile");
  return html`<section class="panel">
    <h2>Profile</h2>
    ${close({
      button: "Save profile",
      content: html`<div class="fields">
          ${text({ name: "username", label: "User name", value: user.username, required: true })}
          ${text({ name: "email", label: "E-mail", type: "email", value: user.email })}
          ${text({ name: "firstName", label: "First name", value: user.firstName })}
          ${text({ name: "lastName", label: "Last name", value: user.lastName })}
        </div>
        ${check({ name: "emailVerified", label: "The e-mail address is verified", value: user.emailVerified })}`,
    })}
  </section>`;
}

function renderPassword(
  { form }: RealmContext,
  user: User,
  stored: { readonly temporary: boolean; readonly changedAt: Date } | undefined,
): Html {
  const { text, check, close } = form("password");
  return html`<section class="panel">
    <h2>Password</h2>
    <p class="hint">
      ${
        stored === undefined
          ? "There is none: the user cannot log in."
          : html`Set ${toTime(stored.changedAt)}${stored.temporary && "; must be changed at the next login"}.`
      }
    </p>
    ${close({
      button: "Set password",
      content: html`<div class="fields">
          ${text({ name: "password", label: "New password", type: "password", required: true, autocomplete: "new-password" })}
          ${text({ name: "again", label: "New password again", type: "password", required: true, autocomplete: "new-password" })}
        </div>
        ${check({
          name: "temporary",
          label: `${user.username} must choose another at the next login`,
          value: true,
        })}`,
    })}
  </section>`;
}

function renderSecondFactor({ form }: RealmContext, user: User, devices: readonly OtpDevice[]): Html {
  const isAsked = user.requiredActions.includes(CONFIGURE_TOTP);
  return html`<section class="panel">
    <h2>Second factor</h2>
    ${renderTable(
      "Devices for one-time codes",
      ["Device", "Since", ""],
      devices.map(({ id, label, createdAt }) => [
        label,
        toTime(createdAt),
        form("remove-device").close({
          button: "Remove",
          look: "quiet",
          hidden: { device: id },
          label: `Remove ${label} of ${user.username}`,
          confirm: `${user.username} cannot log in with codes of ${label} any more.`,
        }),
      ]),
    )}
    ${
      devices.length === 0 &&
      (isAsked
        ? html`<p class="hint">Must be set up at the next login.</p>
            ${form("waive-otp").close({ button: "Do not demand it", look: "quiet" })}`
        : form("demand-otp").close({ button: "Demand it at the next login", look: "quiet" }))
    }
  </section>`;
}

async function renderGroups({ context: { pool }, realm, form, to }: RealmContext, user: User): Promise<Html> {
  const [own, all] = await Promise.all([listGroupsOfUser(pool, user.id), listGroups(pool, realm.id)]);
  const ids = new Set(own.map(({ id }) => id));
  const others = all.filter(({ id }) => !ids.has(id));
  const join = form("join");
  return html`<section class="panel">
    <h2>Groups</h2>
    ${renderTable(
      "Groups",
      ["Group", ""],
      own.map((group) => [
        html`<a href="${to(`/groups/${group.id}`)}">${group.path}</a>`,
        form("leave").close({
          button: "Leave",
          look: "quiet",
          hidden: { group: group.id },
          label: `Take ${user.username} out of ${group.path}`,
        }),
      ]),
    )}
    ${
      others.length > 0 &&
      html`<div class="inline">
        ${join.close({
          button: "Join group",
          look: "quiet",
          content: join.select({
            name: "group",
            label: "Another group",
            choices: others.map(({ id, path }) => ({ value: id, label: path })),
          }),
        })}
      </div>`
    }
  </section>`;
}

function renderSessions({ form }: RealmContext, user: User, sessions: readonly SessionView[]): Html {
  return html`<section class="panel">
    <h2>Sessions</h2>
    ${renderTable(
      "Sessions",
      ["Since", "Last used", "From", "For", ""],
      sessions.map((session) => [
        toTime(session.startedAt),
        toTime(session.lastAccess),
        session.ip ?? "",
        Object.values(session.clients).join(", "),
        form("end").close({
          button: "Log out",
          look: "quiet",
          hidden: { session: session.id },
          label: `End the session of ${user.username} since ${session.startedAt.toISOString()}`,
        }),
      ]),
    )}
    ${
      sessions.length > 0 &&
      form("logout").close({
        button: "Log out everywhere",
        look: "quiet",
        confirm: `All sessions of ${user.username} end; programs and browsers have to log in again.`,
      })
    }
  </section>`;
}
