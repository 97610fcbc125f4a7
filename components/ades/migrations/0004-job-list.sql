-- Of one process the jobs in one state: without it all jobs of the process are looked at.
create index job_owner_process_status on job (owner, process_id, status, created_at desc, id desc);
