-- Whether tokens for an API have the subject that the operator's application has for the user. null: no.

alter table apis add column application_subject bigint;
