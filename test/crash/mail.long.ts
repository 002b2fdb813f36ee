import { test } from 'node:test'
import { checkKilledMails } from './killed-mails.ts'

// npm test has PostgreSQL. The code that sends mails is the same, and the contract of the store has its operations on both.
test('SQLite: after kill -9 between a change and its mail, and between its acceptance and the store, the mail is sent', (t) =>
  checkKilledMails(t, 'SQLite'))
