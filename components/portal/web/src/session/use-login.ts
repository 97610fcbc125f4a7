import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { SESSION_KEY, type Session, type User } from "./session.ts";
import { onTabMessage } from "./windows.ts";

export interface Login {
  /** Whose pages are shown: who is logged in, or was until the login ended by itself. */
  readonly user: User | null;
  /** The login ended by itself; pages stay as they are, with all that was typed, until somebody logs in again. */
  readonly hasEnded: boolean;
}

/** Whose pages to show. Another window that logs out ends this one too. */
export function useLogin(session: Session): Login {
  const client = useQueryClient();
  const [known, setKnown] = useState(session.user);
  useEffect(
    () =>
      onTabMessage((news) => {
        if (news === "logged-out") {
          client.setQueryData<Session>(SESSION_KEY, { user: null, isLoggedOut: true });
        } else {
          void client.invalidateQueries({ queryKey: SESSION_KEY });
        }
      }),
    [client],
  );
  const { user, isLoggedOut = false } = session;
  const isOther = user !== null && known !== null && user.id !== known.id;
  useEffect(() => {
    if (isOther) {
      // Nothing of the one may be left for the other.
      window.location.reload();
    }
  }, [isOther]);
  if (known !== null && isLoggedOut) {
    setKnown(null);
  } else if (user !== null && known === null) {
    setKnown(user);
  }
  const isLeft = isLoggedOut && known === null;
  useEffect(() => {
    if (isLeft) {
      client.removeQueries({ predicate: ({ queryKey: [first] }) => first !== SESSION_KEY[0] && first !== "config" });
    }
  }, [isLeft, client]);
  return { user: isOther || isLoggedOut ? null : (user ?? known), hasEnded: user === null && known !== null };
}
