import { type Reference, type RegistryClient, createRegistryClient, parseReference } from "@swath/oci";
import { createPeer } from "@swath/service";

import type { AdesSettings } from "../storage.ts";

export interface Login {
  readonly username: string;
  readonly password: string;
}

/** The platform's image registry, in the names of users. */
export interface PlatformRegistry {
  readonly host: string;
  /** A reference of something in this registry; undefined for everything else. */
  readonly find: (text: string) => Reference | undefined;
  /** Credentials that pull what the user may pull at that moment; good for two hours at least. */
  readonly logIn: (user: string) => Promise<Login>;
  readonly clientOf: (user: string) => Promise<RegistryClient>;
}

interface Known {
  readonly login: Login;
  readonly until: number;
}

/** One a process: its connections are kept. */
const opened = new WeakMap<AdesSettings, PlatformRegistry>();
const MAX_LOGINS = 1000;
const MAX_ANSWER_MS = 10_000;

/** Undefined where the deployment has no registry of its own. */
export function openPlatformRegistry(settings: AdesSettings): PlatformRegistry | undefined {
  const known = opened.get(settings) ?? open(settings);
  if (known !== undefined) {
    opened.set(settings, known);
  }
  return known;
}

function open({
  REGISTRY_URL: url,
  REGISTRY_HOST,
  REGISTRY_SECRET: secret,
}: AdesSettings): PlatformRegistry | undefined {
  if (url === undefined || REGISTRY_HOST === undefined || secret === undefined) {
    return undefined;
  }
  const host = REGISTRY_HOST.toLowerCase();
  const peer = createPeer(url);
  const logins = new Map<string, Known>();
  const logIn = async (user: string): Promise<Login> => {
    const known = logins.get(user);
    if (known !== undefined && known.until > Date.now()) {
      return known.login;
    }
    const response = await peer.fetch("/api/delegates", {
      method: "POST",
      timeout: MAX_ANSWER_MS,
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ user }),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`the image registry gives no credentials for ${user}: it answers ${response.status}`);
    }
    const { username, password, expires_in: seconds } = (await response.json()) as Login & { expires_in: number };
    const login = { username, password };
    logins.delete(user);
    logins.set(user, { login, until: Date.now() + (seconds / 2) * 1000 });
    for (const oldest of logins.keys().take(Math.max(0, logins.size - MAX_LOGINS))) {
      logins.delete(oldest);
    }
    return login;
  };
  return {
    host,
    find: (text) => {
      const reference = parseReference(text);
      return reference?.host === host ? reference : undefined;
    },
    logIn,
    clientOf: async (user) => createRegistryClient({ peer, login: await logIn(user) }),
  };
}
