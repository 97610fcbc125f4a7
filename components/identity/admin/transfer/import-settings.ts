import { DEFAULT_REALM_SETTINGS, type RealmSettings, readRealmSettings } from "../../realm-settings.ts";
import { readText } from "../request.ts";
import type { ImportLog } from "./import-log.ts";

type Body = Readonly<Record<string, unknown>>;

/** A document with one of these is more than the settings of a realm. */
const DOCUMENT_PARTS = ["clientScopes", "roles", "groups", "users", "clients"];
/** Parts that are read elsewhere, or mean the realm itself. */
const OTHER_PARTS = [...DOCUMENT_PARTS, "id", "realm", "displayName", "enabled", "ifResourceExists", "passwordPolicy"];

export const isRealmDocument = (body: Body): boolean => DOCUMENT_PARTS.some((part) => body[part] !== undefined);

/** The settings of a document, each as far as it is allowed here; the others are listed, so that nobody takes them for imported. */
export function readImportedSettings(body: Body, log: ImportLog): Partial<RealmSettings> {
  const settings: Record<string, unknown> = {
    ...readPasswordPolicy(readText(body, "passwordPolicy", 2000) ?? "", log),
  };
  for (const [name, value] of Object.entries(body)) {
    if (OTHER_PARTS.includes(name)) {
      continue;
    }
    if (!Object.hasOwn(DEFAULT_REALM_SETTINGS, name)) {
      if (!isUnset(value)) {
        log.leaveOut("REALM_SETTING", name.slice(0, 255), "it has no counterpart here");
      }
      continue;
    }
    try {
      Object.assign(settings, readRealmSettings({ [name]: value }));
    } catch (error) {
      log.leaveOut("REALM_SETTING", name, error instanceof Error ? error.message : String(error));
    }
  }
  return settings;
}

/** Rules of Keycloak's password policies that are settings of a realm here. */
const PASSWORD_RULES = new Map([
  ["length", "passwordMinimumLength"],
  ["passwordHistory", "passwordHistory"],
]);

/** `length(12) and passwordHistory(3) and digits(1)` */
function readPasswordPolicy(policy: string, log: ImportLog): Partial<RealmSettings> {
  const settings: Record<string, number> = {};
  for (const rule of policy.split(/\s+and\s+/).filter((each) => each !== "")) {
    const [, name = "", value = ""] = /^(\w+)(?:\((.*)\))?$/.exec(rule.trim()) ?? [];
    const own = PASSWORD_RULES.get(name);
    if (own === undefined || !/^\d{1,3}$/.test(value)) {
      log.leaveOut("REALM_SETTING", "passwordPolicy", `the rule ${rule.slice(0, 100)} has no counterpart here`);
    } else {
      settings[own] = Number(value);
    }
  }
  return readRealmSettings(settings);
}

const isUnset = (value: unknown): boolean =>
  value === null ||
  value === false ||
  value === "" ||
  (typeof value === "object" && Object.keys(value as object).length === 0);
