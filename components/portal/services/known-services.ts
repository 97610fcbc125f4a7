/** A service that the portal shows. */
export interface KnownService {
  /** First label of its host. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Path of the page that people open; nothing where it has none. */
  readonly page?: string;
  /** Path of its interactive description. */
  readonly docs?: string;
  /** Whether pages may send it requests, in the name of who is logged in. */
  readonly forwarded?: true;
  /** For administrators rather than for everybody. */
  readonly admin?: true;
  /** Path that is asked to find out whether it is well; any answer below 500 says so. */
  readonly health: string;
}

/** Everything with a host of its own that a person may want to reach, in the order of the home page. */
export const KNOWN_SERVICES: readonly KnownService[] = [
  {
    id: "ades",
    forwarded: true,
    title: "Processing",
    description: "Deploy application packages, run them, follow the jobs (OGC API Processes)",
    docs: "/docs",
    health: "/healthz",
  },
  {
    id: "workspace-api",
    forwarded: true,
    title: "Workspaces",
    description: "A private space for data and results of every user",
    docs: "/docs",
    health: "/healthz",
  },
  {
    id: "resource-catalogue",
    forwarded: true,
    title: "Resource catalogue",
    description: "Search for scenes, collections and services",
    page: "/",
    health: "/healthz",
  },
  {
    id: "data-access",
    forwarded: true,
    title: "Data access",
    description: "Look at scenes and fetch parts of them",
    page: "/",
    health: "/healthz",
  },
  {
    id: "registration-api",
    forwarded: true,
    title: "Registration",
    description: "Make data and services known to the catalogue",
    docs: "/docs",
    health: "/healthz",
  },
  {
    id: "application-hub",
    forwarded: true,
    title: "Application hub",
    description: "Notebooks and applications beside the data",
    page: "/",
    health: "/healthz",
  },
  {
    id: "pde",
    forwarded: true,
    title: "Development environment",
    description: "Editor, notebooks and tools for application packages",
    page: "/",
    health: "/healthz",
  },
  {
    id: "objstore-console",
    title: "Object storage",
    description: "Buckets, keys and objects in a browser (S3)",
    page: "/",
    health: "/healthz",
  },
  {
    id: "registry",
    title: "Image registry",
    description: "Container images of application packages",
    page: "/",
    health: "/healthz",
  },
  {
    id: "identity",
    title: "Identity",
    description: "Users, clients, and who may do what",
    page: "/console",
    admin: true,
    health: "/healthz",
  },
  {
    id: "auth",
    title: "Login service",
    description: "Users, clients, and who may do what",
    page: "/console",
    admin: true,
    health: "/healthz",
  },
  {
    id: "identity-api",
    title: "Identity API",
    description: "Clients and protected resources for programs",
    docs: "/docs",
    admin: true,
    health: "/healthz",
  },
  {
    id: "dummy-service",
    title: "Dummy service",
    description: "Shows a request as it arrives, to try protection",
    page: "/",
    health: "/healthz",
  },
];
