import { join } from "node:path";

import { readJsonFile, writeJsonFile } from "../../state/json-file.ts";
import { generateKeyPem } from "./keys.ts";
import { AcmeProblem } from "./problem.ts";
import { type AcmeSession, openSession, retryBadNonce } from "./session.ts";
import type { AcmeSettings } from "./settings.ts";

interface Account {
  readonly directoryUrl: string;
  readonly keyPem: string;
  /** Left out until the server has registered the key. */
  readonly url?: string;
  readonly email?: string;
  readonly externalKid?: string;
}

/**
 * Opens a session with the account that the folder keeps. The key is on disk before the server hears of it, so that a tool that
 * was killed registers the same account again instead of a second one.
 */
export async function openAccount(settings: AcmeSettings, folder: string, now: () => number): Promise<AcmeSession> {
  const file = join(folder, "account.json");
  const account = ensureKey(file, settings);
  const session = await openSession({
    settings,
    now,
    accountKey: account.keyPem,
    ...(account.url !== undefined && { accountUrl: account.url }),
  });
  const contact = settings.email === undefined ? [] : [`mailto:${settings.email}`];
  if (account.url === undefined) {
    await retryBadNonce(() => session.client.createAccount({ termsOfServiceAgreed: true, contact }));
  } else if (account.email !== settings.email) {
    await retryBadNonce(() => session.client.updateAccount({ contact }));
  } else {
    return session;
  }
  writeJsonFile(file, describe(settings, account.keyPem, session.client.getAccountUrl()));
  return session;
}

/** Forgets the account's address where the server does not know it any more; the next session registers its key again. */
export function forgetUnknownAccount(folder: string, error: unknown): void {
  if (error instanceof AcmeProblem && error.kind === "accountDoesNotExist") {
    const file = join(folder, "account.json");
    const { url: _url, ...rest } = readJsonFile<Account>(file) ?? {};
    writeJsonFile(file, rest);
  }
}

function ensureKey(file: string, settings: AcmeSettings): Account {
  const existing = readJsonFile<Account>(file);
  // An external account is bound once: another one needs another key.
  if (existing?.keyPem !== undefined && existing.externalKid === settings.externalAccount?.kid) {
    return existing;
  }
  const account = describe(settings, generateKeyPem());
  writeJsonFile(file, account);
  return account;
}

function describe({ directoryUrl, email, externalAccount }: AcmeSettings, keyPem: string, url?: string): Account {
  return {
    directoryUrl,
    keyPem,
    ...(url !== undefined && { url }),
    ...(email !== undefined && { email }),
    ...(externalAccount && { externalKid: externalAccount.kid }),
  };
}
