import { AppShell, Box, Burger, Group, NavLink, ScrollArea, Text, VisuallyHidden } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { LucideIcon } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { Link, Outlet, useLocation, useNavigation } from "react-router";

import { Brand } from "./brand.tsx";
import { ColorSchemeSwitch } from "./color-scheme-switch.tsx";
import classes from "./shell.module.css";
import { type ShellUser, UserMenu } from "./user-menu.tsx";

/** One line of the navigation. */
export interface ShellLink {
  readonly to: string;
  readonly label: string;
  readonly icon?: LucideIcon;
  /** Stands for its own address only, not for all below it. */
  readonly exact?: boolean;
  /** Shown at the right: a count, a badge. */
  readonly aside?: ReactNode;
}

interface ShellProps {
  /** What this app is, beside the product's name: "Object storage". */
  readonly title: string;
  readonly links: readonly ShellLink[];
  readonly user?: ShellUser | undefined;
  /** Further things in the header, left of the user. */
  readonly header?: ReactNode;
  /** Below the navigation. */
  readonly footer?: ReactNode;
  /** The page; the route's outlet when left out. */
  readonly children?: ReactNode;
}

/** The frame of an app: header, navigation, the page. */
export function Shell({ title, links, user, header, footer, children }: ShellProps) {
  const [opened, { toggle, close }] = useDisclosure(false);
  const { pathname } = useLocation();
  const isLoading = useNavigation().state === "loading";
  const main = useRef<HTMLElement>(null);
  const shown = useRef(pathname);
  useEffect(() => {
    // A reader of the screen hears the new page; the first one is announced by itself.
    if (shown.current !== pathname) {
      shown.current = pathname;
      close();
      main.current?.focus({ preventScroll: true });
      window.scrollTo(0, 0);
    }
  }, [pathname, close]);
  const current = findCurrent(links, pathname);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 224, breakpoint: "sm", collapsed: { mobile: !opened } }}
      padding={{ base: "sm", sm: "lg" }}
    >
      <a className={classes.skip} href="#main">
        Skip to content
      </a>
      <AppShell.Header>
        {isLoading && <div className={classes.progress} role="progressbar" aria-label="Loading the page" />}
        <Group h="100%" px="md" gap="sm" wrap="nowrap">
          <Burger
            opened={opened}
            onClick={toggle}
            hiddenFrom="sm"
            size="sm"
            aria-label="Navigation"
            aria-expanded={opened}
          />
          <Link to="/" className={classes.brand}>
            <Brand />
            <span className={classes.product}>Swath</span>{" "}
            <Text component="span" c="dimmed" pl={{ base: 0, xs: "sm" }} className={classes.title}>
              {title}
            </Text>
            <VisuallyHidden>: start page</VisuallyHidden>
          </Link>
          <Group ml="auto" gap="xs" wrap="nowrap">
            {header}
            <ColorSchemeSwitch />
            {user && <UserMenu {...user} />}
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar aria-label="Main" p="xs">
        <AppShell.Section grow component={ScrollArea}>
          {links.map(({ to, label, icon: Icon, aside }) => (
            <NavLink
              key={to}
              component={Link}
              to={to}
              label={label}
              leftSection={Icon && <Icon size={18} aria-hidden />}
              rightSection={aside}
              active={to === current}
              aria-current={to === current ? "page" : undefined}
              className={classes.link}
              onClick={close}
            />
          ))}
        </AppShell.Section>
        {footer && <AppShell.Section>{footer}</AppShell.Section>}
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} ref={main}>
        <Box maw={1280}>{children ?? <Outlet />}</Box>
      </AppShell.Main>
    </AppShell>
  );
}

/** The link whose address is the longest beginning of the page's. */
function findCurrent(links: readonly ShellLink[], pathname: string): string | undefined {
  return links
    .filter(
      ({ to, exact = false }) => pathname === to || (!exact && pathname.startsWith(to.endsWith("/") ? to : `${to}/`)),
    )
    .map(({ to }) => to)
    .toSorted((a, b) => b.length - a.length)[0];
}
