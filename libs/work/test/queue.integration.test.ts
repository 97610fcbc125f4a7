import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { createTestQueue, kinds, openTestDatabase } from "./fixture.ts";

let fixture: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  fixture = await openTestDatabase();
});
after(async () => {
  await fixture?.database.close();
  await fixture?.server.close();
});

/** Numbers that look random and are the same in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

for (const kind of kinds) {
  const name = kind === undefined ? "with one column for due and lease" : "with a column for the lease";

  test(`every item is done once by one worker, whatever workers fall silent, ${name}`, async () => {
    const { pool } = fixture.database;
    const queue = createTestQueue(kind, 1);
    for (const seed of [1, 2, 3]) {
      const random = createRandom(seed);
      await fixture.reset(60);
      const work = async (worker: number): Promise<void> => {
        for (;;) {
          const claims = await queue.claim(pool, 1 + Math.floor(random() * 5));
          if (claims.length === 0) {
            const { rows } = await pool.query("select from item where state = 'open' limit 1");
            if (rows.length === 0) {
              return;
            }
            await sleep(50);
          }
          for (const { row, lease } of claims) {
            const fate = random();
            if (fate < 0.15) {
              // It falls silent: another worker takes the item, and what this one says afterwards is not written.
              continue;
            }
            if (fate < 0.3) {
              await lease.renew();
            }
            if (fate > 0.97) {
              await sleep(1200);
            }
            await lease.end("state = 'done', done = done + 1, holder = $1", [`worker ${worker}`]);
            assert.equal(await lease.end("done = done + 100"), false, `${row.id} was ended already`);
          }
        }
      };
      await Promise.all([1, 2, 3, 4, 5].map(work));
      const { rows } = await pool.query<{ done: number; attempts: number }>("select done, attempts from item");
      assert.equal(rows.length, 60);
      assert.ok(
        rows.every(({ done }) => done === 1),
        `seed ${seed}: every item was done exactly once`,
      );
      assert.ok(rows.some(({ attempts }) => attempts > 1));
    }
  });

  test(`claims that are made at once take different items, ${name}`, async () => {
    const queue = createTestQueue(kind, 60);
    await fixture.reset(50);
    const claimed = (await Promise.all(Array.from({ length: 15 }, () => queue.claim(fixture.database.pool, 4)))).flat();
    const ids = claimed.map(({ row }) => row.id);
    assert.equal(new Set(ids).size, ids.length);
    ids.push(...(await queue.claim(fixture.database.pool, 100)).map(({ row }) => row.id));
    assert.equal(new Set(ids).size, 50);
  });

  test(`a lease that ran out and was taken writes nothing any more, ${name}`, async () => {
    const { pool } = fixture.database;
    const queue = createTestQueue(kind, 1);
    await fixture.reset(1);
    const [first] = await queue.claim(pool, 1);
    assert.ok(first);
    assert.deepEqual(await queue.claim(pool, 1), []);
    await sleep(1050);
    const [second] = await queue.claim(pool, 1);
    assert.equal(second?.row.attempts, 2);
    assert.equal(await first.lease.renew(), false);
    assert.equal(await first.lease.end("state = 'done'"), false);
    assert.equal(await second?.lease.end("state = 'done'"), true);
  });

  test(`a renewal that is under way does not keep the outcome from being written, ${name}`, async () => {
    const { pool } = fixture.database;
    const queue = createTestQueue(kind, 60);
    await fixture.reset(1);
    const [claim] = await queue.claim(pool, 1);
    assert.ok(claim);
    const renewals = [claim.lease.renew(), claim.lease.renew()];
    const ended = claim.lease.end("state = 'done'");
    assert.deepEqual(await Promise.all([...renewals, ended, claim.lease.renew()]), [true, true, true, false]);
  });

  test(`tells when the next item is due, ${name}`, async () => {
    const { pool } = fixture.database;
    const queue = createTestQueue(kind, 60);
    await fixture.reset(0);
    assert.equal(await queue.untilDue(pool), undefined);
    await pool.query("insert into item (id, next_at) values ('later', now() + interval '1 hour')");
    const ms = await queue.untilDue(pool);
    assert.ok(ms !== undefined && ms > 3_500_000 && ms <= 3_600_000);
    await pool.query("insert into item (id, next_at) values ('now', now() - interval '1 second')");
    assert.ok(((await queue.untilDue(pool)) ?? 0) < 0);
    assert.equal((await queue.claim(pool, 5)).length, 1);
    const leased = await queue.untilDue(pool);
    assert.ok(leased !== undefined && leased > 50_000 && leased <= 60_000, "then its lease runs out");
  });
}
