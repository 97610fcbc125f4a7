import { openDatabase } from "@swath/postgres";
import { startTestServer } from "@swath/postgres/server";
import { createLogger } from "@swath/service";
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";

import { reconcile } from "../reconciler/reconcile.ts";
import type { Step } from "../steps/step.ts";
import { workspaceQueue } from "../store/claims.ts";
import type { Tables } from "../store/tables.ts";
import { changeWorkspace, findWorkspace, insertWorkspace, requeueNow } from "../store/workspaces.ts";

const postgres = await startTestServer();
const { db, pool, close } = await openDatabase<Tables>({
  url: postgres.url,
  schema: "workspace",
  migrations: join(import.meta.dirname, "../migrations"),
  onError: () => {},
});
after(async () => {
  await close();
  await postgres.close();
});

test("what is asked for while a workspace is looked at is done at once, and is no repair", async () => {
  const name = "ws-changed";
  let storedMb: number | null = null;
  let quotaAskedFor: number | undefined;
  const steps: readonly Step[] = [
    {
      name: "first",
      title: "First",
      apply: async () => {
        if (quotaAskedFor !== undefined) {
          await changeWorkspace(db, name, { quotaMb: quotaAskedFor });
        }
        return [];
      },
      remove: async () => {},
    },
    {
      name: "quota",
      title: "Quota",
      apply: async ({ workspace: { quotaMb, generation, observedGeneration } }) => {
        const isRepair = quotaMb !== storedMb && generation === observedGeneration;
        storedMb = quotaMb;
        return isRepair ? ["the quota had been changed"] : [];
      },
      remove: async () => {},
    },
  ];
  const look = async () => {
    const [claim] = await workspaceQueue.claim(pool, 1);
    assert.ok(claim);
    await reconcile(
      { db, steps, logger: createLogger("reconciler", "fatal"), interval: 60 },
      claim,
      new AbortController().signal,
    );
  };

  await insertWorkspace(db, { name, preferredName: "changed", owner: "eric" });
  await look();
  await requeueNow(db, name);
  quotaAskedFor = 7;
  await look();
  assert.equal(storedMb, 7);
  const { rows } = await pool.query("select what from workspace.repair");
  assert.deepEqual(rows, []);
  const { generation, observedGeneration } = (await findWorkspace(db, name)) ?? {};
  assert.ok(Number(generation) > Number(observedGeneration), "it is looked at again");
});
