import { uploadFile } from "./upload-file.ts";

export interface Upload {
  readonly id: number;
  readonly bucket: string;
  readonly key: string;
  readonly size: number;
  readonly sent: number;
  readonly state: "waiting" | "sending" | "done" | "failed" | "stopped";
  readonly error?: unknown;
}

/** What a page sees of all uploads. A new value whenever something changed. */
export interface QueueState {
  readonly uploads: readonly Upload[];
  readonly active: number;
  readonly sent: number;
  readonly size: number;
  /** Bytes a second, over the last seconds. */
  readonly speed: number;
}

interface Requested {
  readonly key: string;
  readonly file: File;
}

const AT_ONCE = 3;
/** Pages are told this often at most: ten thousand small files would keep them busy otherwise. */
const TELL_EVERY = 150;
const EMPTY: QueueState = { uploads: [], active: 0, sent: 0, size: 0, speed: 0 };

/** The uploads of this window. They go on while its pages change, and end with it. */
export class UploadQueue {
  #uploads: Upload[] = [];
  readonly #files = new Map<number, { file: File; stop: AbortController }>();
  #state: QueueState = EMPTY;
  readonly #listeners = new Set<() => void>();
  #telling: ReturnType<typeof setTimeout> | undefined;
  #nextId = 1;
  #samples: { at: number; sent: number }[] = [];
  readonly #onDone: (upload: Upload) => void;

  constructor(onDone: (upload: Upload) => void) {
    this.#onDone = onDone;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly read = (): QueueState => this.#state;

  add(bucket: string, files: readonly Requested[]): void {
    for (const { key, file } of files) {
      const id = this.#nextId++;
      this.#files.set(id, { file, stop: new AbortController() });
      this.#uploads.push({ id, bucket, key, size: file.size, sent: 0, state: "waiting" });
    }
    this.#next();
  }

  stop(id: number): void {
    this.#files.get(id)?.stop.abort();
    const upload = this.#uploads.find((each) => each.id === id);
    if (upload?.state === "waiting") {
      this.#change(id, { state: "stopped" });
    }
  }

  stopAll(): void {
    for (const { id, state } of this.#uploads) {
      if (state === "waiting" || state === "sending") {
        this.stop(id);
      }
    }
  }

  retry(id: number): void {
    const held = this.#files.get(id);
    if (held !== undefined) {
      this.#files.set(id, { file: held.file, stop: new AbortController() });
      this.#change(id, { state: "waiting", sent: 0, error: undefined });
      this.#next();
    }
  }

  /** Forgets all that have ended. */
  clear(): void {
    this.#uploads = this.#uploads.filter(({ id, state }) => {
      const isOpen = state === "waiting" || state === "sending";
      if (!isOpen) {
        this.#files.delete(id);
      }
      return isOpen;
    });
    this.#tell();
  }

  #next(): void {
    const sending = this.#uploads.filter(({ state }) => state === "sending").length;
    for (const { id } of this.#uploads.filter(({ state }) => state === "waiting").slice(0, AT_ONCE - sending)) {
      void this.#send(id);
    }
    this.#tell();
  }

  async #send(id: number): Promise<void> {
    const upload = this.#uploads.find((each) => each.id === id);
    const held = this.#files.get(id);
    if (upload === undefined || held === undefined) {
      return;
    }
    this.#change(id, { state: "sending" });
    try {
      await uploadFile({
        bucket: upload.bucket,
        key: upload.key,
        file: held.file,
        onProgress: (sent) => this.#change(id, { sent }),
        signal: held.stop.signal,
      });
      this.#change(id, { state: "done", sent: upload.size });
      this.#onDone(upload);
    } catch (error) {
      this.#change(id, held.stop.signal.aborted ? { state: "stopped" } : { state: "failed", error });
    }
    this.#next();
  }

  #change(id: number, change: Partial<Upload>): void {
    const at = this.#uploads.findIndex((each) => each.id === id);
    const upload = this.#uploads[at];
    if (upload !== undefined) {
      this.#uploads[at] = { ...upload, ...change };
      this.#tell();
    }
  }

  #tell(): void {
    if (this.#telling !== undefined) {
      return;
    }
    this.#telling = setTimeout(() => {
      this.#telling = undefined;
      this.#state = this.#summarise();
      for (const listener of this.#listeners) {
        listener();
      }
    }, TELL_EVERY);
  }

  #summarise(): QueueState {
    const counted = this.#uploads.filter(({ state }) => state !== "stopped" && state !== "failed");
    const sent = counted.reduce((sum, upload) => sum + upload.sent, 0);
    const now = performance.now();
    this.#samples = [...this.#samples.filter(({ at }) => now - at < 5000), { at: now, sent }];
    const first = this.#samples[0];
    const seconds = first === undefined ? 0 : (now - first.at) / 1000;
    return {
      uploads: [...this.#uploads],
      active: this.#uploads.filter(({ state }) => state === "waiting" || state === "sending").length,
      sent,
      size: counted.reduce((sum, upload) => sum + upload.size, 0),
      speed: seconds > 0.5 && first !== undefined ? Math.max(0, (sent - first.sent) / seconds) : 0,
    };
  }
}
