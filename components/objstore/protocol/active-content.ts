/**
 * What browsers run scripts of when it is opened as a page. Anybody who may write to a bucket can make such a page, and it would be
 * one of the platform's domain: logins in cookies would come along with what it asks other services.
 */
const ACTIVE_TYPES = /html|xml|svg/i;

/** A page in an origin of its own (CSP Level 3, `sandbox`): its scripts run, and nobody takes it for a page of the platform. */
const OWN_ORIGIN = "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts";

/** Headers that keep an object of this type from acting in the name of whoever looks at it. */
export function confineActiveContent(contentType: string | undefined): readonly string[] {
  return contentType !== undefined && ACTIVE_TYPES.test(contentType) ? ["content-security-policy", OWN_ORIGIN] : [];
}
