import { join } from "node:path";

import type { PlatformSecret } from "@swath/manifest";
import type { Logger } from "@swath/service/log";

import type { Plan } from "../../../platform/plan.ts";
import { publishAuthorities } from "../accounts/authority-file.ts";
import type { Certificate } from "../ingress/config.ts";
import { openSecretStore } from "../state/secrets.ts";
import type { ClusterPaths } from "../state/paths.ts";
import { type AcmeManager, createAcmeManager } from "../tls/acme/manager.ts";
import { type AcmeSettings, folderName, readAcmeSettings } from "../tls/acme/settings.ts";
import { type CertificateWish, listWishes } from "../tls/acme/wishes.ts";
import { ensureLocalCertificates } from "../tls/cluster-certificate.ts";
import { listDomains } from "../tls/domains.ts";
import { hostsToCover } from "../tls/hosts.ts";
import { acmeRoot, chooseCertificates, listStoredCertificates } from "../tls/served-certificates.ts";

interface KeeperOptions {
  readonly paths: ClusterPaths;
  readonly logger: Logger;
  /** Called when what `certificates` gives has changed, or the content of a file of it. */
  readonly onChange: () => void;
  /** Whether the ingress takes requests: an authority that looks for a response to HTTP-01 asks it at once, and refuses where nobody listens. */
  readonly isIngressServing: () => boolean;
}

const LOCAL_CHECK_MS = 6 * 3_600_000;
const PAUSE_AFTER_FAULT_MS = 60_000;

/** Keeps the certificates of a cluster good: by its own authority, or an ACME server with that one until the first is issued. */
export class CertificateKeeper {
  readonly #options: KeeperOptions;
  #plan: Plan | undefined;
  #manager: AcmeManager | undefined;
  #managed = "";
  /** An order that was begun before the ingress served would be refused, and asked for again after a quarter of an hour. */
  #needsIngress = false;
  /** Of the own authorities, one a domain. */
  #fallbacks: readonly Certificate[] = [];
  #nextLocalCheck = 0;
  #pausedUntil = 0;
  certificates: readonly Certificate[] = [];

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  /** Prepares what the ingress needs to start with this plan; what an ACME server has to say comes later, by `tick`. */
  async ensure(plan: Plan): Promise<void> {
    const { paths } = this.#options;
    this.#plan = plan;
    if (plan.settings.scheme === "http") {
      this.#stopManager();
      this.certificates = [];
      return;
    }
    const { certificates, renewed } = await ensureLocalCertificates(plan, paths.tls);
    publishAuthorities(plan, paths);
    this.#fallbacks = certificates;
    this.#nextLocalCheck = Date.now() + LOCAL_CHECK_MS;
    const readSecret = (secret: PlatformSecret) => openSecretStore(paths.secretsFile)(secret);
    const settings = readAcmeSettings(plan.settings.variables, readSecret);
    this.#startManager(plan, settings);
    this.#choose();
    if (renewed) {
      this.#options.onChange();
    }
  }

  /** To be called every second or so while the ingress is meant to run. */
  tick(): void {
    const plan = this.#plan;
    const now = Date.now();
    if (plan === undefined || plan.settings.scheme === "http" || now < this.#pausedUntil) {
      return;
    }
    const fail = (error: unknown) => {
      this.#pausedUntil = Date.now() + PAUSE_AFTER_FAULT_MS;
      this.#options.logger.error({ err: error }, "certificates could not be looked after; trying again");
    };
    if (now >= this.#nextLocalCheck) {
      this.#nextLocalCheck = now + LOCAL_CHECK_MS;
      this.ensure(plan).catch(fail);
    }
    if (!this.#needsIngress || this.#options.isIngressServing()) {
      this.#manager?.tick().catch(fail);
    }
  }

  close(): void {
    this.#stopManager();
  }

  #startManager(plan: Plan, settings: AcmeSettings | undefined): void {
    const wishes =
      settings &&
      listDomains(plan).flatMap(({ domain, routes }) => listWishes(domain, routes, settings.dns !== undefined));
    const managed = JSON.stringify([settings, wishes]);
    if (managed === this.#managed) {
      return;
    }
    this.#stopManager();
    this.#managed = managed;
    this.#needsIngress = settings?.dns === undefined;
    if (settings !== undefined && wishes !== undefined) {
      this.#manager = this.#createManager(settings, wishes);
    }
  }

  #createManager(settings: AcmeSettings, wishes: readonly CertificateWish[]): AcmeManager {
    const { paths, logger, onChange } = this.#options;
    return createAcmeManager({
      settings,
      wishes,
      logger,
      folder: join(acmeRoot(paths.tls), folderName(settings)),
      challengeFolder: join(paths.ingress, "challenges"),
      onIssued: () => {
        this.#choose();
        onChange();
      },
    });
  }

  #stopManager(): void {
    this.#manager?.close();
    this.#manager = undefined;
    this.#managed = "";
  }

  #choose(): void {
    const plan = this.#plan;
    if (plan === undefined || this.#fallbacks.length === 0) {
      return;
    }
    const settings = readAcmeSettings(plan.settings.variables, () => "");
    if (settings === undefined) {
      this.certificates = this.#fallbacks;
      return;
    }
    const stored = listStoredCertificates(this.#options.paths.tls, folderName(settings));
    this.certificates = listDomains(plan).flatMap(({ domain, routes }, index) => {
      const fallback = this.#fallbacks[index];
      const hosts = [...new Set([...hostsToCover(domain, routes, false), ...hostsToCover(domain, routes, true)])];
      return fallback === undefined ? [] : chooseCertificates(hosts, stored, fallback);
    });
  }
}
