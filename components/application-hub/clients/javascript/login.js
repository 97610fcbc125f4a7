// @ts-check
/** Logins of programs in Node.js: the device authorization grant (RFC 8628), kept where the command swath login keeps them. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

import { reach } from "./reach.js";

/** @typedef {{ platform: string, issuer: string, client?: string, user: string, refreshToken: string, accessToken: string, accessTokenEnds: number }} Login */
/** @typedef {{ current?: string, logins: Login[] }} LoginFile */

const CLIENT = "swath-cli";
const SCOPE = "openid profile email offline_access";
const SERVICES = [
  "resource-catalogue",
  "data-access",
  "ades",
  "workspace-api",
  "registration-api",
  "registry",
  "application-hub",
];
const LEEWAY_MS = 10_000;

/** The identity service refused; `reason` is its error code. */
export class LoginError extends Error {
  /** @param {string} reason @param {string} [description] */
  constructor(reason, description) {
    super(`the login was refused: ${description ?? reason}`);
    this.name = "LoginError";
    this.reason = reason;
  }
}

/**
 * @param {string | undefined} platform @param {{ issuer?: string, say?: (text: string) => void }} options
 * @returns {Promise<{ user: string, services: Record<string, string>, token: () => Promise<string> }>}
 */
export async function logIn(platform, { issuer, say = print }) {
  const saved = await readLogins();
  const named = platform ?? saved.current;
  if (named === undefined) {
    throw new Error('log in to which platform? login("https://eo.example.org")');
  }
  const { origin } = new URL(named.includes("://") ? named : `https://${named}`);
  const known = saved.logins.find((each) => each.platform === origin);
  let current = known === undefined ? undefined : await renew(known).catch(forgetEnded);
  current ??= await authorize(origin, issuer ?? `${toAddress(origin, "identity")}/realms/master`, say);
  let last = current;
  return {
    user: last.user,
    services: Object.fromEntries(SERVICES.map((service) => [service, toAddress(origin, service)])),
    token: async () => {
      last = await renew(last);
      return last.accessToken;
    },
  };
}

/** @param {string} text */
const print = (text) => void process.stderr.write(`${text}\n`);

/** @param {unknown} error @returns {undefined} */
function forgetEnded(error) {
  if (error instanceof LoginError) {
    return undefined;
  }
  throw error;
}

/** @param {string} platform @param {string} service */
function toAddress(platform, service) {
  const { protocol, host } = new URL(platform);
  return `${protocol}//${service}.${host}`;
}

/** @param {string} platform @param {string} issuer @param {(text: string) => void} say @returns {Promise<Login>} */
async function authorize(platform, issuer, say) {
  const found = await discover(issuer);
  const begun = await post(found["device_authorization_endpoint"], { client_id: CLIENT, scope: SCOPE });
  const address = begun.verification_uri_complete ?? begun.verification_uri;
  say(`Open ${address}\nand check that the page shows the code ${begun.user_code}`);
  for (let pause = begun.interval ?? 5; ;) {
    await new Promise((resolve) => setTimeout(resolve, pause * 1000));
    try {
      const tokens = await post(found["token_endpoint"], {
        grant_type: "urn:ietf:params:oauth:grant-type:device_code",
        device_code: begun.device_code,
        client_id: CLIENT,
      });
      const answer = await reach(found["userinfo_endpoint"], {
        headers: { authorization: `Bearer ${tokens.access_token}` },
      });
      const { preferred_username: user } = /** @type {{ preferred_username: string }} */ (await answer.json());
      return await keep({ platform, issuer, user, refreshToken: "", accessToken: "", accessTokenEnds: 0 }, tokens);
    } catch (error) {
      if (!(error instanceof LoginError) || !["slow_down", "authorization_pending"].includes(error.reason)) {
        throw error;
      }
      pause += error.reason === "slow_down" ? 5 : 0;
    }
  }
}

/** @param {Login} login @returns {Promise<Login>} */
async function renew(login) {
  if (login.accessTokenEnds - LEEWAY_MS > Date.now()) {
    return login;
  }
  const { token_endpoint: endpoint } = await discover(login.issuer);
  const { refreshToken, client = CLIENT } = login;
  return keep(
    login,
    await post(endpoint, { grant_type: "refresh_token", refresh_token: refreshToken, client_id: client }),
  );
}

/** @param {string} issuer @returns {Promise<any>} */
async function discover(issuer) {
  const answer = await reach(`${issuer}/.well-known/openid-configuration`);
  if (!answer.ok) {
    throw new Error(`${issuer} answered ${answer.status}`);
  }
  return answer.json();
}

/** @param {string} url @param {Record<string, string>} form @returns {Promise<any>} */
async function post(url, form) {
  const answer = await reach(url, { method: "POST", body: new URLSearchParams(form) });
  const body = /** @type {any} */ (await answer.json());
  if (!answer.ok) {
    throw new LoginError(String(body.error ?? answer.status), body.error_description);
  }
  return body;
}

/** @param {Login} login @param {{ access_token: string, refresh_token?: string, expires_in?: number }} tokens */
async function keep(login, tokens) {
  const kept = {
    ...login,
    // An issuer that does not rotate refresh tokens gives none with a renewal.
    refreshToken: tokens.refresh_token ?? login.refreshToken,
    accessToken: tokens.access_token,
    accessTokenEnds: Date.now() + (tokens.expires_in ?? 60) * 1000,
  };
  const { logins } = await readLogins();
  const others = logins.filter(({ platform }) => platform !== kept.platform);
  const path = findFile();
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}`;
  const text = JSON.stringify({ current: kept.platform, logins: [...others, kept] }, null, 2);
  await writeFile(next, `${text}\n`, { mode: 0o600 });
  await rename(next, path);
  return kept;
}

// oxlint-disable-next-line node/no-process-env -- where programs keep their settings is said by the environment of who runs them
const findFile = () => join(process.env["XDG_CONFIG_HOME"] ?? join(homedir(), ".config"), "swath", "logins.json");

/** @returns {Promise<LoginFile>} */
async function readLogins() {
  try {
    return JSON.parse(await readFile(findFile(), "utf8"));
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") {
      return { logins: [] };
    }
    throw error;
  }
}
