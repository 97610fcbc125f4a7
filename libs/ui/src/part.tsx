import { Component, type ComponentType, type LazyExoticComponent, type ReactNode, Suspense, lazy } from "react";

import { ErrorNote, Loading } from "./states.tsx";

const ATTEMPTS = 3;
const WAIT = 700;

/** As `lazy`, but asks again when a file did not come: one lost connection is no broken page. */
// oxlint-disable-next-line typescript/no-explicit-any -- as `lazy`: a component of any properties
export function lazyPart<T extends ComponentType<any>>(
  load: () => Promise<{ readonly default: T }>,
): LazyExoticComponent<T> {
  return lazy(() => insist(load));
}

/** Loads a part of the app, several times if need be. */
export async function insist<T>(load: () => Promise<T>): Promise<T> {
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
