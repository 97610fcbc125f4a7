import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { CwlError } from "../errors.ts";
import type { Executor } from "../executors/executor.ts";
import type { Evaluator } from "../expressions/evaluate.ts";
import type { ExpressionContext } from "../expressions/parameter-reference.ts";
import type { CommandLineTool } from "../model/process.ts";
import type { RunContext } from "./context.ts";
import type { Requirements } from "./requirements.ts";
import { amountOf } from "./runtime.ts";

const CUDA = "http://commonwl.org/cwltool#CUDARequirement";
const PROBE_TIMEOUT_MS = 20_000;

interface Graphics {
  readonly devices: number;
  /** Newest version of CUDA that the driver takes. */
  readonly version: string;
}

/**
 * How many graphics processors a tool gets by cwltool:CUDARequirement. A requirement that this machine does not meet is refused;
 * for a hint the tool runs without, and its log says so. An executor that looks for such a machine itself is not asked.
 */
export async function graphicsFor(
  tool: CommandLineTool,
  requirements: Requirements,
  where: {
    readonly evaluator: Evaluator;
    readonly expressions: ExpressionContext;
    readonly executor: Executor;
    readonly context: RunContext;
    readonly step: string;
  },
): Promise<number> {
  const requirement = requirements.find(CUDA);
  if (requirement === undefined) {
    return 0;
  }
  const { context, step, executor, evaluator, expressions } = where;
  const count = async (name: string): Promise<number | undefined> =>
    await amountOf(requirement.fields[name], name, evaluator, expressions, "cwltool:CUDARequirement");
  const devices = Math.ceil((await count("cudaDeviceCountMin")) ?? (await count("cudaDeviceCountMax")) ?? 1);
  if (executor.placesGraphics === true) {
    return devices;
  }
  const { cudaVersionMin: version } = requirement.fields;
  const why = whyNot(await findGraphics(context), devices, typeof version === "string" ? version : "0");
  if (why === undefined) {
    return devices;
  }
  if (requirement.required) {
    throw new CwlError("unsupported", `${tool.name} requires ${devices} CUDA graphics processors, but ${why}`);
  }
  context.emit({ type: "step-log", step, text: `Running without CUDA: ${why}\n` });
  return 0;
}

function whyNot(found: Graphics | undefined, devices: number, version: string): string | undefined {
  if (found === undefined) {
    return "nvidia-smi finds none on this machine";
  }
  if (found.devices < devices) {
    return `this machine has ${found.devices}`;
  }
  return isOlder(found.version, version)
    ? `the driver takes CUDA ${found.version}, and ${version} is the oldest that will do`
    : undefined;
}

function isOlder(version: string, minimum: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = minimum.split(".").map(Number);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}

const found = new WeakMap<RunContext, Promise<Graphics | undefined>>();

function findGraphics(context: RunContext): Promise<Graphics | undefined> {
  let graphics = found.get(context);
  if (graphics === undefined) {
    graphics = callDriver(context.path);
    found.set(context, graphics);
  }
  return graphics;
}

async function callDriver(path: string): Promise<Graphics | undefined> {
  const command = path
    .split(":")
    .map((folder) => join(folder, "nvidia-smi"))
    .find((file) => existsSync(file));
  if (command === undefined) {
    return undefined;
  }
  const text = await new Promise<string>((resolve) => {
    // A driver that does not answer is none.
    execFile(command, ["-q", "-x"], { timeout: PROBE_TIMEOUT_MS }, (error, stdout) =>
      resolve(error === null ? stdout : ""),
    );
  });
  const [, devices] = /<attached_gpus>\s*(\d+)\s*<\/attached_gpus>/.exec(text) ?? [];
  const [, version] = /<cuda_version>\s*([\d.]+)\s*<\/cuda_version>/.exec(text) ?? [];
  return devices === undefined || version === undefined ? undefined : { devices: Number(devices), version };
}
