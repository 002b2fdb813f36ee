import * as z from 'zod'
import { conflict } from './admin-error.ts'
import { EMAIL } from './fields.ts'
import { defineTask, type Task } from './task.ts'

export const MAIL_TASKS: readonly Task[] = [
  defineTask({
    name: 'mail.test',
    method: 'POST',
    path: '/admin/v1/mail/test',
    access: 'write',
    summary: 'Send a mail that says that mail works, at once, and return the answer of the mail server.',
    input: z.object({ address: EMAIL.describe('To whom the mail is sent.') }),
    output: z.object({
      address: z.string(),
      accepted: z.boolean().describe('Whether the mail server accepted the mail. It may still report a bounce later.'),
      reason: z.string().nullable().describe('Why not, as in docs/mail.md.'),
      answer: z.string().describe('What the mail server answered, or what went wrong.'),
    }),
    async run({ mail }, { address }) {
      if (mail === undefined) throw conflict('No mail server is configured. Set GRANTOR_SMTP_URL (docs/mail.md).')
      const sent = await mail.test(address)
      const reason = sent.kind === 'failed' ? sent.reason : null
      return { address, accepted: sent.kind === 'accepted', reason, answer: sent.answer }
    },
  }),
]
