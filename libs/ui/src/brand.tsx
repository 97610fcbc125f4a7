/** The mark of the product: a globe that a swath crosses. */
export function Brand({ size = 28 }: { readonly size?: number }) {
  return (
    <svg
      viewBox="0 0 32 32"
      width={size}
      height={size}
      fill="none"
      stroke="var(--swath-accent)"
      strokeWidth={2.5}
      strokeLinecap="round"
      aria-hidden
    >
      <circle cx="16" cy="16" r="13" />
      <path d="M6 24 20 3.8M12 28.4 26 8" />
    </svg>
  );
}
