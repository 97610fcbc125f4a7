import { CwlError } from "../errors.ts";

/** What loading a document with all that it refers to may cost. */
export interface LoadLimits {
  /** Largest text of one file, in bytes. */
  readonly documentBytes: number;
  /** All texts together, in bytes. */
  readonly totalBytes: number;
  /** Most files. */
  readonly documents: number;
  /** Most values, after aliases and imports are expanded. */
  readonly nodes: number;
  /** Most tokens of one YAML text, ends of lines too; texts in JSON are read by another parser, which takes far less time. */
  readonly yamlTokens: number;
  readonly depth: number;
  /** Most processes that are built: one that sees other types through its parents is another. */
  readonly processes: number;
  /** Most steps that one run of the process can have, scatter aside. */
  readonly steps: number;
  readonly milliseconds: number;
}

const MIB = 1024 * 1024;

export const defaultLoadLimits: LoadLimits = {
  documentBytes: 16 * MIB,
  totalBytes: 64 * MIB,
  documents: 1000,
  nodes: 1_000_000,
  yamlTokens: 4_000_000,
  depth: 200,
  processes: 20_000,
  steps: 100_000,
  milliseconds: 60_000,
};

/** How long loading may hold the thread before others get a turn. */
const MAX_TURN_MS = 10;

/** Objects between two looks at the clock. */
const TICKS_PER_LOOK = 256;

/** Counts what one load has cost and ends it with `limit` when that is too much. */
export class Budget {
  readonly limits: LoadLimits;
  private documents = 0;
  private bytes = 0;
  private nodes = 0;
  private processes = 0;
  private ticks = 0;
  private readonly deadline: number;
  private turnStarted: number;

  constructor(limits: LoadLimits) {
    this.limits = limits;
    this.turnStarted = performance.now();
    this.deadline = this.turnStarted + limits.milliseconds;
  }

  takeDocument(uri: string): void {
    this.documents += 1;
    if (this.documents > this.limits.documents) {
      throw tooMuch(`it refers to more than ${this.limits.documents} files`, uri);
    }
    this.checkTime(uri);
  }

  takeText(text: string, uri: string): void {
    this.bytes += text.length;
    if (this.bytes > this.limits.totalBytes) {
      throw tooMuch(`its files have more than ${this.limits.totalBytes} characters together`, uri);
    }
  }

  takeNodes(count: number, uri: string): void {
    this.nodes += count;
    if (this.nodes > this.limits.nodes) {
      throw tooMuch(
        `it expands to more than ${this.limits.nodes} values`,
        uri,
        "imports and aliases that refer to others grow quickly",
      );
    }
  }

  takeProcess(uri: string): void {
    this.processes += 1;
    if (this.processes > this.limits.processes) {
      throw tooMuch(`it comes to more than ${this.limits.processes} processes`, uri);
    }
  }

  /** Called for every object that is built. */
  tick(uri: string): void {
    this.ticks += 1;
    if (this.ticks % TICKS_PER_LOOK === 0) {
      this.checkTime(uri);
    }
  }

  checkTime(uri: string): void {
    if (performance.now() > this.deadline) {
      throw tooMuch(`loading it takes longer than ${this.limits.milliseconds} ms`, uri);
    }
  }

  /** Lets the thread do its other work when loading has held it for a while. */
  async pause(uri: string): Promise<void> {
    this.checkTime(uri);
    if (performance.now() - this.turnStarted > MAX_TURN_MS) {
      await new Promise((resolve) => setImmediate(resolve));
      this.turnStarted = performance.now();
    }
  }
}

function tooMuch(message: string, file: string, hint?: string): CwlError {
  return new CwlError("limit", [
    {
      severity: "error",
      message: `the document is too large: ${message}`,
      file,
      ...(hint === undefined ? {} : { hint }),
    },
  ]);
}
