/** What an operator has to look at in the metrics of a pod: defects that a number alone would not show. */
export function findAlarms(pod: string, metrics: string): readonly string[] {
  const faults = readValue(metrics, "request_faults_total");
  return faults > 0
    ? [
        `${pod}: ${faults} ${faults === 1 ? "request was" : "requests were"} ended by an error that nothing caught, a defect of the service; swath logs ${pod} | grep faultId shows the cause`,
      ]
    : [];
}

function readValue(metrics: string, name: string): number {
  const [, value] = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(metrics) ?? [];
  return Number(value ?? 0);
}
