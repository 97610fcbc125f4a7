import { existsSync } from "node:fs";

import { cutStream, createRandom, makeStream } from "./make-stream.ts";
import type { Reading } from "./messages.ts";
import { readByIngress } from "./read-by-ingress.ts";
import { readByLlhttp } from "./read-by-llhttp.ts";
import { NGINX, type NginxReader, startNginxReader } from "./read-by-nginx.ts";

/**
 * Differential fuzzing of the ingress's HTTP/1.1 parser: `npm run fuzz -- <seconds> [<seed>]`. Each stream of bytes is read by the ingress's
 * parser and by llhttp, which Node.js has; one of many by nginx, where it is installed. The ingress may refuse whatever it likes. What it lets
 * through must be the same messages, with the same ends, as the others read; and nothing that llhttp refuses.
 */
const seconds = Number(process.argv[2] ?? 60);
const firstSeed = Number(process.argv[3] ?? Date.now() % 1_000_000_000);
if (!Number.isFinite(seconds) || seconds <= 0 || !Number.isInteger(firstSeed)) {
  process.stderr.write("usage: npm run fuzz -- <seconds> [<seed>]\n");
  process.exit(2);
}
const NGINX_EVERY = 500;
const MAX_FINDINGS = 10;

/** What is wrong; `undefined` when the ingress may read the stream as it does. */
function findDifference(
  ours: Reading,
  others: Reading,
  { mayPassMore }: { readonly mayPassMore: boolean },
): string | undefined {
  for (const [index, message] of ours.messages.entries()) {
    const other = others.messages[index];
    if (other === undefined) {
      // Another parser ends the connection for reasons of its own; it has not read anything else.
      return mayPassMore || others.end === "closed" || isOnlyAboutMethod(others)
        ? undefined
        : `message ${index} passes, the other ${others.end} (${others.why ?? ""})`;
    }
    if (JSON.stringify(message) !== JSON.stringify(other)) {
      return `message ${index} is ${JSON.stringify(message)}, of the other ${JSON.stringify(other)}`;
    }
  }
  return ours.end === "waiting" && others.messages.length > ours.messages.length
    ? `more is waited for where the other has read message ${ours.messages.length}`
    : undefined;
}

/** llhttp knows a list of methods; the ingress passes any token on, which frames nothing. */
const isOnlyAboutMethod = ({ why = "" }: Reading) => /Invalid method|Expected space after method/i.test(why);

async function run(nginx: NginxReader | undefined): Promise<number> {
  const until = Date.now() + seconds * 1000;
  const counts = { streams: 0, messages: 0, refused: 0, nginx: 0 };
  let findings = 0;
  for (let seed = firstSeed; Date.now() < until && findings < MAX_FINDINGS; seed += 1) {
    const random = createRandom(seed);
    const bytes = makeStream(random);
    const pieces = cutStream(bytes, random);
    const whole = readByIngress([bytes]);
    const ours = readByIngress(pieces);
    const report = (what: string) => {
      findings += 1;
      process.stdout.write(`seed ${seed}: ${what}\n  ${JSON.stringify(bytes.toString("latin1"))}\n`);
    };
    // How the bytes arrive says nothing; but a refusal may come before the end of what is refused.
    if (JSON.stringify(whole.messages) !== JSON.stringify(ours.messages)) {
      report("the pieces that it comes in make a difference");
    }
    const byLlhttp = findDifference(ours, readByLlhttp(pieces), { mayPassMore: false });
    if (byLlhttp !== undefined) {
      report(`llhttp: ${byLlhttp}`);
    }
    if (nginx !== undefined && seed % NGINX_EVERY === 0) {
      counts.nginx += 1;
      const byNginx = findDifference(ours, await nginx.read(bytes), { mayPassMore: true });
      if (byNginx !== undefined) {
        report(`nginx: ${byNginx}`);
      }
    }
    counts.streams += 1;
    counts.messages += ours.messages.length;
    counts.refused += ours.end === "refused" ? 1 : 0;
  }
  process.stdout.write(
    `${counts.streams} streams from seed ${firstSeed}: ${counts.messages} messages passed, ${counts.refused} streams refused, ${counts.nginx} compared with nginx, ${findings} differences\n`,
  );
  return findings;
}

const nginx = existsSync(NGINX) ? await startNginxReader() : undefined;
try {
  process.exitCode = (await run(nginx)) === 0 ? 0 : 1;
} finally {
  await nginx?.close();
}
