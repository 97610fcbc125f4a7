-- Files may be known by another digest than MD5: `md5:<hex>` or `crc32:<hex>`.
alter table files rename column md5 to digest;
update files set digest = 'md5:' || digest;
