import { isDuplicate } from "../store/database.ts";
import { insertEvent } from "../store/events.ts";
import { publishUserChange, updateUser } from "../store/users.ts";
import type { AccountForm, Notice, ConsoleContext } from "./account-visit.ts";

/** Keeps what users say of themselves. An address that changed has to be confirmed anew. */
export async function saveProfile(
  { context, handle, session, request }: Omit<ConsoleContext, "reply">,
  form: AccountForm,
): Promise<Notice> {
  const { user } = session;
  const email = (form["email"] ?? "").trim();
  const [firstName, lastName] = [form["first_name"] ?? "", form["last_name"] ?? ""].map((part) => part.trim());
  if (email !== "" && !/^[^\s@<>"]{1,64}@[^\s@<>"]{1,190}$/.test(email)) {
    return { bad: "That is not an e-mail address." };
  }
  if ([firstName, lastName].some((part) => part !== undefined && part.length > 255)) {
    return { bad: "A name must not be longer than 255 characters." };
  }
  try {
    await updateUser(context.pool, user.id, {
      ...user,
      email: email || undefined,
      emailVerified: email === user.email && user.emailVerified,
      firstName: firstName || undefined,
      lastName: lastName || undefined,
    });
  } catch (error) {
    if (isDuplicate(error)) {
      return { bad: "That e-mail address cannot be used." };
    }
    throw error;
  }
  await publishUserChange(context.pool, handle.realm.name, user.id);
  await insertEvent(context.pool, handle.realm.id, { type: "UPDATE_PROFILE", userId: user.id, ip: request.ip });
  return { good: "Your profile is saved." };
}
