// The CWL engine beside Debian's cwltool, bare spawns and bare `podman run`s. With `--full` also cwltool with
// 100 containers (some ten minutes more).
import { execFileSync } from "node:child_process";
import { accessSync, chmodSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadDocument, runProcess } from "../libs/cwl/src/index.ts";
import { prepareContainers, findContainersSkipReason } from "../test/conformance/cwl-images.ts";
import { writeDocuments } from "./cwl/documents.ts";
import type { Documents } from "./cwl/documents.ts";
import { largeRows } from "./cwl/large.ts";
import { medianOf, round, row, time, timeRun, timeSpawns } from "./cwl/measure.ts";
import { median } from "./median.ts";
import type { BenchRow } from "./types.ts";

const root = join(import.meta.dirname, "..");
const swath = [join(root, "bin/swath"), "cwl", "run"];
const cwltool = "/usr/bin/cwltool";
const hasCwltool = existsSync(cwltool);
const full = process.argv.includes("--full");

export async function bench(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "cwl-bench-"));
  try {
    const files = writeDocuments(folder);
    return [
      ...(await plainRows(folder, files)),
      ...(await scatterLimits(folder, files)),
      await residentRow(folder, files),
      await journalRow(folder, files),
      await cancelRow(folder),
      peakMemoryRow(folder, files),
      ...(await largeRows(folder)),
      ...(findContainersSkipReason() === undefined ? await containerRows(folder, files) : []),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One after the other, so that both see the same machine. The slow peer is measured less often where it is slowest. */
async function plainRows(folder: string, files: Documents): Promise<BenchRow[]> {
  const cases: readonly [name: string, document: string, inputs: string, peerRuns: number, aim?: string][] = [
    ["echo, cold", files.echo, files.text, 5, "≤ 0.18 s"],
    ["echo with JavaScript, cold", files.echoJs, files.text, 3],
    ["workflow of 5 steps", files.chain, files.text, 3],
    ["workflow of 5 steps, JavaScript", files.chainJs, files.text, 3],
    ["scatter of 100", files.scatter, files.items(100), 1],
    ["scatter of 100, JavaScript", files.scatterJs, files.items(100), 1],
    ["scatter of 500", files.scatter, files.items(500), 1],
    ["scatter of 500, JavaScript", files.scatterJs, files.items(500), 1],
  ];
  const rows: BenchRow[] = [];
  for (const [name, document, inputs, peerRuns, aim] of cases) {
    const run = (runner: readonly string[]) => (): Promise<number> =>
      timeRun(folder, [...runner, "--no-container", "--quiet"], document, inputs);
    await run(swath)();
    const ours = await medianOf(5, run(swath));
    const peer = hasCwltool ? { name: "cwltool", value: await medianOf(peerRuns, run([cwltool])) } : undefined;
    rows.push(
      row(name, ours, {
        peer,
        ...(aim === undefined ? {} : { aim }),
        note: `median of 5${peer === undefined ? "" : `, cwltool of ${peerRuns}`}`,
      }),
    );
  }
  return rows;
}

/** A scatter beside what Node needs merely to start the same commands, in memory and on the disk of the system's temporary files. */
async function scatterLimits(folder: string, files: Documents): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const [where, place] of [
    ["in memory", "/dev/shm"],
    ["on disk", folder],
  ] as const) {
    if (!isWritable(place)) {
      continue;
    }
    const scratch = mkdtempSync(join(place, "cwl-bench-"));
    try {
      const ours: number[] = [];
      const bare: number[] = [];
      const withFiles: number[] = [];
      // In turn, so that what else the machine does hits all alike.
      for (let round = 0; round < 3; round += 1) {
        const env = { ...process.env, TMPDIR: scratch };
        ours.push(
          await timeRun(scratch, [...swath, "--no-container", "--quiet"], files.scatter, files.items(500), env),
        );
        bare.push(await timeSpawns(500, ["echo", "item"]));
        const filesIn = mkdtempSync(join(scratch, "files-"));
        withFiles.push(await timeSpawns(500, ["echo", "item"], { filesIn }));
        rmSync(filesIn, { recursive: true });
      }
      rows.push(
        row(`scatter of 500, ${where}`, median(ours), {
          peer: { name: "500 spawns in Node", value: median(bare) },
          aim: where === "in memory" ? "≤ 1.5 ×" : "≤ 2 ×",
          note: `the same spawns each with a file in a directory of its own: ${round3(median(withFiles))} s`,
        }),
      );
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
  return rows;
}

async function residentRow(folder: string, files: Documents): Promise<BenchRow> {
  const document = await loadDocument(files.echo);
  const one = async (): Promise<void> => {
    await runProcess({ document, inputs: { text: "hello" }, outDir: join(folder, "resident", crypto.randomUUID()) });
  };
  await one();
  const ours = await medianOf(30, () => time(one));
  const bare = await medianOf(30, () => timeSpawns(1, ["echo", "hello"]));
  return {
    name: "cwl: echo in a resident process, over the bare command",
    value: round((ours - bare) * 1000),
    unit: "ms",
    aim: "≤ 10 ms",
    note: `${round3(ours)} s with it, ${round3(bare)} s for the command alone; medians of 30`,
  };
}

async function journalRow(folder: string, files: Documents): Promise<BenchRow> {
  const document = await loadDocument(files.scatter);
  const inputs = { items: Array.from({ length: 500 }, (_, number) => `item ${number}`) };
  const run = (journal: boolean) => (): Promise<number> =>
    time(async () => {
      const place = mkdtempSync(join(folder, "run-"));
      const where = {
        outDir: join(place, "out"),
        ...(journal ? { journal: join(place, "journal") } : { workDir: place }),
      };
      await runProcess({ document, inputs, ...where });
    });
  const without = await medianOf(3, run(false));
  return row("scatter of 500 with every job on disk for good (resident)", await medianOf(3, run(true)), {
    peer: { name: "without a journal", value: without },
  });
}

/** From the signal until nothing is left of a tool that forks, starts sessions and ignores signals. */
async function cancelRow(folder: string): Promise<BenchRow> {
  const stubborn =
    "trap '' TERM INT; (trap '' TERM; setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' &) ; while :; do sleep 1; done";
  const text = `{cwlVersion: v1.2, class: CommandLineTool, inputs: [], outputs: [], baseCommand: [sh, -c, ${JSON.stringify(stubborn)}]}`;
  const document = await loadDocument("https://example.org/stubborn.cwl", { text });
  const seconds = await medianOf(3, async () => {
    const stop = new AbortController();
    let began = 0;
    const onEvent = ({ type }: { type: string }): void => {
      if (type === "step-started") {
        setTimeout(() => {
          began = performance.now();
          stop.abort();
        }, 200);
      }
    };
    const run = runProcess({ document, inputs: {}, outDir: join(folder, "cancel"), signal: stop.signal, onEvent });
    await run.catch(() => undefined);
    return (performance.now() - began) / 1000;
  });
  return row("cancelling a tool that ignores signals, until nothing is left", seconds, { aim: "≤ 2 s" });
}

function peakMemoryRow(folder: string, files: Documents): BenchRow {
  const hook = join(folder, "peak.mjs");
  writeFileSync(hook, `process.on("exit", () => process._rawDebug(process.resourceUsage().maxRSS));`);
  const command = [process.execPath, "--import", hook, join(root, "libs/cwl/main.ts"), "run", "--no-container"];
  const provided = ["--quiet", "--outdir", join(folder, "peak"), files.scatter, files.items(5000)];
  const script = `"$@" 2>&1 >/dev/null | tail -1`;
  const out = execFileSync("/bin/sh", ["-c", script, "sh", ...command, ...provided], {
    encoding: "utf8",
    env: { ...process.env, ...(isWritable("/dev/shm") ? { TMPDIR: "/dev/shm" } : {}) },
  });
  rmSync(join(folder, "peak"), { recursive: true, force: true });
  return { name: "cwl: peak memory of a scatter of 5,000", value: Math.round(Number(out.trim()) / 1024), unit: "MiB" };
}

async function containerRows(folder: string, files: Documents): Promise<BenchRow[]> {
  const prepared = { ...process.env, ...prepareContainers(join(folder, "containers")) };
  const image = "docker.io/library/alpine:latest";
  const bare = ["podman", "run", "--rm", "--network=none", "--log-driver=none", image, "echo", "item"];
  // cwltool's own --podman wants an ordinary user; it takes podman when that is called docker.
  const shim = join(folder, "shim");
  mkdirSync(shim);
  writeFileSync(join(shim, "docker"), `#!/bin/sh\nexec podman "$@"\n`);
  chmodSync(join(shim, "docker"), 0o755);
  const peerEnvironment = { ...prepared, PATH: `${shim}:${process.env["PATH"]}` };
  const run = (runner: readonly string[], document: string, inputs: string, env = prepared): Promise<number> =>
    timeRun(folder, [...runner, "--quiet"], document, inputs, env);

  const echo = await medianOf(3, () => run(swath, files.echoContainer, files.text));
  const peer = hasCwltool
    ? await medianOf(3, () => run([cwltool], files.echoContainer, files.text, peerEnvironment))
    : 0;
  const bareOne = await medianOf(3, () => timeSpawns(1, bare, { env: prepared }));
  const ours = await run(swath, files.scatterContainer, files.items(100));
  const spawned = await timeSpawns(100, bare, { env: prepared });
  const peerCount = full ? 100 : 10;
  const peerMany = hasCwltool
    ? await run([cwltool, "--parallel"], files.scatterContainer, files.items(peerCount), peerEnvironment)
    : 0;
  return [
    row("echo in a container, cold", echo, {
      ...(hasCwltool ? { peer: { name: "cwltool", value: peer } } : {}),
      note: `bare podman run: ${round3(bareOne)} s; medians of 3`,
    }),
    row("scatter of 100 in containers", ours, {
      peer: { name: "100 × podman run", value: spawned },
      aim: "≤ 1.3 ×",
      note: `once each; cwltool --parallel took ${round3(peerMany)} s for ${peerCount}`,
    }),
  ];
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function round3(value: number): number {
  return Math.round(value * 1000) / 1000;
}
