import type { EpochMs } from '../../src/base/brand.ts'
import type { MailContent } from '../../src/ports/mail.ts'
import { NOTICE_KINDS, type NoticeKind } from '../../src/ports/records/mail.ts'

/** The mails of a server: one of each kind, and a notice of each kind. */

export const MAIL_BRANDING = { name: 'Acme <Cloud>', accent: '#2456c9', contact: 'mailto:help@desk.test', texts: {} }
export const SECURITY = 'https://id.acme.test/account/security'
export const LINK = 'https://id.acme.test/account/link?token=gln_x'

export const MAIL_CONTENTS: readonly MailContent[] = [
  { kind: 'invitation', link: LINK, validSeconds: 7 * 86_400, organization: undefined },
  { kind: 'reset', link: LINK, validSeconds: 3600, organization: undefined },
  { kind: 'code', code: '12345678', validSeconds: 900 },
  { kind: 'test' },
  ...NOTICE_KINDS.map((notice) => noticeOf(notice, undefined)),
  noticeOf('organization-joined', 'Globex <Research>'),
  { kind: 'invitation', link: LINK, validSeconds: 7 * 86_400, organization: 'Globex <Research>' },
]

function noticeOf(notice: NoticeKind, organization: string | undefined): MailContent {
  return {
    kind: 'notice',
    notice,
    organization,
    agent: { browser: 'Firefox', system: 'Linux' },
    happenedAt: Date.UTC(2026, 10, 24, 0, 46) as EpochMs,
    securityUri: SECURITY,
  }
}
