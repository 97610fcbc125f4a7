// cwltool:CUDARequirement on a machine with graphics processors, as its driver's program says, and on one without.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Executor } from "../executors/executor.ts";
import { createProcessExecutor } from "../executors/process.ts";
import { loadDocument } from "../load/load.ts";
import { runProcess } from "./run-process.ts";

const scratch = mkdtempSync(join(tmpdir(), "cwl-graphics-"));
after(() => rmSync(scratch, { recursive: true, force: true }));

/** Runs a tool in a stand-in for a container, on a machine with so many devices; gives how many were asked for, and what was said. */
async function run(
  machine: { readonly devices: number; readonly version: string } | undefined,
  fields: string,
  { kind = "requirements", places = false } = {},
): Promise<{ gpus: number | undefined; said: string }> {
  const bin = join(scratch, `bin-${String(machine?.devices)}`);
  mkdirSync(bin, { recursive: true });
  if (machine !== undefined) {
    const xml = `<nvidia_smi_log><cuda_version>${machine.version}</cuda_version><attached_gpus>${machine.devices}</attached_gpus></nvidia_smi_log>`;
    writeFileSync(join(bin, "nvidia-smi"), `#!/bin/sh\necho '${xml}'\n`);
    chmodSync(join(bin, "nvidia-smi"), 0o755);
  }
  const text = `cwlVersion: v1.2
$namespaces: {cwltool: "http://commonwl.org/cwltool#"}
class: CommandLineTool
requirements: {InlineJavascriptRequirement: {}}
hints: {DockerRequirement: {dockerPull: x}}
baseCommand: "true"
inputs: {n: {type: int, default: 3}}
outputs: []
`.replace(
    `${kind}: {`,
    `${kind}: {cwltool:CUDARequirement: {cudaVersionMin: "11.4", cudaComputeCapability: "3.0"${fields}}, `,
  );
  let [gpus, said]: [number | undefined, string] = [undefined, ""];
  const local = createProcessExecutor();
  const container: Executor = {
    ...local,
    placesGraphics: places,
    run: async (job, controls) => {
      gpus = job.container?.gpus;
      return await local.run(job, controls);
    },
    sharesFileSystem: false,
  };
  const document = await loadDocument(`file://${scratch}/doc.cwl`, { text });
  await runProcess({
    document,
    inputs: {},
    outDir: join(scratch, "out"),
    executors: { host: local, container },
    path: `${bin}:/usr/bin:/bin`,
    onEvent: (event) => (said += event.type === "step-log" ? event.text : ""),
  });
  return { gpus, said };
}

test("what a tool asks for is given where it is there", async () => {
  const machine = { devices: 4, version: "12.2" };
  assert.equal((await run(machine, "")).gpus, 1);
  assert.equal((await run(machine, ", cudaDeviceCountMin: 2, cudaDeviceCountMax: 8")).gpus, 2);
  assert.equal((await run(machine, ", cudaDeviceCountMin: $(inputs.n)")).gpus, 3);
});

test("a requirement that the machine does not meet is refused, a hint is passed over", async () => {
  await assert.rejects(run(undefined, ""), /requires 1 CUDA graphics processors, but nvidia-smi finds none/);
  await assert.rejects(run({ devices: 1, version: "12.2" }, ", cudaDeviceCountMin: 2"), /but this machine has 1/);
  await assert.rejects(run({ devices: 1, version: "11.3" }, ""), /takes CUDA 11\.3, and 11\.4 is the oldest/);
  const { gpus, said } = await run(undefined, "", { kind: "hints" });
  assert.equal(gpus, 0);
  assert.match(said, /Running without CUDA/);
});

test("an executor that finds machines itself is asked for them", async () => {
  assert.equal((await run(undefined, ", cudaDeviceCountMin: 2", { places: true })).gpus, 2);
});
