import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { readJsonFile, writeJsonFile } from "../../state/json-file.ts";

/** Something that was put where the authority looks, to be taken away again. */
export type Presented =
  | { readonly type: "http-01"; readonly token: string }
  | { readonly type: "dns-01"; readonly name: string; readonly value: string };

/** An order that is under way. Written before each step, so that whoever comes after a kill goes on with it. */
export interface PendingOrder {
  /** Key of the certificate to come. */
  readonly keyPem: string;
  /** Left out until the server has named it. */
  readonly orderUrl?: string;
  readonly presented: readonly Presented[];
}

/** What the server suggests for the renewal of one certificate (RFC 9773). */
export interface RenewalAdvice {
  readonly certId: string;
  /** Milliseconds since the epoch, as all times here. */
  readonly renewAt: number;
  readonly checkAt: number;
  readonly explanation?: string;
}

export interface CertificateRecord {
  readonly hosts: readonly string[];
  /** Nothing happens before. */
  readonly nextAt: number;
  /** In a row. */
  readonly failures: number;
  readonly lastError?: { readonly at: number; readonly text: string; readonly advice: string };
  readonly pending?: PendingOrder;
  /** Times of certificates of these hosts. */
  readonly issued: readonly number[];
  readonly advice?: RenewalAdvice;
}

export interface AcmeState {
  /** Times of orders of the account. */
  readonly orders: readonly number[];
  /** No order of anything before: the authority asked the account to wait. */
  readonly holdUntil: number;
  readonly certificates: Readonly<Record<string, CertificateRecord>>;
}

export type Change<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** The state of one ACME server's certificates, in one file that only the operator can read. */
export interface RecordStore {
  readonly state: AcmeState;
  readonly find: (name: string) => CertificateRecord | undefined;
  /** Changes fields of a record; `undefined` takes one away. */
  readonly update: (name: string, change: Change<CertificateRecord>) => CertificateRecord;
  readonly updateAccount: (change: Partial<Pick<AcmeState, "orders" | "holdUntil">>) => void;
}

export function readAcmeState(folder: string): AcmeState {
  return { orders: [], holdUntil: 0, certificates: {}, ...readJsonFile<Partial<AcmeState>>(fileOf(folder)) };
}

export function openRecords(folder: string): RecordStore {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  let state = readAcmeState(folder);
  const save = (next: AcmeState) => {
    writeJsonFile(fileOf(folder), next);
    state = next;
  };
  return {
    get state() {
      return state;
    },
    find: (name) => state.certificates[name],
    update: (name, change) => {
      const existing = state.certificates[name] ?? { hosts: [], nextAt: 0, failures: 0, issued: [] };
      const record = withoutUndefined({ ...existing, ...change });
      save({ ...state, certificates: { ...state.certificates, [name]: record } });
      return record;
    },
    updateAccount: (change) => save({ ...state, ...change }),
  };
}

function withoutUndefined(record: Change<CertificateRecord>): CertificateRecord {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== undefined),
  ) as unknown as CertificateRecord;
}

function fileOf(folder: string): string {
  return join(folder, "certificates.json");
}

/** Where chain and key of a certificate are; the name is a host's or a domain's. */
export function certificateFile(folder: string, name: string): string {
  return join(folder, `${name}.pem`);
}
