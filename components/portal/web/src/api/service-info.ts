/** How a service does. */
interface ServiceHealth {
  readonly status: "up" | "down";
  readonly reason?: string;
  readonly ms?: number;
  readonly checkedAt: string;
}

/** A service of the deployment. */
export interface ServiceInfo {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly url: string;
  readonly page?: string;
  readonly docs?: string;
  readonly admin: boolean;
  readonly health?: ServiceHealth;
}
