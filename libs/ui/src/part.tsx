import { Component, type ComponentType, type LazyExoticComponent, type ReactNode, Suspense, lazy } from "react";

import { notifications } from "@mantine/notifications";

import { pendingNavigation } from "./pending-navigation.ts";
import { ErrorNote, Loading } from "./states.tsx";

const ATTEMPTS = 3;
const WAIT = 700;

/** As `lazy`, but asks again when a file did not come: one lost connection is no broken page. */
// oxlint-disable-next-line typescript/no-explicit-any -- as `lazy`: a component of any properties
export function lazyPart<T extends ComponentType<any>>(
  load: () => Promise<{ readonly default: T }>,
): LazyExoticComponent<T> {
  return lazy(() => loadWithRetry(load));
}

/** Loads a part of the app, several times if need be. */
export async function loadWithRetry<T>(load: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await load();
    } catch (error) {
      if (attempt >= ATTEMPTS) {
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, WAIT * attempt));
    }
  }
}

/** Milliseconds between two attempts to load a page while there is no connection. */
const RETRY_MS = 1500;

/**
 * The `lazy` of a route: while there is no connection the page that is open stays, with a note, and the other one opens when the
 * connection is back. A file that is gone though the service answers belongs to a replaced version: that is an error.
 */
export async function loadPage<T>(load: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await loadWithRetry(load);
    } catch (error) {
      if (await isReachable()) {
        throw error;
      }
      notifications.show({
        id: OFFLINE_NOTE,
        title: "No connection",
        message: "The page opens when the connection is back.",
        color: "yellow",
        autoClose: false,
        withCloseButton: false,
        role: "status",
      });
      while (!(await isReachable())) {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
      notifications.hide(OFFLINE_NOTE);
      if (pendingNavigation.address !== undefined) {
        // Browsers remember that a module failed: the page is opened by a new document.
        window.location.assign(pendingNavigation.address);
        await new Promise(() => {});
      }
    }
  }
}

const OFFLINE_NOTE = "swath-offline";

/** Whether the service of this page answers at all. */
async function isReachable(): Promise<boolean> {
  try {
    await fetch("/", { method: "HEAD", cache: "no-store" });
    return true;
  } catch {
    return false;
  }
}

interface PartProps {
  /** What this is, for those who wait and when it cannot be shown: "the map". */
  readonly what: string;
  readonly children: ReactNode;
}

/** A part of a page that is loaded when it is shown. When it breaks, the rest of the page stays. */
export function Part({ what, children }: PartProps) {
  return (
    <PartBoundary what={what}>
      <Suspense fallback={<Loading what={`Loading ${what}`} />}>{children}</Suspense>
    </PartBoundary>
  );
}

class PartBoundary extends Component<PartProps, { readonly error: unknown }> {
  override readonly state: { readonly error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    return error === undefined ? (
      this.props.children
    ) : (
      <ErrorNote error={error} title={`This cannot be shown: ${this.props.what}`} />
    );
  }
}
