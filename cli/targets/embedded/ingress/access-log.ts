import { write } from "node:fs";

/** One request, as it is logged. Paths are without query: queries carry signatures and codes. */
export interface AccessEntry {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly bytes: number;
  readonly service: string | undefined;
  readonly client: string;
  readonly requestId: string | undefined;
}

const FLUSH_MILLISECONDS = 200;
const FLUSH_CHARACTERS = 64 * 1024;
const MAX_WAITING_CHARACTERS = 1024 * 1024;

/**
 * Writes JSON lines in the background, many in one write. A log that cannot be written (full disk, reader that stopped)
 * costs lines, counted in `dropped`, and never a request.
 */
export class AccessLog {
  dropped = 0;
  readonly #fd: number;
  #waiting = "";
  #lines = 0;
  #writing = false;
  #timer: NodeJS.Timeout | undefined;
  #second = 0;
  #time = "";

  constructor(fd: number) {
    this.#fd = fd;
  }

  add(entry: AccessEntry): void {
    if (this.#waiting.length > MAX_WAITING_CHARACTERS) {
      this.dropped++;
      return;
    }
    this.#waiting += `{"level":"info","time":"${this.#now()}","name":"ingress","msg":"request","method":${JSON.stringify(entry.method)},"host":${JSON.stringify(entry.host)},"path":${JSON.stringify(entry.path)},"status":${entry.status},"ms":${entry.ms},"bytes":${entry.bytes},"service":${JSON.stringify(entry.service ?? null)},"client":"${entry.client}","requestId":${JSON.stringify(entry.requestId ?? null)}}\n`;
    this.#lines++;
    if (this.#waiting.length > FLUSH_CHARACTERS) {
      this.#flush();
    } else {
      this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MILLISECONDS);
    }
  }

  /** Writes what waits, as far as that is possible now, and then resolves. */
  close(): Promise<void> {
    clearTimeout(this.#timer);
    return new Promise((resolve) => {
      // A reader that stopped must not hold the process back.
      const deadline = setTimeout(resolve, 500);
      const finish = () => {
        if (this.#writing) {
          setTimeout(finish, 5);
        } else if (this.#waiting === "") {
          clearTimeout(deadline);
          resolve();
        } else {
          this.#flush();
          setTimeout(finish, 5);
        }
      };
      finish();
    });
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing || this.#waiting === "") {
      return;
    }
    this.#writing = true;
    const lines = this.#lines;
    const text = Buffer.from(this.#waiting);
    this.#waiting = "";
    this.#lines = 0;
    this.#writeAll(text, lines, 0);
  }

  #writeAll(text: Buffer, lines: number, attempts: number): void {
    write(this.#fd, text, (error, written) => {
      if (error?.code === "EAGAIN" && attempts < 50) {
        setTimeout(() => this.#writeAll(text, lines, attempts + 1), 20).unref();
        return;
      }
      if (error === null && written < text.length) {
        this.#writeAll(text.subarray(written), lines, attempts);
        return;
      }
      this.#writing = false;
      if (error !== null) {
        this.dropped += lines;
      }
      if (this.#waiting !== "") {
        this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MILLISECONDS);
      }
    });
  }

  /** The time to the second, rendered once a second. */
  #now(): string {
    const second = Math.floor(Date.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#time = new Date(second * 1000).toISOString();
    }
    return this.#time;
  }
}
