import { randomBytes } from "node:crypto";
import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { request as requestTls } from "node:https";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type PeerCertificate, connect as connectTls, rootCertificates } from "node:tls";

import type { Variables } from "@swath/manifest";

import { listUrls } from "../../commands/operation/urls.ts";
import type { Check, DoctorContext, Finding } from "../finding.ts";

const TIMEOUT_MS = 5000;
const DAY_MS = 24 * 3600 * 1000;
/** Seconds by which a clock may be off before tokens and certificates are refused. */
const CLOCK_SECONDS = 30;

/** What other machines find: names, ports, certificate, redirection, credentials. Looks from this machine. */
export const publicChecks: readonly Check[] = [
  (context) => checkNames(context),
  checkPorts,
  checkCertificate,
  checkPlainHttp,
  checkCredentials,
  checkClock,
];

/** A name that nobody has asked for before leads to the public address: the wildcard record is there. */
export async function checkNames({ prepared }: Pick<DoctorContext, "prepared">): Promise<readonly Finding[]> {
  const { domain, publicIp, variables } = prepared.resolution.config;
  const domains = [domain, variables.USER_CONTENT_DOMAIN].filter((name) => name !== undefined);
  return Promise.all(
    domains.map(async (each): Promise<Finding> => {
      const name = `x${randomBytes(4).toString("hex")}.${each}`;
      const found = (await findAddresses(name)).map(({ address }) => address);
      const subject = "names";
      if (found.includes(publicIp) && found.length === 1) {
        return { verdict: "good", subject, found: `*.${each} is ${publicIp}` };
      }
      return {
        verdict: found.includes(publicIp) ? "limited" : "bad",
        subject,
        found: found.length === 0 ? `*.${each} does not resolve` : `*.${each} is ${found.join(", ")}`,
        meaning: found.includes(publicIp)
          ? "Clients that choose another of these addresses do not find the services."
          : `People and certificate authorities do not find the services: every name below ${each} has to lead to ${publicIp}.`,
        advice: `Make one record *.${each} ${publicIp.includes(":") ? "AAAA" : "A"} ${publicIp} in the DNS of ${each}, and remove others; changes take as long as the record's time to live.`,
      };
    }),
  );
}

async function findAddresses(name: string): Promise<readonly LookupAddress[]> {
  const found = lookup(name, { all: true }).catch(() => []);
  return Promise.race([found, sleep(TIMEOUT_MS, [], { ref: false })]);
}

async function checkPorts({ prepared, plan }: DoctorContext): Promise<readonly Finding[]> {
  const { publicIp, variables } = prepared.resolution.config;
  const { httpPort, httpsPort } = prepared.cluster;
  const desired = plan.settings.scheme === "https" ? [httpPort, httpsPort] : [httpPort];
  return Promise.all(
    desired.map(async (port): Promise<Finding> => {
      const problem = await tryPort(publicIp, port);
      const isStandard = port === 80 || port === 443;
      if (problem === undefined) {
        return isStandard
          ? { verdict: "good", subject: "ports", found: `${publicIp} port ${port} answers` }
          : {
              verdict: "limited",
              subject: "ports",
              found: `${publicIp} port ${port} answers`,
              meaning: `Addresses have a port in them${port === httpPort && variables.ACME_DNS_SERVER === undefined && variables.ACME_DNS_HOOK === undefined ? ", and a certificate authority asks at port 80 alone (HTTP-01)" : ""}.`,
              advice: `Forward port ${port === httpPort ? 80 : 443} of ${publicIp} to port ${port} of this machine, or deploy as root.`,
            };
      }
      return {
        verdict: "bad",
        subject: "ports",
        found: `${publicIp} port ${port}: ${problem}`,
        meaning: "Nobody reaches the platform at its public address.",
        advice:
          problem === "ECONNREFUSED"
            ? `Nothing listens there: bin/swath start${prepared.cluster.name === "swath" ? "" : ` ${prepared.cluster.name}`}, or apply first. If it runs, forward the port of ${publicIp} to this machine.`
            : `Open port ${port} in the firewall and the cloud's security group for everybody, and see that ${publicIp} leads to this machine. Some networks do not let a machine reach itself by its public address: then try from elsewhere.`,
      };
    }),
  );
}

/** Why nobody answers; undefined when somebody does. */
function tryPort(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: TIMEOUT_MS });
    const end = (problem: string | undefined) => {
      socket.destroy();
      resolve(problem);
    };
    socket.once("connect", () => end(undefined));
    socket.once("timeout", () => end("no answer"));
    socket.once("error", (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}

interface Seen {
  readonly certificate: PeerCertificate;
  readonly problem: string | undefined;
  readonly hsts: string | undefined;
}

async function checkCertificate({ prepared, plan }: DoctorContext): Promise<readonly Finding[]> {
  const [first] = listUrls(plan);
  if (plan.settings.scheme !== "https" || first === undefined) {
    return [
      {
        verdict: "bad",
        subject: "certificate",
        found: "the platform answers without TLS",
        meaning: "Passwords and tokens cross the network in the clear.",
        advice: "Leave USE_TLS at true.",
      },
    ];
  }
  const { publicIp } = plan.settings;
  const host = new URL(first[1]).hostname;
  const seen = await lookAt(publicIp, prepared.cluster.httpsPort, host).catch((error: NodeJS.ErrnoException) => error);
  if (seen instanceof Error) {
    const found = `${host} at ${publicIp} cannot be seen: ${(seen as NodeJS.ErrnoException).code ?? seen.message}`;
    return [{ verdict: "limited", subject: "certificate", found, advice: "Apply first, then repeat this." }];
  }
  return [describeCertificate(host, seen, plan.settings.variables), describeHsts(seen)];
}

function describeCertificate(host: string, { certificate, problem }: Seen, variables: Variables): Finding {
  const issuer = [certificate.issuer?.O, certificate.issuer?.CN].filter(Boolean).join(" ");
  const left = new Date(certificate.valid_to).getTime() - Date.now();
  const found = `${host}: of ${issuer}, until ${certificate.valid_to}`;
  if (problem === undefined) {
    return left > 7 * DAY_MS
      ? { verdict: "good", subject: "certificate", found }
      : {
          verdict: "limited",
          subject: "certificate",
          found,
          meaning: "It ends soon and has not been renewed.",
          advice: "bin/swath certificates says what keeps it.",
        };
  }
  return {
    verdict: "bad",
    subject: "certificate",
    found: `${found} (${problem})`,
    meaning: "Browsers and programs elsewhere do not trust it.",
    advice:
      variables.TLS_CLUSTER_ISSUER === "local-ca"
        ? "Set TLS_CLUSTER_ISSUER=letsencrypt-production and apply, or give people the authority's certificate."
        : variables.TLS_CLUSTER_ISSUER === "letsencrypt-staging"
          ? "The staging authority is for trying out: set TLS_CLUSTER_ISSUER=letsencrypt-production and apply."
          : "bin/swath certificates says what the authority answered and what to do.",
  };
}

function describeHsts({ hsts }: Seen): Finding {
  const seconds = Number(/max-age=(\d+)/.exec(hsts ?? "")?.[1] ?? 0);
  return seconds >= 180 * 24 * 3600
    ? { verdict: "good", subject: "HSTS", found: hsts ?? "" }
    : {
        verdict: "limited",
        subject: "HSTS",
        found: hsts ?? "answers do not carry Strict-Transport-Security",
        meaning: "A browser's first request may go out in the clear.",
        advice: "The embedded ingress sends it by itself: see that no proxy in front takes it away.",
      };
}

/** One request over TLS to an address, under a host's name; what is not trusted is looked at all the same. */
function lookAt(address: string, port: number, host: string): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      host: address,
      port,
      servername: host,
      rejectUnauthorized: false,
      timeout: TIMEOUT_MS,
    });
    let text = "";
    socket.once("secureConnect", () => {
      socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    });
    socket.setEncoding("latin1").on("data", (part: string) => {
      text += part;
      if (text.includes("\r\n\r\n") || text.length > 65_536) {
        const problem = socket.authorizationError;
        resolve({
          certificate: socket.getPeerCertificate(),
          problem: problem === undefined || problem === null ? undefined : String(problem),
          hsts: /\r\nstrict-transport-security: *(.*)\r\n/i.exec(text)?.[1],
        });
        socket.destroy();
      }
    });
    socket.once("timeout", () => socket.destroy(new Error("no answer")));
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the connection was closed without an answer")));
  });
}

/** Plain HTTP leads to HTTPS. */
async function checkPlainHttp({ prepared, plan }: DoctorContext): Promise<readonly Finding[]> {
  const [first] = listUrls(plan);
  if (plan.settings.scheme !== "https" || first === undefined) {
    return [];
  }
  const { hostname } = new URL(first[1]);
  const location = await new Promise<string | undefined>((resolve) => {
    const headers = { host: hostname };
    const sent = request({
      host: plan.settings.publicIp,
      port: prepared.cluster.httpPort,
      path: "/",
      headers,
      timeout: TIMEOUT_MS,
    });
    sent.on("response", (response) => {
      response.resume();
      resolve(response.headers.location ?? "");
    });
    sent.on("timeout", () => sent.destroy());
    sent.on("error", () => resolve(undefined));
    sent.end();
  });
  if (location === undefined) {
    return [];
  }
  return location.startsWith(`https://${hostname}`)
    ? [{ verdict: "good", subject: "redirection", found: `http://${hostname} leads to https` }]
    : [
        {
          verdict: "bad",
          subject: "redirection",
          found: `http://${hostname} does not lead to https`,
          meaning: "Who types the name without https stays unprotected.",
          advice: "See that no proxy in front answers plain HTTP by itself.",
        },
      ];
}

const CREDENTIALS: readonly (keyof Variables)[] = [
  "IDENTITY_SERVICE_ADMIN_PASSWORD",
  "IDENTITY_POSTGRES_PASSWORD",
  "IDENTITY_GATEKEEPER_CLIENT_SECRET",
  "IDENTITY_GATEKEEPER_ENCRYPTION_KEY",
  "LOGIN_SERVICE_ADMIN_PASSWORD",
  "OBJSTORE_ROOT_PASSWORD",
  "REGISTRY_ADMIN_PASSWORD",
];
const DEFAULT = /^(changeme)+$/i;
const SHORT = 12;

function checkCredentials({ plan }: DoctorContext): readonly Finding[] {
  const provided = CREDENTIALS.flatMap((name) => {
    const secret = plan.settings.variables[name];
    return typeof secret === "object" && "kind" in secret && secret.kind === "given"
      ? [{ name, value: secret.value }]
      : [];
  });
  const known = provided.filter(({ value }) => DEFAULT.test(value)).map(({ name }) => name);
  const short = provided.filter(({ value }) => !DEFAULT.test(value) && value.length < SHORT).map(({ name }) => name);
  const advice = "Leave them out, so that each is generated, or choose longer ones; then bin/swath credentials rotate.";
  if (known.length > 0) {
    const found = `documented defaults: ${known.join(", ")}`;
    return [{ verdict: "bad", subject: "credentials", found, meaning: "Everybody knows them.", advice }];
  }
  if (short.length > 0) {
    const found = `shorter than ${SHORT} characters: ${short.join(", ")}`;
    return [{ verdict: "limited", subject: "credentials", found, meaning: "They can be guessed.", advice }];
  }
  return [{ verdict: "good", subject: "credentials", found: "no documented default, none short" }];
}

/** By the clock of the certificate authority, or of whoever answers in its place. */
async function checkClock({ plan }: DoctorContext): Promise<readonly Finding[]> {
  const url = plan.settings.variables.ACME_DIRECTORY_URL ?? "https://acme-v02.api.letsencrypt.org/directory";
  const theirs = new Date((await readDate(url, plan.settings.variables.ACME_CA_FILE)) ?? "").getTime();
  if (Number.isNaN(theirs)) {
    return [{ verdict: "limited", subject: "clock", found: `not known: ${new URL(url).host} does not answer` }];
  }
  const seconds = Math.round((Date.now() - theirs) / 1000);
  return Math.abs(seconds) <= CLOCK_SECONDS
    ? [{ verdict: "good", subject: "clock", found: `right within ${CLOCK_SECONDS} s` }]
    : [
        {
          verdict: "bad",
          subject: "clock",
          found: `${Math.abs(seconds)} s ${seconds > 0 ? "ahead" : "behind"}`,
          meaning: "Logins, signatures of requests and certificates are refused.",
          advice: "Let it be set by the network: timedatectl set-ntp true",
        },
      ];
}

/** The field `Date` of an answer; undefined where there is none. `caFile` says whom to trust besides the roots that everybody does. */
async function readDate(url: string, caFile: string | undefined): Promise<string | undefined> {
  const more = caFile === undefined ? undefined : await readFile(caFile, "utf8").catch(() => undefined);
  return new Promise((resolve) => {
    const ca = more === undefined ? undefined : [...rootCertificates, more];
    const options = { method: "HEAD", timeout: TIMEOUT_MS, agent: false, ...(ca && { ca }) };
    const sent = requestTls(url, options, (response) => {
      response.resume();
      resolve(response.headers.date);
    });
    sent.once("timeout", () => sent.destroy(new Error("no answer")));
    sent.once("error", () => resolve(undefined));
    sent.end();
  });
}
