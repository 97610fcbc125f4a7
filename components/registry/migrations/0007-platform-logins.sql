-- The platform's login that a session began with, as the issuer names it: it tells of its end by these.
alter table session add column login_session text, add column login_subject text;
create index on session (login_session);
create index on session (login_subject);
