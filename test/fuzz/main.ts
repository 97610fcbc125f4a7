import { existsSync } from "node:fs";
import { parseArgs } from "node:util";

import { cutStream, createRandom, makeStream } from "./make-stream.ts";
import type { Reading } from "./messages.ts";
import { readByIngress } from "./read-by-ingress.ts";
import { readByLlhttp } from "./read-by-llhttp.ts";
import { NGINX, type NginxReader, startNginxReader } from "./read-by-nginx.ts";
import { describeRequest } from "./services/fuzz-service.ts";
import { fuzzServices } from "./services/main.ts";

/**
 * `npm run fuzz -- [<seconds> [<seed>]] [--only=ingress|services] [--service=NAME]… [--variant=B]`: 60 seconds in all unless told otherwise, an hour for a release.
 * A third of the time goes to the ingress's HTTP/1.1 parser, the rest to the services of a platform that is deployed for it (`services/main.ts`).
 *
 * Differential fuzzing of the parser: Each stream of bytes is read by the ingress's
 * parser and by llhttp, which Node.js has; one of many by nginx, where it is installed. The ingress may refuse whatever it likes. What it lets
 * through must be the same messages, with the same ends, as the others read; and nothing that llhttp refuses.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: "string" },
    service: { type: "string", multiple: true, default: [] },
    variant: { type: "string", default: "A" },
  },
});
const total = Number(positionals[0] ?? 60);
const firstSeed = Number(positionals[1] ?? Date.now() % 1_000_000_000);
if (!Number.isFinite(total) || total <= 0 || !Number.isInteger(firstSeed) || !["A", "B"].includes(values.variant)) {
  process.stderr.write(
    "usage: npm run fuzz -- [<seconds> [<seed>]] [--only=ingress|services] [--service=NAME]... [--variant=B]\n",
  );
  process.exit(2);
}
const seconds = values.only === "ingress" ? total : total / 3;
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

async function fuzzIngress(): Promise<boolean> {
  const nginx = existsSync(NGINX) ? await startNginxReader() : undefined;
  try {
    return (await run(nginx)) === 0;
  } finally {
    await nginx?.close();
  }
}

let isFine = values.only === "services" || (await fuzzIngress());
if (values.only !== "ingress") {
  const findings = await fuzzServices({
    seconds: values.only === "services" ? total : total - seconds,
    seed: firstSeed,
    only: values.service,
    variant: values.variant === "B" ? "B" : "A",
    print: (line) => process.stdout.write(`${line}\n`),
  });
  for (const { service, what, request } of findings) {
    process.stdout.write(`${service}: ${what}${request === undefined ? "" : `\n  ${describeRequest(request)}`}\n`);
  }
  process.stdout.write(`${findings.length} findings in services, seed ${firstSeed}\n`);
  isFine &&= findings.length === 0;
}
process.exitCode = isFine ? 0 : 1;
