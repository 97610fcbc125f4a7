import {
  type CSSVariablesResolver,
  type MantineColorsTuple,
  type VariantColorsResolver,
  createTheme,
  defaultVariantColorsResolver,
} from "@mantine/core";

// The shades that are used most stand at 7 (light) and 4 (dark); they are the colours of the sign-in pages.
const teal: MantineColorsTuple = [
  "#e4f6f7", "#c9ecee", "#9cdce0", "#74d0d6", "#4fc3ca", "#2aa7af", "#16888f", "#0b6e75", "#08595f", "#06464b",
]; // prettier-ignore
const red: MantineColorsTuple = [
  "#fdecea", "#fad1cc", "#f6b1a9", "#f59a90", "#f2867a", "#de5d50", "#c63d31", "#b3261e", "#921c16", "#74140f",
]; // prettier-ignore
const green: MantineColorsTuple = [
  "#e6f6ec", "#cdebd8", "#a9ddbb", "#8fd7a9", "#7fd99f", "#4cae70", "#2f8a50", "#1b6e3a", "#15582e", "#0f4423",
]; // prettier-ignore
const yellow: MantineColorsTuple = [
  "#fdf4e0", "#fae6bd", "#f6d48e", "#f3c672", "#f0b95a", "#c98b1f", "#a66f0c", "#8a5a00", "#6e4700", "#553700",
]; // prettier-ignore
const blue: MantineColorsTuple = [
  "#e6f0fb", "#cbe0f6", "#a3c9ee", "#8bbced", "#78b3ee", "#3f8bd6", "#2470bd", "#1a5a9c", "#14477c", "#0f365f",
]; // prettier-ignore
const dark: MantineColorsTuple = [
  "#e6edf3", "#c3d0dc", "#9fb0c0", "#7b8fa1", "#33414f", "#2a3744", "#1f2b37", "#17212b", "#121a22", "#0e151c",
]; // prettier-ignore

/** What is written on a filled button: Mantine chooses by the shade of the light scheme alone, and that of the dark one is pale. */
const resolveVariant: VariantColorsResolver = (input) => {
  const colors = defaultVariantColorsResolver(input);
  return input.variant === "filled" ? { ...colors, color: "var(--swath-on-filled)" } : colors;
};

/** One look for the portal and every console. */
export const theme = createTheme({
  primaryColor: "teal",
  primaryShade: { light: 7, dark: 4 },
  autoContrast: true,
  variantColorResolver: resolveVariant,
  colors: { teal, red, green, yellow, blue, dark },
  black: "#16202b",
  fontFamily: 'system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", monospace',
  headings: { fontWeight: "600", sizes: { h1: { fontSize: "1.5rem" }, h2: { fontSize: "1.15rem" } } },
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    Badge: { defaultProps: { tt: "none" } },
    Modal: { defaultProps: { centered: true }, styles: { title: { fontWeight: 600 } } },
    Tooltip: { defaultProps: { withArrow: true, events: { hover: true, focus: true, touch: false } } },
    // Their arrows are too small to be hit; the arrow keys do the same.
    NumberInput: { defaultProps: { hideControls: true } },
    Loader: { defaultProps: { type: "dots" } },
  },
});

/** Colours that Mantine has of its own in a contrast that is too low, or that the sign-in pages set otherwise. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-text": "#16202b",
    "--mantine-color-dimmed": "#526173",
    "--mantine-color-placeholder": "#5f6e80",
    "--mantine-color-default-border": "#ccd5df",
    "--mantine-color-error": "#b3261e",
    "--swath-on-filled": "#ffffff",
    "--swath-back": "#eef2f6",
    "--swath-line": "#ccd5df",
    "--swath-hover": "#f2f6f9",
    "--swath-chosen": "#e4f6f7",
    "--swath-accent": "#0b6e75",
    "--swath-good": "#1b6e3a",
    "--swath-danger": "#b3261e",
  },
  dark: {
    "--mantine-color-text": "#e6edf3",
    "--mantine-color-dimmed": "#9fb0c0",
    "--mantine-color-placeholder": "#8fa1b2",
    "--mantine-color-default-border": "#33414f",
    "--mantine-color-error": "#ffb4ab",
    "--swath-on-filled": "#0e151c",
    "--swath-back": "#0e151c",
    "--swath-line": "#33414f",
    "--swath-hover": "#1f2b37",
    "--swath-chosen": "#12343a",
    "--swath-accent": "#4fc3ca",
    "--swath-good": "#7fd99f",
    "--swath-danger": "#ffb4ab",
  },
});
