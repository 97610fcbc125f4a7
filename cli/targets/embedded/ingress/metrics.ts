import { Counter, Gauge, type Registry } from "prom-client";

const BUCKETS = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60] as const;

/**
 * Counts in plain numbers while requests run and gives them to Prometheus when it asks: a labelled counter of the
 * library costs more per request than parsing it.
 */
export class IngressMetrics {
  connections = 0;
  refusedConnections = 0;
  retries = 0;
  faults = 0;
  bytesIn = 0;
  bytesOut = 0;
  readonly #requests = new Map<string, Map<number, number>>();
  readonly #durations = new Map<string, { buckets: number[]; sum: number; count: number }>();

  count(service: string, status: number, seconds: number): void {
    let statuses = this.#requests.get(service);
    if (statuses === undefined) {
      statuses = new Map();
      this.#requests.set(service, statuses);
      this.#durations.set(service, { buckets: BUCKETS.map(() => 0), sum: 0, count: 0 });
    }
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const duration = this.#durations.get(service);
    if (duration !== undefined) {
      duration.sum += seconds;
      duration.count++;
      const bucket = BUCKETS.findIndex((limit) => seconds <= limit);
      if (bucket !== -1) {
        duration.buckets[bucket] = (duration.buckets[bucket] ?? 0) + 1;
      }
    }
  }

  register(registry: Registry, droppedLogLines: () => number, held: () => number): void {
    const registers = [registry];
    const requests = this.#requests;
    const durations = this.#durations;
    // oxlint-disable-next-line no-new -- the registry keeps it
    new Counter({
      name: "ingress_requests_total",
      help: "Requests answered",
      labelNames: ["service", "code"],
      registers,
      collect() {
        this.reset();
        for (const [service, statuses] of requests) {
          for (const [code, count] of statuses) {
            this.inc({ service, code }, count);
          }
        }
      },
    });
    const parts: Readonly<Record<string, (duration: { sum: number; count: number }) => number>> = {
      sum: ({ sum }) => sum,
      count: ({ count }) => count,
    };
    for (const [part, valueOf] of Object.entries(parts)) {
      // oxlint-disable-next-line no-new -- the registry keeps it
      new Counter({
        name: `ingress_request_duration_seconds_${part}`,
        help: "Seconds from a request's head to the end of its answer",
        labelNames: ["service"],
        registers,
        collect() {
          this.reset();
          for (const [service, duration] of durations) {
            this.inc({ service }, valueOf(duration));
          }
        },
      });
    }
    // oxlint-disable-next-line no-new -- the registry keeps it
    new Counter({
      name: "ingress_request_duration_seconds_bucket",
      help: "Requests that took at most `le` seconds",
      labelNames: ["service", "le"],
      registers,
      collect() {
        this.reset();
        for (const [service, { buckets, count }] of durations) {
          let total = 0;
          for (const [index, limit] of BUCKETS.entries()) {
            total += buckets[index] ?? 0;
            this.inc({ service, le: limit }, total);
          }
          this.inc({ service, le: "+Inf" }, count);
        }
      },
    });
    const totals: Readonly<Record<string, [string, () => number]>> = {
      ingress_refused_connections_total: ["Connections over a limit", () => this.refusedConnections],
      request_faults_total: [
        "Connections ended by an error that nothing caught: defects of the ingress",
        () => this.faults,
      ],
      ingress_upstream_retries_total: ["Requests sent again or held for their pod", () => this.retries],
      ingress_received_bytes_total: ["Bytes of request bodies", () => this.bytesIn],
      ingress_sent_bytes_total: ["Bytes of answer bodies", () => this.bytesOut],
      ingress_access_log_dropped_lines_total: ["Lines that could not be written", droppedLogLines],
    };
    for (const [name, [help, value]] of Object.entries(totals)) {
      // oxlint-disable-next-line no-new -- the registry keeps it
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset();
          this.inc(value());
        },
      });
    }
    const gauges: Readonly<Record<string, [string, () => number]>> = {
      ingress_open_connections: ["Connections of clients", () => this.connections],
      ingress_held_requests: ["Requests that wait for their pod", held],
    };
    for (const [name, [help, value]] of Object.entries(gauges)) {
      // oxlint-disable-next-line no-new -- the registry keeps it
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(value());
        },
      });
    }
  }
}
