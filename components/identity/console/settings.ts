import { html } from "@swath/pages";
import type { RealmSettings } from "../realm-settings.ts";
import { listKeys } from "../store/keys.ts";
import { confirmView } from "./confirm.ts";
import type { FormFields } from "./form-fields.ts";
import type { View } from "./layout.ts";
import { renderTable, toTime } from "./list.ts";
import type { ConsolePage, RealmContext } from "./page.ts";

type NumberField = {
  [Name in keyof RealmSettings]: RealmSettings[Name] extends number ? Name : never;
}[keyof RealmSettings];
interface Field {
  readonly name: NumberField;
  readonly label: string;
  readonly hint?: string;
}

const LIFE_SPANS: readonly Field[] = [
  { name: "accessTokenLifespan", label: "Access tokens", hint: "Seconds, as all of these." },
  { name: "ssoSessionIdleTimeout", label: "SSO session idle" },
  { name: "ssoSessionMaxLifespan", label: "SSO session max" },
  { name: "offlineSessionIdleTimeout", label: "Offline session idle" },
  { name: "accessCodeLifespan", label: "Authorization codes" },
  { name: "accessCodeLifespanLogin", label: "Time to log in" },
  { name: "refreshTokenReuseInterval", label: "Grace for refresh tokens just used" },
  { name: "keyRotationInterval", label: "New signing keys after", hint: "0: only by hand." },
];
const LOGIN_RULES: readonly Field[] = [
  { name: "failureFactor", label: "Max login failures" },
  { name: "waitIncrementSeconds", label: "Wait increment (seconds)" },
  { name: "maxFailureWaitSeconds", label: "Max wait (seconds)" },
  { name: "maxDeltaTimeSeconds", label: "Failure reset time (seconds)" },
  { name: "passwordMinimumLength", label: "Shortest password (characters)" },
  { name: "passwordHistory", label: "Former passwords that are not taken again", hint: "0: none." },
];
const EVENTS: readonly Field[] = [{ name: "eventsExpiration", label: "Events are kept for (seconds)" }];

async function showSettings({ context, realm, form, to }: RealmContext): Promise<View> {
  const { settings } = realm;
  const keys = await listKeys(context.pool, realm.id);
  const { text, check, select, close } = form("settings");
  const numbers = (fields: readonly Field[]) =>
    html`<div class="fields">
      ${fields.map(({ name, label, hint }) =>
        text({ name, label, type: "number", value: String(settings[name]), required: true, ...(hint && { hint }) }),
      )}
    </div>`;
  return {
    title: "Realm settings",
    section: "settings",
    content: html`<section class="panel">
        ${close({
          button: "Save settings",
          content: html`<h2>General</h2>
            <div class="fields">
              ${text({ name: "displayName", label: "Display name", value: realm.displayName })}
              ${select({
                name: "defaultSignatureAlgorithm",
                label: "Tokens are signed with",
                value: settings.defaultSignatureAlgorithm,
                choices: [
                  { value: "RS256", label: "RS256 (RSA)" },
                  { value: "ES256", label: "ES256 (elliptic curve, quicker)" },
                ],
              })}
            </div>
            ${realm.name !== "master" && check({ name: "enabled", label: "Enabled", value: realm.enabled })}
            <h3>Life-spans</h3>
            ${numbers(LIFE_SPANS)}
            <h3>Logins</h3>
            ${check({
              name: "bruteForceProtected",
              label: "Brute force detection",
              value: settings.bruteForceProtected,
            })}
            ${check({
              name: "passwordRefuseCommon",
              label: "Refuse common passwords",
              value: settings.passwordRefuseCommon,
            })}
            ${numbers(LOGIN_RULES)}
            ${text({
              name: "secondFactorRoles",
              label: "Roles that need a second factor",
              value: settings.secondFactorRoles,
              hint: "Names of realm roles, separated by commas. Programs that log in with a password need a code then, too.",
            })}
            <h3>Events</h3>
            ${check({ name: "eventsEnabled", label: "Keep a log of logins", value: settings.eventsEnabled })}
            ${check({
              name: "adminEventsEnabled",
              label: "Keep a log of changes by administrators",
              value: settings.adminEventsEnabled,
            })}
            ${numbers(EVENTS)}`,
        })}
      </section>
      <section class="panel">
        <h2>Signing keys</h2>
        ${renderTable(
          "Signing keys",
          ["Algorithm", "Key id", "State", "Since"],
          keys.map(({ alg, kid, status, createdAt }) => [
            alg,
            html`<code>${kid}</code>`,
            status === "active" ? "signs" : "still verifies",
            toTime(createdAt),
          ]),
        )}
        ${form("rotate").close({
          button: "Rotate keys",
          look: "quiet",
          confirm: "New tokens are signed with new keys; those in use go on for as long as they live.",
        })}
      </section>
      ${realm.name !== "master" && html`<p><a class="danger" href="${to("/settings/delete")}">Delete realm ${realm.name} …</a></p>`}`,
  };
}

function readSettings(fields: FormFields, isMaster: boolean): object {
  return {
    displayName: fields.text("displayName"),
    ...(!isMaster && { enabled: fields.flag("enabled") }),
    defaultSignatureAlgorithm: fields.text("defaultSignatureAlgorithm"),
    bruteForceProtected: fields.flag("bruteForceProtected"),
    passwordRefuseCommon: fields.flag("passwordRefuseCommon"),
    secondFactorRoles: fields.text("secondFactorRoles"),
    eventsEnabled: fields.flag("eventsEnabled"),
    adminEventsEnabled: fields.flag("adminEventsEnabled"),
    ...Object.fromEntries(
      [...LIFE_SPANS, ...LOGIN_RULES, ...EVENTS].map(({ name, label }) => [name, fields.number(name, label)]),
    ),
  };
}

/** Settings and keys of a realm. */
export const settingPages: readonly ConsolePage[] = [
  {
    path: "/settings",
    show: showSettings,
    actions: {
      settings: async ({ call, to, realm }, fields) => {
        await call("PUT", "", readSettings(fields, realm.name === "master"));
        return to("/settings?done=saved");
      },
      rotate: async ({ call, to }) => {
        await call("POST", "/keys/rotate");
        return to("/settings?done=rotated");
      },
    },
  },
  {
    path: "/settings/delete",
    show: async (ctx) =>
      confirmView(ctx, {
        title: `Delete realm ${ctx.realm.name}?`,
        section: "settings",
        above: [[ctx.to("/settings"), "Realm settings"]],
        question: "Its users, clients, roles, sessions and events are gone for good.",
        button: `Delete realm ${ctx.realm.name}`,
        back: ctx.to("/settings"),
      }),
    actions: {
      confirm: async (ctx) => {
        await ctx.call("DELETE", "");
        return "/console/realms/master/settings?done=deleted";
      },
    },
  },
];
