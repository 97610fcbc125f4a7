/** Says on a terminal who changes a deployment on Kubernetes, when that has to be waited for. */
export function sayWaiting(stderr: NodeJS.WriteStream): (holder: string) => void {
  return (holder) =>
    void stderr.write(`${holder} changes this deployment at present; waiting until that has ended, or died ...\n`);
}
