-- The session and the user of a login as the issuer names them: it tells of their end by these.
alter table logins add column session_id text, add column subject text;
create index logins_by_session on logins (session_id);
create index logins_by_subject on logins (subject);
