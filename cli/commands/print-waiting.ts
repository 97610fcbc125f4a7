/** Says on a terminal who changes a deployment on Kubernetes, when that has to be waited for. */
export function printWaiting(stderr: NodeJS.WriteStream): (holder: string) => void {
  return (holder) => void stderr.write(`waiting for the deployment lock held by ${holder} ...\n`);
}
