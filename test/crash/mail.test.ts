import { test } from 'node:test'
import { checkKilledMails } from './killed-mails.ts'

test('PostgreSQL: after kill -9 between a change and its mail, and between its acceptance and the store, the mail is sent', (t) =>
  checkKilledMails(t, 'PostgreSQL'))
