import { Button } from "@mantine/core";
import { Empty } from "@swath/ui";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "react-router";

interface NothingThereProps {
  readonly title: string;
  readonly icon: LucideIcon;
  /** Where there is something. */
  readonly to: string;
  readonly label: string;
  readonly children: ReactNode;
}

/** Where something was asked for by its address that is not there, or is not for who asks. */
export function NotFoundState({ title, icon, to, label, children }: NothingThereProps) {
  return (
    <Empty
      title={title}
      icon={icon}
      action={
        <Button component={Link} to={to} variant="default">
          {label}
        </Button>
      }
    >
      {children}
    </Empty>
  );
}
