/** A realm's token life-spans and login rules, in the names of the admin REST API. Times are seconds. */
export interface RealmSettings {
  readonly accessTokenLifespan: number;
  /** Browser sessions and refresh tokens end after this long without use … */
  readonly ssoSessionIdleTimeout: number;
  /** … and after this long in any case. */
  readonly ssoSessionMaxLifespan: number;
  /** Sessions of the scope `offline_access` end after this long without use, and never otherwise. */
  readonly offlineSessionIdleTimeout: number;
  readonly accessCodeLifespan: number;
  readonly accessCodeLifespanLogin: number;
  /** A refresh token that was just exchanged may be presented again for this long: answers get lost, tabs race. */
  readonly refreshTokenReuseInterval: number;
  readonly defaultSignatureAlgorithm: "RS256" | "ES256";
  /** A new signing key comes after this long; 0 never. */
  readonly keyRotationInterval: number;
  readonly bruteForceProtected: boolean;
  /** Failed logins of one user from one address before they must wait; five times as many of the user, ten times of the address. */
  readonly failureFactor: number;
  readonly waitIncrementSeconds: number;
  readonly maxFailureWaitSeconds: number;
  readonly maxDeltaTimeSeconds: number;
  readonly passwordMinimumLength: number;
  /** Passwords of known breaches, and what is little more than one of them, are not taken. */
  readonly passwordRefuseCommon: boolean;
  /** As many of the last passwords of a user are not taken again; 0 none. */
  readonly passwordHistory: number;
  /** Names of realm roles, separated by commas, whose holders need a second factor. */
  readonly secondFactorRoles: string;
  readonly eventsEnabled: boolean;
  readonly adminEventsEnabled: boolean;
  readonly eventsExpiration: number;
}

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

export const DEFAULT_REALM_SETTINGS: RealmSettings = {
  accessTokenLifespan: 15 * MINUTE,
  ssoSessionIdleTimeout: 30 * DAY,
  ssoSessionMaxLifespan: 90 * DAY,
  offlineSessionIdleTimeout: 90 * DAY,
  accessCodeLifespan: MINUTE,
  accessCodeLifespanLogin: 30 * MINUTE,
  refreshTokenReuseInterval: 10,
  defaultSignatureAlgorithm: "RS256",
  keyRotationInterval: 90 * DAY,
  bruteForceProtected: true,
  failureFactor: 10,
  waitIncrementSeconds: MINUTE,
  maxFailureWaitSeconds: 15 * MINUTE,
  maxDeltaTimeSeconds: 12 * 60 * MINUTE,
  passwordMinimumLength: 8,
  passwordRefuseCommon: true,
  passwordHistory: 0,
  secondFactorRoles: "",
  eventsEnabled: true,
  adminEventsEnabled: true,
  eventsExpiration: 90 * DAY,
};

interface Range {
  readonly minimum: number;
  readonly maximum: number;
}

const MAX_TEXT_LENGTH = 2000;
const YEAR = 365 * DAY;
const RANGES: Partial<Record<keyof RealmSettings, Range>> = {
  accessTokenLifespan: { minimum: 10, maximum: 7 * DAY },
  ssoSessionIdleTimeout: { minimum: MINUTE, maximum: 10 * YEAR },
  ssoSessionMaxLifespan: { minimum: MINUTE, maximum: 10 * YEAR },
  offlineSessionIdleTimeout: { minimum: MINUTE, maximum: 10 * YEAR },
  accessCodeLifespan: { minimum: 5, maximum: 10 * MINUTE },
  accessCodeLifespanLogin: { minimum: MINUTE, maximum: DAY },
  refreshTokenReuseInterval: { minimum: 0, maximum: 5 * MINUTE },
  keyRotationInterval: { minimum: 0, maximum: 10 * YEAR },
  failureFactor: { minimum: 1, maximum: 10_000 },
  waitIncrementSeconds: { minimum: 1, maximum: DAY },
  maxFailureWaitSeconds: { minimum: 1, maximum: 30 * DAY },
  maxDeltaTimeSeconds: { minimum: MINUTE, maximum: 30 * DAY },
  passwordMinimumLength: { minimum: 1, maximum: 128 },
  passwordHistory: { minimum: 0, maximum: 24 },
  eventsExpiration: { minimum: DAY, maximum: 10 * YEAR },
};

export const REALM_SETTING_NAMES = Object.keys(DEFAULT_REALM_SETTINGS) as readonly (keyof RealmSettings)[];

/**
 * The settings among the fields of a realm representation.
 * @throws {RangeError} naming the field, its value and what is allowed
 */
export function readRealmSettings(representation: Readonly<Record<string, unknown>>): Partial<RealmSettings> {
  const settings: Record<string, unknown> = {};
  for (const [name, fallback] of Object.entries(DEFAULT_REALM_SETTINGS)) {
    const value = representation[name];
    if (value === undefined) {
      continue;
    }
    const range = RANGES[name as keyof RealmSettings];
    if (name === "defaultSignatureAlgorithm") {
      if (value !== "RS256" && value !== "ES256") {
        throw new RangeError(`defaultSignatureAlgorithm is ${JSON.stringify(value)}; allowed: RS256, ES256`);
      }
    } else if (typeof value !== typeof fallback) {
      throw new RangeError(`${name} is ${JSON.stringify(value)}; allowed: a ${typeof fallback}`);
    }
    if (typeof value === "string" && value.length > MAX_TEXT_LENGTH) {
      throw new RangeError(`${name} has ${value.length} characters; allowed: ${MAX_TEXT_LENGTH}`);
    }
    if (range && !(Number.isInteger(value) && Number(value) >= range.minimum && Number(value) <= range.maximum)) {
      throw new RangeError(
        `${name} is ${JSON.stringify(value)}; allowed: whole numbers from ${range.minimum} to ${range.maximum}`,
      );
    }
    settings[name] = value;
  }
  return settings;
}
