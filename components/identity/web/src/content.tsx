import { Anchor, Badge, Button, Code, Group, Paper, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { ErrorNote, RelativeTime, SecretField } from "@swath/ui";
import { type ReactNode, createElement } from "react";
import { Link } from "react-router";

import { ContentForm } from "./content-form.tsx";
import { ContentTable } from "./content-table.tsx";
import { Field, FieldSet, isField } from "./fields.tsx";
import { RemoveLink } from "./remove-link.tsx";
import { useSurface } from "./surface.ts";
import { textOf } from "./text-of.ts";

interface ContentProps {
  readonly nodes: Iterable<Node>;
  /** The content of a whole page, and no part of one. */
  readonly isPage?: boolean;
}

/** What the service wrote, with the pieces of every console. */
export function Content({ nodes, isPage = false }: ContentProps): ReactNode {
  const list = [...nodes];
  // A page that is one list is the list.
  const isList = isPage && list.reduce((sum, node) => sum + tablesIn(node), 0) === 1;
  return list.map((node, index) => <Part key={index} node={node} isList={isList} />);
}

const tablesIn = (node: Node): number => (node instanceof Element ? node.querySelectorAll("table").length : 0);

interface PartProps {
  readonly node: Node;
  readonly isList?: boolean;
}

function Part({ node, isList = false }: PartProps): ReactNode {
  if (!(node instanceof Element)) {
    const text = node.nodeType === Node.TEXT_NODE ? (node.textContent ?? "").replaceAll(/\s+/g, " ") : "";
    return text.trim() === "" ? (text === "" ? null : " ") : text;
  }
  const { classList } = node;
  const children = [...node.childNodes].map((child, index) => <Part key={index} node={child} isList={isList} />);
  const is = (name: string) => classList.contains(name);
  if (node.matches("[role=alert]")) {
    return <ErrorNote error={textOf(node)} title="Not done" />;
  }
  if (isField(node)) {
    return <Field control={node} />;
  }
  switch (node.localName) {
    case "section":
    case "div":
      return is("scroll") ? (
        <ContentTable region={node} isList={isList} show={(nodes) => <Content nodes={nodes} />} />
      ) : (
        <Block node={node} is={is} isList={isList}>
          {children}
        </Block>
      );
    case "form":
      return <ContentForm form={node as HTMLFormElement}>{children}</ContentForm>;
    case "fieldset":
      return <FieldSet element={node} />;
    case "label":
    case "legend":
      return null;
    case "h2":
      return <Title order={2}>{children}</Title>;
    case "h3":
      return (
        <Title order={3} size="h4">
          {children}
        </Title>
      );
    case "p":
      return (
        <Paragraph node={node} is={is}>
          {children}
        </Paragraph>
      );
    case "a":
      return <ContentLink link={node as HTMLAnchorElement}>{children}</ContentLink>;
    case "button":
      return null;
    case "span":
      return is("badge") ? (
        <Badge variant="light" color={is("good") ? "green" : is("bad") ? "red" : "gray"} tt="none">
          {textOf(node)}
        </Badge>
      ) : (
        <span>{children}</span>
      );
    case "time":
      return <RelativeTime time={node.getAttribute("datetime") ?? textOf(node)} />;
    case "code":
      return <Code style={{ overflowWrap: "anywhere" }}>{textOf(node)}</Code>;
    case "pre":
      return <Code block>{node.textContent}</Code>;
    case "details":
      return (
        <details>
          <summary>{textOf(node.querySelector("summary"))}</summary>
          <SecretField label="Secret" value={textOf(node.querySelector("code"))} />
        </details>
      );
    case "br":
      return <br />;
    default:
      return createElement("span", undefined, children);
  }
}

interface ElementProps {
  readonly node: Element;
  readonly is: (name: string) => boolean;
  readonly children: ReactNode;
}

function Block({ node, is, children, isList }: ElementProps & { readonly isList: boolean }) {
  if (is("panel") && isList) {
    return <Stack gap="sm">{children}</Stack>;
  }
  if (is("panel")) {
    return (
      <Paper withBorder p="md" component={node.localName === "section" ? "section" : "div"} id={node.id || undefined}>
        {is("inline") ? <Group gap="sm">{children}</Group> : <Stack gap="sm">{children}</Stack>}
      </Paper>
    );
  }
  if (is("tools")) {
    return (
      <Group justify="space-between" align="flex-end" gap="sm">
        {children}
      </Group>
    );
  }
  if (is("fields")) {
    return (
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md" verticalSpacing="sm">
        {children}
      </SimpleGrid>
    );
  }
  return is("inline") ? (
    <Group gap="sm" align="flex-end">
      {children}
    </Group>
  ) : (
    <div role={node.getAttribute("role") ?? undefined}>{children}</div>
  );
}

function Paragraph({ node, is, children }: ElementProps) {
  // A hint of a field is shown with the field.
  if (is("hint") && node.id.endsWith("-hint")) {
    return null;
  }
  if (is("inline") || is("pager")) {
    return <Group gap="md">{children}</Group>;
  }
  return (
    <Text component="p" m={0} size="sm" {...(is("hint") && { c: "dimmed" })}>
      {children}
    </Text>
  );
}

function ContentLink({ link, children }: { readonly link: HTMLAnchorElement; readonly children: ReactNode }) {
  const { openDialog } = useSurface();
  const address = link.getAttribute("href") ?? "";
  const label = link.getAttribute("aria-label") ?? undefined;
  if (address.endsWith("/delete")) {
    return <RemoveLink address={address}>{textOf(link)}</RemoveLink>;
  }
  const isMaking = /\/new(?:\?|$)/.test(address) && address.startsWith("/console");
  if (isMaking || link.classList.contains("open")) {
    const open = (event: { preventDefault: () => void }) => {
      event.preventDefault();
      openDialog(address);
    };
    return link.classList.contains("button") ? (
      <Button component="a" href={address} onClick={open}>
        {children}
      </Button>
    ) : (
      <Anchor href={address} onClick={open} aria-label={label} size="sm">
        {children}
      </Anchor>
    );
  }
  const isCurrent = link.hasAttribute("aria-current");
  // What begins with a question mark is the same page asked otherwise.
  return address.startsWith("/console") || address.startsWith("?") ? (
    <Anchor
      component={Link}
      to={address}
      aria-label={label}
      aria-current={isCurrent ? "page" : undefined}
      fw={isCurrent ? 600 : undefined}
      size="sm"
    >
      {children}
    </Anchor>
  ) : (
    <Anchor href={address} size="sm">
      {children}
    </Anchor>
  );
}
