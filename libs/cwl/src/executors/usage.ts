import { readFile } from "node:fs/promises";
import type { ResourceUsage } from "./executor.ts";

/** Linux counts processor time in hundredths of a second on every architecture we run on. */
const ticksPerSecond = 100;

/**
 * Watches a process while it runs and keeps the largest memory and the processor time that were seen. The first look
 * comes after a tenth of a second and they get rarer, so short jobs cost nothing and report nothing.
 */
export class UsageSampler {
  private readonly pid: number | undefined;
  private timer: NodeJS.Timeout | undefined;
  private wait = 100;
  private cpuSeconds: number | undefined;
  private peakMemoryBytes: number | undefined;

  constructor(pid: number | undefined) {
    this.pid = pid;
    this.schedule();
  }

  stop(): Pick<ResourceUsage, "cpuSeconds" | "peakMemoryBytes"> {
    clearTimeout(this.timer);
    this.timer = undefined;
    return { cpuSeconds: this.cpuSeconds, peakMemoryBytes: this.peakMemoryBytes };
  }

  private schedule(): void {
    this.timer = setTimeout(() => {
      void this.sample().then(() => {
        if (this.timer !== undefined) {
          this.wait = Math.min(this.wait * 2, 5000);
          this.schedule();
        }
      });
    }, this.wait);
    this.timer.unref();
  }

  private async sample(): Promise<void> {
    try {
      const [status, stat] = await Promise.all([
        readFile(`/proc/${this.pid}/status`, "latin1"),
        readFile(`/proc/${this.pid}/stat`, "latin1"),
      ]);
      const peak = Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
      this.peakMemoryBytes = Math.max(this.peakMemoryBytes ?? 0, peak);
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      // utime, stime and those of children that were waited for.
      const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index] ?? 0), 0);
      this.cpuSeconds = Math.max(this.cpuSeconds ?? 0, ticks / ticksPerSecond);
    } catch {
      // The process has ended; what was seen last stands.
    }
  }
}
