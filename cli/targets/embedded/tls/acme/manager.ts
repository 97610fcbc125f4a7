import { rm } from "node:fs/promises";
import { join } from "node:path";

import type { Logger } from "@swath/service/log";

import { readIfThere, writePrivate } from "../files.ts";
import { forgetUnknownAccount, openAccount } from "./account.ts";
import { type Challenges, createChallenges, listTokens } from "./challenges.ts";
import { type ParsedCertificate, coversAll, parseCertificate } from "./keys.ts";
import { completeOrder } from "./order.ts";
import { AcmeError, AcmeProblem } from "./problem.ts";
import { type CertificateRecord, type RecordStore, certificateFile, openRecords } from "./records.ts";
import { findCertId, readRenewalAdvice } from "./renewal-info.ts";
import { addTime, findAllowedTime, findDelayMs, findRenewalTime } from "./schedule.ts";
import type { AcmeSession } from "./session.ts";
import type { AcmeSettings } from "./settings.ts";
import type { CertificateWish } from "./wishes.ts";

interface ManagerOptions {
  readonly settings: AcmeSettings;
  /** Of this server's account and certificates. */
  readonly folder: string;
  /** Where the ingress looks for responses to HTTP-01. */
  readonly challengeFolder: string;
  readonly wishes: readonly CertificateWish[];
  readonly logger: Logger;
  /** Called when a certificate is new on disk. */
  readonly onIssued: () => void;
  readonly now?: () => number;
}

export interface AcmeManager {
  /** Starts what is due; to be called often. Resolves when that is done, whatever came of it. */
  readonly tick: () => Promise<void>;
  /** Stops after the step that is under way; another manager goes on from there. */
  readonly close: () => void;
}

/** Orders at the same time: an authority looks at each for seconds. */
const MAX_PARALLEL = 3;
const RECHECK_MS = 12 * 3_600_000;
const MAX_HOLD_MS = 15 * 60_000;

/** Gets the certificates that are wished for and renews them in time; a certificate in use is replaced by a new one or not at all. */
export function createAcmeManager(options: ManagerOptions): AcmeManager {
  const { settings, folder, challengeFolder, wishes, logger, onIssued, now = Date.now } = options;
  const records = openRecords(folder);
  const challenges = createChallenges(challengeFolder, settings.dns);
  const closing = new AbortController();
  const busy = new Set<string>();
  const seen = new Set<string>();
  let session: Promise<AcmeSession> | undefined;

  const openSession = (): Promise<AcmeSession> => {
    session ??= openAccount(settings, folder, now).catch((error: unknown) => {
      session = undefined;
      throw error;
    });
    return session;
  };

  const isDue = (wish: CertificateWish): boolean => {
    const record = records.find(wish.name);
    // Looked at once after every start, since files may have been lost meanwhile; but never before the end of a back-off.
    const isUnseen = !seen.has(wish.name) && record?.failures === 0;
    return record === undefined || isUnseen || !isSame(record.hosts, wish.hosts) || record.nextAt <= now();
  };

  const attend = async (wish: CertificateWish): Promise<void> => {
    busy.add(wish.name);
    seen.add(wish.name);
    try {
      await attendCertificate(wish);
    } finally {
      busy.delete(wish.name);
    }
  };

  const attendCertificate = async ({ name, hosts }: CertificateWish): Promise<void> => {
    let record = records.find(name);
    if (record === undefined || !isSame(record.hosts, hosts)) {
      await challenges.cleanUp(record?.pending?.presented ?? []).catch(() => {});
      record = records.update(name, { pending: undefined, lastError: undefined, hosts, nextAt: 0, failures: 0 });
    }
    const pem = await readIfThere(certificateFile(folder, name));
    const current = pem === undefined ? undefined : parseCertificate(pem);
    const isGood = current !== undefined && coversAll(current, hosts);
    try {
      const certId = isGood && pem !== undefined ? await findCertId(pem) : undefined;
      const renewAt = isGood ? await findNextRenewal(record, current, certId) : now();
      if (renewAt > now()) {
        return;
      }
      await order({ name, hosts }, record, certId);
    } catch (error) {
      noteFailure(name, error);
    }
  };

  /** Keeps when the certificate is looked at next; gives when it is to be renewed. */
  const findNextRenewal = async (
    { hosts: [first = ""], advice: known, pending }: CertificateRecord,
    certificate: ParsedCertificate,
    certId: string | undefined,
  ): Promise<number> => {
    const name = wishes.find(({ hosts }) => hosts[0] === first)?.name ?? first;
    if (pending !== undefined) {
      // An order was begun: it is finished, else its answer would be lost.
      return now();
    }
    let advice = known?.certId === certId ? known : undefined;
    if (certId !== undefined && (advice === undefined || advice.checkAt <= now())) {
      advice = await openSession()
        .then((open) => readRenewalAdvice(open, certId, now()))
        .catch((error: unknown) => {
          logger.warn({ certificate: name, reason: (error as Error).message }, "renewal information is not available");
          return advice && { ...advice, checkAt: now() + RECHECK_MS / 12 };
        });
    }
    const ownTime = findRenewalTime(certificate, name);
    // Never later than a sixth of its life before the end, whatever a server suggests.
    const latest =
      certificate.notAfter.getTime() - (certificate.notAfter.getTime() - certificate.notBefore.getTime()) / 6;
    const renewAt = advice === undefined ? ownTime : Math.min(advice.renewAt, latest);
    const nextAt = Math.min(renewAt, advice?.checkAt ?? Infinity, now() + RECHECK_MS);
    records.update(name, { nextAt, advice });
    return renewAt;
  };

  const order = async (
    wish: CertificateWish,
    record: CertificateRecord,
    replaces: string | undefined,
  ): Promise<void> => {
    const { name, hosts } = wish;
    const past = { orders: records.state.orders, issued: record.issued };
    const allowed = Math.max(records.state.holdUntil, findAllowedTime(settings.directoryUrl, past, now()));
    if (record.pending?.orderUrl === undefined && allowed > now()) {
      records.update(name, { nextAt: allowed });
      logger.warn({ certificate: name, until: new Date(allowed) }, "a certificate waits for a rate limit");
      return;
    }
    const open = await openSession();
    const pem = await completeOrder({
      session: open,
      challenges,
      hosts,
      pending: record.pending,
      save: (pending) => records.update(name, { pending }),
      onNewOrder: () => records.updateAccount({ orders: addTime(records.state.orders, now()) }),
      replaces,
      signal: closing.signal,
    });
    // On disk before the order is forgotten: a kill in between downloads the same certificate once more.
    await writePrivate(certificateFile(folder, name), pem);
    records.update(name, {
      pending: undefined,
      lastError: undefined,
      advice: undefined,
      failures: 0,
      nextAt: now(),
      issued: addTime(record.issued, now()),
    });
    logger.info({ certificate: name, hosts, until: parseCertificate(pem)?.notAfter }, "certificate issued");
    onIssued();
  };

  const noteFailure = (name: string, error: unknown): void => {
    if (closing.signal.aborted) {
      return;
    }
    forgetUnknownAccount(folder, error);
    if (error instanceof AcmeProblem && error.kind === "accountDoesNotExist") {
      session = undefined;
    }
    const failures = (records.find(name)?.failures ?? 0) + 1;
    const delay = findDelayMs(failures, error);
    const at = now();
    const lastError = {
      at,
      text: (error as Error).message,
      advice: error instanceof AcmeError ? error.advice : "Look at the log of the supervisor (supervisor.log).",
    };
    if (error instanceof AcmeProblem && error.kind === "rateLimited") {
      // Some limits are of one name only: the others are asked about again soon.
      records.updateAccount({ holdUntil: at + Math.min(delay, MAX_HOLD_MS) });
    }
    records.update(name, { failures, lastError, nextAt: at + delay });
    logger.error({ certificate: name, reason: lastError.text, nextAt: new Date(at + delay) }, "certificate not issued");
  };

  const sweep = sweepTokens(challengeFolder, records, challenges).catch((error: unknown) =>
    logger.warn({ err: error }, "old challenges could not be removed"),
  );
  return {
    tick: async () => {
      await sweep;
      const due = wishes.filter((wish) => !busy.has(wish.name) && isDue(wish));
      await Promise.all(due.slice(0, Math.max(0, MAX_PARALLEL - busy.size)).map(attend));
    },
    close: () => {
      closing.abort();
      void session?.then(({ transport }) => transport.close()).catch(() => {});
    },
  };
}

/** Responses to challenges of orders that nobody remembers. */
async function sweepTokens(folder: string, records: RecordStore, { type }: Challenges): Promise<void> {
  const presented = Object.values(records.state.certificates).flatMap(({ pending }) => pending?.presented ?? []);
  const known = new Set(presented.flatMap((each) => (each.type === "http-01" ? [each.token] : [])));
  for (const token of type === "http-01" ? listTokens(folder) : []) {
    if (!known.has(token)) {
      await rm(join(folder, token), { force: true });
    }
  }
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((host, index) => host === right[index]);
}
