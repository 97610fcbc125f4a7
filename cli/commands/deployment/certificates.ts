import { parseArgs } from "node:util";

import type { CertificateStatus } from "../../targets/target.ts";
import { formatTable } from "../../view/table.ts";
import { type Command, CommandError } from "../command.ts";
import { openTarget } from "../../targets/open-target.ts";
import { outputOption, wantsJson } from "../output-option.ts";

export const certificatesCommand: Command = {
  name: "certificates",
  summary: "list the certificates of the hosts, when they end and what is in the way",
  usage: `
Usage: swath certificates [CLUSTER] [-o json]

  issued     good, and renewed by itself after two thirds of its life
  renewing   good, and a new one is being asked for
  expired    served all the same while a new one is being asked for
  temporary  signed by the deployment's own authority until the issuer has signed

Ends with status 0 when every certificate is good, 3 when one is not.`,
  run: async ({ args, env, stdout }) => {
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: outputOption });
    const asJson = wantsJson(values);
    const target = openTarget(positionals[0], env);
    if (target.readCertificates === undefined) {
      throw new CommandError("the certificate manager of the cluster has them: kubectl get certificates -A");
    }
    const certificates = await target.readCertificates();
    if (asJson) {
      stdout.write(`${JSON.stringify(certificates, null, 2)}\n`);
    } else {
      stdout.write(
        certificates.length === 0 ? `no certificates on the ${target.title}\n` : formatCertificates(certificates),
      );
    }
    return certificates.every(({ state }) => state === "issued" || state === "renewing") ? 0 : 3;
  },
};

export function formatCertificates(certificates: readonly CertificateStatus[]): string {
  const rows = certificates.map(({ hosts, issuer, state, signedBy, expires }) => [
    hosts.join(", "),
    issuer,
    state,
    expires === undefined ? "-" : expires.toISOString().slice(0, 16).replace("T", " "),
    signedBy ?? "-",
  ]);
  const errors = certificates.flatMap(({ hosts: [first = ""], lastError, nextAttempt }) =>
    lastError === undefined ? [] : [formatError(first, lastError, nextAttempt)],
  );
  return `${formatTable([["HOSTS", "ISSUER", "STATE", "EXPIRES (UTC)", "SIGNED BY"], ...rows])}${errors.join("")}`;
}

function formatError(
  host: string,
  { at, text, advice }: NonNullable<CertificateStatus["lastError"]>,
  nextAttempt: Date | undefined,
): string {
  const next = nextAttempt === undefined ? "" : `; next attempt ${toMinute(nextAttempt)}`;
  return `\n${host}: not issued at ${toMinute(at)}${next}\n  ${text}\n  -> ${advice}\n`;
}

function toMinute(date: Date): string {
  return `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
