import type { EpochMs } from '../../src/base/brand.ts'
import type { MailContent } from '../../src/ports/mail.ts'
import { NOTICE_KINDS } from '../../src/ports/records/mail.ts'

/** The mails of a server: one of each kind, and a notice of each kind. */

export const MAIL_BRANDING = { name: 'Acme <Cloud>', accent: '#2456c9', contact: 'mailto:help@desk.test', texts: {} }
export const SECURITY = 'https://id.acme.test/account/security'
export const LINK = 'https://id.acme.test/account/link?token=gln_x'

export const MAIL_CONTENTS: readonly MailContent[] = [
  { kind: 'invitation', link: LINK, validSeconds: 7 * 86_400 },
  { kind: 'reset', link: LINK, validSeconds: 3600 },
  { kind: 'code', code: '12345678', validSeconds: 900 },
  { kind: 'test' },
  ...NOTICE_KINDS.map((notice) => ({
    kind: 'notice' as const,
    notice,
    agent: { browser: 'Firefox', system: 'Linux' },
    happenedAt: Date.UTC(2026, 10, 24, 0, 46) as EpochMs,
    securityUri: SECURITY,
  })),
]
