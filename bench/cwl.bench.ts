// The CWL engine beside Debian's cwltool and beside what Node needs merely to start the same commands.
import { execFile, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadDocument, runProcess } from "../libs/cwl/src/index.ts";
import { prepareContainers, whyNoContainers } from "../test/conformance/cwl-images.ts";
import type { BenchRow } from "./types.ts";

const main = join(import.meta.dirname, "../libs/cwl/main.ts");
const cwltool = "/usr/bin/cwltool";

const echo = (js: boolean): string => `class: CommandLineTool
${js ? "requirements: {InlineJavascriptRequirement: {}}" : ""}
baseCommand: echo
inputs: {text: {type: string, inputBinding: {${js ? "valueFrom: '$(self.toUpperCase() + 1)'" : ""}}}}
outputs: {out: stdout}
stdout: ${js ? "$('out' + '.txt')" : "out.txt"}
`;

const indented = (text: string, spaces: number): string => text.trimEnd().replaceAll(/^/gm, " ".repeat(spaces));

const scatter = (js: boolean, container = false): string => `cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {items: "string[]"}
outputs: {out: {type: "File[]", outputSource: echo/out}}
steps:
  echo:
    scatter: text
    in: {text: items}
    out: [out]
    run:
${indented(echo(js) + (container ? "hints: {DockerRequirement: {dockerPull: docker.io/alpine:latest}}\n" : ""), 6)}
`;

const chain = (js: boolean): string => `cwlVersion: v1.2
class: Workflow
inputs: {text: string}
outputs: {out: {type: File, outputSource: s5/out}}
requirements: {StepInputExpressionRequirement: {}, InlineJavascriptRequirement: {}}
steps:
${[1, 2, 3, 4, 5]
  .map(
    (step) => `  s${step}:
    in: {text: text${step === 1 ? "" : `, before: s${step - 1}/out`}}
    out: [out]
    run:
${indented(echo(js), 6)}`,
  )
  .join("\n")}
`;

export async function bench(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "cwl-bench-"));
  try {
    return await measure(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(folder: string): Promise<BenchRow[]> {
  const files = {
    echo: save(folder, "echo.cwl", `cwlVersion: v1.2\n${echo(false)}`),
    echoJs: save(folder, "echo-js.cwl", `cwlVersion: v1.2\n${echo(true)}`),
    chain: save(folder, "chain.cwl", chain(false)),
    chainJs: save(folder, "chain-js.cwl", chain(true)),
    scatter: save(folder, "scatter.cwl", scatter(false)),
    scatterJs: save(folder, "scatter-js.cwl", scatter(true)),
    text: save(folder, "text.json", JSON.stringify({ text: "hello" })),
    items: (count: number): string =>
      save(
        folder,
        `items-${count}.json`,
        JSON.stringify({ items: Array.from({ length: count }, (_, n) => `item ${n}`) }),
      ),
  };
  const rows: BenchRow[] = [];
  const cases: readonly [string, string, string, string?][] = [
    ["echo, cold", files.echo, files.text, "≤ 0.2 s"],
    ["echo with JavaScript, cold", files.echoJs, files.text],
    ["workflow of 5 steps", files.chain, files.text],
    ["workflow of 5 steps, JavaScript", files.chainJs, files.text],
    ["scatter of 100", files.scatter, files.items(100)],
    ["scatter of 100, JavaScript", files.scatterJs, files.items(100)],
    ["scatter of 500", files.scatter, files.items(500), "≤ 2 × bare spawns"],
    ["scatter of 500, JavaScript", files.scatterJs, files.items(500)],
  ];
  const repeat = 5;
  for (const [name, document, inputs, aim] of cases) {
    const ours = await median(repeat, () =>
      command(folder, [process.execPath, main, "run", "--no-container", "--quiet"], document, inputs),
    );
    const peer = existsSync(cwltool)
      ? await median(repeat, () => command(folder, [cwltool, "--no-container", "--quiet"], document, inputs))
      : undefined;
    rows.push(row(`cwl: ${name}`, ours, peer === undefined ? undefined : { name: "cwltool", value: peer }, aim));
  }
  const spawns = await median(repeat, () => bareSpawns(500, ["echo", "item"]));
  const fiveHundred = rows.find((item) => item.name === "cwl: scatter of 500")?.value ?? 0;
  rows.push(
    row("cwl: scatter of 500 beside bare spawns", fiveHundred, { name: "500 spawns in Node", value: spawns }, "≤ 2 ×"),
  );
  rows.push(await resident(folder, files.echo));
  rows.push(peakMemory(folder, files.scatter, files.items(5000)));
  if (whyNoContainers() === undefined) {
    rows.push(await containers(folder, files.items(100)));
  }
  return rows;
}

async function resident(folder: string, path: string): Promise<BenchRow> {
  const document = await loadDocument(path);
  const one = async (): Promise<void> => {
    await runProcess({ document, inputs: { text: "hello" }, outDir: join(folder, "resident", crypto.randomUUID()) });
  };
  await one();
  const ours = await median(20, one);
  const bare = await median(20, () => bareSpawns(1, ["echo", "hello"]));
  return {
    name: "cwl: echo in a resident process, over the bare command",
    value: round(ours - bare),
    unit: "s",
    aim: "≤ 0.010 s",
  };
}

function peakMemory(folder: string, document: string, inputs: string): BenchRow {
  const code = `process.on("exit", () => process._rawDebug(process.resourceUsage().maxRSS));`;
  const hook = save(folder, "peak.mjs", code);
  const out = execFileSync(
    "/bin/sh",
    [
      "-c",
      `"$@" 2>&1 >/dev/null | tail -1`,
      "sh",
      process.execPath,
      "--import",
      hook,
      main,
      "run",
      "--no-container",
      "--quiet",
      "--outdir",
      join(folder, "peak"),
      document,
      inputs,
    ],
    { encoding: "utf8" },
  );
  return { name: "cwl: peak memory of a scatter of 5,000", value: Math.round(Number(out.trim()) / 1024), unit: "MiB" };
}

async function containers(folder: string, inputs: string): Promise<BenchRow> {
  const environment = { ...process.env, ...prepareContainers(join(folder, "containers")) };
  const document = save(folder, "scatter-container.cwl", scatter(false, true));
  const args = ["run", "--rm", "--network=none", "--log-driver=none", "docker.io/alpine:latest", "echo", "item"];
  const ours = await time(() =>
    command(folder, [process.execPath, main, "run", "--quiet"], document, inputs, environment),
  );
  const bare = await time(() => bareSpawns(100, ["podman", ...args], environment));
  return row("cwl: scatter of 100 in containers", ours, { name: "100 × podman run", value: bare }, "≤ 1.3 ×");
}

/** Starts the same command so many times, as many at once as the engine would. */
async function bareSpawns(count: number, [file = "", ...args]: readonly string[], env = process.env): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await new Promise((resolve, reject) => {
        spawn(file, args, { stdio: "ignore", env }).once("error", reject).once("close", resolve);
      });
    }
  };
  await Promise.all([worker(), worker()]);
}

function command(
  folder: string,
  runner: readonly string[],
  document: string,
  inputs: string,
  env = process.env,
): Promise<void> {
  const out = join(folder, "out");
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out);
  const [file = "", ...args] = runner;
  return new Promise((resolve, reject) => {
    execFile(
      file,
      [...args, "--outdir", out, document, inputs],
      { env, maxBuffer: 1 << 28 },
      (error, _stdout, stderr) => {
        if (error === null) {
          resolve();
        } else {
          reject(new Error(stderr));
        }
      },
    );
  });
}

function save(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function time(action: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await action();
  return (performance.now() - started) / 1000;
}

async function median(count: number, action: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    times.push(await time(action));
  }
  return times.sort((a, b) => a - b)[Math.floor(count / 2)] ?? 0;
}

function row(
  name: string,
  value: number,
  peer: { name: string; value: number } | undefined,
  aim: string | undefined,
): BenchRow {
  return {
    name,
    value: round(value),
    unit: "s",
    ...(aim === undefined ? {} : { aim }),
    ...(peer === undefined
      ? {}
      : { peer: { name: peer.name, value: round(peer.value) }, ratio: round(value / peer.value) }),
  };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
