/** Ports of hub and proxy that pods of servers reach. */
export const HUB_PORTS = {
  apiPort: 8080,
  storagePort: 9000,
  egressPorts: { platform: 3128, internet: 3129 },
} as const;
