import { Anchor, Breadcrumbs, Text } from "@mantine/core";
import { Link } from "react-router";

interface TrailProps {
  readonly steps: readonly { readonly to?: string; readonly label: string }[];
}

/** Where a page is. */
export function Trail({ steps }: TrailProps) {
  return (
    <nav aria-label="Where this page is">
      <Breadcrumbs separatorMargin="xs">
        {steps.map(({ to, label }) =>
          to === undefined ? (
            <Text key={label} size="sm" c="dimmed">
              {label}
            </Text>
          ) : (
            <Anchor key={label} component={Link} to={to} size="sm">
              {label}
            </Anchor>
          ),
        )}
      </Breadcrumbs>
    </nav>
  );
}
