import { hash, randomBytes } from "node:crypto";

import type { IdentityContext } from "../../context.ts";
import { isHostileText } from "@swath/service";
import type { Notice } from "../../pages/account-visit.ts";
import { publishUserChange } from "../../store/users.ts";
import { confirmEmail, deleteConfirmation, findConfirmation, insertConfirmation } from "../../store/profile.ts";
import { runChange } from "../../admin/request.ts";
import type { ProfileContext } from "./visit.ts";

const SECONDS = 86_400;
const MAX_A_DAY = 10;

const hashOf = (token: string) => hash("sha256", token, "base64url");

/** Sends the user a message with an address that proves that the e-mail address is the user's. */
export async function sendConfirmation({ context, profile, session, request }: ProfileContext): Promise<Notice> {
  const { user } = session;
  if (user.email === undefined) {
    return { bad: "You have no e-mail address; save one first." };
  }
  if (user.emailVerified) {
    return { good: "Your e-mail address is confirmed already." };
  }
  const token = randomBytes(32).toString("base64url");
  const limits = { max: MAX_A_DAY, seconds: SECONDS };
  if (!(await insertConfirmation(context.pool, { userId: user.id, email: user.email }, hashOf(token), limits))) {
    return { bad: "A message was sent a moment ago, or many today. Look into your mail, or try again later." };
  }
  try {
    await profile.mailer.send({
      to: user.email,
      subject: "Confirm your e-mail address",
      text: `Hello ${user.username},\n\nopen this address within a day to confirm that this e-mail address is yours:\n\n${context.publicUrl}/web_ui/confirmation/${token}\n\nIf you did not ask for it, leave it alone.\n`,
    });
  } catch (error) {
    request.log.warn({ err: error }, "a confirmation message was not sent");
    await deleteConfirmation(context.pool, hashOf(token));
    return { bad: "The mail server did not take the message. Try again later, or tell an operator." };
  }
  return { good: profile.mailer.captures ? CAPTURED : `A message was sent to ${user.email}.` };
}

const CAPTURED =
  "This deployment has no mail server: the message was kept for its operators, who read it at /web_ui/outbox.";

/** Whether the address of a message is good still. */
export async function isConfirmation({ pool }: IdentityContext, token: string): Promise<boolean> {
  return !isHostileText(token) && (await findConfirmation(pool, hashOf(token))) !== undefined;
}

/** Marks the e-mail address as confirmed, once. */
export function confirm(context: IdentityContext, realm: string, token: string): Promise<boolean> {
  return runChange(context, async (db) => {
    const found = await findConfirmation(db, hashOf(token));
    if (found === undefined || !(await confirmEmail(db, found))) {
      return false;
    }
    await publishUserChange(db, realm, found.userId);
    return true;
  });
}
