// Looks after one certificate as the supervisor does and ends: `runner.ts SETTINGS` (JSON). Tests kill it.
import { createLogger } from "@swath/service/log";

import { createAcmeManager } from "../manager.ts";
import type { AcmeSettings } from "../settings.ts";
import type { CertificateWish } from "../wishes.ts";

export interface RunnerSettings {
  readonly settings: AcmeSettings;
  readonly folder: string;
  readonly challengeFolder: string;
  readonly wishes: readonly CertificateWish[];
}

const provided = JSON.parse(process.argv[2] ?? "") as RunnerSettings;
const manager = createAcmeManager({ ...provided, logger: createLogger("runner", "silent"), onIssued: () => {} });
await manager.tick();
process.exit(0);
