import assert from "node:assert/strict";

import { openTrail } from "../../../cli/audit/open-trail.ts";
import { openTarget } from "../../../cli/targets/open-target.ts";
import { type Deployment, NAME } from "./deployment.ts";

/** Checks what is in the audit trail of a deployment that was used, and that a line that was taken out is found. */
export async function checkAuditTrail(deployment: Deployment): Promise<void> {
  const exported = await deployment.swath("audit", "export", NAME);
  assert.equal(exported.status, 0, exported.stderr);
  const lines = exported.stdout.trim().split("\n");
  const kinds = new Set(
    lines.map((line) => {
      const { service, action } = JSON.parse(line) as { service: string; action: string };
      return `${service} ${action}`;
    }),
  );
  for (const kind of ["identity LOGIN", "objstore CreateBucket", "swath swath deploy apply"]) {
    assert.ok(kinds.has(kind), `${kind} of ${[...kinds].join(", ")}`);
  }
  const verify = () => deployment.swath("audit", "verify", NAME);
  const good = await verify();
  assert.equal(good.status, 0, good.stdout + good.stderr);
  const target = openTarget(NAME, deployment.env);
  const plan = await target.readPlan();
  assert.ok(plan !== undefined);
  const owner = await openTrail(target, plan);
  try {
    await owner.query("create table public.kept as select n, line, hash from audit.entry where n = 2");
    await owner.query("alter table audit.entry disable trigger append_only");
    await owner.query("delete from audit.entry where n = 2");
    const found = await verify();
    assert.equal(found.status, 1, found.stdout);
    assert.match(found.stdout, /line 2 is missing/);
    await owner.query("insert into audit.entry (n, line, hash) select n, line, hash from public.kept");
    await owner.query("alter table audit.entry enable trigger append_only");
    await owner.query("drop table public.kept");
  } finally {
    await owner.close();
  }
  assert.equal((await verify()).status, 0);
}
