import { createTransport } from "nodemailer";

import type { Queryable } from "../store/database.ts";
import { insertCapturedMail } from "../store/captured-mail.ts";

export interface Message {
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

export interface Mailer {
  /** Nobody gets the messages: they are kept for operators to read. */
  readonly captures: boolean;
  /** @throws {Error} where the mail server does not take the message */
  readonly send: (message: Message) => Promise<void>;
  readonly close: () => void;
}

interface MailerOptions {
  /** `smtp://` (STARTTLS where the server offers it) or `smtps://`, with user and password where the server asks for them. */
  readonly url: string;
  readonly from: string;
}

const TIMEOUT_MS = 15_000;

/** Sends messages by SMTP. */
export function createSmtpMailer({ url, from }: MailerOptions): Mailer {
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === "smtps:";
  const transport = createTransport({
    host: hostname,
    port: Number(port || (secure ? 465 : 587)),
    secure,
    // A password never goes over a connection that is not encrypted.
    requireTLS: !secure && username !== "",
    ...(username !== "" && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    captures: false,
    send: async ({ to, subject, text }) => {
      // As an object, so that a comma in it does not make two recipients.
      await transport.sendMail({ from, to: { name: "", address: to }, subject, text });
    },
    close: () => transport.close(),
  };
}

/** Keeps messages in the database, where a deployment has no mail server. */
export function createCapturingMailer(db: Queryable): Mailer {
  return {
    captures: true,
    send: ({ to, subject, text }) => insertCapturedMail(db, { recipient: to, subject, body: text }),
    close: () => {},
  };
}
